// api_latency.hpp: from the HIP call to the kernel it launched: how long the call took (A), how
// long the kernel waited (Q) and ran (K).
//   const auto launches = find_api_launches(events, {});
//   report.tables.push_back(api_kernel_summary(events, launches));
// Call and kernel share a correlation id. Q is the time from the end of the call to the start of
// the kernel, 0 when the kernel starts earlier; T = A + Q + K, which is not wall time in that case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/rocm/pftrace_events.hpp"

namespace tracelens {

// TensorFlow and XLA run this kernel to check their own buffers.
inline constexpr std::string_view kDefaultExcludedKernels =
    R"((?:^|\W)redzone_checker_kernel(?:\W|$))";

struct ApiLaunchOptions {
  std::string exclude_kernels{kDefaultExcludedKernels};  // regular expression; empty: none
  bool all_kernels = false;  // of a call, instead of the one that started first
  bool other_calls = false;  // also calls that launch nothing, such as hipFree
};

// One call, and a kernel it launched. Small, as a trace may have millions.
struct ApiLaunch {
  EventId call, kernel;  // kernel: invalid when the call launched none
};
// Q; 0 when the call launched none.
[[nodiscard]] std::int64_t wait_ns(const Trace& trace, const ApiLaunch& launch);

// In order of the calls' first appearance. Throws Error when the regular expression is not one.
[[nodiscard]] std::vector<ApiLaunch> find_api_launches(const PftraceEvents& events,
                                                       const ApiLaunchOptions& options);

// Whether a call launches a kernel, by its name.
[[nodiscard]] bool is_launch_api(std::string_view hip_call);

// Statistics of T, A, Q and K per process, thread, GPU, call and kernel.
[[nodiscard]] Table api_kernel_summary(const PftraceEvents& events,
                                       const std::vector<ApiLaunch>& launches);

// How long kernels waited after their launch, per GPU and stream: half, 90, 95, 99 percent,
// longest.
[[nodiscard]] std::optional<Table> queue_delay(const PftraceEvents& events,
                                               const std::vector<ApiLaunch>& launches);

}  // namespace tracelens
