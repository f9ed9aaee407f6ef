// NORM-1: normalisations far below the memory bandwidth.
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/slow_rows.hpp"

namespace tracelens {
namespace norm_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow ones"},
    {"slow_pct", 50, "% of the bandwidth that the run reaches: below is slow"},
    {"target", 0.7, "of that bandwidth: what they should reach"},
    {"least_bytes", 8e6, "bytes that a call moves; smaller ones are bound by launching"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::optional<Draft> draft = find_slow_rows(
      c, n, [](const OpGroup& group) { return group.category.starts_with("NORM"); },
      "Normalisations");
  if (!draft) return std::nullopt;
  draft->tries = {"the fused layer_norm or rms_norm of a library, or torch.compile",
                  "for batch norms of convolutions: channels_last"};
  return draft;
}

}  // namespace norm_1

extern const Rule kNorm1;
constinit const Rule kNorm1 = {.id = "NORM-1",
                               .title = "Slow normalisation",
                               .numbers = norm_1::kNumbers,
                               .find = norm_1::find};

}  // namespace tracelens
