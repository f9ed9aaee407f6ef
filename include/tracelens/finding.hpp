// finding.hpp: one cause of lost time: what it costs, what proves it, what to try.
//   for (const Finding& finding : diagnose(trace).findings) print(finding.title, finding.saving_ns);
// Implemented in src/diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracelens {

enum class Severity : std::uint8_t { kInfo, kMinor, kMajor, kCritical };
[[nodiscard]] std::string_view severity_name(Severity severity);  // "critical"
enum class Confidence : std::uint8_t {
  kLow,     // a heuristic, or shapes, stacks or peaks are missing
  kMedium,  // a model with a bound
  kHigh,    // the time that was measured disappears by construction
};
[[nodiscard]] std::string_view confidence_name(Confidence confidence);

// A number that proves a finding, and where it stands in the tables.
struct Evidence {
  std::string table = {};
  std::vector<std::pair<std::string, std::string>> key = {};  // the row: columns and their texts
  std::string column = {};
  double value = 0;
  std::string unit = {};  // "ms", "%", "GB/s"; empty: a count
  // No table has it: worked out from `table`, or from the trace where that is empty; `column` says what
  // it is.
  bool is_derived = false;
};

// A thing that is to be changed.
struct FindingPlace {
  std::string kind = {};  // "op", "kernel", "range", "call", "module"
  std::string name = {};
  std::string python = {}, module = {}, shape = {};  // empty: not known
  std::int64_t time_ns = 0, count = 0;
};

struct SavingRange {
  std::int64_t low_ns = 0, mid_ns = 0, high_ns = 0;
};

// The reference's score of a kernel-level finding: percent of the GPU's time.
struct ImpactScore {
  double low = 0, mid = 0, high = 0;
};

struct Verification {
  std::string table = {}, column = {};
  double now = 0;
  std::string expected = {};                                  // "< 30"
  bool is_derived = false;                                    // as of Evidence
  std::vector<std::pair<std::string, std::string>> key = {};  // the row; empty: all of them
};

struct Finding {
  std::string id = {}, title = {};
  Severity severity = Severity::kInfo;
  std::string verdict = {};        // a sentence; every number in it is evidence
  std::int64_t saving_ns = 0;      // once the findings before it are mended
  double saving_percent = 0;       // of the window
  SavingRange alone = {};          // this finding mended and no other
  std::int64_t gpu_saving_ns = 0;  // of the GPU's busy time
  std::optional<ImpactScore> impact = {};
  Confidence confidence = Confidence::kMedium;
  bool is_one_off = false;     // seen in fewer than half of the steps
  std::string locked_by = {};  // the finding to mend first; may be empty
  std::string formula = {};    // how the saving was estimated
  std::vector<FindingPlace> where = {};
  std::vector<Evidence> evidence = {};
  std::vector<std::string> tries = {};  // in order of effort
  Verification verify = {};
};

}  // namespace tracelens
