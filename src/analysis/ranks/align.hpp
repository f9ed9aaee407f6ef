// align.hpp: which entries of two ranks' lists of collectives belong together when some
// are missing on either side.
//   const Alignment pairs = align(pivot, other);       // pairs[i]: entry of pivot for other[i]
// Entries pair up in order and only when they are of the same kind. As few as possible stay alone;
// which of several equal ones does is decided by the times at which they ended. The two clocks may
// be any time apart: what most pairs agree on is taken out first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracelens {

struct AlignEntry {
  std::uint32_t kind = 0;   // equal for collectives that may belong together
  std::int64_t end_ns = 0;  // by this rank's clock
};

inline constexpr std::uint32_t kUnpaired = 0xffffffff;

// One number per entry of `other`: its partner in `pivot`, ascending, or kUnpaired. Takes time and
// memory for the length times the difference that is looked for, which is limited: lists that
// differ by more are paired one by one from the start, where kinds agree.
[[nodiscard]] std::vector<std::uint32_t> align(std::span<const AlignEntry> pivot,
                                               std::span<const AlignEntry> other);

}  // namespace tracelens
