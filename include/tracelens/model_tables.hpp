// model_tables.hpp: what a model says about one call, and which models there are, as tables.
//   const Signature args = model_arguments("aten::mm", {.dims = "[[8,4],[4,2]]", .dtype = "bf16"});
//   const Table answer = model_answer({.name = "aten::mm", .args = args}, find_gpu("H200"));
//   const Table list = known_models(Edition::kExtended);
// Implemented in src/analysis/inspect.
#pragma once

#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model.hpp>
#include <tracelens/table.hpp>

namespace tracelens {

// One row: work, intensity and, with a GPU, the roof; or, in the column `reason`, why there is no
// answer.
[[nodiscard]] Table model_answer(const OpCall& call, const Gpu* gpu = nullptr,
                                 const WorkOptions& options = {});

// Every op that has a model or a category of its own. `family`: only those on this sheet. Throws
// Error when no sheet has that name.
[[nodiscard]] Table known_models(Edition edition, std::string_view family = {});

// The first row of a table, one line per column, for a person: missing cells are left out.
[[nodiscard]] Table as_card(const Table& table);

}  // namespace tracelens
