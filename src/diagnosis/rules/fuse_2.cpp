// FUSE-2: elementwise work on the result of a matrix product that the product could do itself.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/fusion/fusible.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace fuse_2 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 1, "% of the GPU's busy time in such work"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft, {.low = 0.5}};
  std::map<std::pair<std::string, std::string>, FindingPlace> places;  // by module and line
  double kernels = 0;
  for (const Epilogue& epilogue : epilogues(c.fusion())) {
    const EventId call = c.tree().launch_of(epilogue.kernels.front());
    if (!call.valid() || !c.in_window(c.trace.ts_ns()[call.row]) ||
        !std::ranges::all_of(epilogue.kernels, [&](EventId kernel) { return c.is_free(kernel); }))
      continue;
    for (const EventId kernel : epilogue.kernels) found.scale(kernel, 0);
    std::string line = c.python_line(call);
    FindingPlace& place = places[{epilogue.unit, line}];
    if (++place.count == 1) {
      place.kind = "module";
      place.name = epilogue.unit;
      place.python = std::move(line);
    }
    place.time_ns += epilogue.time_ns;
    kernels += static_cast<double>(epilogue.kernels.size());
  }
  if (kernels == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"]) return std::nullopt;
  for (auto& [key, place] : places) draft.where.push_back(std::move(place));
  std::ranges::stable_sort(draft.where, std::ranges::greater{}, &FindingPlace::time_ns);
  const double per_step = kernels / static_cast<double>(c.steps());
  draft.verdict = draft.tell(
      "{} a matrix product on its result; that takes {} a step, {} "
      "of the GPU's busy time, which the product could do on its way out.",
      counted(derived("fusible_kernels", "kernels per step", per_step, "", {{"kind", "epilogue"}}),
              "elementwise kernel a step follows", "elementwise kernels a step follow"),
      derived("fusible_kernels", "time_ms per step", in_ms(c.per_step(found.before_ns())), "ms",
              {{"kind", "epilogue"}}),
      derived("fusible_kernels", "share of busy time", c.busy_share(found.before_ns()), "%",
              {{"kind", "epilogue"}}));
  draft.formula = "those kernels -> 0 (low: half)";
  draft.tries = {"torch.compile with max_autotune", "a fused linear-activation of the library"};
  draft.verify = {.table = "fusible_kernels",
                  .column = "kernels per step",
                  .now = per_step,
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace fuse_2

extern const Rule kFuse2;
constinit const Rule kFuse2 = {.id = "FUSE-2",
                               .title = "Elementwise work after matrix products",
                               .numbers = fuse_2::kNumbers,
                               .find = fuse_2::find};

}  // namespace tracelens
