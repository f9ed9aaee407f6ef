// hlo_work.hpp: what one run of an HLO instruction costs, from the graph of its module.
//   const HloCosts costs{module};
//   const OrReason<Work> work = costs.work(*module.place_of("gemm_fusion_dot.40"));
// FLOPs are counted where the module says what is computed: dots and convolutions by their
// dimension numbers, GEMM, convolution and attention calls of libraries by their shapes and
// configuration, element-wise arithmetic on floats at one per element, reductions at one per
// element read; a fusion is the sum of its body. Bytes are what goes in and out of the kernel: each
// distinct operand once, or only the slices a fusion takes of it, and the result without scratch
// space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/model.hpp>
#include <vector>

#include "perf/attention/attention_cost.hpp"
#include "trace/hlo.hpp"

namespace tracelens::perf {

// A matrix product: of a dot, or of a cuBLAS, cuBLASLt or hipBLASLt call.
struct HloGemm {
  double batch = 1, m = 1, n = 1, k = 1;  // out[m, n] = a[m, k] x b[k, n], `batch` times
  bool adds_c = false;                    // beta is not 0: a third operand is added
  bool adds_bias = false;
  hlo::ElementType a, b, out;
  [[nodiscard]] double flops() const {
    return batch * m * n * (2 * k + (adds_c ? 1 : 0) + (adds_bias ? 1 : 0));
  }
};

struct HloConv {
  enum class Kind : std::uint8_t { kForward, kBackwardInput, kBackwardFilter };
  Kind kind = Kind::kForward;
  // As in the forward convolution, whichever of them is computed.
  hlo::Shape input, filter, output;
  std::vector<std::int64_t> filter_spatial;
  bool bias = false;
  double flops = 0;
};

struct HloAttention {
  AttentionSizes sizes;
  bool causal = false, backward = false;
  hlo::ElementType type;
};

class HloCosts {
 public:
  explicit HloCosts(const hlo::Module& module) : module_{module} {}

  // A Reason when the instruction is of a kind nothing is known about.
  [[nodiscard]] OrReason<Work> work(hlo::Place place) const;
  // What kind of work it is: "gemm", "conv", "attention", "collective", "fusion", "copy", or the
  // opcode.
  [[nodiscard]] std::string kind(hlo::Place place) const;

  // Nothing when the instruction is no such thing, or its shapes do not fit together.
  [[nodiscard]] std::optional<HloGemm> gemm(hlo::Place place) const;
  [[nodiscard]] std::optional<HloConv> conv(hlo::Place place) const;
  [[nodiscard]] std::optional<HloAttention> attention(hlo::Place place) const;

  // The shape of an operand; nullptr when there is no such operand.
  [[nodiscard]] const hlo::Shape* operand(hlo::Place place, std::size_t index) const;

 private:
  struct Body {
    double flops = 0;
    double matrix_flops = 0;       // of dots and convolutions among them
    hlo::ElementType matrix_type;  // of the largest of these
    double largest_matrix = 0;
    bool has_gemm = false, has_conv = false;
  };
  [[nodiscard]] Body body(hlo::Place place) const;
  [[nodiscard]] double own_flops(hlo::Place place, Body& sum) const;
  [[nodiscard]] std::optional<double> bytes(hlo::Place place) const;
  [[nodiscard]] std::optional<double> bytes_read(hlo::Place place, std::size_t index) const;
  [[nodiscard]] std::optional<double> bytes_written(hlo::Place place) const;

  const hlo::Module& module_;
};

// "matrix_bf16" for a product of bf16, "vector_fp32" for element-wise work on f32.
[[nodiscard]] std::string hlo_compute_spec(hlo::ElementType type, bool is_matrix);

[[nodiscard]] bool is_hlo_collective(std::string_view opcode);

}  // namespace tracelens::perf
