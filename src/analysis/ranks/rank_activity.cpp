#include "analysis/ranks/rank_activity.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tracelens/tree.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Stretch = RankActivity::Stretch;

constexpr std::int64_t kShortestGapNs = 10'000;  // below this the GPU counts as busy
constexpr std::size_t kMostStretches = 16'384;   // per rank: 400 kB

bool is_host(Category category) {
  return category == Category::kCpuOp || category == Category::kUserAnnotation ||
         is_runtime(category);
}

// Host events that are open at given times, for times asked in ascending order.
class OpenEvents {
 public:
  enum class Tracks : std::uint8_t { kApart, kTogether };
  template <class Filter>
  OpenEvents(const Trace& trace, Tracks tracks, Filter&& takes) : trace_{trace}, tracks_{tracks} {
    for (std::uint32_t row = 0; row < trace.size(); ++row)
      if (trace.phases()[row] == Phase::kComplete && takes(row)) events_.push_back({row});
    // Of equal starts on several tracks the first track's comes last, as the one on top.
    std::ranges::stable_sort(events_, {}, [&](EventId event) {
      return std::pair{trace.ts_ns()[event.row], ~trace.tracks()[event.row].row};
    });
  }
  [[nodiscard]] bool empty() const { return events_.empty(); }

  // The one that began last at `ns`, on this track or, together, on any; invalid when none is open.
  EventId at(std::int64_t ns, TrackId track = {}) {
    advance(ns);
    const auto stack = open_.find(key_of(track));
    return stack == open_.end() ? EventId{} : top(stack->second, ns);
  }

 private:
  [[nodiscard]] std::uint32_t key_of(TrackId track) const {
    return tracks_ == Tracks::kApart ? track.row : 0;
  }
  void advance(std::int64_t ns) {
    for (; next_ < events_.size() && trace_.ts_ns()[events_[next_].row] <= ns; ++next_) {
      std::vector<EventId>& stack = open_[key_of(trace_.tracks()[events_[next_].row])];
      top(stack, trace_.ts_ns()[events_[next_].row]);  // drops what has ended
      stack.push_back(events_[next_]);
    }
  }
  EventId top(std::vector<EventId>& stack, std::int64_t ns) const {
    while (!stack.empty() && end_of(trace_, stack.back()) <= ns) stack.pop_back();
    return stack.empty() ? EventId{} : stack.back();
  }

  const Trace& trace_;
  Tracks tracks_;
  std::vector<EventId> events_;  // by start
  std::size_t next_ = 0;
  std::unordered_map<std::uint32_t, std::vector<EventId>> open_;  // by key_of() the track
};

// Ops by their external id, which their kernels carry too.
class OpsById {
 public:
  explicit OpsById(const Trace& trace) : trace_{trace} {
    const auto& ids = trace.external_ids();
    for (std::size_t i = 0; i < ids.rows().size(); ++i)
      if (trace.categories()[ids.rows()[i]] == Category::kCpuOp)
        ops_.push_back({ids.values()[i], EventId{ids.rows()[i]}});
    std::ranges::stable_sort(ops_, {}, &Entry::id);
  }
  [[nodiscard]] EventId of(EventId kernel) const {
    const auto id = trace_.external_ids().at(kernel);
    if (!id) return {};
    const auto found = std::ranges::lower_bound(ops_, *id, {}, &Entry::id);
    return found == ops_.end() || found->id != *id ? EventId{} : found->op;
  }

 private:
  struct Entry {
    std::int64_t id;
    EventId op;
  };
  const Trace& trace_;
  std::vector<Entry> ops_;
};

class Collector {
 public:
  Collector(const Trace& trace, const GpuBusy& busy, std::span<const std::uint8_t> is_communication)
      : trace_{trace}, busy_{busy}, is_communication_{is_communication} {}

  RankActivity collect() {
    add_kernels();
    add_gaps();
    std::ranges::stable_sort(out_.stretches, {}, &Stretch::start_ns);
    join_neighbours();
    keep_the_longest();
    return std::move(out_);
  }

 private:
  void add_kernels() {
    struct Work {
      EventId kernel, op;
    };
    std::vector<Work> work;
    const OpsById ops{trace_};
    for (std::uint32_t row = 0; row < trace_.size(); ++row)
      if (is_gpu(trace_.categories()[row]) && trace_.phases()[row] == Phase::kComplete &&
          is_communication_[row] == 0)
        work.push_back({{row}, ops.of({row})});
    const auto host_ns = [&](const Work& item) {
      return trace_.ts_ns()[(item.op.valid() ? item.op : item.kernel).row];
    };
    std::ranges::stable_sort(work, {}, host_ns);
    OpenEvents modules{trace_, OpenEvents::Tracks::kApart, [&](std::uint32_t row) {
                         return trace_.categories()[row] == Category::kPythonFunction &&
                                is_module(trace_.names()[row]);
                       }};
    for (const auto& [kernel, op] : work) {
      const StringId name = trace_.names()[(op.valid() ? op : kernel).row];
      EventId module;
      if (op.valid() && !modules.empty())
        module = modules.at(trace_.ts_ns()[op.row], trace_.tracks()[op.row]);
      const StringId module_name = module.valid() ? trace_.names()[module.row] : StringId{};
      out_.stretches.push_back({trace_.ts_ns()[kernel.row], end_of(trace_, kernel),
                                text(Doing::kWork, name, module_name)});
    }
  }

  void add_gaps() {
    OpenEvents host{trace_, OpenEvents::Tracks::kTogether,
                    [&](std::uint32_t row) { return is_host(trace_.categories()[row]); }};
    for (const Interval& gap : gaps_between(busy_.any.intervals())) {
      if (length(gap) < kShortestGapNs) continue;
      const EventId open = host.at(gap.start + length(gap) / 2);
      const StringId name = open.valid() ? trace_.names()[open.row] : StringId{};
      out_.stretches.push_back({gap.start, gap.end, text(Doing::kIdle, name, {})});
    }
  }

  bool is_module(StringId name) {
    const auto [known, is_new] = is_module_.try_emplace(name.row);
    if (is_new) known->second = is_module_name(trace_.text(name));
    return known->second;
  }

  enum class Doing : std::uint8_t { kWork, kIdle };
  // "aten::mm", "aten::mm in Linear_3", "idle", "idle, host in aten::item"
  std::uint32_t text(Doing doing, StringId name, StringId module) {
    const auto [known, is_new] = texts_.try_emplace({doing, name.row, module.row},
                                                    static_cast<std::uint32_t>(out_.texts.size()));
    if (!is_new) return known->second;
    std::string text = doing == Doing::kIdle ? "idle" : "";
    if (name.valid()) text.append(text.empty() ? "" : ", host in ").append(trace_.text(name));
    constexpr std::string_view kModule = "nn.Module: ";
    if (module.valid()) {
      std::string_view module_name = trace_.text(module);
      if (module_name.starts_with(kModule)) module_name.remove_prefix(kModule.size());
      text.append(" in ").append(module_name);
    }
    out_.texts.push_back(std::move(text));
    return known->second;
  }

  void join_neighbours() {
    auto& all = out_.stretches;
    std::size_t kept = 0;
    for (const Stretch& stretch : all) {
      if (kept > 0 && all[kept - 1].what == stretch.what &&
          minus_ns(stretch.start_ns, all[kept - 1].end_ns) < kShortestGapNs)
        all[kept - 1].end_ns = std::max(all[kept - 1].end_ns, stretch.end_ns);
      else
        all[kept++] = stretch;
    }
    all.resize(kept);
  }

  void keep_the_longest() {
    auto& all = out_.stretches;
    if (all.size() <= kMostStretches) return;
    std::vector<std::int64_t> lengths;
    for (const Stretch& stretch : all) lengths.push_back(stretch.end_ns - stretch.start_ns);
    const auto nth = lengths.end() - static_cast<std::ptrdiff_t>(kMostStretches);
    std::ranges::nth_element(lengths, nth);
    const std::int64_t shortest = *nth;
    std::erase_if(all, [&](const Stretch& s) { return s.end_ns - s.start_ns < shortest; });
    if (all.size() > kMostStretches) all.resize(kMostStretches);  // many of exactly this length
  }

  const Trace& trace_;
  const GpuBusy& busy_;
  std::span<const std::uint8_t> is_communication_;
  std::unordered_map<std::uint32_t, bool> is_module_;
  std::map<std::tuple<Doing, std::uint32_t, std::uint32_t>, std::uint32_t> texts_;
  RankActivity out_;
};

}  // namespace

std::optional<RankActivity::Share> RankActivity::busiest_in(const Interval& window) const {
  std::unordered_map<std::uint32_t, std::int64_t> by_what;
  std::optional<Share> best;
  // A stretch that began before the window may reach into it. On one stream that is the last one
  // before; there are fewer streams than this.
  constexpr std::ptrdiff_t kLookBack = 64;
  auto at = std::ranges::lower_bound(stretches, window.start, {}, &Stretch::start_ns);
  at -= std::min(kLookBack, at - stretches.begin());
  for (; at != stretches.end() && at->start_ns < window.end; ++at) {
    const std::int64_t start = std::max(at->start_ns, window.start);
    const std::int64_t end = std::min(at->end_ns, window.end);
    if (end <= start) continue;
    const std::int64_t ns = by_what[at->what] = plus_ns(by_what[at->what], end - start);
    if (!best || ns > best->ns) best = Share{&texts[at->what], ns};
  }
  return best;
}

RankActivity rank_activity(const Trace& trace, const GpuBusy& busy,
                           std::span<const std::uint8_t> is_communication) {
  return Collector{trace, busy, is_communication}.collect();
}

}  // namespace tracelens
