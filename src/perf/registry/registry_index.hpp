// registry_index.hpp: from an op's name to its row in a family's table; for this folder only.
#pragma once

#include <cstddef>
#include <string_view>

#include "perf/core/family.hpp"

namespace tracelens::perf {

struct OpRow {
  const Family* family = nullptr;
  std::size_t row = 0;
  [[nodiscard]] const OpInfo& info() const { return family->info(row); }
};

[[nodiscard]] const OpRow* find_row(std::string_view name, Edition edition);

}  // namespace tracelens::perf
