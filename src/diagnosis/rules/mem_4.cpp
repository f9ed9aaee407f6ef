// MEM-4: what one op, the outermost, hands out and takes back within the step makes the peak. For
// information.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/memory_words.hpp"

namespace tracelens {
namespace mem_4 {

constexpr Number kNumbers[] = {
    {"least_pct", 30, "% of the peak that belongs to one op and goes within the step"},
};

// A whole function that was compiled: it stands for all of its ops.
bool is_compiled(std::string_view op) {
  return has_any(op, {"CompiledFunction", "Torch-Compiled Region"});
}

// The owners of one outermost op as one, which keeps what else is known of the largest; the largest
// first.
std::vector<MemoryOwner> outermost_owners(const DiagnosisContext& c, const DeviceMemory& device) {
  std::vector<MemoryOwner> found;
  for (MemoryOwner& owner : owners_of_peak(c, device)) {
    if (owner.use == BlockUse::kBeforeTrace || owner.top_op.empty() || is_compiled(owner.top_op) ||
        is_compiled(owner.op))
      continue;
    const auto same = std::ranges::find(found, owner.top_op, &MemoryOwner::top_op);
    if (same == found.end()) {
      found.push_back(std::move(owner));
    } else {
      same->freed_in_step += owner.freed_in_step;
      same->count += owner.count;
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &MemoryOwner::freed_in_step);
  return found;
}

std::vector<std::string> what_to_try(const MemoryOwner& owner) {
  std::vector<std::string> tries;
  const auto is_scores_or_loss = [](std::string_view op) {
    return has_any(op, {"softmax", "bmm", "attention", "cross_entropy", "nll_loss"});
  };
  if (is_scores_or_loss(owner.op) || is_scores_or_loss(owner.top_op)) {
    tries.emplace_back(
        "a fused op that never writes them: scaled_dot_product_attention for scores, a "
        "chunked linear cross entropy for logits (see ATTN-1, SOFT-1)");
    tries.emplace_back("compute them in chunks");
  }
  if (owner.use == BlockUse::kActivation) {  // taken back in the backward pass
    tries.emplace_back("recompute them in the backward pass: torch.utils.checkpoint");
    tries.emplace_back("a smaller batch, its gradients added up over several");
  } else {
    tries.emplace_back("a smaller batch");
  }
  return tries;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  for (const DeviceMemory& device : c.memory()) {
    if (!is_gpu_memory(device) || device.peak_allocated <= 0) continue;
    for (const MemoryOwner& owner : outermost_owners(c, device)) {
      const double share = percentage(owner.freed_in_step, device.peak_allocated);
      if (share < n["least_pct"]) break;
      Draft draft;
      const std::string op{owner.top_op};
      const ProofKey key{{"device", device.name()}, {"top op", op}};
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
      draft.tries = what_to_try(owner);
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
