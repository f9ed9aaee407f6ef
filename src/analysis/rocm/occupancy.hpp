// occupancy.hpp: how many waves of a kernel a compute unit of an AMD GPU can hold at once.
//   const auto units = compute_units(trace);                         // by GPU number
//   occupancy({.group_items = 256, .registers = 128, .lds_bytes = 0}, units.at(0))->percent  // 50
// A bound from what each work-group takes of the unit: registers, local memory, waves. What a
// kernel reaches is less when it has too few work-groups or waits for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

struct ComputeUnit {
  std::int64_t wave_size = 64;  // work-items
  std::int64_t waves = 0;       // most at once
  std::int64_t lds_bytes = 0;
  std::int64_t registers = 0;  // of a work-item, when a SIMD holds a single wave
};

// What one work-group needs.
struct GroupNeeds {
  std::int64_t group_items = 1;
  std::int64_t registers = 0;  // vector and accumulation registers of a work-item
  std::int64_t lds_bytes = 0;
};

struct Occupancy {
  double percent = 0;      // of the waves a unit can hold
  std::string_view limit;  // "registers", "LDS" or "waves"
};

// None when a work-group does not fit at all: then the numbers are not what they seem.
[[nodiscard]] std::optional<Occupancy> occupancy(const GroupNeeds& group, const ComputeUnit& unit);

// The GPUs of a rocprofv3 profile whose limits are known: those that its table of agents tells, and
// the registers by architecture (CDNA 2 to 4), which it does not.
[[nodiscard]] std::map<std::int64_t, ComputeUnit> compute_units(const Trace& trace);

}  // namespace tracelens
