// own_format FILE: reads a format of one's own, a line per event, packed or not:
//   #launches 1
//   op NAME START_US LENGTH_US
//   kernel NAME START_US LENGTH_US          launched by the op before it
#include <cstdio>
#include <sstream>
#include <string>
#include <tracelens/tracelens.hpp>

using namespace tracelens;

namespace {

void read_launches(ByteSource& in, TraceBuilder& out, const ReadOptions&) {
  const TrackId host = out.intern({.pid = 1, .tid = 1}), gpu = out.intern({.pid = 0, .tid = 7});
  std::string line;
  if (!read_line(in, line) || line != "#launches 1") throw Error{in.name(), "unknown version"};
  std::int64_t op_start_ns = 0;
  for (std::uint64_t number = 2; read_line(in, line); ++number) {
    std::istringstream words{line};
    std::string kind, name;
    double start_us = 0, length_us = 0;
    if (!(words >> kind >> name >> start_us >> length_us)) {
      out.warnings().add("line that is no event", number);
      continue;
    }
    const bool is_op = kind == "op";
    EventRow row{.phase = Phase::kComplete,
                 .category = is_op ? Category::kCpuOp : Category::kKernel,
                 .name = out.intern(name),
                 .track = is_op ? host : gpu,
                 .ts_ns = static_cast<std::int64_t>(start_us * 1000),
                 .dur_ns = static_cast<std::int64_t>(length_us * 1000)};
    const EventId event = out.append(row);
    if (is_op) {
      op_start_ns = row.ts_ns;
      continue;
    }
    row.category = Category::kCudaRuntime;  // the call inside the op that started the kernel
    row.name = out.intern("launch");
    row.track = host;
    row.ts_ns = op_start_ns;
    row.dur_ns = 0;
    out.add_launch(out.append(row), event);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw Error{"own_format", "name one file"};
  register_format(
      {.name = "launches",
       .looks_like = [](std::string_view head) { return head.starts_with("#launches"); },
       .read = read_launches});
  const Trace trace = read_trace(argv[1]);
  std::printf("%s, packing '%s', %zu warnings\n", trace.source().format.c_str(),
              trace.source().packing.c_str(), trace.warnings().entries().size());
  if (const auto table = make_table(trace, "ops_summary"))
    std::fputs(render_terminal(*table, {}).c_str(), stdout);
  write_chrome_json(trace, "launches.json");  // for a trace viewer
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
