#include "analysis/path/changes.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tracelens {
namespace {

// A lag that changes from `base` to `to`, and may have been changed before. In which order does not
// matter: what shortens most counts, and what lengthens most where nothing shortens.
void change(std::int64_t& lag, std::int64_t base, std::int64_t to) {
  if (to < base)
    lag = std::min(lag, to);
  else if (lag >= base)
    lag = std::max(lag, to);
}

void note_changes(std::span<const std::int64_t> before, std::span<const std::int64_t> after,
                  std::vector<std::uint32_t>& places, std::vector<std::int64_t>& lags) {
  std::size_t count = 0;  // room for just these: edits of all host time change most lags
  for (std::size_t i = 0; i < before.size(); ++i) count += after[i] != before[i];
  places.reserve(count);
  lags.reserve(count);
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    if (after[i] == before[i]) continue;
    places.push_back(i);
    lags.push_back(after[i]);
  }
}

void put_changes(std::span<const std::uint32_t> places, std::span<const std::int64_t> changed,
                 std::span<const std::int64_t> before, std::span<std::int64_t> lags) {
  for (std::size_t i = 0; i < places.size(); ++i)
    change(lags[places[i]], before[places[i]], changed[i]);
}

}  // namespace

PathChanges PathEditor::changes_of(const PathEdit& edit) const {
  PathLags lags = base_;
  apply(edit, lags);
  PathChanges changes;
  note_changes(base_.lane, lags.lane, changes.lanes, changes.lane_lags);
  note_changes(base_.extra, lags.extra, changes.extras, changes.extra_lags);
  return changes;
}

void PathEditor::put_into(PathLags& lags, const PathChanges& changes) const {
  put_changes(changes.lanes, changes.lane_lags, base_.lane, lags.lane);
  put_changes(changes.extras, changes.extra_lags, base_.extra, lags.extra);
}

void PathEditor::put_back(PathLags& lags, const PathChanges& changes) const {
  for (const std::uint32_t place : changes.lanes) lags.lane[place] = base_.lane[place];
  for (const std::uint32_t place : changes.extras) lags.extra[place] = base_.extra[place];
}

void PathEditor::apply(const PathEdit& edit, PathLags& lags) const {
  const auto lower = [](std::int64_t& lag, std::int64_t to) { lag = std::min(lag, to); };
  for (const PathEdit::GpuChange& one : edit.gpu())
    if (const PathPoint end = graph_.gpu_end_of(one.event); end != kNoPoint) {
      if (one.set_ns != kAbsent)
        lower(lags.lane[end], one.set_ns);
      else
        change(lags.lane[end], base_.lane[end], scaled(base_.lane[end], one.factor));
    }
  const auto change_extra = [&](const PathEdit::LagChange& one, EdgeKind kind) {
    if (const PathPoint end = graph_.gpu_end_of(one.event); end != kNoPoint)
      set_extra(end - 1, kind, one.ns, lags);
  };
  for (const PathEdit::LagChange& one : edit.launches()) change_extra(one, EdgeKind::kLaunch);
  for (const PathEdit::LagChange& one : edit.kernel_gaps()) change_extra(one, EdgeKind::kKernelGap);
  for (const EventId call : edit.syncs())
    if (const PathPoint start = graph_.start_of(call); start != kNoPoint && graph_.is_host(start))
      set_extra(graph_.end_of(start), EdgeKind::kSync, kNoEdge, lags);
  apply_host(edit, lags);
  if (edit.all_gpu() || edit.all_host()) {
    for (const PathPoint point : active_.order) {
      const auto factor = graph_.is_host(point) ? edit.all_host() : edit.all_gpu();
      if (!factor || (!graph_.is_host(point) && !graph_.follows(point))) continue;
      const HostStretch stretch =
          graph_.is_host(point) ? host_stretch(graph_, base_, point, window_.start) : HostStretch{};
      const std::int64_t now = stretch.lag(base_, point);
      change(stretch.lag(lags, point), now, scaled(now, *factor));
    }
  }
  if (edit.no_syncs() || edit.no_launch_latency()) {
    for (const PathPoint point : active_.order) {
      if (edit.no_syncs()) set_extra(point, EdgeKind::kSync, kNoEdge, lags);
      if (edit.no_launch_latency()) set_extra(point, EdgeKind::kLaunch, 0, lags);
    }
  }
  if (!edit.classes().empty()) apply_classes(edit, lags);
  if (edit.no_launch_calls())
    for (const PathPoint point : active_.order)
      if (graph_.is_host(point) && graph_.lane_owner(point).valid() &&
          graph_.launches(graph_.start_of(graph_.lane_owner(point))))
        lower(lags.lane[point], 0);
}

void PathEditor::apply_classes(const PathEdit& edit, PathLags& lags) const {
  const auto drop = [&](const Predecessor& before, PathPoint point, std::int64_t& lag) {
    if (std::ranges::find(edit.classes(), classes_.of(before, point)) != edit.classes().end())
      lag = std::min<std::int64_t>(lag, 0);
  };
  for (const PathPoint point : active_.order) {
    if (graph_.follows(point))
      drop({point - 1, graph_.lane_kind(point), graph_.lane_owner(point)}, point, lags.lane[point]);
    std::uint32_t number = graph_.extra_begin(point);
    for (const PathGraph::Edge& edge : graph_.extra(point))
      drop({edge.from, edge.kind, {}}, point, lags.extra[number++]);
  }
}

void PathEditor::set_extra(PathPoint point, EdgeKind kind, std::int64_t ns, PathLags& lags) const {
  std::int64_t* lag = lags.extra.data() + graph_.extra_begin(point);
  for (const PathGraph::Edge& edge : graph_.extra(point)) {
    if (edge.kind == kind) *lag = std::min(*lag, ns);
    ++lag;
  }
}

// Calls `use(point, stretch, share)` for each stretch of a thread that lies in the range in part.
template <class Use>
void PathEditor::for_host(TrackId track, std::int64_t from, std::int64_t to, const Use& use) const {
  const PathGraph::HostLane* lane = graph_.lane_of(track);
  if (lane == nullptr || from >= to) return;
  const auto times_of = graph_.times();
  const auto begin = times_of.begin();
  auto point = static_cast<PathPoint>(
      std::upper_bound(begin + lane->first, begin + lane->end, from) - begin);
  for (; point < lane->end; ++point) {
    if (point > lane->first && times_of[point - 1] >= to) return;
    if (!active_.is_active[point]) continue;
    const HostStretch stretch = host_stretch(graph_, base_, point, window_.start);
    const std::int64_t start = std::max(stretch.start_ns, window_.start), end = times_of[point];
    const std::int64_t both = std::min(end, to) - std::max(start, from);
    if (both > 0) use(point, stretch, static_cast<double>(both) / static_cast<double>(end - start));
  }
}

double PathEditor::host_ns(TrackId track, std::int64_t from, std::int64_t to,
                           const PathLags& lags) const {
  double sum = 0;
  for_host(track, from, to, [&](PathPoint point, const HostStretch& stretch, double share) {
    sum += share * static_cast<double>(stretch.lag(lags, point));
  });
  return sum;
}

// Ranges that are scaled alike count once where they overlap, and add up within one stretch.
void PathEditor::apply_host(const PathEdit& edit, PathLags& lags) const {
  std::vector<PathEdit::HostChange> changes{edit.host().begin(), edit.host().end()};
  for (PathEdit::HostChange& one : changes) {
    if (one.total_ns == kAbsent) continue;
    const double now = host_ns(one.track, one.from_ns, one.to_ns, base_);
    one.factor = now > 0 ? std::clamp(static_cast<double>(one.total_ns) / now, 0.0, 1.0) : 1;
  }
  std::ranges::sort(changes, {}, [](const PathEdit::HostChange& one) {
    return std::tuple{one.factor, one.track, one.from_ns, one.to_ns};
  });
  PathPoint pending = kNoPoint;
  HostStretch stretch;
  double cut = 0;  // below 0: what is added
  const auto flush = [&] {
    if (pending != kNoPoint) {
      const std::int64_t now = stretch.lag(base_, pending);
      change(stretch.lag(lags, pending), now,
             std::llround(static_cast<double>(now) * (1 - std::min(cut, 1.0))));
    }
    pending = kNoPoint;
  };
  const PathEdit::HostChange* before = nullptr;
  std::int64_t covered = 0;
  for (const PathEdit::HostChange& one : changes) {
    const bool continues =
        before != nullptr && before->factor == one.factor && before->track == one.track;
    if (!continues) flush();
    const std::int64_t from = continues ? std::max(one.from_ns, covered) : one.from_ns;
    covered = continues ? std::max(covered, one.to_ns) : one.to_ns;
    before = &one;
    const auto use = [&](PathPoint point, const HostStretch& of, double share) {
      if (point != pending) {
        flush();
        pending = point;
        stretch = of;
        cut = 0;
      }
      cut += (1 - std::max(one.factor, 0.0)) * share;
    };
    for_host(one.track, from, one.to_ns, use);
  }
  flush();
}

}  // namespace tracelens
