#include <tracelens/info.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "facts/job_processes.hpp"
#include "facts/steps.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string text_of(const Value& value) {
  return value.is_text() ? value.as_text() : python_repr(value);
}

std::string size_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::size_t gpu_count(const Trace& trace) {
  return static_cast<std::size_t>(std::ranges::count_if(trace.categories(), is_gpu));
}

// Whose events the trace holds, told by the names that only they use; empty when none is known.
std::string frameworks(const Trace& trace) {
  struct Mark {
    std::string_view prefix, framework;
  };
  constexpr Mark kMarks[] = {
      {"aten::", "PyTorch"},
      {"autograd::", "PyTorch"},
      {"nn.Module: ", "PyTorch"},
      {"vllm::", "vLLM"},
      {"sgl_kernel::", "SGLang"},
      {"sglang_profiler::", "SGLang"},
      {"XlaModule:", "JAX"},
      {"PjitFunction(", "JAX"},
      {"transformer_engine::", "Transformer Engine"},
  };
  std::vector<std::string_view> found;
  if (trace.source().recorder == Recorder::kJax) found.emplace_back("JAX");
  for (std::uint32_t row = 0; row < trace.string_count(); ++row)
    for (const auto& [prefix, framework] : kMarks)
      if (trace.text({row}).starts_with(prefix) &&
          std::ranges::find(found, framework) == found.end())
        found.push_back(framework);
  std::ranges::sort(found);
  return fmt::format("{}", fmt::join(found, ", "));
}

Table overview(const Trace& trace, const Tree& tree) {
  const ColumnSpec columns[] = {{"property", Kind::kText, "", "what is told"},
                                {"value", Kind::kText, "", "as found in the trace"}};
  Table table{"trace", "Where the trace comes from and how it was recorded", columns};
  const Source& source = trace.source();
  table.add_row("file", source.name);
  table.add_row("format", source.format);
  if (const std::string known = frameworks(trace); !known.empty())
    table.add_row("framework", known);
  table.add_row("packing", source.packing.empty() ? "none" : source.packing);
  table.add_row("size", size_text(source.text_bytes));
  if (!source.packing.empty()) table.add_row("packed size", size_text(source.packed_bytes));
  table.add_row("complete", source.cut_short ? "no: the file is cut short" : "yes");
  table.add_row("events", fmt::format("{}", trace.size()));
  const TraceSpan span = trace_span(trace);
  table.add_row("span", fmt::format("{:.3f} ms", ms(minus_ns(span.end_ns, span.start_ns))));
  // In a JAX profile a module comes between: `check` tells which calls are recorded.
  const std::string_view link = source.recorder == Recorder::kJax ? "launched by a compiled module"
                                                                  : "linked to their launch";
  table.add_row("GPU events",
                fmt::format("{} ({} {})", gpu_count(trace), tree.linked_gpu_events().size(), link));
  constexpr std::array<std::string_view, 5> kOptions = {
      "record_shapes", "with_stack", "with_modules", "with_flops", "profile_memory"};
  std::string options;
  for (const std::string_view option : kOptions)
    if (const Value* value = trace.metadata(option); value != nullptr && text_of(*value) != "0")
      options += (options.empty() ? "" : ", ") + std::string{option};
  table.add_row("profiler options", options.empty() ? "none recorded" : options);
  for (const MetadataEntry& entry : trace.metadata())
    if (entry.key.ends_with("_version") || entry.key.ends_with("Version"))
      table.add_row(entry.key, text_of(entry.value));
  if (const Value* run = trace.metadata("distributedInfo"); run != nullptr)
    for (const char* key : {"backend", "rank", "world_size", "pg_count", "nccl_version"})
      if (const Value* value = run->find(key)) table.add_row(key, text_of(*value));
  for (const char* key : {"trace_id", "traceName"})
    if (const Value* value = trace.metadata(key)) table.add_row(key, text_of(*value));
  return table;
}

std::optional<Table> devices(const Trace& trace) {
  const Value* list = trace.metadata("deviceProperties");
  if (list == nullptr || list->items().empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"device", Kind::kInteger, "id", "number of the GPU on its machine"},
      {"name", Kind::kText, "", "product name"},
      {"memory", Kind::kReal, "GiB", "memory of the GPU"},
      {"compute units", Kind::kInteger, "", "streaming multiprocessors or compute units"},
      {"capability", Kind::kText, "", "compute capability or architecture"},
      {"warp size", Kind::kInteger, "", "threads of a warp or wavefront"}};
  Table table{"devices", "GPUs the process could see", columns};
  for (const Value& device : list->items()) {
    const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
      const Value* value = device.find(key);
      return value != nullptr && value->is_int() ? std::optional{value->as_int()} : std::nullopt;
    };
    const Value* name = device.find("name");
    const auto memory = integer("totalGlobalMem");
    const auto major = integer("computeMajor"), minor = integer("computeMinor");
    table.add_row(integer("id"), name == nullptr ? std::string{} : text_of(*name),
                  memory ? std::optional{static_cast<double>(*memory) / (1 << 30)} : std::nullopt,
                  integer("numSms"),
                  major && minor ? fmt::format("{}.{}", *major, *minor) : std::string{},
                  integer("warpSize"));
  }
  return table;
}

Table categories(const Trace& trace) {
  const ColumnSpec columns[] = {
      {"category", Kind::kText, "", "as written in the trace"},
      {"events", Kind::kInteger, "", "events of the category"},
      {"duration", Kind::kReal, "ms", "sum of their durations; nested events count again"}};
  struct Sum {
    std::int64_t events = 0, ns = 0;
    EventId first = {};
  };
  std::array<Sum, kCategoryCount> known{};
  std::map<std::string_view, Sum> others;
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    Sum& sum = category == Category::kOtherCategory ? others[trace.category_text(event)]
                                                    : known[static_cast<std::size_t>(category)];
    if (sum.events++ == 0) sum.first = event;
    sum.ns = plus_ns(sum.ns, duration_of(trace, event));
  }
  Table table{"categories", "Events by category", columns};
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    if (known[i].events > 0) {
      const auto category = static_cast<Category>(i);
      const std::string_view text = trace.category_text(known[i].first);
      table.add_row(category == Category::kNone ? "(none)" : text, known[i].events,
                    ms(known[i].ns));
      others.erase(text);  // the ends of asynchronous slices, which are no events of their own
    }
  for (const auto& [name, sum] : others) table.add_row(name, sum.events, ms(sum.ns));
  table.sort_by("events", Order::kDescending);
  return table;
}

Table threads(const Trace& trace) {
  const ColumnSpec columns[] = {
      {"pid", Kind::kText, "id", "process, or GPU"},
      {"tid", Kind::kText, "id", "thread, or stream"},
      {"process", Kind::kText, "", "name of the process"},
      {"thread", Kind::kText, "", "name of the thread"},
      {"events", Kind::kInteger, "", "events with a duration"},
      {"ops", Kind::kInteger, "", "cpu_ops among them"},
      {"runtime calls", Kind::kInteger, "", "CUDA or HIP calls among them"},
      {"GPU events", Kind::kInteger, "", "kernels, copies and fills among them"}};
  struct ThreadCounts {
    std::int64_t events = 0, ops = 0, calls = 0, gpu = 0;
  };
  std::vector<ThreadCounts> counts(trace.track_table().size());
  for (const EventId event : trace.all_events()) {
    if (trace.phase(event) != Phase::kComplete) continue;
    ThreadCounts& count = counts[trace.tracks()[event.row].row];
    const Category category = trace.category(event);
    ++count.events;
    count.ops += category == Category::kCpuOp ? 1 : 0;
    count.calls += is_runtime(category) ? 1 : 0;
    count.gpu += is_gpu(category) ? 1 : 0;
  }
  Table table{"threads", "Threads and GPU streams that recorded anything", columns};
  for (std::uint32_t id = 0; id < counts.size(); ++id) {
    const ThreadCounts& count = counts[id];
    if (count.events == 0) continue;
    const Track& track = trace.track(TrackId{id});
    const auto label = [&](const Track& where, std::string_view what) {
      const auto value = trace.label(where, what);
      return value ? text_of(*value) : std::string{};
    };
    table.add_row(text_of(track.pid), text_of(track.tid),
                  label({track.pid, Value{0}}, "process_name"), label(track, "thread_name"),
                  count.events, count.ops, count.calls, count.gpu);
  }
  table.sort_by("events", Order::kDescending);
  return table;
}

// Of the databases of a job.
std::optional<Table> job_table(const Trace& trace) {
  const std::vector<JobProcess> processes = job_processes(trace);
  if (processes.empty()) return std::nullopt;
  const bool has_commands = std::ranges::any_of(
      processes, [](const JobProcess& process) { return !process.command.empty(); });
  std::vector<ColumnSpec> columns{
      {"process", Kind::kText, "", "machine and process"},
      {"rank", Kind::kInteger, "id", "place in the job; empty when unknown"},
      {"world size", Kind::kInteger, "", "processes of the job"},
      {"events", Kind::kInteger, "", "its calls, ranges and GPU events"}};
  if (has_commands) columns.push_back({"command", Kind::kText, "text", "how it was started"});
  Table table{"processes", "Processes of the job", columns};
  for (const JobProcess& process : processes) {
    std::vector<Cell> row{process.name, kMissing, kMissing,
                          static_cast<std::int64_t>(process.events.size())};
    if (process.rank) row[1] = *process.rank;
    if (process.world_size) row[2] = *process.world_size;
    if (has_commands) row.emplace_back(process.command);
    table.append(row);
  }
  return table;
}

std::optional<Table> steps(const Trace& trace, const Tree& tree) {
  const std::vector<Step> found = find_steps(trace, tree);
  if (found.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"step", Kind::kText, "", "as marked by the profiler, or the call that opens an iteration"},
      {"start", Kind::kReal, "ms", "host time from the start of the trace"},
      {"duration", Kind::kReal, "ms", "host time of the step"}};
  Table table{"steps", "Steps of the recorded loop", columns};
  const std::int64_t start = trace_span(trace).start_ns;
  for (const Step& step : found)
    table.add_row(step.name, ms(minus_ns(step.ts_ns, start)), ms(step.dur_ns));
  return table;
}

}  // namespace

std::vector<Table> trace_info(const Trace& trace, const Tree& tree) {
  std::vector<Table> tables{overview(trace, tree)};
  if (auto table = devices(trace)) tables.push_back(*std::move(table));
  if (auto table = job_table(trace)) tables.push_back(*std::move(table));
  if (auto table = processes_table(trace)) tables.push_back(*std::move(table));
  tables.push_back(categories(trace));
  tables.push_back(threads(trace));
  if (auto table = steps(trace, tree)) tables.push_back(*std::move(table));
  return tables;
}

}  // namespace tracelens
