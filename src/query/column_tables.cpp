#include <tracelens/json.hpp>

#include "analysis/kit/cells.hpp"
#include "query/trace_tables.hpp"
#include "tree/time_math.hpp"

namespace tracelens::query {
namespace {

using Row = std::uint32_t;

// --- what several tables have in common ---

std::int64_t id_or_null(std::uint32_t row) { return row == kNoText ? kAbsent : std::int64_t{row}; }
std::int64_t row_number(TraceView&, Row row) { return row; }
std::int64_t event_ts(TraceView& v, Row row) { return v.trace().ts_ns()[row]; }
std::int64_t event_dur(TraceView& v, Row row) { return v.trace().dur_ns()[row]; }
std::int64_t event_end(TraceView& v, Row row) {
  return plus_ns(v.trace().ts_ns()[row], v.trace().dur_ns()[row]);
}
TextCode event_name(TraceView& v, Row row) { return v.trace().names()[row].row; }
std::int64_t event_name_id(TraceView& v, Row row) { return id_or_null(v.trace().names()[row].row); }
TextCode event_category(TraceView& v, Row row) { return v.category_code(row); }
std::int64_t event_track(TraceView& v, Row row) { return id_or_null(v.trace().tracks()[row].row); }
std::int64_t event_signature(TraceView& v, Row row) {
  return id_or_null(v.trace().signatures()[row].row);
}
std::int64_t event_device(TraceView& v, Row row) { return v.device_of(row); }
std::int64_t event_stream(TraceView& v, Row row) { return v.stream_of(row); }
std::int64_t no_integer(TraceView&, Row) { return kAbsent; }

std::int64_t event_correlation(TraceView& v, Row row) {
  const Phase phase = v.trace().phases()[row];
  const bool is_flow = phase == Phase::kFlowStart || phase == Phase::kFlowEnd;
  return is_flow ? kAbsent : v.trace().correlations()[row];
}

template <const SparseColumn<std::int64_t>& (Trace::*column)() const>
std::int64_t sparse(TraceView& v, Row row) {
  return (v.trace().*column)().at(EventId{row}).value_or(kAbsent);
}

// --- slice, instant ---

constexpr ColumnDef kSliceColumns[] = {
    {.name = "id",
     .description = "number of the event in the file",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "type",
     .kind = Kind::kText,
     .description = "internal_slice",
     .text = [](TraceView& v, Row) { return v.code_of("internal_slice"); }},
    {.name = "ts", .unit = "ns", .description = "start", .find = Find::kTime, .integer = event_ts},
    {.name = "dur", .unit = "ns", .description = "length", .integer = event_dur},
    {.name = "track_id", .description = "row of track", .find = Find::kFew, .integer = event_track},
    {.name = "category",
     .kind = Kind::kText,
     .description = "as written by the profiler",
     .find = Find::kFew,
     .text = event_category},
    {.name = "cat",
     .kind = Kind::kText,
     .description = "the same",
     .find = Find::kFew,
     .text = event_category},
    {.name = "name",
     .kind = Kind::kText,
     .description = "as written by the profiler",
     .find = Find::kMany,
     .text = event_name},
    {.name = "depth",
     .description = "slices around it on its track",
     .integer =
         [](TraceView& v, Row row) {
           v.need_nesting();
           return std::int64_t{v.slices().depth[row]};
         }},
    {.name = "parent_id",
     .description = "slice around it on its track",
     .find = Find::kMany,
     .integer =
         [](TraceView& v, Row row) {
           v.need_nesting();
           return id_or_null(v.slices().parent[row]);
         }},
    {.name = "arg_set_id",
     .description = "its rows of args",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "slice_id", .description = "as id", .find = Find::kKey, .integer = row_number},
    {.name = "stack_id", .description = "NULL", .integer = no_integer},
    {.name = "parent_stack_id", .description = "NULL", .integer = no_integer},
    {.name = "thread_ts", .description = "NULL", .integer = no_integer},
    {.name = "thread_dur", .description = "NULL", .integer = no_integer},
    {.name = "thread_instruction_count", .description = "NULL", .integer = no_integer},
    {.name = "thread_instruction_delta", .description = "NULL", .integer = no_integer},
};

constexpr ColumnDef kInstantColumns[] = {
    {.name = "ts", .unit = "ns", .description = "when", .find = Find::kTime, .integer = event_ts},
    {.name = "track_id", .description = "row of track", .find = Find::kFew, .integer = event_track},
    {.name = "name",
     .kind = Kind::kText,
     .description = "as written by the profiler",
     .find = Find::kMany,
     .text = event_name},
    {.name = "arg_set_id",
     .description = "number of the event in the file",
     .find = Find::kKey,
     .integer = row_number},
};

// --- event ---

constexpr std::string_view kPhases[] = {"complete", "flow start", "flow end", "instant",
                                        "metadata", "other",      "damaged"};

constexpr ColumnDef kEventColumns[] = {
    {.name = "id",
     .description = "number of the event in the file",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "phase",
     .kind = Kind::kText,
     .description = "complete, flow start, flow end, instant, metadata, other, damaged",
     .find = Find::kFew,
     .text =
         [](TraceView& v, Row row) {
           return v.code_of(kPhases[static_cast<std::size_t>(v.trace().phases()[row])]);
         }},
    {.name = "ts", .unit = "ns", .description = "start", .find = Find::kTime, .integer = event_ts},
    {.name = "dur", .unit = "ns", .description = "length", .integer = event_dur},
    {.name = "name",
     .kind = Kind::kText,
     .description = "as written by the profiler",
     .find = Find::kMany,
     .text = event_name},
    {.name = "name_id",
     .description = "row of string",
     .find = Find::kMany,
     .integer = event_name_id},
    {.name = "category",
     .kind = Kind::kText,
     .description = "as written by the profiler",
     .find = Find::kFew,
     .text = event_category},
    {.name = "track_id", .description = "row of track", .find = Find::kFew, .integer = event_track},
    {.name = "signature_id",
     .description = "row of signature: its arguments",
     .find = Find::kMany,
     .integer = event_signature},
    {.name = "correlation",
     .description = "shared by a call and the GPU work it launched",
     .find = Find::kMany,
     .integer = event_correlation},
    {.name = "external_id",
     .description = "External id",
     .find = Find::kMany,
     .integer = sparse<&Trace::external_ids>},
    {.name = "sequence",
     .description = "Sequence number, shared by forward and backward",
     .find = Find::kMany,
     .integer = sparse<&Trace::sequence_numbers>},
    {.name = "forward_thread",
     .description = "Fwd thread id",
     .integer = sparse<&Trace::forward_threads>},
    {.name = "stream",
     .description = "of GPU work",
     .find = Find::kFew,
     .integer = sparse<&Trace::streams>},
    {.name = "device",
     .description = "of GPU work",
     .find = Find::kFew,
     .integer = sparse<&Trace::devices>},
    {.name = "call_stack",
     .kind = Kind::kText,
     .description = "frames, innermost first",
     .text =
         [](TraceView& v, Row row) {
           return v.trace().call_stacks().at(EventId{row}).value_or(StringId{}).row;
         }},
    {.name = "details",
     .kind = Kind::kText,
     .description = "other arguments, as JSON",
     .text =
         [](TraceView& v, Row row) {
           return v.trace().detail_texts().at(EventId{row}).value_or(StringId{}).row;
         }},
};

// --- gpu_event, launch ---

TextCode gpu_kind(TraceView& v, Row row) {
  switch (v.trace().categories()[row]) {
    case Category::kGpuMemcpy:
      return v.code_of("memcpy");
    case Category::kGpuMemset:
      return v.code_of("memset");
    default:
      return v.code_of("kernel");
  }
}

NodeId launch_node(TraceView& v, Row row) {
  const EventId launch = v.launch_of(row);
  return launch.valid() ? v.tree().node(launch) : NodeId{};
}

std::int64_t launch_id(TraceView& v, Row row) { return id_or_null(v.launch_of(row).row); }

constexpr ColumnDef kGpuEventColumns[] = {
    {.name = "id",
     .description = "number of the event in the file",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "ts", .unit = "ns", .description = "start", .find = Find::kTime, .integer = event_ts},
    {.name = "dur", .unit = "ns", .description = "length", .integer = event_dur},
    {.name = "ts_end", .unit = "ns", .description = "end", .integer = event_end},
    {.name = "name",
     .kind = Kind::kText,
     .description = "of the kernel, copy or fill",
     .find = Find::kMany,
     .text = event_name},
    {.name = "name_id",
     .description = "row of string",
     .find = Find::kMany,
     .integer = event_name_id},
    {.name = "kind",
     .kind = Kind::kText,
     .description = "kernel, memcpy or memset",
     .find = Find::kFew,
     .text = gpu_kind},
    {.name = "device", .description = "the GPU", .find = Find::kFew, .integer = event_device},
    {.name = "stream", .description = "its stream", .find = Find::kFew, .integer = event_stream},
    {.name = "track_id", .description = "row of track", .find = Find::kFew, .integer = event_track},
    {.name = "launch_id",
     .description = "the call that launched it; NULL: not in the trace",
     .find = Find::kMany,
     .integer = launch_id},
    {.name = "op_id",
     .description = "the op it is charged to",
     .find = Find::kMany,
     .integer =
         [](TraceView& v, Row row) {
           const NodeId op = v.launcher_of(row);
           return op.valid() ? std::int64_t{v.tree().event(op).row} : kAbsent;
         }},
    {.name = "op",
     .kind = Kind::kText,
     .description = "name of that op",
     .find = Find::kMany,
     .text =
         [](TraceView& v, Row row) {
           const NodeId op = v.launcher_of(row);
           return op.valid() ? event_name(v, v.tree().event(op).row) : kNoText;
         }},
    {.name = "op_category",
     .kind = Kind::kText,
     .description = "category of that op",
     .find = Find::kFew,
     .text = [](TraceView& v, Row row) { return v.op_category(v.launcher_of(row)); }},
    {.name = "category",
     .kind = Kind::kText,
     .description = "what its name says it does",
     .find = Find::kFew,
     .text = [](TraceView& v, Row row) { return v.kernel_category(row); }},
    {.name = "module",
     .kind = Kind::kText,
     .description = "nn.Module that launched it",
     .find = Find::kMany,
     .text = [](TraceView& v, Row row) { return v.module_name(launch_node(v, row)); }},
    {.name = "step",
     .kind = Kind::kText,
     .description = "step in which it was launched",
     .find = Find::kFew,
     .text =
         [](TraceView& v, Row row) {
           const EventId launch = v.launch_of(row);
           return launch.valid() ? v.step_at(v.trace().ts_ns()[launch.row]) : kNoText;
         }},
    {.name = "correlation",
     .description = "shared with its call",
     .find = Find::kMany,
     .integer = event_correlation},
    {.name = "graph_node",
     .description = "node of the graph it ran in",
     .integer = [](TraceView& v, Row row) { return v.detail_integer(row, "graph node id"); }},
    {.name = "bytes",
     .unit = "bytes",
     .description = "that a copy or fill moved",
     .integer = [](TraceView& v, Row row) { return v.detail_integer(row, "bytes"); }},
};

Row call_of(TraceView& v, Row row) { return v.launch_of(row).row; }

constexpr ColumnDef kLaunchColumns[] = {
    {.name = "call_id",
     .description = "the runtime call",
     .find = Find::kMany,
     .integer = launch_id},
    {.name = "gpu_id",
     .description = "the GPU work it launched",
     .find = Find::kMany,
     .integer = row_number},
    {.name = "call",
     .kind = Kind::kText,
     .description = "name of the call",
     .find = Find::kFew,
     .text = [](TraceView& v, Row row) { return event_name(v, call_of(v, row)); }},
    {.name = "call_ts",
     .unit = "ns",
     .description = "start of the call",
     .find = Find::kTime,
     .integer = [](TraceView& v, Row row) { return event_ts(v, call_of(v, row)); }},
    {.name = "call_dur",
     .unit = "ns",
     .description = "its length",
     .integer = [](TraceView& v, Row row) { return event_dur(v, call_of(v, row)); }},
    {.name = "gpu_ts", .unit = "ns", .description = "start of the GPU work", .integer = event_ts},
    {.name = "gpu_dur", .unit = "ns", .description = "its length", .integer = event_dur},
    {.name = "latency",
     .unit = "ns",
     .description = "from the call to the start of the work",
     .integer = [](TraceView& v,
                   Row row) { return minus_ns(event_ts(v, row), event_ts(v, call_of(v, row))); }},
    {.name = "queue",
     .unit = "ns",
     .description = "what of it lies after the call",
     .integer =
         [](TraceView& v, Row row) {
           return std::max<std::int64_t>(0,
                                         minus_ns(event_ts(v, row), event_end(v, call_of(v, row))));
         }},
};

// --- op ---

NodeId node_of_op(TraceView& v, Row row) { return v.tree().node(EventId{row}); }

constexpr ColumnDef kOpColumns[] = {
    {.name = "id",
     .description = "number of the event in the file",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "name",
     .kind = Kind::kText,
     .description = "as traced",
     .find = Find::kMany,
     .text = event_name,
     .of_event = true},
    {.name = "ts",
     .unit = "ns",
     .description = "start",
     .find = Find::kTime,
     .integer = event_ts,
     .of_event = true},
    {.name = "dur",
     .unit = "ns",
     .description = "length on the host",
     .integer = event_dur,
     .of_event = true},
    {.name = "utid", .description = "row of thread", .find = Find::kFew, .integer = event_track},
    {.name = "parent_op",
     .description = "nearest op above",
     .find = Find::kMany,
     .integer =
         [](TraceView& v, Row row) {
           const NodeId above = v.tree().nearest_op(node_of_op(v, row));
           return above.valid() ? std::int64_t{v.tree().event(above).row} : kAbsent;
         }},
    {.name = "category",
     .kind = Kind::kText,
     .description = "GEMM, elementwise, ...",
     .find = Find::kFew,
     .text = [](TraceView& v, Row row) { return v.op_category(node_of_op(v, row)); }},
    {.name = "signature_id",
     .description = "row of signature: its arguments",
     .find = Find::kMany,
     .integer = event_signature,
     .of_event = true},
    {.name = "direct_ns",
     .unit = "ns",
     .description = "GPU time of what it launched itself",
     .integer =
         [](TraceView& v, Row row) {
           const Launcher* const launcher = v.launches().launcher(node_of_op(v, row));
           return launcher == nullptr ? std::int64_t{0} : launcher->direct_ns;
         }},
    {.name = "subtree_ns",
     .unit = "ns",
     .description = "GPU time of all below it",
     .integer = [](TraceView& v, Row row) { return v.launches().busy_ns(node_of_op(v, row)); }},
    {.name = "gpu_events",
     .description = "GPU events below it",
     .integer = [](TraceView& v,
                   Row row) { return std::int64_t{v.tree().gpu_count(node_of_op(v, row))}; }},
    {.name = "module",
     .kind = Kind::kText,
     .description = "nn.Module it belongs to",
     .find = Find::kMany,
     .text = [](TraceView& v, Row row) { return v.module_name(node_of_op(v, row)); }},
    {.name = "step",
     .kind = Kind::kText,
     .description = "step it began in",
     .find = Find::kFew,
     .text = [](TraceView& v, Row row) { return v.step_at(v.trace().ts_ns()[row]); }},
    {.name = "forward_id",
     .description = "the forward op of a backward op",
     .find = Find::kMany,
     .integer = [](TraceView& v,
                   Row row) { return id_or_null(v.tree().forward_of(EventId{row}).row); }},
    {.name = "is_backward",
     .kind = Kind::kBool,
     .description = "1: in the backward pass",
     .integer =
         [](TraceView& v, Row row) {
           return std::int64_t{v.places().phase(node_of_op(v, row)) == ProgramPhase::kBackward};
         }},
};

// --- tree ---

Row event_of(TraceView& v, Row node) { return v.tree().event({node}).row; }

TextCode node_kind(TraceView& v, Row row) {
  const NodeId node{row};
  const Category category = v.trace().categories()[event_of(v, row)];
  if (is_gpu(category)) return v.code_of("gpu");
  if (is_runtime(category)) return v.code_of("call");
  if (v.tree().is_module(node)) return v.code_of("module");
  if (category == Category::kPythonFunction) return v.code_of("python");
  return v.code_of(v.tree().is_op(node) ? "op" : "annotation");
}

constexpr ColumnDef kTreeColumns[] = {
    {.name = "node",
     .description = "place in tree order",
     .find = Find::kKey,
     .integer = row_number},
    {.name = "event_id",
     .description = "number of the event in the file",
     .find = Find::kMany,
     .integer = [](TraceView& v, Row row) { return std::int64_t{event_of(v, row)}; }},
    {.name = "parent",
     .description = "node above; NULL: a root",
     .find = Find::kMany,
     .integer = [](TraceView& v, Row row) { return id_or_null(v.tree().parent({row}).row); }},
    {.name = "depth",
     .description = "nodes above it",
     .integer = [](TraceView& v, Row row) { return std::int64_t{v.depth({row})}; }},
    {.name = "subtree_end",
     .description = "its subtree is node >= node AND node < subtree_end",
     .integer = [](TraceView& v, Row row) { return std::int64_t{v.tree().end({row}).row}; }},
    {.name = "kind",
     .kind = Kind::kText,
     .description = "module, python, annotation, op, call or gpu",
     .find = Find::kFew,
     .text = node_kind},
    {.name = "name",
     .kind = Kind::kText,
     .description = "of the event",
     .find = Find::kMany,
     .text = [](TraceView& v, Row row) { return event_name(v, event_of(v, row)); },
     .of_event = true},
    {.name = "ts",
     .unit = "ns",
     .description = "start",
     .find = Find::kTime,
     .integer = [](TraceView& v, Row row) { return event_ts(v, event_of(v, row)); },
     .of_event = true},
    {.name = "dur",
     .unit = "ns",
     .description = "length",
     .integer = [](TraceView& v, Row row) { return event_dur(v, event_of(v, row)); },
     .of_event = true},
    {.name = "gpu_count",
     .description = "GPU events in its subtree",
     .integer = [](TraceView& v, Row row) { return std::int64_t{v.tree().gpu_count({row})}; }},
    {.name = "gpu_ns",
     .unit = "ns",
     .description = "their lengths together",
     .integer = [](TraceView& v, Row row) { return v.tree().gpu_sum_ns({row}); }},
};

// --- memory, counter ---

const MemoryChange& change_of(TraceView& v, Row row) {
  return v.trace().memory_changes().values()[row];
}
std::int64_t change_event(TraceView& v, Row row) { return v.trace().memory_changes().rows()[row]; }

constexpr ColumnDef kMemoryColumns[] = {
    {.name = "event_id",
     .description = "number of the event in the file",
     .find = Find::kMany,
     .integer = change_event},
    {.name = "ts",
     .unit = "ns",
     .description = "when",
     .find = Find::kTime,
     .integer = [](TraceView& v,
                   Row row) { return v.trace().ts_ns()[v.trace().memory_changes().rows()[row]]; },
     .of_event = true},
    {.name = "addr",
     .description = "of the block",
     .find = Find::kMany,
     .integer = [](TraceView& v, Row row) { return change_of(v, row).address; }},
    {.name = "bytes",
     .unit = "bytes",
     .description = "handed out; negative: taken back",
     .integer = [](TraceView& v, Row row) { return change_of(v, row).bytes; }},
    {.name = "allocated",
     .unit = "bytes",
     .description = "in use afterwards",
     .integer = [](TraceView& v, Row row) { return change_of(v, row).allocated; }},
    {.name = "reserved",
     .unit = "bytes",
     .description = "held by the allocator afterwards",
     .integer = [](TraceView& v, Row row) { return change_of(v, row).reserved; }},
    {.name = "device_type",
     .description = "0: CPU, 1: CUDA, 6: ROCm",
     .find = Find::kFew,
     .integer = [](TraceView& v, Row row) { return std::int64_t{change_of(v, row).device_type}; }},
    {.name = "device",
     .description = "its number",
     .find = Find::kFew,
     .integer = [](TraceView& v, Row row) { return std::int64_t{change_of(v, row).device}; }},
};

// Two counters per device: row 2 i is `allocated` of change i, row 2 i + 1 `reserved`.
constexpr ColumnDef kCounterColumns[] = {
    {.name = "id", .description = "number of the value", .find = Find::kKey, .integer = row_number},
    {.name = "ts",
     .unit = "ns",
     .description = "when",
     .find = Find::kTime,
     .integer =
         [](TraceView& v, Row row) {
           return v.trace().ts_ns()[v.trace().memory_changes().rows()[row / 2]];
         }},
    {.name = "track_id",
     .description = "row of counter_track",
     .find = Find::kFew,
     .integer =
         [](TraceView& v, Row row) {
           const std::size_t first = v.trace().track_table().size() + v.process_count();
           return static_cast<std::int64_t>(first) + 2 * std::int64_t{v.memory_device(row / 2)} +
                  row % 2;
         }},
    {.name = "value",
     .kind = Kind::kReal,
     .unit = "bytes",
     .description = "from then on",
     .other =
         [](TraceView& v, Row row) {
           const MemoryChange& change = change_of(v, row / 2);
           return Value{static_cast<double>(row % 2 == 0 ? change.allocated : change.reserved)};
         }},
    {.name = "arg_set_id", .description = "NULL", .integer = no_integer},
};

// --- flow, string ---

constexpr ColumnDef kFlowColumns[] = {
    {.name = "id", .description = "number of the arrow", .find = Find::kKey, .integer = row_number},
    {.name = "slice_out",
     .description = "where it begins: a call, a forward op",
     .find = Find::kMany,
     .integer = [](TraceView& v, Row row) { return std::int64_t{v.flows()[row].out}; }},
    {.name = "slice_in",
     .description = "where it ends: GPU work, a backward op",
     .find = Find::kMany,
     .integer = [](TraceView& v, Row row) { return std::int64_t{v.flows()[row].in}; }},
    {.name = "name",
     .kind = Kind::kText,
     .description = "ac2g: launch; fwdbwd: autograd",
     .find = Find::kFew,
     .text = [](TraceView& v,
                Row row) { return v.code_of(v.flows()[row].is_launch ? "ac2g" : "fwdbwd"); }},
    {.name = "trace_id", .description = "NULL", .integer = no_integer},
    {.name = "arg_set_id", .description = "NULL", .integer = no_integer},
};

constexpr ColumnDef kStringColumns[] = {
    {.name = "id", .description = "number of the text", .find = Find::kKey, .integer = row_number},
    {.name = "text",
     .kind = Kind::kText,
     .description = "a name or an argument of the trace",
     .find = Find::kMany,
     .text = [](TraceView&, Row row) { return row; }},
};

constexpr TableDef kTables[] = {
    {"slice", "Events with a duration (as Perfetto)", kSliceColumns,
     [](TraceView& v) { return RowSet::of(v.slices().rows); }},
    {"instant", "Events without one (as Perfetto)", kInstantColumns,
     [](TraceView& v) { return RowSet::of(v.instant_rows()); }},
    {"event", "Every element of the profiler's list", kEventColumns,
     [](TraceView& v) { return RowSet::dense(v.trace().size()); }},
    {"gpu_event", "Kernels, copies and fills, and where they come from", kGpuEventColumns,
     [](TraceView& v) { return RowSet::of(v.gpu_rows()); }},
    {"launch", "Calls and the GPU work they launched", kLaunchColumns,
     [](TraceView& v) { return RowSet::of(v.launched()); }},
    {"op", "Ops on the host, with their GPU time", kOpColumns,
     [](TraceView& v) { return RowSet::of(v.op_rows()); }},
    {"tree", "The call tree: nodes in tree order", kTreeColumns,
     [](TraceView& v) { return RowSet::dense(v.tree().size()); }},
    {"memory", "What the framework's allocator did", kMemoryColumns,
     [](TraceView& v) { return RowSet::dense(v.trace().memory_changes().rows().size()); }},
    {"counter", "Totals of the allocator over time (as Perfetto)", kCounterColumns,
     [](TraceView& v) { return RowSet::dense(2 * v.trace().memory_changes().rows().size()); }},
    {"flow", "Arrows: launch to GPU work, forward to backward (as Perfetto)", kFlowColumns,
     [](TraceView& v) { return RowSet::dense(v.flows().size()); }},
    {"string", "Names and texts of the trace", kStringColumns,
     [](TraceView& v) { return RowSet::dense(v.trace().string_count()); }},
};

constexpr ViewDef kViews[] = {
    {"slices", "As slice", "SELECT * FROM slice"},
    {"kernel", "Kernels: gpu_event of kind kernel",
     "SELECT * FROM gpu_event WHERE kind = 'kernel'"},
    {"thread_slice", "Slices of threads with their thread and process (as Perfetto)",
     "SELECT slice.id, slice.type, slice.ts, slice.dur, slice.category, slice.name, slice.track_id, "
     "thread.name AS thread_name, thread.utid, thread.tid, process.name AS process_name, "
     "process.upid, process.pid, slice.depth, slice.parent_id, slice.arg_set_id, slice.thread_ts, "
     "slice.thread_dur FROM slice JOIN thread_track ON slice.track_id = thread_track.id "
     "JOIN thread USING (utid) LEFT JOIN process USING (upid)"},
    {"process_slice", "Slices of processes (as Perfetto): none, all are of threads",
     "SELECT slice.id, slice.type, slice.ts, slice.dur, slice.category, slice.name, slice.track_id, "
     "process.name AS process_name, process.upid, process.pid, slice.depth, slice.parent_id, "
     "slice.arg_set_id FROM slice JOIN process_track ON slice.track_id = process_track.id "
     "JOIN process USING (upid)"},
    {"thread_or_process_slice", "Both (as Perfetto)",
     "SELECT id, type, ts, dur, category, name, track_id, thread_name, utid, tid, process_name, "
     "upid, pid, depth, parent_id, arg_set_id FROM thread_slice UNION ALL SELECT id, type, ts, dur, "
     "category, name, track_id, NULL, NULL, NULL, process_name, upid, pid, depth, parent_id, "
     "arg_set_id FROM process_slice"},
};

}  // namespace

std::span<const TableDef> column_tables() { return kTables; }
std::span<const ViewDef> views() { return kViews; }

}  // namespace tracelens::query
