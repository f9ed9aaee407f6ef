#include "analysis/rocprof_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "analysis/cells.hpp"
#include "analysis/gpu_work.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const Value* processes_of(const Trace& trace) {
  // JSON of other producers may have a member of this name, too.
  return trace.source().format == "rocprof" ? trace.metadata("processes") : nullptr;
}

std::int64_t integer_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value == nullptr ? 0 : value->as_int();
}

std::string text_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value == nullptr ? std::string{} : value->as_text();
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
      const auto first = static_cast<std::uint32_t>(integer_at(process, "first_event"));
      const std::uint32_t end = first + static_cast<std::uint32_t>(integer_at(process, "events"));
      const auto counted = static_cast<std::uint32_t>(integer_at(process, "only_counted"));
      processes.push_back({integer_at(process, "pid"), text_at(process, "hostname"),
                           command_of(process), integer_at(process, "init_time"),
                           integer_at(process, "fini_time"), first, end, end - counted});
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
  for (const ProfiledProcess& process : profiled_processes(trace)) {
    std::int64_t kernels = 0, copies = 0, calls = 0;
    std::vector<EventId> work;
    for (std::uint32_t row = process.first_row; row < process.end_row; ++row) {
      const Category category = trace.category({row});
      calls += is_runtime(category) ? 1 : 0;
      if (!is_gpu(category)) continue;
      ++(category == Category::kKernel ? kernels : copies);
      if (trace.ts_ns()[row] != kAbsent) work.push_back({row});
    }
    std::set<std::int64_t> gpus;
    for (const std::int64_t gpu : gather(trace.devices(), work))
      if (gpu != kAbsent) gpus.insert(gpu);
    const std::int64_t busy = busy_ns(trace, work);
    const std::int64_t run = std::max<std::int64_t>(0, minus_ns(process.fini_ns, process.init_ns));
    table.add_row(process.pid, process.host, process.command,
                  fmt::format("{}", fmt::join(gpus, ", ")), kernels, copies, calls, ms(busy),
                  run > 0 ? std::optional{ms(run)} : std::nullopt, percent_of(busy, run));
  }
  return table;
}

}  // namespace tracelens
