#include <algorithm>
#include <charconv>
#include <string>
#include <tracelens/diagnose.hpp>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

#include "analysis/gpu/idle_gaps.hpp"
#include "analysis/gpu/idle_host.hpp"
#include "facts/steps.hpp"
#include "perf/registry/run_models.hpp"
#include "query/trace_tables.hpp"
#include "tree/time_math.hpp"

namespace tracelens::query {
namespace {

Cell label_of(const Trace& trace, const Track& track, std::string_view what) {
  const auto value = trace.label(track, what);
  if (!value || value->is_null()) return kMissing;
  return value->is_text() ? value->as_text() : python_repr(*value);
}

// Process-level values stand at tid 0, whatever the number's kind.
Cell process_label(const Trace& trace, const Value& pid, std::string_view what) {
  return label_of(trace, {pid, Value{0}}, what);
}

struct Span {
  std::int64_t start = kAbsent, end = kAbsent;
};

// When the first event of each track begins, and when the last one ends.
std::vector<Span> track_spans(const Trace& trace) {
  std::vector<Span> spans(trace.track_table().size());
  for (const EventId event : trace.all_events()) {
    const TrackId track = trace.tracks()[event.row];
    const std::int64_t ts = trace.ts_ns()[event.row];
    if (!track.valid() || ts == kAbsent) continue;
    const std::int64_t dur = trace.dur_ns()[event.row];
    Span& span = spans[track.row];
    span.start = span.start == kAbsent ? ts : std::min(span.start, ts);
    span.end = std::max(span.end, dur == kAbsent ? ts : plus_ns(ts, dur));
  }
  return spans;
}

std::string device_name(const MemoryDevice& device) {
  return device.type == 0 ? "CPU" : "GPU " + std::to_string(device.device);
}

// --- tracks, threads, processes ---

Table track_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"id", Kind::kInteger, "id", "number of the track"},
                                {"name", Kind::kText, "", "of the thread, process or counter"},
                                {"type", Kind::kText, "", "which table has more of it"},
                                {"parent_id", Kind::kInteger, "id", "NULL"},
                                {"source_arg_set_id", Kind::kInteger, "id", "NULL"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  std::int64_t id = 0;
  for (const Track& track : trace.track_table())
    table.add_row(id++, label_of(trace, track, "thread_name"), "thread_track", kMissing, kMissing);
  for (std::uint32_t upid = 0; upid < v.process_count(); ++upid)
    table.add_row(id++, kMissing, "process_track", kMissing, kMissing);
  for (const MemoryDevice& device : v.memory_devices())
    for (const char* const what : {"allocated", "reserved"})
      table.add_row(id++, device_name(device) + " " + what, "counter_track", kMissing, kMissing);
  return table;
}

Table thread_track_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"id", Kind::kInteger, "id", "number of the track"},
                                {"name", Kind::kText, "", "NULL: the thread has the name"},
                                {"type", Kind::kText, "", "thread_track"},
                                {"parent_id", Kind::kInteger, "id", "NULL"},
                                {"source_arg_set_id", Kind::kInteger, "id", "NULL"},
                                {"utid", Kind::kInteger, "id", "row of thread"}};
  Table table = self.with(columns);
  for (std::uint32_t i = 0; i < v.trace().track_table().size(); ++i)
    table.add_row(i, kMissing, "thread_track", kMissing, kMissing, i);
  return table;
}

Table process_track_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"id", Kind::kInteger, "id", "number of the track"},
                                {"name", Kind::kText, "", "NULL"},
                                {"type", Kind::kText, "", "process_track"},
                                {"parent_id", Kind::kInteger, "id", "NULL"},
                                {"source_arg_set_id", Kind::kInteger, "id", "NULL"},
                                {"upid", Kind::kInteger, "id", "row of process"}};
  Table table = self.with(columns);
  const std::size_t first = v.trace().track_table().size();
  for (std::uint32_t upid = 0; upid < v.process_count(); ++upid)
    table.add_row(first + upid, kMissing, "process_track", kMissing, kMissing, upid);
  return table;
}

Table counter_track_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"id", Kind::kInteger, "id", "number of the track"},
                                {"name", Kind::kText, "", "what is counted"},
                                {"type", Kind::kText, "", "counter_track"},
                                {"parent_id", Kind::kInteger, "id", "NULL"},
                                {"source_arg_set_id", Kind::kInteger, "id", "NULL"},
                                {"unit", Kind::kText, "", "of the values"},
                                {"description", Kind::kText, "", "NULL"}};
  Table table = self.with(columns);
  std::size_t id = v.trace().track_table().size() + v.process_count();
  for (const MemoryDevice& device : v.memory_devices())
    for (const char* const what : {"allocated", "reserved"})
      table.add_row(id++, device_name(device) + " " + what, "counter_track", kMissing, kMissing,
                    "bytes", kMissing);
  return table;
}

Table thread_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"utid", Kind::kInteger, "id", "number of the thread"},
      {"id", Kind::kInteger, "id", "the same"},
      {"tid", Kind::kNested, "id", "as in the file; of a GPU: the stream"},
      {"name", Kind::kText, "", "as the profiler gives it"},
      {"upid", Kind::kInteger, "id", "row of process"},
      {"is_main_thread", Kind::kBool, "", "1: its number is that of the process"},
      {"start_ts", Kind::kInteger, "ns", "start of its first event"},
      {"end_ts", Kind::kInteger, "ns", "end of its last event"},
      {"machine_id", Kind::kInteger, "id", "NULL"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  const std::vector<Span> spans = track_spans(trace);
  for (std::uint32_t i = 0; i < trace.track_table().size(); ++i) {
    const Track& track = trace.track(TrackId{i});
    const auto time = [](std::int64_t ns) { return ns == kAbsent ? Cell{kMissing} : Cell{ns}; };
    table.add_row(i, i, track.tid, label_of(trace, track, "thread_name"), v.upids()[i],
                  track.tid == track.pid, time(spans[i].start), time(spans[i].end), kMissing);
  }
  return table;
}

Table process_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"upid", Kind::kInteger, "id", "number of the process"},
      {"id", Kind::kInteger, "id", "the same"},
      {"pid", Kind::kNested, "id", "as in the file; of a GPU: its number"},
      {"name", Kind::kText, "", "as the profiler gives it"},
      {"labels", Kind::kText, "", "CPU or the GPU"},
      {"sort_index", Kind::kText, "", "place in a viewer"},
      {"start_ts", Kind::kInteger, "ns", "NULL"},
      {"end_ts", Kind::kInteger, "ns", "NULL"},
      {"parent_upid", Kind::kInteger, "id", "NULL"},
      {"machine_id", Kind::kInteger, "id", "NULL"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  for (std::uint32_t upid = 0; upid < v.process_count(); ++upid) {
    const auto first =
        static_cast<std::size_t>(std::ranges::find(v.upids(), upid) - v.upids().begin());
    const Value& pid = trace.track_table()[first].pid;
    table.add_row(upid, upid, pid, process_label(trace, pid, "process_name"),
                  process_label(trace, pid, "process_labels"),
                  process_label(trace, pid, "process_sort_index"), kMissing, kMissing, kMissing,
                  kMissing);
  }
  return table;
}

// --- the file ---

Table bounds_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"start_ts", Kind::kInteger, "ns", "start of the first event"},
                                {"end_ts", Kind::kInteger, "ns", "end of the last event"}};
  Table table = self.with(columns);
  const TraceSpan span = trace_span(v.trace());
  table.add_row(span.start_ns, span.end_ns);
  return table;
}

Table metadata_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"id", Kind::kInteger, "id", "number of the member"},
      {"name", Kind::kText, "", "its key in the file"},
      {"str_value", Kind::kText, "", "its value; lists as JSON"},
      {"int_value", Kind::kInteger, "", "its value where it is a number"}};
  Table table = self.with(columns);
  std::int64_t id = 0;
  for (const MetadataEntry& entry : v.trace().metadata())
    table.add_row(id++, entry.key,
                  entry.value.is_text() ? entry.value.as_text() : json_text(entry.value),
                  entry.value.is_int() ? Cell{entry.value.as_int()} : Cell{kMissing});
  return table;
}

Table stats_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", "what was wrong"},
                                {"severity", Kind::kText, "", "data_loss"},
                                {"value", Kind::kInteger, "", "how often"}};
  Table table = self.with(columns);
  for (const Warnings::Entry& entry : v.trace().warnings().entries())
    table.add_row(entry.what, "data_loss", entry.count);
  return table;
}

// --- steps, modules, signatures, gaps ---

Table step_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"step", Kind::kText, "", "its name"},
      {"event_id", Kind::kInteger, "id", "the event that marks it"},
      {"ts", Kind::kInteger, "ns", "start"},
      {"dur", Kind::kInteger, "ns", "length on the host"},
      {"gpu_ts", Kind::kInteger, "ns", "start of the first GPU work launched in it"},
      {"gpu_end", Kind::kInteger, "ns", "end of the last"},
      {"gpu_ns", Kind::kInteger, "ns", "lengths of that GPU work together"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  struct Work {
    std::int64_t start = kAbsent, end = kAbsent, ns = 0;
  };
  const std::span<const Step> steps = v.facts().steps();
  std::vector<Work> work(steps.size());
  for (const std::uint32_t row : v.launched()) {
    const std::int64_t called = trace.ts_ns()[v.launch_of(row).row];
    const auto after = std::ranges::upper_bound(steps, called, {}, &Step::ts_ns);
    if (after == steps.begin()) continue;
    const Step& step = *(after - 1);
    if (called >= plus_ns(step.ts_ns, step.dur_ns)) continue;
    Work& of = work[static_cast<std::size_t>(&step - steps.data())];
    const std::int64_t ts = trace.ts_ns()[row], dur = trace.dur_ns()[row];
    of.start = of.start == kAbsent ? ts : std::min(of.start, ts);
    of.end = std::max(of.end, plus_ns(ts, dur));
    of.ns = plus_ns(of.ns, dur);
  }
  std::unordered_map<std::int64_t, std::uint32_t> marks;  // by start
  for (const std::uint32_t row : v.slices().rows)
    if (trace.categories()[row] == Category::kUserAnnotation ||
        trace.categories()[row] == Category::kPythonFunction)
      if (v.step_at(trace.ts_ns()[row]) == trace.names()[row].row)
        marks.try_emplace(trace.ts_ns()[row], row);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto mark = marks.find(steps[i].ts_ns);
    const auto time = [](std::int64_t ns) { return ns == kAbsent ? Cell{kMissing} : Cell{ns}; };
    table.add_row(
        steps[i].name, mark == marks.end() ? Cell{kMissing} : Cell{std::int64_t{mark->second}},
        steps[i].ts_ns, steps[i].dur_ns, time(work[i].start), time(work[i].end), work[i].ns);
  }
  return table;
}

// "nn.Module: Linear_12" is number 12 of Linear.
struct ModuleName {
  std::string type;
  Cell instance = kMissing;
};
ModuleName module_name(std::string_view name) {
  if (const std::size_t colon = name.find(": "); colon != name.npos) name.remove_prefix(colon + 2);
  const std::size_t bar = name.rfind('_');
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  if (bar != name.npos && bar + 1 < name.size()) {
    const auto [stop, error] = std::from_chars(name.data() + bar + 1, end, number);
    if (error == std::errc{} && stop == end) return {std::string{name.substr(0, bar)}, number};
  }
  return {std::string{name}, kMissing};
}

Table module_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {{"node", Kind::kInteger, "id", "its node of tree"},
                                {"event_id", Kind::kInteger, "id", "number of the event"},
                                {"name", Kind::kText, "", "as traced"},
                                {"type", Kind::kText, "", "its class"},
                                {"instance", Kind::kInteger, "id", "which of that class"},
                                {"path", Kind::kText, "", "modules from the outermost to it"},
                                {"parent_node", Kind::kInteger, "id", "the module around it"},
                                {"depth", Kind::kInteger, "", "modules around it"},
                                {"ts", Kind::kInteger, "ns", "start"},
                                {"dur", Kind::kInteger, "ns", "length on the host"},
                                {"gpu_ns", Kind::kInteger, "ns", "GPU work below it, added up"},
                                {"gpu_count", Kind::kInteger, "", "how many GPU events that is"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  const Tree& tree = v.tree();
  struct Around {
    std::uint32_t depth;
    std::string path;
  };
  constexpr std::size_t kMostPath = 1000;  // hostile nesting would make paths without end
  std::unordered_map<std::uint32_t, Around> known;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId node{i};
    if (!tree.is_module(node)) continue;
    const EventId event = tree.event(node);
    const NodeId parent = tree.nearest_module(node);
    const ModuleName name = module_name(trace.name(event));
    std::string own = name.type;
    if (const auto* const number = std::get_if<std::int64_t>(&name.instance))
      own += "_" + std::to_string(*number);
    Around around{0, own};
    if (parent.valid()) {
      const Around& above = known.at(parent.row);
      around = {above.depth + 1, above.path.size() < kMostPath ? above.path + "." + own : own};
    }
    table.add_row(i, event.row, trace.name(event), name.type, name.instance, around.path,
                  parent.valid() ? Cell{std::int64_t{parent.row}} : Cell{kMissing}, around.depth,
                  trace.ts_ns()[event.row], trace.dur_ns()[event.row], tree.gpu_sum_ns(node),
                  tree.gpu_count(node));
    known.emplace(i, std::move(around));
  }
  return table;
}

Table signature_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"id", Kind::kInteger, "id", "number of the signature"},
      {"name", Kind::kText, "", "the op"},
      {"input_dims", Kind::kNested, "", "shapes, as JSON"},
      {"input_type", Kind::kNested, "", "types, as JSON"},
      {"input_strides", Kind::kNested, "", "strides, as JSON"},
      {"concrete_inputs", Kind::kNested, "", "other arguments, as JSON"},
      {"calls", Kind::kInteger, "", "events with it"},
      {"gflops", Kind::kReal, "GFLOP", "floating-point operations of one call, by the model"},
      {"bytes", Kind::kReal, "bytes", "moved by one call, by the model"},
      {"compute_spec", Kind::kText, "", "which peak of the GPU applies"},
      {"params", Kind::kNested, "", "what the model made of the arguments, as JSON"},
      {"why_not", Kind::kText, "text", "why there is no answer of a model"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  std::vector<std::int64_t> calls(trace.signature_table().size());
  for (const SignatureId id : trace.signatures())
    if (id.valid()) ++calls[id.row];
  const perf::RunModels models{v.options().edition, &v.own_models()};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Signature& args = trace.signature_table()[i];
    const std::string_view name = args.name.valid() ? trace.text(args.name) : std::string_view{};
    const auto cell = [](const Value& value) {
      return value.is_null() ? Cell{kMissing} : Cell{value};
    };
    const OrReason<Work> work = models.work({.name = name, .args = args});
    std::vector<std::string> keys;
    std::vector<Value> values;
    if (work)
      for (const Param& param : work->params) {
        keys.push_back(param.name);
        values.push_back(param.value);
      }
    table.add_row(i, name, cell(args.dims), cell(args.types), cell(args.strides),
                  cell(args.concrete), calls[i], work ? Cell{work->flops / 1e9} : Cell{kMissing},
                  work && work->bytes ? Cell{*work->bytes} : Cell{kMissing},
                  work ? Cell{work->compute_spec} : Cell{kMissing},
                  work ? Cell{Value::dict(std::move(keys), std::move(values))} : Cell{kMissing},
                  work ? Cell{kMissing} : Cell{work.reason().text});
  }
  return table;
}

Table gap_table(TraceView& v, const SmallTable& self) {
  const ColumnSpec columns[] = {
      {"device", Kind::kInteger, "id", "the GPU whose work ends the gap"},
      {"ts", Kind::kInteger, "ns", "start"},
      {"dur", Kind::kInteger, "ns", "length"},
      {"before_id", Kind::kInteger, "id", "the GPU event that ended last before it"},
      {"after_id", Kind::kInteger, "id", "the GPU event that ends it"},
      {"host_state", Kind::kText, "", "what the host did for most of it, as in gpu_idle_host"},
      {"host_name", Kind::kText, "", "the call, op or Python frame it was in"}};
  Table table = self.with(columns);
  const Trace& trace = v.trace();
  std::vector<EventId> events = v.facts().gpu_events(v.options().include_unlinked).events;
  const std::vector<IdleGap> gaps = find_gaps(trace, events);
  std::vector<GapHost> hosts;
  (void)charge_gaps(v.facts(), gaps, &hosts);
  const auto end = [&](EventId event) { return end_of(trace, event); };
  std::ranges::stable_sort(events, {}, end);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const auto after = std::ranges::upper_bound(events, gaps[i].time.start, {}, end);
    const std::int64_t device = v.device_of(gaps[i].ended_by.row);
    table.add_row(
        device == kAbsent ? Cell{kMissing} : Cell{device}, gaps[i].time.start,
        gaps[i].time.end - gaps[i].time.start,
        after == events.begin() ? Cell{kMissing} : Cell{std::int64_t{(after - 1)->row}},
        gaps[i].ended_by.row, text_of(hosts[i].state.host),
        hosts[i].name.valid() ? Cell{without_address(trace.text(hosts[i].name))} : Cell{kMissing});
  }
  return table;
}

// Of the diagnosis, under the name and with the words of this list.
Table finding_table(TraceView& v, const SmallTable& self) {
  for (Table& table : diagnosis_tables(v.diagnosis()))
    if (table.name() == self.name) return std::move(table);
  return self.with({});
}

constexpr SmallTable kSmallTables[] = {
    {"track", "Lines of the timeline (as Perfetto)", track_table},
    {"thread_track", "Tracks of threads and of GPU streams (as Perfetto)", thread_track_table},
    {"process_track", "Tracks of processes (as Perfetto)", process_track_table},
    {"counter_track", "Tracks of counters (as Perfetto)", counter_track_table},
    {"thread", "Threads and GPU streams (as Perfetto)", thread_table},
    {"process", "Processes and GPUs (as Perfetto)", process_table},
    {"trace_bounds", "When the trace begins and ends (as Perfetto)", bounds_table},
    {"metadata", "What the file holds besides events (as Perfetto)", metadata_table},
    {"stats", "What was wrong with the file (as Perfetto)", stats_table},
    {"step", "Passes of the loop that was recorded", step_table},
    {"module", "Calls of nn.Modules", module_table},
    {"signature", "Distinct arguments of ops, and the work of one call", signature_table},
    {"gpu_gap", "Stretches in which no GPU had work", gap_table},
    {"findings", "What slows the run down, in the order in which it is best mended", finding_table},
    {"finding_evidence", "The numbers that prove each finding, and where they stand",
     finding_table},
    {"finding_places", "What each finding is about", finding_table},
    {"trace_quality", "What is to be known before the findings are believed", finding_table},
};

}  // namespace

std::span<const SmallTable> small_tables() { return kSmallTables; }

}  // namespace tracelens::query
