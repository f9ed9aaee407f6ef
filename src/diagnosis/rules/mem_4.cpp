// MEM-4: one op's tensors are a large part of the peak, and gone when the step ends.
#include <fmt/format.h>

#include <string>

#include "analysis/memory/blocks.hpp"
#include "analysis/memory/peak.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_pct", 30, "% of the peak that one op owns"},
    {"least_pct_of_capacity", 25, "% of the GPU's memory that the peak takes, where it is known"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const DeviceMemory* largest = nullptr;
  for (const DeviceMemory& device : c.memory())
    if (device.device >= 0 &&
        (largest == nullptr || device.peak_allocated > largest->peak_allocated))
      largest = &device;
  if (largest == nullptr ||
      (largest->capacity > 0 &&
       percentage(largest->peak_allocated, largest->capacity) < n["least_pct_of_capacity"]))
    return std::nullopt;
  const MemoryPlaces places{c.facts};
  for (const MemoryOwner& owner :
       owners_at_peak(*largest, memory_blocks(*largest, places), places)) {
    const double share = percentage(owner.bytes, largest->peak_allocated);
    if (share < n["least_pct"]) break;  // the largest first
    if (owner.op.empty() || owner.freed_in_step * 2 < owner.bytes) continue;
    Draft draft;
    draft.verdict = fmt::format(
        "Tensors of {} are {} of the peak, {}, and are given back within the step.", owner.op,
        draft.prove("memory_peak", "pct_of_peak", share, "%"),
        draft.prove("memory_peak", "bytes", static_cast<double>(owner.bytes) / 1e6, "MB"));
    draft.formula = "for information";
    draft.where = {{.kind = "op",
                    .name = std::string{owner.op},
                    .python = std::string{owner.line},
                    .module = owner.module,
                    .count = owner.count}};
    draft.tries = {"a fused op that keeps no such tensor: fused attention, fused cross entropy",
                   "in chunks, one after the other"};
    draft.verify = {
        .table = "memory_peak", .column = "pct_of_peak", .now = share, .expected = "less"};
    draft.confidence = Confidence::kMedium;
    return draft;
  }
  return std::nullopt;
}

}  // namespace

extern const Rule kMem4;
constinit const Rule kMem4 = {
    .id = "MEM-4", .title = "One op's tensors are the peak", .numbers = kNumbers, .find = find};

}  // namespace tracelens
