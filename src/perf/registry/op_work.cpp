// op_work.cpp: from a call to its model and back.
#include <fmt/core.h>

#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/other/triton.hpp"
#include "perf/registry/op_work.hpp"
#include "perf/registry/registry_index.hpp"

namespace tracelens::perf {
namespace {

bool is_real(double amount) { return std::isfinite(amount) && amount >= 0; }

}  // namespace

bool has_model(const OpCall& call, Edition edition) {
  if (const OpRow* row = find_row(call.name, edition)) return !row->info().model.empty();
  return has_triton_model(Arguments{call, Pass::kForward, edition});
}

OrReason<Work> built_in_work(const OpCall& call, Pass pass, Edition edition) try {
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
