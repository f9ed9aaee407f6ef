// findings_json.hpp: findings as JSON: all keys are always there, null where they do not apply; times in
// ms. docs/guide/diagnose.md describes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tracelens/finding.hpp>

#include "table/json_writer.hpp"

namespace tracelens {

// The command that shows the number of Finding::verify in the trace NEW of the mended run.
[[nodiscard]] std::string verify_command(const Finding& finding);

// An array. `steps`: how many the findings are about; 0: none are known.
void write_findings(JsonWriter& json, std::span<const Finding> findings, std::size_t steps);

}  // namespace tracelens
