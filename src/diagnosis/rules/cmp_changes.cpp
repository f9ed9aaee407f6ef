#include "diagnosis/rules/cmp_changes.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/gpu.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/diff/merge.hpp"
#include "analysis/diff/stats.hpp"

namespace tracelens {
namespace {

constexpr double kMostSurplus = 15, kMostKernels = 30;  // of what one fused kernel may replace
constexpr double kNoticeable = 1.05;                    // times longer: less is noise

struct Point {
  std::string name = {};
  std::vector<EventId> kernels = {};
  std::int64_t ns[2] = {};
  std::int64_t count[2] = {};
  std::unordered_set<std::uint32_t> places = {};  // merged nodes
};

bool is_copy_or_communication(const DiagnosisContext& c, EventId event) {
  if (c.trace.category(event) != Category::kKernel) return true;
  if (c.facts.work().of(event) != GpuWork::kComputation) return true;
  const std::string_view name = c.trace.name(event);
  for (const std::string_view word : {"transpose", "Transpose", "nchwToNhwc", "nhwcToNchw"})
    if (name.find(word) != name.npos) return true;
  return false;
}

class Changes {
 public:
  Changes(const DiagnosisContext& here, const DiagnosisContext& there)
      : c_{here}, other_{there}, sides_{&here, &there} {}

  std::vector<CmpChange> collect() {
    const MergedTree merged =
        merge_trees(c_.trace, c_.tree(), other_.trace, other_.tree(), Edition::kExtended);
    const DiffInput input{c_.trace, c_.tree(), other_.trace, other_.tree(), merged};
    const DiffStats stats = collect_diff_stats(input, Edition::kExtended);
    if (stats.is_identical) return {};
    for (const std::size_t side : {0U, 1U})
      for (const EventId event : sides_[side]->gpu_events()) in_window_[side].insert(event.row);
    for (const DiffStatsRow& row : stats.rows) add(row, stats, merged);
    return changes();
  }

 private:
  void add(const DiffStatsRow& row, const DiffStats& stats, const MergedTree& merged) {
    if (!in_window_[row.side].contains(row.gpu.row)) return;
    const DiagnosisContext& side = *sides_[row.side];
    const std::string op{side.trace.name(row.op)};
    const bool is_root = row.ancestor == MergedTree::kNone;
    // A pair of kernels is called by its op.
    const bool is_pair =
        !is_root && merged.node(row.ancestor).first.valid() &&
        is_gpu(c_.trace.category(c_.tree().event(merged.node(row.ancestor).first)));
    std::string name = op;
    if (!is_root && !is_pair) name = stats.ancestor_names[row.ancestor_name];
    // As many steps: point by point. Else by name, as there is no counterpart for every point.
    const bool by_point = !is_root && c_.steps() == other_.steps();
    Point& point = by_point ? by_id_[row.ancestor] : by_name_[{is_pair, name}];
    if (point.name.empty()) point.name = std::move(name);
    const std::int64_t ns = side.dur_ns(row.gpu);
    point.ns[row.side] += ns;
    ++point.count[row.side];
    if (row.side == 0) point.kernels.push_back(row.gpu), point.places.insert(row.ancestor);
  }

  [[nodiscard]] double of_other(double value) const {
    return value * static_cast<double>(c_.steps()) / static_cast<double>(other_.steps());
  }

  [[nodiscard]] CmpChange::Kind kind_of(const Point& point) const {
    if (point.count[1] == 0) return CmpChange::Kind::kOnlyHere;
    const double here = static_cast<double>(point.count[0]),
                 there = of_other(static_cast<double>(point.count[1]));
    const auto places = static_cast<double>(std::max<std::size_t>(1, point.places.size()));
    const bool has_more = here > there && (here - there) / places <= kMostSurplus &&
                          here / places <= kMostKernels && !surplus_is_no_computation(point);
    return has_more ? CmpChange::Kind::kMoreKernels : CmpChange::Kind::kSlower;
  }
  // Whether the shortest, as many as this run has more, are copies, fills, communication, layouts.
  [[nodiscard]] bool surplus_is_no_computation(const Point& point) const {
    const auto there = static_cast<std::int64_t>(of_other(static_cast<double>(point.count[1])));
    std::vector<EventId> kernels = point.kernels;
    std::ranges::sort(kernels, {}, [&](EventId event) { return c_.dur_ns(event); });
    const auto surplus =
        static_cast<std::size_t>(std::max<std::int64_t>(0, std::ssize(kernels) - there));
    return std::all_of(kernels.begin(), kernels.begin() + static_cast<std::ptrdiff_t>(surplus),
                       [&](EventId event) { return is_copy_or_communication(c_, event); });
  }

  std::vector<CmpChange> changes() {
    const auto only = only_there();
    std::int64_t only_here = 0;
    const auto each = [&](const auto& use) {
      for (auto& [key, point] : by_id_) use(point);
      for (auto& [key, point] : by_name_) use(point);
    };
    each([&](const Point& point) { only_here += point.count[1] == 0 ? point.ns[0] : 0; });
    std::map<std::pair<CmpChange::Kind, std::string>, CmpChange> sums;
    learn_roofs();
    each([&](const Point& point) {
      if (point.count[0] == 0) return;
      const CmpChange::Kind kind = kind_of(point);
      CmpChange& sum = sums[{kind, point.name}];
      sum.kind = kind;
      sum.name = point.name;
      sum.kernels.insert(sum.kernels.end(), point.kernels.begin(), point.kernels.end());
      sum.ns += point.ns[0];
      // What only the other run does took the place of what only this one does.
      sum.other_ns += kind == CmpChange::Kind::kOnlyHere
                          ? share_of(only, point.ns[0], only_here)
                          : static_cast<std::int64_t>(of_other(static_cast<double>(point.ns[1])));
      sum.count += static_cast<double>(point.count[0]);
      sum.other_count += of_other(static_cast<double>(point.count[1]));
    });
    std::vector<CmpChange> all;
    for (auto& [key, change] : sums) {
      change.roof_ns = roof_of(change.kernels);
      all.push_back(std::move(change));
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &CmpChange::lost_ns);
    return all;
  }
  static std::int64_t share_of(std::int64_t whole, std::int64_t part, std::int64_t of) {
    if (of <= 0) return 0;
    return static_cast<std::int64_t>(
        std::min(1.0, static_cast<double>(whole) / static_cast<double>(of)) *
        static_cast<double>(part));
  }
  [[nodiscard]] std::int64_t only_there() const {
    double ns = 0;
    const auto add = [&](const Point& point) {
      if (point.count[0] == 0) ns += of_other(static_cast<double>(point.ns[1]));
    };
    for (const auto& [key, point] : by_id_) add(point);
    for (const auto& [key, point] : by_name_) add(point);
    return static_cast<std::int64_t>(ns);
  }

  // What the other run reaches on the same GPU needs no bound: it may compute in another type.
  void learn_roofs() {
    if (const std::string gpu = device_name(c_.trace);
        !gpu.empty() && gpu == device_name(other_.trace))
      return;
    for (const OpUse& use : c_.op_uses())
      if (use.roof != nullptr && use.busy_ns > 0)
        for (const EventId kernel : use.kernels)
          roofs_[kernel.row] = use.roof->best_us * 1e3 * static_cast<double>(c_.dur_ns(kernel)) /
                               static_cast<double>(use.busy_ns);
  }
  // Only when all of them have one.
  [[nodiscard]] std::int64_t roof_of(const std::vector<EventId>& kernels) const {
    double ns = 0;
    for (const EventId kernel : kernels) {
      const auto roof = roofs_.find(kernel.row);
      if (roof == roofs_.end()) return 0;
      ns += roof->second;
    }
    return static_cast<std::int64_t>(ns);
  }

  const DiagnosisContext &c_, &other_;
  const DiagnosisContext* sides_[2];
  std::unordered_set<std::uint32_t> in_window_[2];
  std::map<std::uint32_t, Point> by_id_;
  std::map<std::pair<bool, std::string>, Point> by_name_;
  std::unordered_map<std::uint32_t, double> roofs_;  // by kernel, ns
};

}  // namespace

const std::vector<CmpChange>& changes_against_other(const DiagnosisContext& c) {
  return c.changes_once().get([&c]() -> std::vector<CmpChange> {
    if (c.other() == nullptr) return {};
    try {
      return Changes{c, *c.other()}.collect();
    } catch (const Error&) {
      return {};  // a trace without ops: nothing to lay over each other
    }
  });
}

CmpLosses losses_of_kind(const DiagnosisContext& c, CmpChange::Kind kind, double least_pct) {
  CmpLosses losses;
  for (const CmpChange& change : changes_against_other(c)) {
    const std::int64_t best = kind == CmpChange::Kind::kSlower
                                  ? std::max(change.other_ns, change.roof_ns)
                                  : change.other_ns;
    if (change.kind != kind || change.ns <= 0 || c.share(change.ns - best) < least_pct ||
        static_cast<double>(change.ns) < kNoticeable * static_cast<double>(best))
      continue;
    const double factor = static_cast<double>(best) / static_cast<double>(change.ns);
    for (const EventId kernel : change.kernels) losses.draft.edit.scale_gpu(kernel, factor);
    losses.is_capped |= best > change.other_ns;
    losses.ns += change.ns;
    losses.other_ns += best;
    losses.kernels += change.count;
    losses.other_kernels += change.other_count;
    ++losses.count;
    losses.draft.where.push_back({.kind = "op",
                                  .name = change.name,
                                  .python = c.python_line(change.kernels.front()),
                                  .module = c.module_of(change.kernels.front()),
                                  .time_ns = change.ns - best,
                                  .count = std::ssize(change.kernels)});
  }
  return losses;
}

}  // namespace tracelens
