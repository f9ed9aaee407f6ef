#include <tracelens/critical_path.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>

#include "analysis/kit/cells.hpp"
#include "analysis/path/model.hpp"
#include "analysis/path/tables.hpp"
#include "analysis/path/window.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {
namespace {

// In words for people; the tables have the short names.
constexpr std::array<std::string_view, kBoundByNames.size()> kWords = {
    "computing on the GPU",
    "communication",
    "copies",
    "gaps between kernels",
    "launch latency",
    "streams that wait for each other",
    "the return from waits for the GPU",
    "handing over between threads",
    "loading data",
    "runtime calls",
    "ops on the host",
    "Python and other host time",
};

std::string bound_by_sentence(const BoundByTimes& times) {
  constexpr std::size_t kMost = 4;
  constexpr double kSmall = 1;  // percent
  std::int64_t all = 0;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < times.size(); ++i) {
    all += times[i];
    order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return times[i]; });
  std::string text = "the critical path is";
  for (std::size_t i = 0; i < kMost; ++i) {
    const double share = percent_of(times[order[i]], all).value_or(0);
    if (share < kSmall) break;
    text += fmt::format("{} {:.0f}% {}", i == 0 ? "" : ",", share, kWords[order[i]]);
  }
  return text;
}

}  // namespace

CriticalPathAnswer find_critical_path(const Trace& trace, std::string_view steps) {
  const TraceFacts facts{trace, {.python_frames = true, .link_by_correlation = true}};
  const RunWindow window = choose_window(facts, steps);
  const PathModel model{facts, {.window = window.time}};
  CriticalPathAnswer answer;
  const CriticalPath path = model.recorded_path(window.time);
  if (path.segments.empty())
    throw Error{trace.source().name, "has no ops or runtime calls on the host to follow"};
  answer.tables.push_back(critical_path_summary(facts, {}, window.time).table);
  answer.tables.push_back(critical_path_table(facts, model, window.time));
  if (!window.dropped.empty()) answer.sentences.push_back(window.left_out());
  answer.sentences.push_back(fmt::format(
      "{}: {:.3f} ms{}", bound_by_sentence(path.bound_by), ms(path.time.end - path.time.start),
      path.unattributed_ns > 0
          ? fmt::format(", {:.3f} ms before it begins", ms(path.unattributed_ns))
          : ""));
  if (model.usable()) {
    const auto count = static_cast<std::int64_t>(model.steps());
    answer.sentences.push_back(
        fmt::format("{} takes {} as recorded, about {} without the profiler{}; then {}",
                    window.steps.empty() ? "all of it"
                    : count > 1          ? fmt::format("a step of {}", count)
                                         : "the step",
                    rounded_ms(model.recorded_ns() / count), rounded_ms(model.length_ns() / count),
                    model.costs_are_calibrated() ? "" : " (not calibrated for such a recording)",
                    bound_by_sentence(model.bound_by())));
  } else {
    answer.sentences.emplace_back(fmt::format("what-if is not possible: {}", model.why_not()));
  }
  return answer;
}

}  // namespace tracelens
