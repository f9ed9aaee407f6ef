// category_rows.hpp: where in the file the runtime calls, GPU events and annotations stand.
//   const CategoryRows rows{trace};
//   for (const std::uint32_t row : rows.calls()) ...
// Most events are ops, Python frames and flows, written in turns with these: who wants only some kinds
// would look at all events for them, and guess wrong at every second one.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

class CategoryRows {
 public:
  explicit CategoryRows(const Trace& trace, int threads = 1);  // 0: one per core

  // All in file order, with those that were added to the trace, whatever their phase and time.
  [[nodiscard]] std::span<const std::uint32_t> calls() const { return calls_; }  // is_runtime()
  [[nodiscard]] std::span<const std::uint32_t> gpu_events() const {
    return gpu_events_;
  }  // is_gpu()
  [[nodiscard]] std::span<const std::uint32_t> annotations() const {
    return annotations_;
  }  // user's

 private:
  std::vector<std::uint32_t> calls_, gpu_events_, annotations_;
};

// Those that were recorded, of rows in file order.
[[nodiscard]] std::span<const std::uint32_t> recorded_rows(const Trace& trace,
                                                           std::span<const std::uint32_t> rows);

}  // namespace tracelens
