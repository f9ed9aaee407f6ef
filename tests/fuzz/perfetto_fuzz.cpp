// Any bytes are read as packets without a crash; neither the size of the blocks, nor the number of
// threads, nor whether libprotobuf reads all packets makes a difference.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/kit/dump.hpp"
#include "readers/perfetto/perfetto.hpp"
#include "readers/perfetto/testing_repack.hpp"

namespace {

// Past the probe: the fuzzer need not keep the first packet recognisable.
std::string read(std::string_view bytes, int threads, std::size_t block_bytes) {
  try {
    tracelens::io::Stream in = tracelens::io::Stream::over("input", bytes);
    return tracelens::dump(
        tracelens::read_perfetto(in, {.threads = threads, .block_bytes = block_bytes}));
  } catch (const tracelens::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  (void)tracelens::is_perfetto(bytes.substr(0, 4096));
  TL_CHECK(read(bytes, 1, 1 << 16) == read(bytes, 2, 1));
  using tracelens::perfetto::repacked;
  TL_CHECK(read(repacked(bytes, tracelens::perfetto::kForUs), 1, 1 << 16) ==
           read(repacked(bytes, tracelens::perfetto::kForProtobuf), 1, 1 << 16));
  return 0;
}
