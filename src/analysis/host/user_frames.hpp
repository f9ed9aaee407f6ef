// user_frames.hpp: which Python frames are the user's own code: neither built-in, nor inside the
// framework, nor the call of a module.
//   UserFrames frames{trace};
//   if (frames.is_own(event)) line = trace.name(event);
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

[[nodiscard]] bool is_user_frame(std::string_view frame);

// Looks at each distinct name once.
class UserFrames {
 public:
  explicit UserFrames(const Trace& trace) : trace_{trace}, known_(trace.string_count()) {}
  [[nodiscard]] bool is_own(EventId frame) {
    std::uint8_t& known = known_[trace_.names()[frame.row].row];
    if (known == 0) known = is_user_frame(trace_.name(frame)) ? 1 : 2;
    return known == 1;
  }

 private:
  const Trace& trace_;
  std::vector<std::uint8_t> known_;  // by StringId; 0: not met yet
};

}  // namespace tracelens
