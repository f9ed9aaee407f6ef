// room_estimate.hpp: room for the columns of a whole trace, as far as tells what was read of it.
//   RoomEstimate room{builder};
//   ... room.estimate(fraction);   // of the file that is read, after some of its events
// A column that grows waits for the threads that write into it, and a small one leaves holes in the heap.
#pragma once

#include <algorithm>
#include <new>
#include <tracelens/trace_builder.hpp>

namespace tracelens {

class RoomEstimate {
 public:
  explicit RoomEstimate(TraceBuilder& builder) : builder_{builder} {}

  // Where so much memory may not be asked for, columns grow as they need.
  void estimate(double fraction) {
    if (fraction < next_ || fraction >= 1 || builder_.size() == 0) return;
    next_ = std::min(fraction * kNext, (1 + fraction) / 2);  // a late first one is looked at again
    const double events = static_cast<double>(builder_.size()) / fraction;
    if (events * kLargeEnough <= reserved_) return;
    const double more = reserved_ == 0 ? kMoreThanFirst : kMoreThanLater;
    try {
      builder_.reserve_scaled(more / fraction);
      reserved_ = events * more;
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  // Of the file, before the first estimate; and how much more of it before the next.
  static constexpr double kEnough = 1. / 64, kNext = 4;
  // The first estimate is the worst one; of later ones room that is large enough takes no notice.
  static constexpr double kMoreThanFirst = 1.4, kMoreThanLater = 1.15, kLargeEnough = 1.02;

  TraceBuilder& builder_;
  double next_ = kEnough;
  double reserved_ = 0;  // events there is room for
};

}  // namespace tracelens
