// op_work.cpp: from a call to its model and back.
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "perf/core/arguments.hpp"
#include "perf/other/triton.hpp"
#include "perf/registry/op_work.hpp"
#include "perf/registry/registry_index.hpp"

namespace tracelens::perf {
namespace {

bool is_real(double amount) { return std::isfinite(amount) && amount >= 0; }

// One type for all tensors, and none for what has no shape.
Value types_of_shapes(const Value& dims) {
  std::vector<Value> types;
  for (const Value& slot : dims.items()) {
    const bool is_tensor = slot.is_sequence() && !slot.items().empty();
    const bool is_list = is_tensor && slot.items().front().is_sequence();
    types.emplace_back(is_list ? "GenericList[TensorList]" : is_tensor ? "float" : "");
  }
  return Value::tuple(std::move(types));
}

// Shapes without types, as ranges of emit_nvtx tell them: operations are counted by the shapes alone.
// What the element type decides is left open: bytes, the peak that applies.
OrReason<Work> work_of_shapes(const OpCall& call, Pass pass, Edition edition) {
  Signature typed = call.args;
  typed.types = types_of_shapes(typed.dims);
  OrReason<Work> work = built_in_work({.name = call.name,
                                       .args = typed,
                                       .forward = call.forward,
                                       .kernels = call.kernels,
                                       .step = call.step,
                                       .extra = call.extra},
                                      pass, edition);
  if (!work) return work;
  work->bytes.reset();
  work->compute_spec.clear();
  std::erase_if(work->params, [](const Param& param) {
    return param.name.find("dtype") != std::string::npos || param.name.starts_with("bpe");
  });
  return work;
}

}  // namespace

bool has_model(const OpCall& call, Edition edition) {
  if (const OpRow* row = find_row(call.name, edition)) return !row->info().model.empty();
  return has_triton_model(Arguments{call, Pass::kForward, edition});
}

OrReason<Work> built_in_work(const OpCall& call, Pass pass, Edition edition) try {
  if (edition == Edition::kExtended && call.args.dims.is_sequence() && call.args.types.is_null())
    return work_of_shapes(call, pass, edition);
  const Arguments in{call, pass, edition};
  const OpRow* row = find_row(call.name, edition);
  if (!(row ? !row->info().model.empty() : has_triton_model(in)))
    return Reason{Reason::Kind::kNoModel, fmt::format("no model for {}", call.name)};
  Work work = row ? row->family->run(row->row, in) : triton_work(in);
  // Every size is sound by itself, but together they may leave the range of a double, and numbers
  // among the concrete inputs may contradict the shapes.
  if (!is_real(work.flops) || !is_real(work.bytes.value_or(0)))
    return Reason{Reason::Kind::kFailed, "the arguments are too large or contradict each other"};
  return work;
} catch (const Reason& reason) {
  return reason;
}

}  // namespace tracelens::perf
