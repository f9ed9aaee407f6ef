// draft.hpp: what a rule says when it has found its cause. The engine makes a Finding of it.
//   Draft draft;
//   draft.edit.set_host(range.track, range.start_ns, range.end_ns, 0);
//   draft.verdict = draft.tell("For {} the host was in the data loader.",
//                              proof("step_phases", "dataloader_ms", in_ms(loading), "ms"));
//   draft.formula = "data-loading ranges -> 0";
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

#include "analysis/path/edit.hpp"
#include "diagnosis/kit/figures.hpp"

namespace tracelens {

// A number of a table that a finding rests on, of the window; the key columns say in which row. Without
// a key it is that of all rows together.
using ProofKey = decltype(Evidence::key);
[[nodiscard]] Evidence proof(std::string_view table, std::string_view column, double value,
                             std::string_view unit, ProofKey key = {});
// A number that no table has: worked out from one, or from the trace itself where `table` is empty;
// `what` says what it is.
[[nodiscard]] Evidence derived(std::string_view table, std::string_view what, double value,
                               std::string_view unit, ProofKey key = {});
// A number with what it counts, by one word or more for a single one and for several.
//   counted(proof("sync_summary", "count", 3, ""), "call waits", "calls wait")
struct CountedProof {
  Evidence part;
  std::string_view one, many;
};
[[nodiscard]] inline CountedProof counted(Evidence part, std::string_view one,
                                          std::string_view many) {
  return {std::move(part), one, many};
}

// A part of a sentence as it is told: a proof by its number.
[[nodiscard]] inline std::string told(const Evidence& part) {
  return figure(part.value, part.unit);
}
[[nodiscard]] inline std::string told(const CountedProof& part) {
  return fmt::format("{} {}", told(part.part), part.part.value == 1 ? part.one : part.many);
}
template <class Part>
[[nodiscard]] const Part& told(const Part& part) {
  return part;
}

struct Draft {
  // What mending would change in the run. An empty edit is a finding for information.
  PathEdit edit = {};
  // The same, if less or more comes true than expected; the edit itself where there is none.
  std::optional<PathEdit> low = {}, high = {};
  // Time in which the GPU idles that goes too. Counts where there is no path to simulate; an edit
  // says the same of a path.
  std::int64_t idle_ns = 0;
  double low_factor = 1;  // of the lowest estimate, where the edit is an upper bound

  std::string title = {};    // where that of the rule does not fit; empty: it does
  std::string verdict = {};  // a sentence by tell(); every number in it is a proof
  std::string formula = {};  // the edit in words
  std::vector<Evidence> evidence = {};
  std::vector<FindingPlace> where = {};  // by time; five are kept
  std::vector<std::string> tries = {};   // in order of effort
  Verification verify = {};
  Confidence confidence = Confidence::kMedium;
  std::optional<ImpactScore> impact = {};
  // GPU events that no later rule may edit, besides those of the edit.
  std::vector<EventId> owned = {};

  // A sentence. The proofs in it become rows of evidence, in the order in which it tells them.
  template <class... Parts>
  [[nodiscard]] std::string tell(
      fmt::format_string<decltype(told(std::declval<const Parts&>()))...> words,
      const Parts&... parts) {
    (keep(parts), ...);
    return fmt::format(words, told(parts)...);
  }

 private:
  void keep(const Evidence& part) { evidence.push_back(part); }
  void keep(const CountedProof& part) { evidence.push_back(part.part); }
  template <class Part>
  void keep(const Part&) {}
};

}  // namespace tracelens
