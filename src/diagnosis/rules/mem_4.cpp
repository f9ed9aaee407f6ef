// MEM-4: what one op hands out and takes back within the step makes the peak. For information.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/memory_words.hpp"

namespace tracelens {
namespace mem_4 {

constexpr Number kNumbers[] = {
    {"least_pct", 30, "% of the peak that belongs to one op and goes within the step"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  for (const DeviceMemory& device : c.memory()) {
    if (!is_gpu_memory(device) || device.peak_allocated <= 0) continue;
    for (const MemoryOwner& owner : owners_of_peak(c, device)) {
      const double share = percentage(owner.freed_in_step, device.peak_allocated);
      if (owner.use == BlockUse::kBeforeTrace || owner.op.empty() || share < n["least_pct"])
        continue;
      Draft draft;
      const std::string op{owner.op};
      const ProofKey key{{"device", device.name()}, {"op", op}};
      draft.verdict = draft.tell(
          "At the peak {} of {} in use ({}) were handed out by {} in all its calls, and are taken "
          "back within the step.",
          derived("memory_peak", "bytes taken back within the step", in_mb(owner.freed_in_step),
                  "MB", key),
          proof("memory_summary", "peak_allocated_mb", in_mb(device.peak_allocated), "MB",
                {{"device", device.name()}}),
          derived("memory_peak", "pct_of_peak taken back within the step", share, "%", key), op);
      draft.where = {{.kind = "op",
                      .name = op,
                      .python = std::string{owner.line},
                      .module = owner.module,
                      .count = owner.count}};
      draft.formula = "none: for information";
      draft.tries = {
          "a fused op that never writes them: scaled_dot_product_attention for scores, a "
          "chunked linear cross entropy for logits (see ATTN-1, SOFT-1)",
          "compute them in chunks", "recompute them in the backward pass"};
      draft.verify = {.table = "memory_peak",
                      .column = "pct_of_peak taken back within the step",
                      .now = share,
                      .expected = fmt::format("< {}", figure(n["least_pct"], "%")),
                      .is_derived = true};
      draft.confidence = Confidence::kMedium;
      return draft;
    }
  }
  return std::nullopt;
}

}  // namespace mem_4

extern const Rule kMem4;
constinit const Rule kMem4 = {.id = "MEM-4",
                              .title = "One op dominates the peak",
                              .numbers = mem_4::kNumbers,
                              .find = mem_4::find};

}  // namespace tracelens
