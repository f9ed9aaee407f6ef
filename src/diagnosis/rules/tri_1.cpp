// TRI-1: compiled kernels far below the memory bandwidth.
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/slow_rows.hpp"

namespace tracelens {
namespace tri_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow ones"},
    {"slow_pct", 30, "% of the bandwidth that the run reaches: below is slow"},
    {"target", 0.6, "of that bandwidth: what they should reach"},
    {"least_bytes", 8e6, "bytes that a call moves; smaller ones are bound by launching"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::optional<Draft> draft = find_slow_rows(
      c, n, [](const OpGroup& group) { return group.name.starts_with("triton_"); },
      "Compiled kernels");
  if (!draft) return std::nullopt;
  draft->tries = {"torch.compile with mode=\"max-autotune\"",
                  "the kernel of a library for norms and reductions"};
  draft->confidence = Confidence::kLow;
  return draft;
}

}  // namespace tri_1

extern const Rule kTri1;
constinit const Rule kTri1 = {.id = "TRI-1",
                              .title = "Slow compiled kernels",
                              .numbers = tri_1::kNumbers,
                              .find = tri_1::find};

}  // namespace tracelens
