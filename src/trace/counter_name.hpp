// counter_name.hpp: how the hardware counters of a kernel are told from its other arguments.
//   is_counter_name("SQ_WAVES")  -> true      is_counter_name("grid_size")  -> false
// rocprofv3 writes them among the arguments of a kernel, each a real number ("SQ_WAVES": 128.0)
// under a name that begins with a capital letter; its other arguments are whole numbers and texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace tracelens {

// No counter has a name this long; a limit keeps details short.
inline constexpr std::size_t kLongestCounterName = 96;

// Other arguments of events that begin with a capital; some producers write all numbers as reals.
inline constexpr std::string_view kNoCounters[] = {"VGPR_Count",   "Accum_VGPR_Count",
                                                   "SGPR_Count",   "LDS_Block_Size",
                                                   "Scratch_Size", "KernelName",
                                                   "DevId",        "CorrId",
                                                   "Rank",         "Seq"};

// Letters, digits and "_.:,=()[]-", so that the name can stand in JSON as it is.
[[nodiscard]] constexpr bool is_counter_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestCounterName || name[0] < 'A' || name[0] > 'Z')
    return false;
  if (std::ranges::find(kNoCounters, name) != std::end(kNoCounters)) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"_.:,=()[]-"}.find(c) != std::string_view::npos;
  });
}

}  // namespace tracelens
