#include "analysis/rocm/rocprof_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/kit/cells.hpp"
#include "trace/sparse_cursor.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const Value* processes_of(const Trace& trace) {
  // JSON of other producers may have a member of this name, too.
  return trace.source().recorder == Recorder::kRocprof ? trace.metadata("processes") : nullptr;
}

std::string command_of(const Value& process) {
  std::string line;
  if (const Value* const words = process.find("command"))
    for (const Value& word : words->items()) line += (line.empty() ? "" : " ") + word.as_text();
  return line;
}

}  // namespace

std::vector<ProfiledProcess> profiled_processes(const Trace& trace) {
  std::vector<ProfiledProcess> processes;
  if (const Value* const known = processes_of(trace))
    for (const Value& process : known->items()) {
      const auto first = static_cast<std::uint32_t>(member(process, "first_event").as_int());
      const std::uint32_t end =
          first + static_cast<std::uint32_t>(member(process, "events").as_int());
      const auto counted = static_cast<std::uint32_t>(member(process, "only_counted").as_int());
      processes.push_back({member(process, "pid").as_int(), member(process, "hostname").as_text(),
                           command_of(process), member(process, "init_time").as_int(),
                           member(process, "fini_time").as_int(), first, end, end - counted});
    }
  if (processes.empty()) {
    ProfiledProcess all;
    all.end_row = all.counted_row = static_cast<std::uint32_t>(trace.size());
    if (const Value* const init = trace.metadata("init_time")) all.init_ns = init->as_int();
    if (const Value* const fini = trace.metadata("fini_time")) all.fini_ns = fini->as_int();
    processes.push_back(std::move(all));
  }
  return processes;
}

std::optional<Table> processes_table(const Trace& trace) {
  if (processes_of(trace) == nullptr) return std::nullopt;
  const ColumnSpec columns[] = {
      {"PID", Kind::kInteger, "id", "number of the process"},
      {"host", Kind::kText, "", "machine it ran on"},
      {"command", Kind::kText, "", "its command line"},
      {"GPUs", Kind::kText, "", "numbers of the GPUs it used"},
      {"kernels", Kind::kInteger, "", "dispatches"},
      {"copies", Kind::kInteger, "", "memory copies"},
      {"calls", Kind::kInteger, "", "HIP and HSA calls"},
      {"busy", Kind::kReal, "ms", "time in which its kernels or copies ran"},
      {"run", Kind::kReal, "ms", "from its start to its end"},
      {"busy share", Kind::kReal, "%", "of the run"},
  };
  Table table{"processes", "What each process of the profile ran", columns};
  SparseCursor devices{trace.devices()};  // processes follow each other, as in the file
  for (const ProfiledProcess& process : profiled_processes(trace)) {
    std::int64_t kernels = 0, copies = 0, calls = 0;
    std::vector<EventId> work;
    std::set<std::int64_t> gpus;
    for (std::uint32_t row = process.first_row; row < process.end_row; ++row) {
      const Category category = trace.category({row});
      calls += is_runtime(category) ? 1 : 0;
      if (!is_gpu(category)) continue;
      ++(category == Category::kKernel ? kernels : copies);
      if (trace.ts_ns()[row] == kAbsent) continue;
      work.push_back({row});
      if (const auto gpu = devices.at({row})) gpus.insert(*gpu);
    }
    const std::int64_t busy = busy_ns(trace, work);
    const std::int64_t run = std::max<std::int64_t>(0, minus_ns(process.fini_ns, process.init_ns));
    table.add_row(process.pid, process.host, process.command,
                  fmt::format("{}", fmt::join(gpus, ", ")), kernels, copies, calls, ms(busy),
                  run > 0 ? std::optional{ms(run)} : std::nullopt, percent_of(busy, run));
  }
  return table;
}

}  // namespace tracelens
