// draft.hpp: what a rule says when it has found its cause. The engine makes a Finding of it.
//   Draft draft;
//   draft.edit.set_host(range.track, range.start_ns, range.end_ns, 0);
//   draft.verdict = fmt::format("For {} the host was in the data loader.",
//                               draft.prove("step_phases", "dataloader_ms", ms(loading), "ms"));
//   draft.formula = "data-loading ranges -> 0";
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

#include "analysis/path/edit.hpp"

namespace tracelens {

struct Draft {
  // What mending would change in the run. An empty edit is a finding for information.
  PathEdit edit = {};
  // The same, if less or more comes true than expected; the edit itself where there is none.
  std::optional<PathEdit> low = {}, high = {};
  // Time in which the GPU idles that goes too. Counts where there is no path to simulate; an edit
  // says the same of a path.
  std::int64_t idle_ns = 0;
  double low_factor = 1;  // of the lowest estimate, where the edit is an upper bound

  std::string verdict = {};  // a sentence; every number in it comes from prove()
  std::string formula = {};  // the edit in words
  std::vector<Evidence> evidence = {};
  std::vector<FindingPlace> where = {};  // by time; five are kept
  std::vector<std::string> tries = {};   // in order of effort
  Verification verify = {};
  Confidence confidence = Confidence::kMedium;
  std::optional<ImpactScore> impact = {};
  // GPU events that no later rule may edit, besides those of the edit.
  std::vector<EventId> owned = {};

  // Adds a row of evidence, and gives its number as text for the verdict.
  using Key = std::vector<std::pair<std::string, std::string>>;
  std::string prove(std::string_view table, std::string_view column, double value,
                    std::string_view unit, Key key = {});
};

}  // namespace tracelens
