// warnings.hpp: the table that keeps a report from being silently about less than the file holds.
#pragma once

#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// What was skipped while reading and what the analyses had to make do with. No table when all is
// well.
[[nodiscard]] std::optional<Table> warnings_table(const Trace& trace,
                                                  const std::vector<std::string>& sentences);

}  // namespace tracelens
