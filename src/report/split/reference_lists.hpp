// reference_lists.hpp: the lists of parts that the Python TraceLens writes beside them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/split/windows.hpp"

namespace tracelens {

struct ListedPart {
  std::size_t first_step = 0;
  std::string path;
  std::uint64_t events = 0, gpu_events = 0;
  std::int64_t gpu_span_ns = 0, gpu_sum_ns = 0;
  std::vector<StepDetails> steps;
};

[[nodiscard]] std::string execution_details_json(std::span<const ListedPart> parts);
[[nodiscard]] std::string execution_details_csv(std::span<const ListedPart> parts);

}  // namespace tracelens
