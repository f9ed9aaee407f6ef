// CMP-3: the host holds this run up longer than the other one.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace cmp_3 {

constexpr Number kNumbers[] = {
    {"least_pct", 2, "% of the window more on the critical path than in the other run"},
};

std::int64_t host_on_path(const DiagnosisContext& c) {
  return c.per_step(c.on_path_ns(BoundBy::kHostOp) + c.on_path_ns(BoundBy::kHostOther) +
                    c.on_path_ns(BoundBy::kHostRuntime));
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const DiagnosisContext* const other = c.other();
  if (other == nullptr || !c.path().usable() || !other->path().usable()) return std::nullopt;
  const std::int64_t step = c.per_step(c.length_ns());
  const auto is_more = [&](std::int64_t here, std::int64_t there) {
    return percentage(here - there, step) >= n["least_pct"];
  };
  Draft draft;
  const auto longer = [&](std::string_view what, std::int64_t here, std::int64_t there) {
    draft.where.push_back(
        {.kind = "path", .name = std::string{what}, .time_ns = here - there, .count = 1});
    return draft.tell("{} {} instead of {}", what,
                      derived("critical_path_summary", "time_ms per step", in_ms(here), "ms",
                              {{"bound_by", std::string{what}}}),
                      derived("critical_path_summary", "time_ms per step, other run", in_ms(there),
                              "ms", {{"bound_by", std::string{what}}}));
  };
  std::string words;
  // How much the host works, on the path or not, tells what is left of it.
  const std::int64_t here = c.per_step(c.path().resources().host_ns),
                     there = other->per_step(other->path().resources().host_ns);
  if (here > there && is_more(host_on_path(c), host_on_path(*other)) && is_more(here, there)) {
    draft.edit.scale_all_host(static_cast<double>(there) / static_cast<double>(here));
    words = longer("the host", host_on_path(c), host_on_path(*other));
  }
  const std::int64_t loads = c.per_step(c.on_path_ns(BoundBy::kDataLoading)),
                     loads_there = other->per_step(other->on_path_ns(BoundBy::kDataLoading));
  if (is_more(loads, loads_there)) {
    for (const HostRange& range : c.ranges().data_loading())
      draft.edit.scale_host(range.track, range.start_ns, range.end_ns,
                            static_cast<double>(loads_there) / static_cast<double>(loads));
    if (!words.empty()) words += ", ";
    words += longer("data loading", loads, loads_there);
  }
  if (words.empty()) return std::nullopt;
  draft.verdict =
      fmt::format("On the critical path of a step there is {} in the other run.", words);
  draft.formula = "host time and data loading x what they take in the other run";
  draft.tries = {
      "look at what the host does more: tracelens diff, and the findings about the host"};
  draft.verify = {
      .table = "critical_path_summary",
      .column = "time_ms per step",
      .now = in_ms(host_on_path(c) + loads),
      .expected = fmt::format("about {}", figure(in_ms(host_on_path(*other) + loads_there), "ms")),
      .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace cmp_3

extern const Rule kCmp3;
constinit const Rule kCmp3 = {.id = "CMP-3",
                              .title = "More host time than in the other run",
                              .numbers = cmp_3::kNumbers,
                              .find = cmp_3::find};

}  // namespace tracelens
