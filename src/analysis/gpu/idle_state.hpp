// idle_state.hpp: what a host event says about the GPU's idle time meanwhile.
//   const HostState state = state_in(caller, Category::kCpuOp, "aten::item");
//   state.cause   // IdleCause::kSync
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>

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
};

// The state of a thread inside an event. `caller`: the state when the event begins. Waiting, loading
// and compiling stay so, whatever is called for it; so do ops, whose Python frames are part of them.
[[nodiscard]] HostState state_in(HostState caller, Category category, std::string_view name);

// Of annotations and Python frames: fetching the next batch.
[[nodiscard]] bool is_data_loading(std::string_view name);

// Of a copy on the GPU, by its name.
[[nodiscard]] bool is_host_to_device(std::string_view copy);

}  // namespace tracelens
