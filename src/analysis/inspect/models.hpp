// models.hpp: what a model says about one call, without a trace; and which models there are.
//   const Signature args = model_arguments("aten::mm", {.dims = "[[8,4],[4,2]]", .dtype = "bf16"});
//   const Table answer = model_answer({.name = "aten::mm", .args = args}, kExtended, gpu);
//   const Table list = known_models(kExtended);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

#include "perf/core/gpu.hpp"
#include "perf/core/work.hpp"
#include "perf/registry/model_set.hpp"

namespace tracelens {

// The arguments of a call as a person writes them: JSON, as in a trace; empty: not given.
struct ArgumentTexts {
  std::string dims = {};      // [[4096,8192],[8192,1024]]
  std::string dtype = {};     // of every tensor: bf16, fp8_e4m3, or as traced ("c10::BFloat16")
  std::string types = {};     // ["float","int"]: one by one instead
  std::string strides = {};   // default: rows one after the other
  std::string concrete = {};  // ["","","True"]; default: what the op itself defaults to, if known
};

// Throws Error, naming the flag ("--dims"), when a text is not what it should be.
[[nodiscard]] Signature model_arguments(std::string_view op, const ArgumentTexts& texts);

// One row: work, intensity and, with a GPU, the roof; or the reason why there is no answer.
[[nodiscard]] Table model_answer(const perf::OpCall& call, const perf::ModelSet& models,
                                 const perf::Gpu* gpu, perf::Pass pass = perf::Pass::kForward);

// Every op that has a model or a category of its own. `family`: only those on this sheet. Throws
// Error when no sheet has that name.
[[nodiscard]] Table known_models(Edition edition, std::string_view family = {});

// The first row of a table, one line per column, for a person: missing cells are left out.
[[nodiscard]] Table as_card(const Table& table);

}  // namespace tracelens
