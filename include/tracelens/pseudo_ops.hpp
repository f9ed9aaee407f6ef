// pseudo_ops.hpp: ops that no profiler recorded, put around the work of serving engines that would
// otherwise have no op, or one that says nothing of what it does. Implemented in src/serving.
//   const Trace trace = add_pseudo_ops(read_trace("serve.json.gz"));
//   const Report report = make_report(trace);        // with rows pseudo_op::moe_triton_unfused_up, ...
// A pseudo-op is an event behind the recorded ones with a place in the call tree, so that every
// analysis takes it for an op like others; the models know what it costs. docs/guide/pseudo-ops.md
// lists them.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

struct PseudoOpOptions {
  // In the reference's edition an op around a single kernel has no time of its own, and the kernel
  // is charged to the op around it in all tables but unified_perf_summary and the family sheets.
  Edition edition = Edition::kExtended;
  bool python_frames = true;  // also what only Python frames tell: MLA, flydsl, DeepSeek-V4
  // Of DeepSeek-V4, which its traces do not tell: "DeepSeek-V4-Pro", and the number of GPUs a layer
  // is divided among.
  std::string model_name = {};
  std::int64_t tensor_parallel = 1;
};

// The trace with pseudo-ops, and with SGLang's ops under their names without running numbers
// ("sglang_profiler::gemm_12"). A trace without any work of the kind comes back as it is.
[[nodiscard]] Trace add_pseudo_ops(Trace trace, const PseudoOpOptions& options = {});

}  // namespace tracelens
