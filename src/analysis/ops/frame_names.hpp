// frame_names.hpp: what ops and Python frames are called in call stacks: without their running
// numbers ("Linear_12" is "Linear"). Each name is made once and shared by all stacks that hold it.
//   FrameNames frames{trace};
//   frames.of(event)                                    // 'nn.Module: Linear'
#pragma once

#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

namespace tracelens {

// Every "_<digits>" taken out.
[[nodiscard]] std::string without_numbers(std::string_view name);

class FrameNames {
 public:
  explicit FrameNames(const Trace& trace) : trace_{trace} {}

  // Null where a name says little: that of a built-in or a runtime call, which has neither a path nor
  // a namespace.
  [[nodiscard]] const Value& of(EventId event);

 private:
  struct Name {
    Value text;  // null: not made yet
    bool is_telling = false;
  };
  const Trace& trace_;
  std::vector<Name> names_;                       // by StringId; empty until asked
  std::unordered_map<std::string, Value> texts_;  // names that differ in their numbers are one text
};

}  // namespace tracelens
