#include "tree/category_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/parallel.hpp"
#include "io/threads.hpp"

namespace tracelens {

namespace {

enum RowKind : std::uint8_t { kCallRows, kGpuRows, kAnnotationRows, kOtherRows, kRowKinds };

constexpr RowKind row_kind(Category category) {
  if (is_runtime(category)) return kCallRows;
  if (is_gpu(category)) return kGpuRows;
  return category == Category::kUserAnnotation ? kAnnotationRows : kOtherRows;
}

using RowCounts = std::array<std::size_t, kRowKinds>;

RowCounts count_kinds(std::span<const Category> categories) {
  RowCounts counts{};
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    if (const auto category = static_cast<Category>(i); row_kind(category) != kOtherRows)
      counts[row_kind(category)] +=
          static_cast<std::size_t>(std::ranges::count(categories, category));
  return counts;
}

}  // namespace

CategoryRows::CategoryRows(const Trace& trace, int threads) {
  const std::span<const Category> categories = trace.categories();
  const io::Ranges ranges{io::thread_count(threads), categories.size()};
  const auto of_part = [&](std::size_t part) {
    return categories.subspan(ranges.begin(part), ranges.end(part) - ranges.begin(part));
  };
  const auto for_each_part = [&](const auto& use) {
    io::for_each_part(io::thread_count(threads), ranges.parts(), use);
  };
  std::vector<RowCounts> before(ranges.parts());
  for_each_part([&](std::size_t part) { before[part] = count_kinds(of_part(part)); });
  RowCounts all{};
  for (RowCounts& counts : before)
    for (std::size_t kind = 0; kind < kRowKinds; ++kind)
      all[kind] += std::exchange(counts[kind], all[kind]);
  calls_.resize(all[kCallRows]);
  gpu_events_.resize(all[kGpuRows]);
  annotations_.resize(all[kAnnotationRows]);
  std::array<RowKind, kCategoryCount> kinds{};
  for (std::size_t i = 0; i < kCategoryCount; ++i) kinds[i] = row_kind(static_cast<Category>(i));
  for_each_part([&](std::size_t part) {
    // Each row is written without asking; those of no interest all to the same place.
    std::uint32_t unwanted = 0;
    std::array<std::uint32_t*, kRowKinds> next = {
        calls_.data() + before[part][kCallRows], gpu_events_.data() + before[part][kGpuRows],
        annotations_.data() + before[part][kAnnotationRows], &unwanted};
    auto row = static_cast<std::uint32_t>(ranges.begin(part));
    for (const Category category : of_part(part)) {
      const RowKind kind = kinds[static_cast<std::size_t>(category)];
      *next[kind] = row++;
      next[kind] += kind != kOtherRows;
    }
  });
}

std::span<const std::uint32_t> recorded_rows(const Trace& trace,
                                             std::span<const std::uint32_t> rows) {
  const auto end = std::ranges::lower_bound(rows, trace.recorded());
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

}  // namespace tracelens
