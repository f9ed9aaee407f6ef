// replay_main.cpp: runs a fuzz target once over stored inputs, for builds without libFuzzer.
//   kineto_fuzz tests/fuzz/corpus/kineto_fuzz
// Takes files and folders. Finding no input at all is a failure, so a lost corpus is noticed.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  std::cout << file.filename().string() << '\n' << std::flush;  // names the input that crashes
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int inputs = 0;
    for (int i = 1; i < argc; ++i) {
      if (!fs::is_directory(argv[i])) {
        replay(argv[i]);
        ++inputs;
        continue;
      }
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator{argv[i]}) {
        if (!entry.is_regular_file()) continue;
        replay(entry.path());
        ++inputs;
      }
    }
    std::cout << inputs << " inputs replayed\n";
    return inputs > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
