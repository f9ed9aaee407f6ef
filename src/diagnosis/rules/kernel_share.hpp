// kernel_share.hpp: kernels that their names give away, and the part of their time that mending leaves.
// What ATTN-4, ROCM-1 and ROCM-2 have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/name_test.hpp"

namespace tracelens {

// Scales the free kernels of the window that `is_one`, and notes them by name; gives their time.
inline std::int64_t scale_kernels(const DiagnosisContext& c, bool (*is_one)(std::string_view name),
                                  double factor, Collected& found, Draft& draft) {
  NameTest is_meant{c.trace, is_one};
  std::map<std::string_view, FindingPlace> places;
  const std::int64_t before = found.before_ns();
  for (const EventId event : c.gpu_events()) {
    if (!c.is_free(event) || !is_meant(event)) continue;
    found.scale(event, factor);
    FindingPlace& place = places[c.trace.name(event)];
    if (++place.count == 1) {
      place.kind = "kernel";
      place.name = c.trace.name(event);
      place.python = c.python_line(event);
    }
    place.time_ns += c.dur_ns(event);
  }
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  std::ranges::stable_sort(draft.where, std::ranges::greater{}, &FindingPlace::time_ns);
  return found.before_ns() - before;
}

}  // namespace tracelens
