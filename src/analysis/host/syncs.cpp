#include "analysis/host/syncs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/host/user_frames.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// What an op does to the values of the GPU.
enum class Reads : std::uint8_t {
  kUnseen,
  kNothing,
  kMoves,    // copies that may be for the host
  kBack,     // needs a value on the host
  kCallers,  // calls such an op, besides much else
};

Reads reads_of(std::string_view op) {
  constexpr std::string_view kPrefix = "aten::";
  if (!op.starts_with(kPrefix)) return Reads::kNothing;
  op.remove_prefix(kPrefix.size());
  constexpr std::array<std::string_view, 6> kBack = {"item",    "_local_scalar_dense", "is_nonzero",
                                                     "nonzero", "masked_select",       "equal"};
  if (op == "allclose") return Reads::kCallers;
  if (std::ranges::find(kBack, op) != kBack.end() || op.starts_with("unique") ||
      op.starts_with("_unique"))
    return Reads::kBack;
  return op == "to" || op == "_to_copy" || op == "copy_" ? Reads::kMoves : Reads::kNothing;
}

// What is open around an event of a thread.
struct Around {
  EventId op, top_op, python, module, range;
  bool reads_back = false;
};

// Walks the calls of every thread that waits; finds out what is open around each waiting call, and the
// first copy in each range.
class Surroundings {
 public:
  explicit Surroundings(const HostWork& work)
      : work_{work}, frames_{work.trace()}, reads_(work.trace().string_count()) {
    const Trace& trace = work.trace();
    std::vector<bool> has_waits(trace.track_table().size());
    for (const EventId call : work.sync_calls()) has_waits[trace.tracks()[call.row].row] = true;
    const HostRows& rows = work.rows();
    for (std::uint32_t track = 0; track < rows.tracks(); ++track)
      if (has_waits[track]) walk(rows.of(track));
  }
  // Of a call that has no place in the tree nothing is known.
  [[nodiscard]] Around of(EventId call) const {
    const auto found = around_.find(call.row);
    return found == around_.end() ? Around{} : found->second;
  }
  [[nodiscard]] EventId copy_in(EventId range) const {
    const auto found = copies_.find(range.row);
    return found == copies_.end() ? EventId{} : found->second;
  }

 private:
  void walk(std::span<const std::uint32_t> rows) {
    const Trace& trace = work_.trace();
    struct Open {
      std::int64_t end_ns;
      Around around;
    };
    std::vector<Open> open;
    for (const std::uint32_t row : rows) {
      const Interval time = interval_of(trace, {row});
      while (!open.empty() && open.back().end_ns <= time.start) open.pop_back();
      Around around = open.empty() ? Around{} : open.back().around;
      const Category category = trace.categories()[row];
      if (category == Category::kCpuOp)
        enter_op({row}, around);
      else if (category == Category::kPythonFunction)
        enter_frame({row}, around);
      else
        enter_call({row}, around);
      open.push_back({time.end, around});
    }
  }
  void enter_op(EventId op, Around& around) {
    Reads& reads = reads_[work_.trace().names()[op.row].row];
    if (reads == Reads::kUnseen) reads = reads_of(work_.trace().name(op));
    around.op = op;
    if (!around.top_op.valid()) around.top_op = op;
    if (reads == Reads::kBack || reads == Reads::kCallers) around.reads_back = true;
    if ((reads == Reads::kBack || reads == Reads::kMoves) && !around.range.valid())
      around.range = op;
  }
  void enter_frame(EventId frame, Around& around) {
    if (frames_.is_own(frame))
      around.python = frame;
    else if (is_module_name(work_.trace().name(frame)))
      around.module = frame;
  }
  void enter_call(EventId call, const Around& around) {
    for (const std::uint32_t job : work_.launched_by(call)) {
      const EventId gpu = work_.jobs()[job].gpu;
      if (work_.trace().category(gpu) != Category::kGpuMemcpy) continue;
      copies_.try_emplace(call.row, gpu);
      if (around.range.valid()) copies_.try_emplace(around.range.row, gpu);
    }
    if (work_.class_of(call) == CallClass::kSync) around_.emplace(call.row, around);
  }

  const HostWork& work_;
  UserFrames frames_;
  std::vector<Reads> reads_;                           // by name
  std::unordered_map<std::uint32_t, Around> around_;   // by call
  std::unordered_map<std::uint32_t, EventId> copies_;  // by range and by call
};

// The GPU event whose end a call waited for.
class WaitedFor {
 public:
  explicit WaitedFor(const HostWork& work) : work_{work} {
    by_end_.resize(work.jobs().size());
    std::iota(by_end_.begin(), by_end_.end(), 0U);
    std::ranges::stable_sort(by_end_, {}, [this](std::uint32_t job) { return end_ns(job); });
    // Where the profiler recorded what a call waited for: the stream, by the id of the call.
    const Trace& trace = work.trace();
    for (std::size_t i = 0; i < trace.streams().rows().size(); ++i) {
      const EventId event{trace.streams().rows()[i]};
      if (trace.category(event) == Category::kOtherCategory && trace.name(event) == "Stream Sync" &&
          trace.correlations()[event.row] != kAbsent)
        streams_.emplace(trace.correlations()[event.row], trace.streams().values()[i]);
    }
  }
  [[nodiscard]] EventId of(EventId call) const {
    const Trace& trace = work_.trace();
    const Interval time = interval_of(trace, call);
    if (const auto own = work_.launched_by(call); !own.empty()) {
      const std::uint32_t last =
          *std::ranges::max_element(own, {}, [this](std::uint32_t job) { return end_ns(job); });
      return end_ns(last) > time.start && end_ns(last) <= time.end ? work_.jobs()[last].gpu
                                                                   : EventId{};
    }
    const auto stream = streams_.find(trace.correlations()[call.row]);
    auto at = std::ranges::upper_bound(by_end_, time.end, {},
                                       [this](std::uint32_t job) { return end_ns(job); });
    // Nearly always the first is it; a file made to be slow is not searched to its beginning.
    constexpr int kMostTries = 1000;
    for (int tries = 0; at != by_end_.begin() && tries < kMostTries; ++tries) {
      const GpuJob& job = work_.jobs()[*--at];
      if (end_of(trace, job.gpu) <= time.start) break;
      // Where the launch is not in the trace, it came before the recording.
      if ((!job.call.valid() || trace.ts_ns()[job.call.row] < time.start) &&
          (stream == streams_.end() || stream->second == job.stream))
        return job.gpu;
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t end_ns(std::uint32_t job) const {
    return end_of(work_.trace(), work_.jobs()[job].gpu);
  }

  const HostWork& work_;
  std::vector<std::uint32_t> by_end_;  // places among the jobs
  std::unordered_map<std::int64_t, std::int64_t> streams_;
};

StringId name_of(const Trace& trace, EventId event) {
  return event.valid() ? trace.names()[event.row] : StringId{};
}

std::vector<SyncGroup> group_calls(const HostWork& work, std::vector<SyncCall>& calls) {
  const Trace& trace = work.trace();
  KeyIndex index;
  std::vector<SyncGroup> groups;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    SyncCall& call = calls[i];
    const SyncGroup like{.call = name_of(trace, call.call),
                         .op = name_of(trace, call.op),
                         .top_op = name_of(trace, call.top_op),
                         .python = name_of(trace, call.python),
                         .module = name_of(trace, call.module),
                         .direction = call.direction,
                         .calls = {}};
    call.group = index.id_of({like.call.row, like.op.row, like.top_op.row, like.python.row,
                              like.module.row, static_cast<std::uint32_t>(like.direction)});
    if (call.group == groups.size()) groups.push_back(like);
    SyncGroup& group = groups[call.group];
    const std::int64_t ns = duration_of(trace, call.call);
    group.calls.push_back(i);
    group.wait_ns = plus_ns(group.wait_ns, ns);
    group.waited_ns = plus_ns(group.waited_ns, call.waited_ns);
    group.longest_ns = std::max(group.longest_ns, ns);
    group.drained += call.drained ? 1 : 0;
    group.idle_after_ns = plus_ns(group.idle_after_ns, call.idle_after_ns);
    group.round_trips += call.round_trip ? 1 : 0;
    group.bytes = plus_ns(group.bytes, call.bytes.value_or(0));
  }
  for (SyncGroup& group : groups) {
    std::vector<EventId> ranges;
    for (const std::uint32_t call : group.calls) ranges.push_back(calls[call].range);
    std::ranges::sort(ranges);
    group.ranges = std::unique(ranges.begin(), ranges.end()) - ranges.begin();
  }
  std::vector<std::uint32_t> order(groups.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t group) { return groups[group].wait_ns; });
  std::vector<SyncGroup> sorted;
  for (const std::uint32_t group : order) {
    for (const std::uint32_t call : groups[group].calls)
      calls[call].group = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(groups[group]));
  }
  return sorted;
}

struct Row {
  const HostWork& work;
  const SyncCall& sync;
  [[nodiscard]] std::string_view text(EventId event) const {
    return event.valid() ? work.trace().name(event) : std::string_view{};
  }
};
struct GroupRow {
  const Trace& trace;
  const SyncGroup& group;
  [[nodiscard]] std::string_view text(StringId id) const {
    return id.valid() ? trace.text(id) : std::string_view{};
  }
};

}  // namespace

SyncCalls sync_calls_of(const HostWork& work, const GpuGaps& gaps) {
  const Trace& trace = work.trace();
  SyncCalls syncs;
  if (work.sync_calls().empty()) return syncs;
  const Surroundings surroundings{work};
  const WaitedFor waited_for{work};
  std::unordered_map<std::uint32_t, std::vector<Interval>> idle_after;  // by call, of all GPUs
  for (const DrainedGap& gap : gaps.drained) idle_after[gap.call.row].push_back(gap.time);
  std::unordered_map<std::uint32_t, Copy> copies;  // by GPU event
  for (const Copy& copy : copies_of(work)) copies.emplace(copy.gpu.row, copy);
  constexpr std::int64_t kFewBytes = 1024;
  for (const EventId call : work.sync_calls()) {
    const Around around = surroundings.of(call);
    SyncCall sync{.call = call,
                  .waited_for = waited_for.of(call),
                  .round_trip = around.reads_back,
                  .op = around.op,
                  .top_op = around.top_op,
                  .python = around.python,
                  .module = around.module,
                  .range = around.range.valid() ? around.range : call,
                  .copy = {},
                  .bytes = {}};
    if (sync.waited_for.valid())
      sync.waited_ns = minus_ns(end_of(trace, sync.waited_for), trace.ts_ns()[call.row]);
    if (const auto idle = idle_after.find(call.row); idle != idle_after.end()) {
      sync.drained = true;
      sync.idle_after_ns = length(merge(std::move(idle->second)));
    }
    sync.copy = surroundings.copy_in(sync.range);
    if (const auto copy = copies.find(sync.copy.row); copy != copies.end()) {
      sync.direction = copy->second.kind;
      sync.memory = copy->second.memory;
      sync.bytes = copy->second.bytes;
      sync.round_trip = sync.round_trip || (sync.direction == CopyKind::kDeviceToHost &&
                                            sync.bytes && *sync.bytes <= kFewBytes);
    }
    syncs.calls.push_back(sync);
  }
  syncs.groups = group_calls(work, syncs.calls);
  return syncs;
}

Table sync_calls(const HostWork& work, const SyncCalls& syncs) {
  ColumnSet<Row> columns{
      {{"start_ms", Kind::kReal, "ms", "when it began, since the trace began"},
       [](const Row& row) {
         return ms(minus_ns(row.work.trace().ts_ns()[row.sync.call.row], row.work.origin_ns()));
       }},
      {{"call", Kind::kText, "", "the call that waits for the GPU"},
       [](const Row& row) { return row.text(row.sync.call); }},
      {{"wait_us", Kind::kReal, "µs", "how long the call took"},
       [](const Row& row) { return us(duration_of(row.work.trace(), row.sync.call)); }},
      {{"waited_us", Kind::kReal, "µs",
        "from its start to the end of the GPU work it waited for; 0: it did not wait"},
       [](const Row& row) { return us(row.sync.waited_ns); }},
      {{"drained", Kind::kBool, "", "the GPU had nothing left to do because of it"},
       [](const Row& row) { return row.sync.drained; }},
      {{"idle_after_us", Kind::kReal, "µs", "how long the GPU then had nothing to do"},
       [](const Row& row) { return us(row.sync.idle_after_ns); }},
      {{"round_trip", Kind::kBool, "",
        "for a value that the host needs: item(), nonzero() and the like, or 1 KiB at most copied to the host"},
       [](const Row& row) { return row.sync.round_trip; }},
      {{"direction", Kind::kText, "", "of the copy that goes with it"},
       [](const Row& row) { return text_of(row.sync.direction); }},
      {{"memory", Kind::kText, "", "memory on the host's side of that copy"},
       [](const Row& row) { return text_of(row.sync.memory); }},
      {{"bytes", Kind::kInteger, "bytes", "that it moved"},
       [](const Row& row) { return row.sync.bytes; }},
      {{"op", Kind::kText, "", "innermost op around it"},
       [](const Row& row) { return row.text(row.sync.op); }},
      {{"top_op", Kind::kText, "", "outermost op around it"},
       [](const Row& row) { return row.text(row.sync.top_op); }},
      {{"range", Kind::kText, "",
        "what would go if the value were not read back: an op, or the call"},
       [](const Row& row) { return row.text(row.sync.range); }},
      {{"range_us", Kind::kReal, "µs", "how long that took on the host"},
       [](const Row& row) { return us(duration_of(row.work.trace(), row.sync.range)); }},
      {{"python", Kind::kText, "", "the line of the user's own Python code that asked for it"},
       [](const Row& row) { return row.text(row.sync.python); }},
      {{"module", Kind::kText, "", "innermost nn.Module around it"},
       [](const Row& row) { return row.text(row.sync.module); }},
      {{"step", Kind::kText, "", "the step it is in"}, [](const Row& row) {
         const std::size_t step = row.work.step_at(row.work.trace().ts_ns()[row.sync.call.row]);
         return step < row.work.steps().size() ? row.work.steps()[step].name : std::string_view{};
       }}};
  Table table = columns.make_table("sync_calls", "Calls in which the host waited for the GPU");
  for (const SyncCall& sync : syncs.calls) columns.append(table, Row{work, sync});
  return table;
}

Table sync_summary(const HostWork& work, const SyncCalls& syncs) {
  ColumnSet<GroupRow> columns{
      {{"call", Kind::kText, "", "the call that waits for the GPU"},
       [](const GroupRow& row) { return row.text(row.group.call); }},
      {{"direction", Kind::kText, "", "of the copies that go with it"},
       [](const GroupRow& row) { return text_of(row.group.direction); }},
      {{"op", Kind::kText, "", "innermost op around it"},
       [](const GroupRow& row) { return row.text(row.group.op); }},
      {{"top_op", Kind::kText, "", "outermost op around it"},
       [](const GroupRow& row) { return row.text(row.group.top_op); }},
      {{"python", Kind::kText, "", "the line of the user's own Python code that asked for it"},
       [](const GroupRow& row) { return row.text(row.group.python); }},
      {{"module", Kind::kText, "", "innermost nn.Module around it"},
       [](const GroupRow& row) { return row.text(row.group.module); }},
      {{"count", Kind::kInteger, "", "calls"},
       [](const GroupRow& row) { return static_cast<std::int64_t>(row.group.calls.size()); }},
      {{"ranges", Kind::kInteger, "",
        "ops that would go if nothing were read back; a copy and its wait count once"},
       [](const GroupRow& row) { return row.group.ranges; }},
      {{"wait_us", Kind::kReal, "µs", "how long the calls took"},
       [](const GroupRow& row) { return us(row.group.wait_ns); }},
      {{"waited_us", Kind::kReal, "µs", "of this until the GPU work they waited for had ended"},
       [](const GroupRow& row) { return us(row.group.waited_ns); }},
      {{"longest_us", Kind::kReal, "µs", "the longest of the calls"},
       [](const GroupRow& row) { return us(row.group.longest_ns); }},
      {{"drained", Kind::kInteger, "", "calls after which the GPU had nothing left to do"},
       [](const GroupRow& row) { return row.group.drained; }},
      {{"idle_after_us", Kind::kReal, "µs", "how long the GPU then had nothing to do"},
       [](const GroupRow& row) { return us(row.group.idle_after_ns); }},
      {{"round_trips", Kind::kInteger, "", "calls for a value that the host needs"},
       [](const GroupRow& row) { return row.group.round_trips; }},
      {{"bytes", Kind::kInteger, "bytes", "that the copies moved"},
       [](const GroupRow& row) { return row.group.bytes; }}};
  Table table =
      columns.make_table("sync_summary", "Where the host waits for the GPU, the longest first");
  for (const SyncGroup& group : syncs.groups) columns.append(table, GroupRow{work.trace(), group});
  return table;
}

}  // namespace tracelens
