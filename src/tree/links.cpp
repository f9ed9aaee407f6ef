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
bool links_by_external_id(const Trace& trace, std::span<const std::uint32_t> calls) {
  bool has_correlation = false;
  for (const std::uint32_t row : calls) {
    const bool is_correlated = trace.correlations()[row] != kAbsent;
    if (io::contains_ignoring_case(trace.name({row}), "launch")) return !is_correlated;
    has_correlation = has_correlation || is_correlated;
  }
  return !calls.empty() && !has_correlation;
}

// rocprofv3's traces have no flows from launches to GPU events: the id they share is all there is.
// Their runtime calls keep a category text of their own ("hip_api").
bool has_own_runtime_categories(const Trace& trace, std::span<const std::uint32_t> calls) {
  return !calls.empty() &&
         trace.category_text({calls.front()}) != category_name(trace.categories()[calls.front()]);
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

bool is_usable_gpu_event(const Trace& trace, std::size_t row) {
  return is_gpu(trace.categories()[row]) && trace.phases()[row] == Phase::kComplete &&
         trace.ts_ns()[row] != kAbsent;
}

// Where the reader knows the op of a GPU event, both carry the op's signature and stand on one
// track: the event belongs to the last such op that started before it.
class OpsOfKernels {
 public:
  OpsOfKernels(const Trace& trace, std::span<const std::uint32_t> gpu_events) : trace_{trace} {
    std::vector<std::uint8_t> has_kernels(trace.track_table().size());
    for (const std::uint32_t row : gpu_events)
      if (trace.signatures()[row].valid()) has_kernels[trace.tracks()[row].row] = 1;
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

// What the calls of a trace own.
class LaunchFinder {
 public:
  LaunchFinder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows)
      : trace_{trace},
        gpu_events_{recorded_rows(trace, rows.gpu_events())},
        by_external_id_{links_by_external_id(trace, rows.calls())},
        by_correlation_{options.link_by_correlation ||
                        has_own_runtime_categories(trace, rows.calls())},
        own_links_{by_external_id_ ? external_links(trace) : std::vector<std::int64_t>{}},
        ids_{by_external_id_ ? std::span<const std::int64_t>{own_links_} : trace.correlations()},
        ops_{trace, rows.gpu_events()} {
    std::vector<std::int64_t> call_ids;
    const std::span<const std::uint32_t> calls = recorded_rows(trace, rows.calls());
    call_ids.reserve(calls.size());
    for (const std::uint32_t row : calls)
      if (trace.phases()[row] == Phase::kComplete) call_ids.push_back(ids_[row]);
    slots_ = IdSlots{call_ids};
    calls_.resize(slots_.size());
    add_calls(calls);
    if (!by_correlation_) follow_flows();
  }

  [[nodiscard]] bool by_external_id() const { return by_external_id_; }

  enum class Found : std::uint8_t { kLaunch, kNoLaunch, kNoFlow };
  // Calls use(found, gpu event, call) for each GPU event that has a time, the last in the file first.
  template <class Use>
  void for_each_gpu_event(Use&& use) const {
    for (std::size_t i = gpu_events_.size(); i-- > 0;) {
      const std::uint32_t row = gpu_events_[i];
      if (!is_usable_gpu_event(trace_, row)) continue;
      if (const std::uint32_t op = ops_.op_of(row); op != kNoRow) {
        use(Found::kLaunch, row, op);
        continue;
      }
      const std::uint32_t slot = slot_of(row);
      if (slot == IdSlots::kNoSlot) {
        use(Found::kNoLaunch, row, kNoRow);
        continue;
      }
      const Calls& calls = calls_[slot];
      const bool plain_owns =
          calls.plain != kNoRow &&
          (by_correlation_ || (flows_[slot].has_start && flows_[slot].target == row));
      const bool graph_owns = calls.graph != kNoRow;
      if (!plain_owns && !graph_owns)
        use(Found::kNoFlow, row, kNoRow);
      else
        use(Found::kLaunch, row,
            plain_owns && (!graph_owns || calls.plain > calls.graph) ? calls.plain : calls.graph);
    }
  }

 private:
  // What the trace says about one linking id.
  struct Calls {
    std::uint32_t plain = kNoRow, graph = kNoRow;  // last ordinary call and last graph launch
  };
  struct Flow {
    std::uint32_t end_track = kNoRow;  // track of the last flow end
    std::uint32_t target = kNoRow;     // last GPU event of the id on that track
    bool has_start = false;
  };

  [[nodiscard]] std::uint32_t slot_of(std::uint32_t row) const {
    return ids_[row] == kAbsent ? IdSlots::kNoSlot : slots_.find(ids_[row]);
  }

  void add_calls(std::span<const std::uint32_t> calls) {
    enum class IsGraph : std::uint8_t { kUnknown, kNo, kYes };
    std::vector<IsGraph> graph_names(trace_.string_count(), IsGraph::kUnknown);
    for (const std::uint32_t row : calls) {
      if (trace_.phases()[row] != Phase::kComplete || ids_[row] == kAbsent) continue;
      IsGraph& is_graph = graph_names[trace_.names()[row].row];
      if (is_graph == IsGraph::kUnknown)
        is_graph = is_graph_launch(trace_.name({row})) ? IsGraph::kYes : IsGraph::kNo;
      Calls& own = calls_[slot_of(row)];
      (is_graph == IsGraph::kYes ? own.graph : own.plain) = row;
    }
  }

  void follow_flows() {
    flows_.resize(slots_.size());
    const std::span<const Category> categories = trace_.categories();
    for (std::uint32_t row = 0; row < categories.size(); ++row) {
      if (categories[row] != Category::kAsyncCpuToGpu) continue;
      const std::uint32_t slot = slot_of(row);
      if (slot == IdSlots::kNoSlot) continue;
      if (trace_.phases()[row] == Phase::kFlowStart) flows_[slot].has_start = true;
      if (trace_.phases()[row] == Phase::kFlowEnd)
        flows_[slot].end_track = trace_.tracks()[row].row;
    }
    for (const std::uint32_t row : gpu_events_) {
      const std::uint32_t slot = slot_of(row);
      if (slot != IdSlots::kNoSlot && is_usable_gpu_event(trace_, row) &&
          trace_.tracks()[row].row == flows_[slot].end_track)
        flows_[slot].target = row;
    }
  }

  const Trace& trace_;
  const std::span<const std::uint32_t> gpu_events_;
  const bool by_external_id_, by_correlation_;
  const std::vector<std::int64_t> own_links_;
  const std::span<const std::int64_t> ids_;  // by row
  const OpsOfKernels ops_;
  IdSlots slots_{std::span<const std::int64_t>{}};
  std::vector<Calls> calls_;  // by slot
  std::vector<Flow> flows_;   // the same, where flows decide
};

}  // namespace

bool is_graph_launch(std::string_view runtime_call) {
  for (const std::string_view suffix : {"_ptsz", "_spt"})
    if (runtime_call.ends_with(suffix)) runtime_call.remove_suffix(suffix.size());
  return runtime_call == "cudaGraphLaunch" || runtime_call == "hipGraphLaunch" ||
         runtime_call == "cuGraphLaunch";
}

Launches find_launches(const Trace& trace, const TreeOptions& options, const CategoryRows& rows) {
  Launches out;
  const LaunchFinder finder{trace, options, rows};
  out.by_external_id_ = finder.by_external_id();
  out.next_.assign(trace.size(), kNoRow);
  finder.for_each_gpu_event([&](LaunchFinder::Found found, std::uint32_t gpu, std::uint32_t call) {
    out.without_launch_ += found == LaunchFinder::Found::kNoLaunch;
    out.without_flow_ += found == LaunchFinder::Found::kNoFlow;
    if (found != LaunchFinder::Found::kLaunch) return;
    out.next_[gpu] = out.next_[call];
    out.next_[call] = gpu;
    ++out.linked_;
  });
  return out;
}

Launches find_launches(const Trace& trace, const TreeOptions& options) {
  return find_launches(trace, options, CategoryRows{trace});
}

void for_each_launch(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                     const UseLaunch& use) {
  LaunchFinder{trace, options, rows}.for_each_gpu_event(
      [&](LaunchFinder::Found found, std::uint32_t gpu, std::uint32_t call) {
        if (found == LaunchFinder::Found::kLaunch) use({gpu}, {call});
      });
}

}  // namespace tracelens
