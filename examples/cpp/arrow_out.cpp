// arrow_out TRACE: the kernels of a trace by name, through Arrow's C interface, as a program in any language
// would read them that knows the three structs of its specification.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <tracelens/tracelens.hpp>

using namespace tracelens;

namespace {

// A text of a dictionary: offsets, then characters.
std::string text_of(const ArrowArray& texts, std::uint64_t code) {
  const auto* const offsets = static_cast<const std::int32_t*>(texts.buffers[1]);
  return {static_cast<const char*>(texts.buffers[2]) + offsets[code],
          static_cast<std::size_t>(offsets[code + 1] - offsets[code])};
}

void add_up(const ArrowArray& batch, std::map<std::string, std::int64_t>& time_by_name) {
  const ArrowArray &names = *batch.children[0], &categories = *batch.children[1],
                   &lengths = *batch.children[2];
  const auto* const name = static_cast<const std::uint32_t*>(names.buffers[1]);
  const auto* const category = static_cast<const std::uint8_t*>(categories.buffers[1]);
  const auto* const length = static_cast<const std::int64_t*>(lengths.buffers[1]);
  for (std::int64_t row = 0; row < batch.length; ++row)
    if (text_of(*categories.dictionary, category[row]) == "kernel")
      time_by_name[text_of(*names.dictionary, name[row])] += length[row];
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw Error{"arrow_out", "name a trace"};
  ArrowArrayStream stream;
  export_events(std::make_shared<const Trace>(read_trace(argv[1])), {"name", "cat", "dur_ns"},
                &stream);
  std::map<std::string, std::int64_t> time_by_name;
  for (ArrowArray batch; stream.get_next(&stream, &batch) == 0 && batch.release != nullptr;) {
    add_up(batch, time_by_name);
    batch.release(&batch);
  }
  stream.release(&stream);
  for (const auto& [name, ns] : time_by_name)
    std::printf("%10.1f us  %s\n", static_cast<double>(ns) / 1e3, name.substr(0, 60).c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
