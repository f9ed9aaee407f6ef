#include "tree/links.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <span>
#include <utility>

#include "io/ascii.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/id_slots.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

// The id that calls and GPU events share: correlation, unless the first launch of the trace has
// none (very old ROCm traces, whose flows carry external ids). Where no call says that it is a
// launch, because the trace does not name its calls, any call will do.
bool links_by_external_id(const Trace& trace) {
  bool has_calls = false, has_correlation = false;
  for (const EventId event : trace.all_events()) {
    if (!is_runtime(trace.category(event))) continue;
    const bool is_correlated = trace.correlations()[event.row] != kAbsent;
    if (io::contains_ignoring_case(trace.name(event), "launch")) return !is_correlated;
    has_calls = true;
    has_correlation = has_correlation || is_correlated;
  }
  return has_calls && !has_correlation;
}

// rocprofv3's traces have no flows from launches to GPU events: the id they share is all there is.
// Their runtime calls keep a category text of their own ("hip_api").
bool has_own_runtime_categories(const Trace& trace) {
  for (const EventId event : trace.all_events())
    if (const Category category = trace.category(event); is_runtime(category))
      return trace.category_text(event) != category_name(category);
  return false;
}

// The linking id of every event; for flows the flow id.
std::vector<std::int64_t> external_links(const Trace& trace) {
  std::vector<std::int64_t> links(trace.size(), kAbsent);
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace.categories()[i] == Category::kAsyncCpuToGpu) links[i] = trace.correlations()[i];
  const auto& ids = trace.external_ids();
  for (std::size_t i = 0; i < ids.rows().size(); ++i) {
    const std::uint32_t row = ids.rows()[i];
    if (trace.categories()[row] != Category::kAsyncCpuToGpu) links[row] = ids.values()[i];
  }
  return links;
}

// A runtime call and the last GPU event listed under it so far.
struct Call {
  std::uint32_t row = kNoRow, tail = kNoRow;
};

// What the trace says about one linking id.
struct Link {
  std::uint32_t end_track = kNoRow;  // track of the last flow end
  std::uint32_t target = kNoRow;     // last GPU event of the id on that track
  Call plain, graph;                 // last ordinary call and last graph launch with the id
  bool has_start = false;
};

bool is_usable_gpu_event(const Trace& trace, std::size_t row) {
  return is_gpu(trace.categories()[row]) && trace.phases()[row] == Phase::kComplete &&
         trace.ts_ns()[row] != kAbsent;
}

// The rows of one kind, in file order. Of each, the slot of its id, as soon as there are slots.
struct RowList {
  Column<std::uint32_t> rows, slots;
  [[nodiscard]] std::size_t size() const { return rows.size(); }
};

// The events to be linked, and the flows between them.
struct LinkedRows {
  enum Kind : std::uint8_t { kCall, kGpuEvent, kFlow, kOther };
  static constexpr std::size_t kKinds = kOther;
  std::array<RowList, kKinds> lists;
};

LinkedRows list_rows(const Trace& trace, std::span<const std::int64_t> ids, int threads) {
  using Kind = LinkedRows::Kind;
  using Counts = std::array<std::size_t, LinkedRows::kKinds>;
  const auto kind_of = [&trace, ids](std::uint32_t row) {
    const Category category = trace.categories()[row];
    if (category == Category::kAsyncCpuToGpu) return Kind::kFlow;
    if (row >= trace.recorded()) return Kind::kOther;
    if (is_runtime(category) && trace.phases()[row] == Phase::kComplete && ids[row] != kAbsent)
      return Kind::kCall;
    return is_usable_gpu_event(trace, row) ? Kind::kGpuEvent : Kind::kOther;
  };
  LinkedRows out;
  const io::Ranges ranges{threads, trace.size()};
  const auto for_each_row = [&ranges, &kind_of](std::size_t part, auto&& use) {
    const std::size_t end = ranges.end(part);
    for (auto row = static_cast<std::uint32_t>(ranges.begin(part)); row < end; ++row)
      if (const Kind kind = kind_of(row); kind != Kind::kOther) use(kind, row);
  };
  if (ranges.parts() <= 1) {
    if (ranges.parts() == 1)
      for_each_row(0, [&](Kind kind, std::uint32_t row) { out.lists[kind].rows.push_back(row); });
    return out;
  }
  // Counted first, so that each part knows where its own belong.
  std::vector<Counts> parts(ranges.parts());
  io::for_each_part(threads, ranges.parts(), [&](std::size_t part) {
    Counts counts{};
    for_each_row(part, [&](Kind kind, std::uint32_t) { ++counts[kind]; });
    parts[part] = counts;
  });
  std::array<std::uint32_t*, LinkedRows::kKinds> rows{};
  for (std::size_t kind = 0; kind < LinkedRows::kKinds; ++kind) {
    std::size_t before = 0;
    for (Counts& part : parts) before += std::exchange(part[kind], before);
    rows[kind] = out.lists[kind].rows.add_unwritten(before);
  }
  io::for_each_part(threads, ranges.parts(), [&](std::size_t part) {
    Counts at = parts[part];
    for_each_row(part, [&](Kind kind, std::uint32_t row) { rows[kind][at[kind]++] = row; });
  });
  return out;
}

// Looking up ids mostly is waiting for memory, which threads do at the same time.
void find_slots(RowList& list, const IdSlots& slots, std::span<const std::int64_t> ids,
                int threads) {
  std::uint32_t* const found = list.slots.add_unwritten(list.size());
  io::for_each_range(threads, list.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t id = ids[list.rows[i]];
      found[i] = id == kAbsent ? IdSlots::kNoSlot : slots.find(id);
    }
  });
}

// Where the reader knows the op of a GPU event, both carry the op's signature and stand on one
// track: the event belongs to the last such op that started before it.
class OpsOfKernels {
 public:
  OpsOfKernels(const Trace& trace, int threads) : trace_{trace} {
    const auto has_signature = [&trace](std::size_t row) {
      return is_gpu(trace.categories()[row]) && trace.signatures()[row].valid();
    };
    std::atomic<bool> is_told = false;
    io::for_each_range(threads, trace.size(), [&](std::size_t begin, std::size_t end) {
      while (begin < end && !has_signature(begin)) ++begin;
      if (begin < end) is_told = true;
    });
    if (!is_told) return;
    std::vector<std::uint8_t> has_kernels(trace.track_table().size());
    for (std::uint32_t row = 0; row < trace.size(); ++row)
      if (has_signature(row)) has_kernels[trace.tracks()[row].row] = 1;
    for (std::uint32_t row = 0; row < trace.size(); ++row)
      if (trace.categories()[row] == Category::kCpuOp && trace.signatures()[row].valid() &&
          has_kernels[trace.tracks()[row].row] != 0)
        ops_.push_back(row);
    std::ranges::stable_sort(ops_, {}, [this](std::uint32_t row) { return place(row); });
  }
  [[nodiscard]] std::uint32_t op_of(std::uint32_t gpu_event) const {
    const SignatureId signature = trace_.signatures()[gpu_event];
    if (ops_.empty() || !signature.valid()) return kNoRow;
    const Place at = place(gpu_event);
    auto after =
        std::ranges::upper_bound(ops_, at, {}, [this](std::uint32_t row) { return place(row); });
    // A few ops may start at the same time: the one of its own kind.
    for (int tries = 0; after != ops_.begin() && tries < kMostAtOnce; ++tries) {
      const std::uint32_t op = *--after;
      if (place(op).track != at.track) break;
      if (trace_.signatures()[op] == signature) return op;
      if (place(op).ts != at.ts) break;
    }
    return kNoRow;
  }

 private:
  static constexpr int kMostAtOnce = 16;
  struct Place {
    std::uint32_t track;
    std::int64_t ts;
    auto operator<=>(const Place&) const = default;
  };
  [[nodiscard]] Place place(std::uint32_t row) const {
    return {trace_.tracks()[row].row, trace_.ts_ns()[row]};
  }

  const Trace& trace_;
  std::vector<std::uint32_t> ops_;  // by track and time
};

}  // namespace

bool is_graph_launch(std::string_view runtime_call) {
  for (const std::string_view suffix : {"_ptsz", "_spt"})
    if (runtime_call.ends_with(suffix)) runtime_call.remove_suffix(suffix.size());
  return runtime_call == "cudaGraphLaunch" || runtime_call == "hipGraphLaunch" ||
         runtime_call == "cuGraphLaunch";
}

Launches find_launches(const Trace& trace, const TreeOptions& options) {
  const int threads = io::thread_count(options.threads);
  Launches out;
  std::uint32_t* const next = out.next_.add_unwritten(trace.size());
  io::for_each_range(threads, trace.size(), [next](std::size_t begin, std::size_t end) {
    std::fill(next + begin, next + end, kNoRow);
  });
  out.by_external_id_ = links_by_external_id(trace);
  std::vector<std::int64_t> own_links;
  if (out.by_external_id_) own_links = external_links(trace);
  const std::span<const std::int64_t> ids =
      out.by_external_id_ ? std::span<const std::int64_t>{own_links} : trace.correlations();

  LinkedRows listed = list_rows(trace, ids, threads);
  RowList &calls = listed.lists[LinkedRows::kCall], &flows = listed.lists[LinkedRows::kFlow],
          &gpu_events = listed.lists[LinkedRows::kGpuEvent];
  const bool by_correlation = options.link_by_correlation || has_own_runtime_categories(trace);
  Column<std::int64_t> call_ids;
  call_ids.reserve(calls.size());
  for (const std::uint32_t row : calls.rows) call_ids.push_back(ids[row]);
  const IdSlots slots{call_ids};
  std::vector<Link> links(slots.size());
  for (RowList* const list : {&calls, &gpu_events, &flows}) find_slots(*list, slots, ids, threads);
  const auto link_of = [&links](const RowList& list, std::size_t i) {
    return list.slots[i] == IdSlots::kNoSlot ? nullptr : &links[list.slots[i]];
  };

  enum class IsGraph : std::uint8_t { kUnknown, kNo, kYes };
  std::vector<IsGraph> graph_names(trace.string_count(), IsGraph::kUnknown);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint32_t row = calls.rows[i];
    IsGraph& is_graph = graph_names[trace.names()[row].row];
    if (is_graph == IsGraph::kUnknown)
      is_graph = is_graph_launch(trace.name({row})) ? IsGraph::kYes : IsGraph::kNo;
    Link& link = *link_of(calls, i);
    (is_graph == IsGraph::kYes ? link.graph : link.plain).row = row;
  }
  const auto follow_flows = [&] {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      Link* link = link_of(flows, i);
      if (link == nullptr) continue;
      const std::uint32_t row = flows.rows[i];
      if (trace.phases()[row] == Phase::kFlowStart) link->has_start = true;
      if (trace.phases()[row] == Phase::kFlowEnd) link->end_track = trace.tracks()[row].row;
    }
    for (std::size_t i = 0; i < gpu_events.size(); ++i)
      if (Link* link = link_of(gpu_events, i);
          link != nullptr && trace.tracks()[gpu_events.rows[i]].row == link->end_track)
        link->target = gpu_events.rows[i];
  };
  if (!by_correlation) follow_flows();

  const OpsOfKernels ops{trace, threads};
  std::vector<std::uint32_t> tails;  // by op: the last GPU event listed under it
  for (std::size_t i = 0; i < gpu_events.size(); ++i) {
    const std::uint32_t row = gpu_events.rows[i];
    if (const std::uint32_t op = ops.op_of(row); op != kNoRow) {
      if (tails.empty()) tails.assign(trace.size(), kNoRow);
      out.next_[tails[op] == kNoRow ? op : tails[op]] = row;
      tails[op] = row;
      ++out.linked_;
      continue;
    }
    Link* link = link_of(gpu_events, i);
    if (link == nullptr) {
      ++out.without_launch_;
      continue;
    }
    const bool plain_owns =
        link->plain.row != kNoRow && (by_correlation || (link->has_start && link->target == row));
    const bool graph_owns = link->graph.row != kNoRow;
    if (!plain_owns && !graph_owns) {
      ++out.without_flow_;
      continue;
    }
    const bool plain_wins = plain_owns && (!graph_owns || link->plain.row > link->graph.row);
    Call& call = plain_wins ? link->plain : link->graph;
    out.next_[call.tail == kNoRow ? call.row : call.tail] = row;
    call.tail = row;
    ++out.linked_;
  }
  return out;
}

}  // namespace tracelens
