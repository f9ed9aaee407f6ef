#include "tree/category_rows.hpp"

#include <algorithm>
#include <array>

namespace tracelens {

CategoryRows::CategoryRows(const Trace& trace) {
  constexpr std::size_t kCalls = 0, kGpuEvents = 1, kAnnotations = 2, kOthers = 3;
  std::array<std::uint8_t, kCategoryCount> kind_of{};
  std::array<std::size_t, 4> counts{};
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    kind_of[i] = is_runtime(category)                    ? kCalls
                 : is_gpu(category)                      ? kGpuEvents
                 : category == Category::kUserAnnotation ? kAnnotations
                                                         : kOthers;
    if (kind_of[i] != kOthers)
      counts[kind_of[i]] +=
          static_cast<std::size_t>(std::ranges::count(trace.categories(), category));
  }
  // One more than there are: each row is written without asking and kept if it is one of the kind.
  calls_.resize(counts[kCalls] + 1);
  gpu_events_.resize(counts[kGpuEvents] + 1);
  annotations_.resize(counts[kAnnotations] + 1);
  std::uint32_t unwanted = 0;
  std::array<std::uint32_t*, 4> next = {calls_.data(), gpu_events_.data(), annotations_.data(),
                                        &unwanted};
  std::uint32_t row = 0;
  for (const Category category : trace.categories()) {
    const std::size_t kind = kind_of[static_cast<std::size_t>(category)];
    *next[kind] = row++;
    next[kind] += kind != kOthers;
  }
  for (auto* rows : {&calls_, &gpu_events_, &annotations_}) rows->pop_back();
}

std::span<const std::uint32_t> recorded_rows(const Trace& trace,
                                             std::span<const std::uint32_t> rows) {
  const auto end = std::ranges::lower_bound(rows, trace.recorded());
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

}  // namespace tracelens
