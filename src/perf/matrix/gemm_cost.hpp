// gemm_cost.hpp: the cost of out[M,N] = A[M,K] x B[K,N] (+ bias[N]), shared by the GEMM families.
//   const GemmSizes sizes{.m = 8, .n = 16, .k = 4};
//   gemm_flops(sizes)                                        // 2 * 8 * 16 * 4
//   gemm_bytes(sizes, ElementBytes::all(in.bytes(type)))     // none when the size is unknown
#pragma once

#include <optional>
#include <vector>

#include <tracelens/model.hpp>

namespace tracelens::perf {

struct GemmSizes {
  double m = 0, n = 0, k = 0;
  double batch = 1;
  bool bias = false;
};

struct ElementBytes {
  std::optional<double> a, b, bias, out;
  static ElementBytes all(std::optional<double> size) { return {size, size, size, size}; }
};

[[nodiscard]] inline double gemm_flops(const GemmSizes& s) {
  return s.batch * (2 * s.m * s.n * s.k + (s.bias ? s.m * s.n : 0));
}

// None when any of the four sizes is unknown, even that of a bias which is not there.
[[nodiscard]] inline std::optional<double> gemm_bytes(const GemmSizes& s,
                                                      const ElementBytes& size) {
  if (!size.a || !size.b || !size.bias || !size.out) return std::nullopt;
  return s.batch * (s.m * s.k * *size.a + s.k * s.n * *size.b + s.m * s.n * *size.out +
                    (s.bias ? s.n * *size.bias : 0));
}

}  // namespace tracelens::perf
