// raw_timeline.hpp: the memory timeline that PyTorch's profiler writes itself
// (export_memory_timeline("x.raw.json.gz")): no owners, but the true categories.
//   const RawTimeline timeline = read_raw_timeline("run.raw.json.gz");
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

inline constexpr std::array<std::string_view, 8> kRawCategories = {
    "parameter",  "optimizer state", "input",           "temporary",
    "activation", "gradient",        "autograd detail", "unknown"};

struct RawTimeline {
  struct Point {
    std::int64_t ts_ns = 0, allocated = 0;
  };
  std::vector<Point> points;  // by time; what was there before stands at the first time
  std::int64_t initial = 0;   // of blocks that existed before
  std::int64_t peak_ts_ns = 0, peak_allocated = 0;
  std::array<std::int64_t, kRawCategories.size()> at_peak = {};  // bytes by category
  std::int64_t allocs = 0, frees = 0;
  double allocated_bytes = 0;
};

// A list of [time ns, action, bytes, category]. Throws Error when the file cannot be read or is no
// such list.
[[nodiscard]] RawTimeline read_raw_timeline(const std::string& path);
[[nodiscard]] RawTimeline parse_raw_timeline(std::string_view name, std::string_view json);

}  // namespace tracelens
