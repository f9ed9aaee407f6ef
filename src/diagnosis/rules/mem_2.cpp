// MEM-2: the allocator holds much more than is in use, in pieces that do not fit. For information.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/memory_words.hpp"

namespace tracelens {
namespace mem_2 {

constexpr Number kNumbers[] = {
    {"least_mib", 1024, "MiB held and not in use when most is in use"},
    {"least_pct", 20, "% of what is held then"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  for (const DeviceMemory& device : c.memory()) {
    const double share = percentage(device.fragmentation(), device.reserved_at_peak);
    if (!is_gpu_memory(device) || in_mib(device.fragmentation()) < n["least_mib"] ||
        share < n["least_pct"])
      continue;
    Draft draft;
    const ProofKey key{{"device", device.name()}};
    draft.verdict = draft.tell(
        "When most is in use, the allocator holds {} more than that: {} of what it holds.",
        proof("memory_summary", "fragmentation_mb", in_mb(device.fragmentation()), "MB", key),
        proof("memory_summary", "fragmentation_pct", share, "%", key));
    draft.where = {{.kind = "device", .name = device.name(), .count = device.allocs}};
    draft.formula = "none: for information";
    draft.tries = {"PYTORCH_ALLOC_CONF=expandable_segments:True",
                   "shapes that repeat: pad or bucket sequence lengths",
                   "free large tensors before a phase that needs other sizes"};
    draft.verify = {.table = "memory_summary",
                    .column = "fragmentation_mb",
                    .now = in_mb(device.fragmentation()),
                    .expected = fmt::format("< {}", figure(n["least_mib"] * kMib / 1e6, "MB")),
                    .key = {{"device", device.name()}}};
    draft.confidence = Confidence::kHigh;
    return draft;
  }
  return std::nullopt;
}

}  // namespace mem_2

extern const Rule kMem2;
constinit const Rule kMem2 = {
    .id = "MEM-2", .title = "Fragmented memory", .numbers = mem_2::kNumbers, .find = mem_2::find};

}  // namespace tracelens
