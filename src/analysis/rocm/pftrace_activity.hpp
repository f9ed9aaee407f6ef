// pftrace_activity.hpp: what the GPUs of a ROCm timeline did: time by kind of kernel and GPU, by
// kernel, by HIP call.
//   const PftraceEvents events{trace};
//   const PftraceActivity activity{events, {.min_event_ns = 1000}};
//   report.tables.push_back(category_summary(activity));
// Kernels fall into ten classes by their names: XLA fusions, GEMMs, attention (forward and
// backward, of CK and AITER), Transformer Engine, copies, fills, RCCL.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/rocm/pftrace_events.hpp"
#include "facts/kernel_names.hpp"

namespace tracelens {

struct PftraceActivityOptions {
  bool merge_kernels = false;             // names that differ only in digits are one kernel
  std::int64_t min_tid = -1'000'000'000;  // events of other threads are left out
  std::int64_t max_tid = 1'000'000'000;
  std::int64_t min_event_ns = 5000;  // shorter ones count in xla_top only
  std::size_t top_xla = 30;
  bool include_rccl = false;        // also in kernel_summary
  bool percent_of_compute = false;  // base of kernel_summary: compute, or compute and RCCL
  bool group_by_config = true;      // kernel_summary by name and launch configuration
  bool group_by_stream = false;     // hip_summary
  bool group_by_operation = false;  // hip_summary
  // Extended: the name is the first column, and the communication that runs while kernels compute is
  // exact. The Python TraceLens adds it up: time shared by several kernels counts several times and
  // can exceed the communication. Nor does it know events of 0 ns.
  Edition edition = Edition::kExtended;
};

class PftraceActivity {
 public:
  struct Gpu {
    // By begin; none without a time or below min_event_ns, in the reference edition none of 0 ns.
    std::vector<EventId> compute, communication;
    std::array<std::int64_t, kKernelClassNames.size()> class_ns = {}, class_counts = {};
    std::int64_t compute_ns = 0, total_ns = 0;  // without and with communication
  };
  struct Xla {  // one kernel name, in order of first appearance
    std::string name;
    std::int64_t ns = 0, count = 0;
  };

  // `events` must outlive this.
  PftraceActivity(const PftraceEvents& events, const PftraceActivityOptions& options);

  [[nodiscard]] const PftraceEvents& events() const { return events_; }
  [[nodiscard]] const PftraceActivityOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<EventId>& hip_calls() const { return hip_calls_; }  // by begin
  [[nodiscard]] const std::vector<Xla>& xla() const { return xla_; }
  // Kernels of FlashAttention 3's backward pass.
  [[nodiscard]] bool uses_fa3() const { return uses_fa3_; }
  [[nodiscard]] const Trace& trace() const { return events_.trace(); }
  // The name a kernel is counted under.
  [[nodiscard]] std::string kernel_key(EventId event) const;

 private:
  void collect();
  void add_gpu_event(std::uint32_t gpu, EventId event);
  void put_in_order(std::vector<EventId>& events);
  [[nodiscard]] bool in_window(std::int64_t tid) const {
    return tid >= options_.min_tid && tid <= options_.max_tid;
  }

  const PftraceEvents& events_;
  PftraceActivityOptions options_;
  std::vector<Gpu> gpus_;
  std::vector<EventId> hip_calls_;
  std::vector<EventId> scratch_;  // for put_in_order()
  std::vector<Xla> xla_;
  std::unordered_map<std::string, std::size_t> xla_index_;
  std::vector<std::uint8_t> classes_;  // by name: KernelClass + 1, or 0 when not looked at yet
  bool uses_fa3_ = false;
};

// Per GPU and as the mean over the GPUs: time and count by class, and how much of the communication
// is hidden behind compute. A table without columns when no GPU did anything.
[[nodiscard]] Table category_summary(const PftraceActivity& activity);

// The XLA kernels that took most time, over all GPUs.
[[nodiscard]] Table xla_top(const PftraceActivity& activity);

// Statistics per kernel; options group_by_config, include_rccl, percent_of_compute.
[[nodiscard]] Table pftrace_kernel_summary(const PftraceActivity& activity);

// Statistics per HIP call; options group_by_stream, group_by_operation.
[[nodiscard]] Table hip_summary(const PftraceActivity& activity);

}  // namespace tracelens
