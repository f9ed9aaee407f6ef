// list.hpp: all rules. Their order is that of ownership: a GPU event belongs to the first rule that
// edits it.
#pragma once

#include <span>

#include "diagnosis/kit/rule.hpp"

namespace tracelens {

[[nodiscard]] std::span<const Rule* const> all_rules();

}  // namespace tracelens
