// ELEM-1: elementwise ops on large tensors far below the memory bandwidth.
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/slow_rows.hpp"

namespace tracelens {
namespace elem_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in slow ones"},
    {"slow_pct", 50, "% of the bandwidth that the run reaches: below is slow"},
    {"target", 0.7, "of that bandwidth: what they should reach"},
    {"least_bytes", 8e6, "bytes that a call moves; smaller ones are bound by launching"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::optional<Draft> draft = find_slow_rows(
      c, n, [](const OpGroup& group) { return has_text(group.category, "lementwise"); },
      "Elementwise ops on large tensors");
  if (!draft) return std::nullopt;
  draft->tries = {"contiguous arguments of one layout", "a type that loads in wide pieces",
                  "fuse them (torch.compile)"};
  return draft;
}

}  // namespace elem_1

extern const Rule kElem1;
constinit const Rule kElem1 = {.id = "ELEM-1",
                               .title = "Elementwise work below bandwidth",
                               .numbers = elem_1::kNumbers,
                               .find = elem_1::find};

}  // namespace tracelens
