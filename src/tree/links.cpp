#include "tree/links.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "io/ascii.hpp"
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

// Where the reader knows the op of a GPU event, both carry the op's signature and stand on one
// track: the event belongs to the last such op that started before it.
class OpsOfKernels {
 public:
  explicit OpsOfKernels(const Trace& trace) : trace_{trace} {
    std::vector<std::uint8_t> has_kernels(trace.track_table().size());
    for (std::uint32_t row = 0; row < trace.size(); ++row)
      if (is_gpu(trace.categories()[row]) && trace.signatures()[row].valid())
        has_kernels[trace.tracks()[row].row] = 1;
    if (std::ranges::find(has_kernels, 1) == has_kernels.end()) return;
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
  Launches out;
  out.next_.assign(trace.size(), kNoRow);
  out.by_external_id_ = links_by_external_id(trace);
  std::vector<std::int64_t> own_links;
  if (out.by_external_id_) own_links = external_links(trace);
  const std::span<const std::int64_t> ids =
      out.by_external_id_ ? std::span<const std::int64_t>{own_links} : trace.correlations();

  std::vector<std::uint32_t> calls, gpu_events;
  std::vector<std::int64_t> call_ids;
  for (std::uint32_t row = 0; row < trace.recorded(); ++row) {
    if (is_runtime(trace.categories()[row]) && trace.phases()[row] == Phase::kComplete &&
        ids[row] != kAbsent) {
      calls.push_back(row);
      call_ids.push_back(ids[row]);
    } else if (is_usable_gpu_event(trace, row)) {
      gpu_events.push_back(row);
    }
  }
  const bool by_correlation = options.link_by_correlation || has_own_runtime_categories(trace);
  const IdSlots slots{call_ids};
  std::vector<Link> links(slots.size());
  const auto link_of = [&](std::uint32_t row) -> Link* {
    const std::uint32_t slot = ids[row] == kAbsent ? IdSlots::kNoSlot : slots.find(ids[row]);
    return slot == IdSlots::kNoSlot ? nullptr : &links[slot];
  };

  enum class IsGraph : std::uint8_t { kUnknown, kNo, kYes };
  std::vector<IsGraph> graph_names(trace.string_count(), IsGraph::kUnknown);
  for (const std::uint32_t row : calls) {
    IsGraph& is_graph = graph_names[trace.names()[row].row];
    if (is_graph == IsGraph::kUnknown)
      is_graph = is_graph_launch(trace.name({row})) ? IsGraph::kYes : IsGraph::kNo;
    Link& link = *link_of(row);
    (is_graph == IsGraph::kYes ? link.graph : link.plain).row = row;
  }
  const auto follow_flows = [&] {
    for (std::uint32_t row = 0; row < trace.size(); ++row) {
      if (trace.categories()[row] != Category::kAsyncCpuToGpu) continue;
      Link* link = link_of(row);
      if (link == nullptr) continue;
      if (trace.phases()[row] == Phase::kFlowStart) link->has_start = true;
      if (trace.phases()[row] == Phase::kFlowEnd) link->end_track = trace.tracks()[row].row;
    }
    for (const std::uint32_t row : gpu_events)
      if (Link* link = link_of(row); link != nullptr && trace.tracks()[row].row == link->end_track)
        link->target = row;
  };
  if (!by_correlation) follow_flows();

  const OpsOfKernels ops{trace};
  std::vector<std::uint32_t> tails;  // by op: the last GPU event listed under it
  for (const std::uint32_t row : gpu_events) {
    if (const std::uint32_t op = ops.op_of(row); op != kNoRow) {
      if (tails.empty()) tails.assign(trace.size(), kNoRow);
      out.next_[tails[op] == kNoRow ? op : tails[op]] = row;
      tails[op] = row;
      ++out.linked_;
      continue;
    }
    Link* link = link_of(row);
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
