// families.hpp: every family of models, for the registry.
#pragma once

#include <span>

#include "perf/core/family.hpp"

namespace tracelens::perf {

// Every family, in an order that keeps the ops of one sheet together.
[[nodiscard]] std::span<const Family* const> families();

}  // namespace tracelens::perf
