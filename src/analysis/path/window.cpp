#include "analysis/path/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "facts/calls.hpp"
#include "facts/serving_steps.hpp"

namespace tracelens {
namespace {

constexpr double kLonger = 1.5, kMoreAllocations = 2, kSlowerLaunch = 2;
constexpr std::int64_t kFewAllocations = 5, kSlowLaunchNs = 1'000'000;

std::vector<Step> find_all_steps(const TraceFacts& facts) {
  const std::span<const Step> found = facts.steps();
  std::vector<Step> steps{found.begin(), found.end()};
  const bool are_marked = !steps.empty() && steps.front().name.starts_with("ProfilerStep#");
  if (!are_marked) {
    const Trace& trace = facts.trace();
    std::vector<Step> served;
    for (const EventId root : find_step_roots(trace))
      served.push_back({.name = std::string{trace.name(root)},
                        .ts_ns = trace.ts_ns()[root.row],
                        .dur_ns = trace.dur_ns()[root.row]});
    if (!served.empty()) steps = std::move(served);
  }
  std::ranges::stable_sort(steps, {}, &Step::ts_ns);
  return steps;
}

struct StepCost {
  std::int64_t wall_ns = 0, allocations = 0, slowest_launch_ns = 0, launches = 0;
};

std::vector<StepCost> costs_of(const TraceFacts& facts, std::span<const Step> steps) {
  const Trace& trace = facts.trace();
  const CallKinds& kinds = facts.calls();
  std::vector<StepCost> costs(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) costs[i].wall_ns = steps[i].dur_ns;
  for (const std::uint32_t row : recorded_rows(trace, facts.rows().calls())) {
    const EventId event{row};
    if (trace.ts_ns()[row] == kAbsent) continue;
    const auto at = step_at(steps, trace.ts_ns()[event.row]);
    if (!at) continue;
    const CallClass kind = kinds.of(event);
    costs[*at].allocations += kind == CallClass::kAlloc || kind == CallClass::kFree;
    if (kind != CallClass::kLaunch || trace.dur_ns()[event.row] == kAbsent) continue;
    ++costs[*at].launches;
    costs[*at].slowest_launch_ns =
        std::max(costs[*at].slowest_launch_ns, trace.dur_ns()[event.row]);
  }
  return costs;
}

std::int64_t median_of_others(std::span<const StepCost> costs, std::size_t but,
                              std::int64_t StepCost::*what) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (i != but) values.push_back(costs[i].*what);
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Why a step is none of the steady ones; empty: it is.
std::string why_warm_up(std::span<const StepCost> costs, std::size_t at) {
  const StepCost& step = costs[at];
  const std::int64_t wall = median_of_others(costs, at, &StepCost::wall_ns);
  if (static_cast<double>(step.wall_ns) > kLonger * static_cast<double>(wall))
    return fmt::format("{} where the others take {}", rounded_ms(step.wall_ns), rounded_ms(wall));
  const std::int64_t allocations = median_of_others(costs, at, &StepCost::allocations);
  if (step.allocations >= kFewAllocations &&
      static_cast<double>(step.allocations) > kMoreAllocations * static_cast<double>(allocations))
    return fmt::format("{} calls for device memory where the others make {}", step.allocations,
                       allocations);
  // A full queue makes launches slow in every step: that is no warm-up.
  const std::int64_t launch = median_of_others(costs, at, &StepCost::slowest_launch_ns);
  if (step.slowest_launch_ns > kSlowLaunchNs &&
      static_cast<double>(step.slowest_launch_ns) > kSlowerLaunch * static_cast<double>(launch))
    return fmt::format("a launch call of {}", rounded_ms(step.slowest_launch_ns));
  return {};
}

void drop_unsteady(const TraceFacts& facts, RunWindow& window) {
  if (window.steps.size() <= 2) return;
  const std::vector<StepCost> costs = costs_of(facts, window.steps);
  std::size_t first = 0, last = window.steps.size();
  if (costs.back().launches == 0 &&
      std::ranges::any_of(costs, [](const StepCost& step) { return step.launches > 0; }))
    window.dropped.push_back({window.steps[--last].name, "nothing was launched in it"});
  // At least half of them stay: what most steps do is no warm-up.
  const std::size_t most = last / 2;
  while (first < most) {
    std::string why = why_warm_up(std::span{costs}.subspan(first, last - first), 0);
    if (why.empty()) break;
    window.dropped.push_back({window.steps[first++].name, std::move(why)});
  }
  window.steps.erase(window.steps.begin() + static_cast<std::ptrdiff_t>(last), window.steps.end());
  window.steps.erase(window.steps.begin(),
                     window.steps.begin() + static_cast<std::ptrdiff_t>(first));
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

struct StepRange {
  std::int64_t first = 0, last = 0;
};
StepRange parse_range(std::string_view choice) {
  const auto dash = choice.find('-');
  const auto first = number_in(choice.substr(0, dash));
  const auto last = dash == choice.npos ? first : number_in(choice.substr(dash + 1));
  if (!first || !last || *last < *first)
    throw Error{"--steps", fmt::format("'{}': expected steady, all, or steps such as 3-5", choice)};
  return {*first, *last};
}

// "ProfilerStep#7" -> 7; else the place of the step.
std::int64_t number_of(const Step& step, std::size_t place) {
  const auto mark = step.name.rfind('#');
  const auto number = mark == step.name.npos
                          ? std::nullopt
                          : number_in(std::string_view{step.name}.substr(mark + 1));
  return number.value_or(static_cast<std::int64_t>(place));
}

void keep_chosen(RunWindow& window, std::string_view choice, const std::string& trace) {
  const StepRange range = parse_range(choice);
  std::vector<Step> kept;
  for (std::size_t i = 0; i < window.steps.size(); ++i)
    if (const auto number = number_of(window.steps[i], i);
        number >= range.first && number <= range.last)
      kept.push_back(window.steps[i]);
  if (kept.empty())
    throw Error{trace, fmt::format("has no steps {}; it has {}", choice, window.steps.size())};
  window.steps = std::move(kept);
}

}  // namespace

std::optional<std::size_t> step_at(std::span<const Step> steps, std::int64_t ts_ns) {
  const auto after = std::ranges::upper_bound(steps, ts_ns, {}, &Step::ts_ns);
  if (after == steps.begin()) return std::nullopt;
  const auto at = static_cast<std::size_t>(after - steps.begin()) - 1;
  if (ts_ns >= steps[at].ts_ns + steps[at].dur_ns) return std::nullopt;
  return at;
}

std::string RunWindow::left_out() const {
  std::string list;
  for (const DroppedStep& step : dropped)
    list += fmt::format("{}{} ({})", list.empty() ? "left out as warm-up: " : ", ", step.name,
                        step.why);
  return list;
}

void check_step_choice(std::string_view choice) {
  if (choice != "steady" && choice != "all") (void)parse_range(choice);
}

RunWindow choose_window(const TraceFacts& facts, std::string_view choice) {
  RunWindow window{.steps = find_all_steps(facts)};
  if (choice == "steady")
    drop_unsteady(facts, window);
  else if (choice != "all")
    keep_chosen(window, choice, facts.trace().source().name);
  if (window.steps.empty()) return window;
  std::int64_t end = window.steps.front().ts_ns;
  for (const Step& step : window.steps) end = std::max(end, step.ts_ns + step.dur_ns);
  window.time = Interval{window.steps.front().ts_ns, end};
  return window;
}

}  // namespace tracelens
