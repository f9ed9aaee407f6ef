// changes.hpp: what an edit does to the lags of a graph, worked out once, so that many sets of edits can
// be tried quickly.
//   const PathEditor editor{graph, classes, active, base, window};
//   const PathChanges faster = editor.changes_of(edit);
//   PathLags lags = base;
//   editor.put_into(lags, faster);
#pragma once

#include <cstdint>
#include <tracelens/intervals.hpp>
#include <vector>

#include "analysis/path/edit.hpp"
#include "analysis/path/graph.hpp"
#include "analysis/path/lags.hpp"
#include "analysis/path/path.hpp"

namespace tracelens {

// The part of a graph that is simulated: its points, in an order in which they can happen.
struct ActivePoints {
  std::vector<bool> is_active;  // by point
  std::vector<PathPoint> order;
};

// All that is given must outlive it. Several threads may ask at the same time.
class PathEditor {
 public:
  PathEditor(const PathGraph& graph, const BoundByClasses& classes, const ActivePoints& active,
             const PathLags& base, const Interval& window)
      : graph_{graph}, classes_{classes}, active_{active}, base_{base}, window_{window} {}

  [[nodiscard]] PathChanges changes_of(const PathEdit& edit) const;
  // Where changes meet, one counts, as within an edit.
  void put_into(PathLags& lags, const PathChanges& changes) const;
  // As if they had never been put into lags that were the base.
  void put_back(PathLags& lags, const PathChanges& changes) const;

  // Host time of a thread in a stretch of the trace, by these lags.
  [[nodiscard]] double host_ns(TrackId track, std::int64_t from_ns, std::int64_t to_ns,
                               const PathLags& lags) const;

 private:
  void apply(const PathEdit& edit, PathLags& lags) const;
  void apply_classes(const PathEdit& edit, PathLags& lags) const;
  void apply_host(const PathEdit& edit, PathLags& lags) const;
  void set_extra(PathPoint point, EdgeKind kind, std::int64_t ns, PathLags& lags) const;
  template <class Use>
  void for_host(TrackId track, std::int64_t from, std::int64_t to, const Use& use) const;

  const PathGraph& graph_;
  const BoundByClasses& classes_;
  const ActivePoints& active_;
  const PathLags& base_;
  const Interval& window_;
};

}  // namespace tracelens
