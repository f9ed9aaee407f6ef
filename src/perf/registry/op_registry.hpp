// op_registry.hpp: every op name TraceLens knows: its model, its category, the sheet it appears on.
//   const OpInfo* op = find_op("aten::mm");                     // op->category == "GEMM"
//   op_category("aten::foo", "void at::native::reduce_kernel<512, 4>(...)");       // "reduce"
// The names are data in the family files (gemm.cpp, attention.cpp, ...), collected by families.cpp.
// Two editions live in one table: kReference is exactly what the Python TraceLens knows, so that
// existing spreadsheets match; kExtended adds the rows of that edition, which win over others.
#pragma once

#include <span>
#include <string_view>

#include "perf/core/op_info.hpp"

namespace tracelens::perf {

// Null when the name is unknown in this edition. Thread-safe.
[[nodiscard]] const OpInfo* find_op(std::string_view name, Edition edition = Edition::kReference);

// Every row of an edition in table order; a name that kExtended redefines appears once.
[[nodiscard]] std::span<const OpInfo* const> all_ops(Edition edition = Edition::kReference);

// The category of any op: exact name, then name prefix, then the first kernel it launches, then
// "other". `first_kernel` is empty when the op launches none; the result is static text.
[[nodiscard]] std::string_view op_category(std::string_view name, std::string_view first_kernel,
                                           Edition edition = Edition::kReference);

// Whether a category of op_category() says what is done, and not only that or how it was launched
// (other, graph, runtime, compiled_region).
[[nodiscard]] bool says_what_is_done(std::string_view category);

}  // namespace tracelens::perf
