#include "analysis/diff/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/tree.hpp>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/ops/module_tables.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// "ProfilerStep#3", "train 12", "layer_7" -> "ProfilerStep", "train", "layer"
std::string without_number(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  if (last == name.npos || last + 1 == name.size()) return std::string{name};
  const auto end = name.find_last_not_of("# _", last);
  return std::string{end == name.npos ? name : name.substr(0, end + 1)};
}

// Time of GPU events by when they were launched.
class LaunchedWork {
 public:
  explicit LaunchedWork(const Trace& trace) {
    const Tree tree = build_tree(trace);
    std::vector<std::pair<std::int64_t, std::int64_t>> events;
    for (const EventId event : tree.linked_gpu_events())
      events.emplace_back(trace.ts_ns()[tree.launch_of(event).row], duration_of(trace, event));
    std::ranges::sort(events);
    sums_.push_back(0);
    for (const auto& [launched, ns] : events) {
      launched_.push_back(launched);
      sums_.push_back(plus_ns(sums_.back(), ns));
    }
  }
  [[nodiscard]] std::int64_t within(const Interval& when) const {
    const auto before = [this](std::int64_t ts) {
      return static_cast<std::size_t>(std::ranges::lower_bound(launched_, ts) - launched_.begin());
    };
    return minus_ns(sums_[before(when.end)], sums_[before(when.start)]);
  }

 private:
  std::vector<std::int64_t> launched_, sums_;  // ascending; time of the first n
};

std::vector<LevelChange> time_by_module(const Trace& trace) {
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput input{facts, {}};
  const std::vector<Table> tables = module_tables(input);
  const auto modules = std::ranges::find(tables, "modules", &Table::name);
  if (modules == tables.end()) return {};
  std::map<std::string, LevelChange> found;
  for (std::size_t row = 0; row < modules->rows(); ++row) {
    const std::string& name = modules->column("module").texts()[row];
    LevelChange& module = found[name];
    module.name = name;
    module.calls[0] += modules->column("calls").integers()[row];
    const double ms = modules->column("GPU time ms").reals()[row] +
                      modules->column("backward GPU time ms").reals()[row];
    module.ns[0] = plus_ns(module.ns[0], std::llround(ms * 1e6));
  }
  std::vector<LevelChange> result;
  for (auto& [name, module] : found) result.push_back(std::move(module));
  return result;
}

std::vector<LevelChange> both_sides(std::vector<LevelChange> first,
                                    const std::vector<LevelChange>& second) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < first.size(); ++i) places[first[i].name] = i;
  for (const LevelChange& each : second) {
    const auto [place, is_new] = places.try_emplace(each.name, first.size());
    if (is_new) first.push_back({.name = each.name});
    first[place->second].calls[1] = each.calls[0];
    first[place->second].ns[1] = each.ns[0];
  }
  std::ranges::stable_sort(first, [](const LevelChange& a, const LevelChange& b) {
    if (a.is_in_both() != b.is_in_both()) return a.is_in_both();
    return std::abs(a.difference_ns()) > std::abs(b.difference_ns());
  });
  return first;
}

}  // namespace

std::vector<LevelChange> time_by_annotation(const Trace& trace) {
  std::map<std::string, std::vector<Interval>> when;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    const EventId event{row};
    if (trace.category(event) != Category::kUserAnnotation || trace.ts_ns()[row] == kAbsent)
      continue;
    when[without_number(trace.name(event))].push_back({trace.ts_ns()[row], end_of(trace, event)});
  }
  if (when.empty()) return {};
  const LaunchedWork work{trace};
  std::vector<LevelChange> result;
  for (auto& [name, intervals] : when) {
    LevelChange change{.name = name, .calls = {static_cast<std::int64_t>(intervals.size()), 0}};
    for (const Interval& interval : merge(std::move(intervals)))
      change.ns[0] = plus_ns(change.ns[0], work.within(interval));
    result.push_back(std::move(change));
  }
  return result;
}

LevelDiff diff_by_level(const Trace& trace1, const Trace& trace2) {
  using Times = std::vector<LevelChange> (*)(const Trace&);
  constexpr std::pair<DiffLevel, Times> kLevels[] = {{DiffLevel::kModule, time_by_module},
                                                     {DiffLevel::kAnnotation, time_by_annotation}};
  for (const auto& [level, times] : kLevels) {
    std::vector<LevelChange> changes = both_sides(times(trace1), times(trace2));
    if (!changes.empty() && changes.front().is_in_both()) return {level, std::move(changes)};
  }
  return {};
}

Table level_diff_table(const LevelDiff& diff) {
  const bool by_module = diff.level == DiffLevel::kModule;
  const ColumnSpec columns[] = {
      {by_module ? "module" : "annotation", Kind::kText, "",
       by_module ? "nn.Module" : "what was annotated, without the number at its end"},
      {"calls_trace1", Kind::kInteger, "", "how often"},
      {"calls_trace2", Kind::kInteger, "", "how often"},
      {"time_trace1", Kind::kReal, "µs", "GPU time inside, forward and backward"},
      {"time_trace2", Kind::kReal, "µs", "GPU time inside, forward and backward"},
      {"diff", Kind::kReal, "µs", "time in trace2 minus time in trace1"},
      {"diff_pct", Kind::kReal, "%", "the same in percent of trace1"},
  };
  Table table{by_module ? "modules_diff" : "annotations_diff",
              by_module ? "GPU time by nn.Module in both traces"
                        : "GPU time by user annotation in both traces",
              columns};
  for (const LevelChange& change : diff.changes)
    table.add_row(change.name, change.calls[0], change.calls[1], us(change.ns[0]), us(change.ns[1]),
                  us(change.difference_ns()),
                  percent_of(us(change.difference_ns()), us(change.ns[0])));
  return table;
}

}  // namespace tracelens
