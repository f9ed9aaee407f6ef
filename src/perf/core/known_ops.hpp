// known_ops.hpp: which words in the name of a generated kernel are ops.
//   is_known_op("silu")      // true
#pragma once

#include <string_view>

namespace tracelens::perf {

[[nodiscard]] bool is_known_op(std::string_view name);  // without namespace, case-sensitive

}  // namespace tracelens::perf
