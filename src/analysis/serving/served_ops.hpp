// served_ops.hpp: what the GPU work of a serving run is part of, and what models know of it.
//   const ServedOps ops{input, run};
//   ops.of(i).category                                        // of run.work()[i]
//   modelled_work(input, run)[step].flops
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ops/input.hpp"
#include "analysis/serving/run.hpp"

namespace tracelens {

struct ServedOp {
  std::uint32_t category = 0;
  StringId name;  // of the op; of the kernel where no op tells what it is for
};

// The work of the ops that have a model.
struct ModelledWork {
  std::int64_t ns = 0, memory_bound_ns = 0, compute_bound_ns = 0;
  std::int64_t ns_of_bytes = 0;  // of those whose bytes are known
  double flops = 0, bytes = 0;
  double compute_us = 0;  // at the peak rates of the GPU, as far as they are known
  void add(const ModelledWork& more);
};

class ServedOps {
 public:
  ServedOps(OpInput& input, const ServingRun& run);

  [[nodiscard]] const ServedOp& of(std::size_t work) const { return ops_[work]; }
  [[nodiscard]] const std::string& text(std::uint32_t category) const {
    return input_.categories.text(category);
  }
  [[nodiscard]] std::string_view name(const ServedOp& op) const {
    return input_.trace.text(op.name);
  }
  [[nodiscard]] bool is_attention(std::uint32_t category) const;

 private:
  OpInput& input_;
  std::vector<ServedOp> ops_;  // by work of the run
};

// By step, and of what is outside all steps last.
[[nodiscard]] std::vector<ModelledWork> modelled_work(OpInput& input, const ServingRun& run);

}  // namespace tracelens
