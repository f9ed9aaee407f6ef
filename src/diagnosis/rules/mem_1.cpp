// MEM-1: the allocator holds nearly all of the GPU's memory. For information.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/memory_words.hpp"

namespace tracelens {
namespace mem_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 90, "% of the GPU's memory that the allocator holds at most"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  for (const DeviceMemory& device : c.memory()) {
    const double held = percentage(device.peak_reserved, device.capacity);
    if (!is_gpu_memory(device) || device.capacity <= 0 || held < n["least_pct"]) continue;
    Draft draft;
    draft.where = largest_owners(c, device);
    draft.verdict =
        draft.tell("The allocator holds {} of {} at its peak ({}); {} are in use at once.",
                   proof("memory_summary", "peak_reserved_mb", in_mb(device.peak_reserved), "MB",
                         {{"device", device.name()}}),
                   proof("memory_summary", "capacity_mb", in_mb(device.capacity), "MB",
                         {{"device", device.name()}}),
                   derived("memory_summary", "peak_reserved_mb of capacity", held, "%",
                           {{"device", device.name()}}),
                   proof("memory_summary", "peak_allocated_mb", in_mb(device.peak_allocated), "MB",
                         {{"device", device.name()}}));
    draft.formula = "none: for information";
    draft.tries = {"checkpoint activations, or offload them",
                   "a smaller batch, or longer sequences in parts",
                   "shard optimizer state and parameters"};
    draft.verify = {.table = "memory_summary",
                    .column = "peak_reserved_mb",
                    .now = in_mb(device.peak_reserved),
                    .expected = fmt::format(
                        "< {}", figure(n["least_pct"] / 100 * in_mb(device.capacity), "MB")),
                    .key = {{"device", device.name()}}};
    draft.confidence = Confidence::kHigh;
    return draft;
  }
  return std::nullopt;
}

}  // namespace mem_1

extern const Rule kMem1;
constinit const Rule kMem1 = {
    .id = "MEM-1", .title = "Memory almost full", .numbers = mem_1::kNumbers, .find = mem_1::find};

}  // namespace tracelens
