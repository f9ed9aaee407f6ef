// idle_state.hpp: what a host event says about the GPU's idle time meanwhile.
//   HostStates states{trace};
//   states.in(caller, event).cause   // IdleCause::kSync, for aten::item
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/gpu/idle.hpp"

namespace tracelens {

// The words of gpu_idle_host; idle.hpp says what they mean.
enum class Host : std::uint8_t {
  kNothing,
  kUnlinked,
  kQueued,
  kLatency,
  kLaunchCall,
  kSlowLaunchCall,
  kLateStart,
  kSync,
  kRuntime,
  kOp,
  kCompile,
  kPython,
  kAnnotation,
};
[[nodiscard]] std::string_view text_of(Host host);

struct HostState {
  Host host = Host::kNothing;
  IdleCause cause = IdleCause::kNoHost;
  bool operator==(const HostState&) const = default;
};

// Looks at each distinct name once.
class HostStates {
 public:
  explicit HostStates(const Trace& trace) : trace_{trace}, known_(trace.string_count()) {}
  // The state of a thread inside an event. `caller`: the state when the event begins. Waiting,
  // loading and compiling stay so, whatever is called for it; so do ops, whose Python frames are
  // part of them.
  [[nodiscard]] HostState in(HostState caller, EventId event);

 private:
  struct Known {
    Category category = Category::kNone;  // of the event last seen with this name; none yet
    HostState state;
  };
  const Trace& trace_;
  std::vector<Known> known_;  // by StringId
};

// Of annotations and Python frames: fetching the next batch.
[[nodiscard]] bool is_data_loading(std::string_view name);

// Of a copy on the GPU, by its name.
[[nodiscard]] bool is_host_to_device(std::string_view copy);

}  // namespace tracelens
