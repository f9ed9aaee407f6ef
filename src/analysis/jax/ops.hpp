// ops.hpp: the HLO ops of a JAX profile: what each is, where it comes from, what it costs.
//   JaxOps ops{trace};
//   const JaxOp* op = ops.of(kernel);       // nullptr: no compiled module launched it
//   op->work->flops
// An op is an HLO instruction of a module; everything about it is worked out once, however often it
// ran. The trace must outlive this.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "perf/hlo/hlo_work.hpp"
#include "trace/hlo.hpp"

namespace tracelens {

struct JaxOp {
  std::string name;                               // of the instruction: "gemm_fusion_dot.40"
  std::string module;                             // "jit_step"
  const hlo::Module* hlo = nullptr;               // nullptr: the profile has no HLO for it
  const hlo::Instruction* instruction = nullptr;  // the same
  hlo::Place place;
  std::string kind;                   // "gemm", "conv", "attention", "fusion", ...
  std::optional<Work> work;           // none: nobody can say
  std::optional<perf::HloGemm> gemm;  // of the instruction itself, not of a fusion's body
  std::optional<perf::HloConv> conv;
  std::optional<perf::HloAttention> attention;

  // --- texts of the Python TraceLens's tables ---
  std::vector<std::string> operands;  // "bf16[8,512]{1,0}"
  std::string metadata;               // metadata={op_name="jit(step)/... ; "NA": none
  std::string target;                 // custom_call_target="__cublas$lt$matmul"; "NA": none
  Value dims, types;                  // of its array operands
  double input_bytes = 0;             // of the same
};

class JaxOps {
 public:
  explicit JaxOps(const Trace& trace);
  // The op of a kernel, or of the event that stands for one run of an op.
  [[nodiscard]] const JaxOp* of(EventId event) const;
  [[nodiscard]] const JaxOp* of(SignatureId signature) const;
  [[nodiscard]] const std::map<std::string, hlo::Module, std::less<>>& modules() const {
    return modules_;
  }

 private:
  [[nodiscard]] std::unique_ptr<JaxOp> make(const Signature& signature) const;

  const Trace& trace_;
  std::map<std::string, hlo::Module, std::less<>> modules_;
  std::vector<std::unique_ptr<JaxOp>> ops_;  // by signature
};

}  // namespace tracelens
