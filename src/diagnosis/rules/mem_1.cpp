// MEM-1: the memory of the GPU is almost full.
#include <fmt/format.h>

#include <string>

#include "analysis/memory/blocks.hpp"
#include "analysis/memory/peak.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_pct", 90, "% of the GPU's memory that the allocator holds at most"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  for (const DeviceMemory& device : c.memory()) {
    const double share = percentage(device.peak_reserved, device.capacity);
    if (device.capacity == 0 || share < n["least_pct"]) continue;
    Draft draft;
    draft.verdict =
        fmt::format("The allocator of {} holds up to {}, {} of its memory.", device.name(),
                    draft.prove("memory_summary", "peak_reserved_mb",
                                static_cast<double>(device.peak_reserved) / 1e6, "MB"),
                    draft.prove("memory_summary", "peak_pct_of_capacity", share, "%"));
    draft.formula = "for information";
    const MemoryPlaces places{c.facts};
    for (const MemoryOwner& owner : owners_at_peak(device, memory_blocks(device, places), places)) {
      if (owner.op.empty()) continue;
      draft.where.push_back({.kind = "op",
                             .name = std::string{owner.top_op.empty() ? owner.op : owner.top_op},
                             .python = std::string{owner.line},
                             .module = owner.module,
                             .time_ns = 0,
                             .count = owner.count});
      if (draft.where.size() == 5) break;
    }
    draft.tries = {"a smaller batch, and gradients of several for each step of the optimizer",
                   "checkpointing of large activations, or moving them to the host",
                   "states of the optimizer in fewer bits, or sharded over the ranks"};
    draft.verify = {.table = "memory_summary",
                    .column = "peak_pct_of_capacity",
                    .now = share,
                    .expected = fmt::format("< {}", n["least_pct"])};
    draft.confidence = Confidence::kHigh;
    return draft;
  }
  return std::nullopt;
}

}  // namespace

extern const Rule kMem1;
constinit const Rule kMem1 = {
    .id = "MEM-1", .title = "Memory almost full", .numbers = kNumbers, .find = find};

}  // namespace tracelens
