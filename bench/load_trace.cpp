// load_trace: reads a trace and nothing more, for measuring what loading takes.
//   load_trace big.xplane.pb
//   {"events": 8000000, "bytes": 1000000000, "column_bytes": 410000000, "seconds": 3.1}
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string_view>
#include <tracelens/files.hpp>
#include <tracelens/read_trace.hpp>

namespace {

// What the trace itself takes: its columns and texts. All else a reader needs is overhead.
std::size_t column_bytes(const tracelens::Trace& trace) {
  using tracelens::category_name;
  std::size_t bytes = trace.ts_ns().size_bytes() + trace.dur_ns().size_bytes() +
                      trace.correlations().size_bytes() + trace.names().size_bytes() +
                      trace.tracks().size_bytes() + trace.signatures().size_bytes() +
                      trace.categories().size_bytes() + trace.phases().size_bytes();
  const auto add = [&bytes](const auto& column) {
    bytes += column.rows().size_bytes() + column.values().size_bytes();
  };
  for (const auto* column : {&trace.external_ids(), &trace.sequence_numbers(),
                             &trace.forward_threads(), &trace.streams(), &trace.devices()})
    add(*column);
  add(trace.call_stacks());
  add(trace.detail_texts());
  for (const tracelens::EventId event : trace.all_events())
    if (trace.category_text(event) != category_name(trace.category(event)))
      bytes += sizeof(std::uint32_t) + sizeof(tracelens::StringId);
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    bytes += sizeof(std::string_view) + trace.text({id}).size();
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tracelens::guard_mapped_files();  // as the program does
  try {
    const auto start = std::chrono::steady_clock::now();
    const tracelens::Trace trace = tracelens::read_trace(argv[1]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"events\": {}, \"bytes\": {}, \"column_bytes\": {}, \"seconds\": {}}}\n",
               trace.size(), trace.source().text_bytes, column_bytes(trace), took.count());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "load_trace: {}\n", error.what());
    return 2;
  }
}
