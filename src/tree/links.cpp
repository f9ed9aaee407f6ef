#include "tree/links.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>

#include "io/ascii.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/id_ranges.hpp"
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
  [[nodiscard]] bool empty() const { return ops_.empty(); }
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

// What the calls of a trace own. What there is to know of an id is known by one share of them, so that
// several threads find launches, each those of its share.
class LaunchFinder {
 public:
  LaunchFinder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
               int threads)
      : trace_{trace},
        calls_{recorded_rows(trace, rows.calls())},
        gpu_events_{recorded_rows(trace, rows.gpu_events())},
        by_external_id_{links_by_external_id(trace, rows.calls())},
        by_correlation_{options.link_by_correlation ||
                        has_own_runtime_categories(trace, rows.calls())},
        own_links_{by_external_id_ ? external_links(trace) : std::vector<std::int64_t>{}},
        ids_{by_external_id_ ? std::span<const std::int64_t>{own_links_} : trace.correlations()},
        ops_{trace, rows.gpu_events()},
        // Ops have events of any id.
        threads_{calls_.size() < kWorthSharing || !ops_.empty() ? 1 : threads},
        call_ids_{threads_, calls_.size(),
                  [this](std::size_t i, IdsOfPiece& ids) { ids.add(ids_[calls_[i]]); }},
        gpu_ids_{threads_, gpu_events_.size(),
                 [this](std::size_t i, IdsOfPiece& ids) { ids.add(ids_[gpu_events_[i]]); }},
        flow_ids_{threads_, by_correlation_ ? 0 : trace.size(),
                  [this](std::size_t row, IdsOfPiece& ids) {
                    if (is_flow(row)) ids.add(ids_[row]);
                  }},
        shares_{divide()} {}

  [[nodiscard]] bool by_external_id() const { return by_external_id_; }

  enum class Found : std::uint8_t { kLaunch, kNoLaunch, kNoFlow };
  // Calls use(found, gpu event, call) for each GPU event that has a time, the last in the file first.
  template <class Use>
  void for_each_gpu_event(const Use& use) const {
    for (const IdRange ids : shares_) Share{*this, ids}.for_each_gpu_event(use);
  }
  // The same share by share; those of a call are all in one.
  template <class Use>
  void for_each_share(const Use& use) const {
    io::for_each_part(threads_, shares_.size(), [&](std::size_t share) {
      use(Share{*this, shares_[share]});
    });
  }

 private:
  // That many calls keep several threads busy.
  static constexpr std::size_t kWorthSharing = 2 * io::Ranges::kRangeSize;

  // What the trace says about the ids of a range.
  class Share {
   public:
    Share(const LaunchFinder& all, IdRange ids)
        : all_{all}, trace_{all.trace_}, ids_{ids}, slots_{own_ids()}, calls_(slots_.size()) {
      add_calls();
      if (!all_.by_correlation_) follow_flows();
    }

    template <class Use>
    void for_each_gpu_event(const Use& use) const {
      all_.gpu_ids_.for_each_reversed(ids_, [&](std::size_t i) {
        const std::uint32_t row = all_.gpu_events_[i];
        if (!ids_.contains(all_.ids_[row]) || !is_usable_gpu_event(trace_, row)) return;
        if (const std::uint32_t op = all_.ops_.op_of(row); op != kNoRow)
          return use(Found::kLaunch, row, op);
        const std::uint32_t slot = slot_of(row);
        if (slot == IdSlots::kNoSlot) return use(Found::kNoLaunch, row, kNoRow);
        const Calls& calls = calls_[slot];
        const bool plain_owns =
            calls.plain != kNoRow &&
            (all_.by_correlation_ || (flows_[slot].has_start && flows_[slot].target == row));
        const bool graph_owns = calls.graph != kNoRow;
        if (!plain_owns && !graph_owns)
          use(Found::kNoFlow, row, kNoRow);
        else
          use(Found::kLaunch, row,
              plain_owns && (!graph_owns || calls.plain > calls.graph) ? calls.plain : calls.graph);
      });
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

    template <class Use>
    void for_each_call(const Use& use) const {
      all_.call_ids_.for_each(ids_, [&](std::size_t i) {
        const std::uint32_t row = all_.calls_[i];
        const std::int64_t id = all_.ids_[row];
        if (id != kAbsent && ids_.contains(id) && trace_.phases()[row] == Phase::kComplete)
          use(row, id);
      });
    }
    [[nodiscard]] std::vector<std::int64_t> own_ids() const {
      std::vector<std::int64_t> ids;
      ids.reserve(all_.calls_.size() / all_.shares_.size());
      for_each_call([&](std::uint32_t, std::int64_t id) { ids.push_back(id); });
      return ids;
    }
    // None: another share's, or no call has its id.
    [[nodiscard]] std::uint32_t slot_of(std::size_t row) const {
      const std::int64_t id = all_.ids_[row];
      return id == kAbsent || !ids_.contains(id) ? IdSlots::kNoSlot : slots_.find(id);
    }

    void add_calls() {
      enum class IsGraph : std::uint8_t { kUnknown, kNo, kYes };
      std::vector<IsGraph> graph_names(trace_.string_count(), IsGraph::kUnknown);
      for_each_call([&](std::uint32_t row, std::int64_t id) {
        IsGraph& is_graph = graph_names[trace_.names()[row].row];
        if (is_graph == IsGraph::kUnknown)
          is_graph = is_graph_launch(trace_.name({row})) ? IsGraph::kYes : IsGraph::kNo;
        Calls& own = calls_[slots_.find(id)];
        (is_graph == IsGraph::kYes ? own.graph : own.plain) = row;
      });
    }

    void follow_flows() {
      flows_.resize(slots_.size());
      all_.flow_ids_.for_each(ids_, [&](std::size_t row) {
        if (!all_.is_flow(row)) return;
        const std::uint32_t slot = slot_of(row);
        if (slot == IdSlots::kNoSlot) return;
        if (trace_.phases()[row] == Phase::kFlowStart) flows_[slot].has_start = true;
        if (trace_.phases()[row] == Phase::kFlowEnd)
          flows_[slot].end_track = trace_.tracks()[row].row;
      });
      all_.gpu_ids_.for_each(ids_, [&](std::size_t i) {
        const std::uint32_t row = all_.gpu_events_[i], slot = slot_of(row);
        if (slot != IdSlots::kNoSlot && is_usable_gpu_event(trace_, row) &&
            trace_.tracks()[row].row == flows_[slot].end_track)
          flows_[slot].target = row;
      });
    }

    const LaunchFinder& all_;
    const Trace& trace_;
    const IdRange ids_;
    const IdSlots slots_;
    std::vector<Calls> calls_;  // by slot
    std::vector<Flow> flows_;   // the same, where flows decide
  };

  [[nodiscard]] bool is_flow(std::size_t row) const {
    return trace_.categories()[row] == Category::kAsyncCpuToGpu;
  }

  // Where ids are scattered everyone would look at everything: then one does.
  [[nodiscard]] std::vector<IdRange> divide() const {
    std::vector<IdRange> shares = divide_ids(call_ids_.all(), threads_);
    for (const IdsOfPieces* const list : {&call_ids_, &gpu_ids_, &flow_ids_})
      if (list->looks(shares) > 2 * (list->size() + shares.size())) return {kAllIds};
    return shares;
  }

  const Trace& trace_;
  const std::span<const std::uint32_t> calls_, gpu_events_;
  const bool by_external_id_, by_correlation_;
  const std::vector<std::int64_t> own_links_;
  const std::span<const std::int64_t> ids_;  // by row
  const OpsOfKernels ops_;
  const int threads_;
  const IdsOfPieces call_ids_, gpu_ids_, flow_ids_;
  const std::vector<IdRange> shares_;
};

}  // namespace

bool is_graph_launch(std::string_view runtime_call) {
  for (const std::string_view suffix : {"_ptsz", "_spt"})
    if (runtime_call.ends_with(suffix)) runtime_call.remove_suffix(suffix.size());
  return runtime_call == "cudaGraphLaunch" || runtime_call == "hipGraphLaunch" ||
         runtime_call == "cuGraphLaunch";
}

Launches find_launches(const Trace& trace, const TreeOptions& options, const CategoryRows& rows) {
  const int threads = io::spare_threads(options.threads);
  Launches out;
  const LaunchFinder finder{trace, options, rows, threads};
  out.by_external_id_ = finder.by_external_id();
  std::uint32_t* const next = out.next_.add_unwritten(trace.size());
  io::fill(threads, std::span{next, trace.size()}, kNoRow);
  std::mutex counting;
  finder.for_each_share([&](const auto& share) {
    std::size_t linked = 0, without_launch = 0, without_flow = 0;
    share.for_each_gpu_event([&](LaunchFinder::Found found, std::uint32_t gpu, std::uint32_t call) {
      without_launch += found == LaunchFinder::Found::kNoLaunch;
      without_flow += found == LaunchFinder::Found::kNoFlow;
      if (found != LaunchFinder::Found::kLaunch) return;
      next[gpu] = next[call];
      next[call] = gpu;
      ++linked;
    });
    const std::lock_guard lock{counting};
    out.linked_ += linked;
    out.without_launch_ += without_launch;
    out.without_flow_ += without_flow;
  });
  return out;
}

Launches find_launches(const Trace& trace, const TreeOptions& options) {
  return find_launches(trace, options, CategoryRows{trace});
}

void for_each_launch(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                     const UseLaunch& use) {
  LaunchFinder{trace, options, rows, 1}.for_each_gpu_event(
      [&](LaunchFinder::Found found, std::uint32_t gpu, std::uint32_t call) {
        if (found == LaunchFinder::Found::kLaunch) use({gpu}, {call});
      });
}

}  // namespace tracelens
