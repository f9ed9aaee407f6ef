// slices.hpp: which end closes which begin, as time goes on.
//   OpenSlices slices{tracks.merged_threads()};
//   const std::uint32_t id = slices.begin(mark);          // of marks in the order of time
//   if (const auto closed = slices.end(mark)) use(slices[*closed]);
// Only slices that somebody still needs are kept: those that are open, and those held by the
// caller.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "readers/perfetto/marks.hpp"

namespace tracelens::perfetto {

struct Slice {
  static constexpr std::int64_t kOpen = Mark::kOpen;
  std::int64_t ts_ns = 0, dur_ns = kOpen;
  std::uint64_t order = 0;  // in the file
  std::uint32_t track = 0;
  std::uint32_t name = kNone, category = kNone;  // in Texts
  std::uint32_t thread = kNone;                  // that wrote it: a track
  std::uint32_t end_args = kNone;                // arguments that came with the end
  std::uint32_t row = kNone;                     // of the trace: the caller's
  bool has_times = false;                        // its arguments have told begin and length
  std::uint32_t holders = 0;
  [[nodiscard]] std::int64_t end_ns() const { return ts_ns + dur_ns; }
};

class OpenSlices {
 public:
  // `merged` says, by track, on which track its slices are stacked.
  explicit OpenSlices(std::vector<std::uint32_t> merged)
      : merged_{std::move(merged)}, stacks_(merged_.size()) {}

  // Begins a slice; it may be complete already, and then no end closes it. It is held once for the
  // caller.
  std::uint32_t begin(const Mark& mark);
  // Closes the topmost open slice that fits. It is held once more for the caller. None: the end has
  // no begin.
  std::optional<std::uint32_t> end(const Mark& mark);

  Slice& operator[](std::uint32_t id) { return slices_[id]; }
  void hold(std::uint32_t id) { ++slices_[id].holders; }
  // A slice that nobody holds is gone.
  void release(std::uint32_t id);

  // The slices that no end has closed, in no particular order.
  template <class Visit>
  void for_each_open(Visit&& visit) {
    for (const auto& stack : stacks_)
      for (const std::uint32_t id : stack)
        if (slices_[id].dur_ns == Slice::kOpen) visit(slices_[id]);
  }
  [[nodiscard]] std::uint64_t ends_without_begin() const { return ends_without_begin_; }
  // How many slices there is room for: no more than were ever needed at once.
  [[nodiscard]] std::size_t capacity() const { return slices_.size(); }

 private:
  using Stack = std::vector<std::uint32_t>;
  Stack& stack_at(const Mark& mark);
  void pop(Stack& stack);

  std::vector<std::uint32_t> merged_;
  std::vector<Stack> stacks_;  // by merged track
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> free_;  // slices that are gone
  std::uint64_t ends_without_begin_ = 0;
};

}  // namespace tracelens::perfetto
