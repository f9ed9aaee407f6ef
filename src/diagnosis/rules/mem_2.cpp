// MEM-2: the allocator holds much memory that it cannot hand out.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_gib", 1, "GiB held but not in use at the peak"},
    {"least_pct", 20, "% of what is held"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  constexpr double kGib = 1 << 30;
  for (const DeviceMemory& device : c.memory()) {
    const double unused = static_cast<double>(device.fragmentation());
    const double share = percentage(device.fragmentation(), device.reserved_at_peak);
    if (unused < n["least_gib"] * kGib || share < n["least_pct"]) continue;
    Draft draft;
    draft.verdict = fmt::format(
        "At the peak of {} the allocator holds {} more than is in use, {} of what it holds.",
        device.name(), draft.prove("memory_summary", "fragmentation_mb", unused / 1e6, "MB"),
        draft.prove("memory_summary", "fragmentation_pct", share, "%"));
    draft.formula = "for information";
    draft.tries = {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                   "shapes that repeat: padded or bucketed batches"};
    draft.verify = {.table = "memory_summary",
                    .column = "fragmentation_mb",
                    .now = unused / 1e6,
                    .expected = fmt::format("< {:.0f}", n["least_gib"] * kGib / 1e6)};
    draft.confidence = Confidence::kHigh;
    return draft;
  }
  return std::nullopt;
}

}  // namespace

extern const Rule kMem2;
constinit const Rule kMem2 = {
    .id = "MEM-2", .title = "Fragmented memory", .numbers = kNumbers, .find = find};

}  // namespace tracelens
