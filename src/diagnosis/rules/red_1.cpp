// RED-1: reductions of large tensors far below the memory bandwidth.
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/slow_rows.hpp"

namespace tracelens {
namespace red_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow ones"},
    {"slow_pct", 50, "% of the bandwidth that the run reaches: below is slow"},
    {"target", 0.7, "of that bandwidth: what they should reach"},
    {"least_bytes", 8e6, "bytes that a call moves; smaller ones are bound by launching"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::optional<Draft> draft = find_slow_rows(
      c, n, [](const OpGroup& group) { return group.category == "reduce"; },
      "Reductions of large tensors");
  if (!draft) return std::nullopt;
  draft->tries = {"reduce over the last, contiguous dimension",
                  "fuse the reduction with what comes before it (torch.compile)"};
  return draft;
}

}  // namespace red_1

extern const Rule kRed1;
constinit const Rule kRed1 = {.id = "RED-1",
                              .title = "Reductions below bandwidth",
                              .numbers = red_1::kNumbers,
                              .find = red_1::find};

}  // namespace tracelens
