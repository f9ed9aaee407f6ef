#include "analysis/rocm/occupancy.hpp"

#include <algorithm>
#include <array>

#include "trace/value_member.hpp"

namespace tracelens {
namespace {

// CDNA 2, 3 and 4 have one file for both kinds of vector registers: 512 for each work-item of the
// waves on a SIMD, handed out eight at a time; four SIMDs make a compute unit.
constexpr std::array<std::string_view, 5> kUnifiedFile = {"gfx90a", "gfx940", "gfx941", "gfx942",
                                                          "gfx950"};
constexpr std::int64_t kRegisters = 512, kRegisterBlock = 8, kSimds = 4;

std::int64_t divide_up(std::int64_t part, std::int64_t whole) {
  return part / whole + (part % whole != 0 ? 1 : 0);
}

}  // namespace

std::optional<Occupancy> occupancy(const GroupNeeds& group, const ComputeUnit& unit) {
  const std::int64_t waves =
      divide_up(std::max<std::int64_t>(1, group.group_items), unit.wave_size);
  struct Limit {
    std::int64_t groups;
    std::string_view name;
  };
  Limit limit{unit.waves / waves, "waves"};
  const auto lower = [&limit](std::int64_t groups, std::string_view name) {
    if (groups < limit.groups) limit = {groups, name};
  };
  if (group.registers > 0) {
    const std::int64_t blocks = divide_up(group.registers, kRegisterBlock);
    lower(unit.registers / kRegisterBlock / blocks * kSimds / waves, "registers");
  }
  if (group.lds_bytes > 0) lower(unit.lds_bytes / group.lds_bytes, "LDS");
  if (limit.groups <= 0) return std::nullopt;
  return Occupancy{
      static_cast<double>(limit.groups * waves) / static_cast<double>(unit.waves) * 100,
      limit.name};
}

std::map<std::int64_t, ComputeUnit> compute_units(const Trace& trace) {
  std::map<std::int64_t, ComputeUnit> units;
  const Value* const gpus = trace.metadata("deviceProperties");
  if (trace.source().recorder != Recorder::kRocprof || gpus == nullptr) return units;
  for (const Value& gpu : gpus->items()) {
    const Value* const architecture = gpu.find("gfx");
    if (architecture == nullptr ||
        std::ranges::find(kUnifiedFile, architecture->as_text()) == kUnifiedFile.end())
      continue;
    const std::int64_t wave_size = member(gpu, "warpSize").as_int();
    const std::int64_t items = member(gpu, "maxThreadsPerMultiprocessor").as_int();
    const std::int64_t lds = member(gpu, "sharedMemPerMultiprocessor").as_int();
    if (wave_size > 0 && items >= wave_size && lds > 0)
      units[member(gpu, "id").as_int()] = {wave_size, items / wave_size, lds, kRegisters};
  }
  return units;
}

}  // namespace tracelens
