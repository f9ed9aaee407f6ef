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
// none (very old ROCm traces, whose flows carry external ids).
bool links_by_external_id(const Trace& trace) {
  for (const EventId event : trace.all_events())
    if (is_runtime(trace.category(event)) &&
        io::contains_ignoring_case(trace.name(event), "launch"))
      return trace.correlations()[event.row] == kAbsent;
  return true;
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
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (is_runtime(trace.categories()[row]) && trace.phases()[row] == Phase::kComplete &&
        ids[row] != kAbsent) {
      calls.push_back(row);
      call_ids.push_back(ids[row]);
    } else if (is_usable_gpu_event(trace, row)) {
      gpu_events.push_back(row);
    }
  }
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

  for (const std::uint32_t row : gpu_events) {
    Link* link = link_of(row);
    if (link == nullptr) {
      ++out.without_launch_;
      continue;
    }
    const bool plain_owns = link->plain.row != kNoRow && (options.link_by_correlation ||
                                                          (link->has_start && link->target == row));
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
