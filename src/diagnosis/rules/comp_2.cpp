// COMP-2: code is compiled while the run is measured.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/name_test.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace comp_2 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window in compilers"},
};

bool is_compiler(std::string_view frame) {
  constexpr std::string_view kFiles[] = {"torch/_dynamo/convert_frame.py",
                                         "torch/_inductor/compile_fx.py",
                                         "triton/compiler/compiler.py("};
  constexpr std::string_view kLookups[] = {": __getattribute__", ": launch_metadata"};
  if (std::ranges::any_of(kLookups, [&](std::string_view name) { return frame.ends_with(name); }))
    return false;  // of a compiled kernel
  return std::ranges::any_of(kFiles,
                             [&](std::string_view file) { return frame.find(file) != frame.npos; });
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  NameTest is_of_compiler{c.trace, is_compiler};
  std::map<TrackId, std::int64_t> until;  // the outermost frames count
  std::map<std::string, FindingPlace> places;
  Draft draft;
  std::int64_t time = 0, count = 0;
  for (std::uint32_t row = 0; row < c.tree().size(); ++row) {
    const EventId event = c.tree().event(NodeId{row});
    if (c.trace.category(event) != Category::kPythonFunction || !is_of_compiler(event)) continue;
    const std::int64_t start = c.trace.ts_ns()[event.row], end = c.trace.end_ns(event);
    if (!c.in_window(start)) continue;
    const TrackId track = c.trace.tracks()[event.row];
    const auto [outer, is_new] = until.try_emplace(track, end);
    if (!is_new && start < outer->second) continue;
    outer->second = end;
    draft.edit.set_host(track, start, end, 0);
    time += end - start;
    ++count;
    const std::string line = c.python_line(event);
    FindingPlace& place = places[line];
    place.time_ns += end - start;
    if (++place.count > 1) continue;
    place.kind = "range";
    place.name = std::string{c.trace.name(event)};
    place.python = line;
  }
  if (count == 0 || c.share(time) < n["least_pct"]) return std::nullopt;
  for (auto& [line, place] : places) draft.where.push_back(std::move(place));
  draft.verdict =
      draft.tell("Code is compiled {} inside the window, for {}.",
                 counted(derived("step_phases", "compilations", static_cast<double>(count), ""),
                         "time", "times"),
                 derived("step_phases", "time in compilers", in_ms(time), "ms"));
  draft.formula = "time in compilers -> 0";
  draft.tries = {
      "run a few steps before the profiler starts",
      "TORCH_LOGS=recompiles names what changed: mark_dynamic(), padded or bucketed shapes",
      "keep the compiler's cache between runs (TORCHINDUCTOR_CACHE_DIR)"};
  draft.verify = {.table = "step_phases",
                  .column = "time in compilers",
                  .now = in_ms(time),
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace comp_2

extern const Rule kComp2;
constinit const Rule kComp2 = {.id = "COMP-2",
                               .title = "Compilation inside the window",
                               .numbers = comp_2::kNumbers,
                               .find = comp_2::find};

}  // namespace tracelens
