// timeline_words.hpp: numbers of gpu_timeline, over the window. The table has what the GPUs do together;
// where several work, a number of each of them, or their mean, is none of it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/draft.hpp"

namespace tracelens {

[[nodiscard]] inline Evidence timeline_proof(const DiagnosisContext& c, std::string_view type,
                                             std::string_view column, double value,
                                             std::string_view unit) {
  if (c.gpu_times().devices == 1)
    return proof("gpu_timeline", column, value, unit, {{"type", std::string{type}}});
  return derived("gpu_timeline", fmt::format("{} of {}, of a GPU", column, type), value, unit);
}

// That it gets better, to be seen in the same place.
[[nodiscard]] inline Verification timeline_verification(const Evidence& number,
                                                        std::string expected) {
  return {.table = number.table,
          .column = number.column,
          .now = number.value,
          .expected = std::move(expected),
          .is_derived = number.is_derived,
          .key = number.key};
}

}  // namespace tracelens
