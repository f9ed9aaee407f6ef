// words.hpp: the words of Chrome events that mean something here: categories, phases, the
// arguments that are kept.
//   to_category("gpu_memcpy")        // Category::kGpuMemcpy
//   is_detail_key("Group size")      // true: kept in Trace::details
// In a header because they are asked for every event, or every argument, of a trace.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <tracelens/trace.hpp>

#include "readers/chrome/json_scan.hpp"
#include "trace/counter_name.hpp"

namespace tracelens::kineto {

// Kineto's names, and those of rocprofv3 for the same things (hip_api, kernel_dispatch, ...). The
// text is kept beside the category when it is not the category's own name.
inline Category to_category(std::string_view text) {
  using json::is;
  switch (text.size()) {
    case 4:
      if (is(text, "ac2g")) return Category::kAsyncCpuToGpu;
      break;
    case 5:
      if (is(text, "Trace")) return Category::kTraceSpan;
      break;
    case 6:
      if (is(text, "cpu_op")) return Category::kCpuOp;
      if (is(text, "kernel")) return Category::kKernel;
      if (is(text, "fwdbwd")) return Category::kForwardBackward;
      break;
    case 7:
      if (is(text, "hip_api")) return Category::kCudaRuntime;
      if (is(text, "hsa_api")) return Category::kCudaDriver;
      break;
    case 8:
      if (is(text, "overhead")) return Category::kOverhead;
      break;
    case 10:
      if (is(text, "gpu_memcpy")) return Category::kGpuMemcpy;
      if (is(text, "gpu_memset")) return Category::kGpuMemset;
      if (is(text, "marker_api")) return Category::kUserAnnotation;
      break;
    case 11:
      if (is(text, "cuda_driver")) return Category::kCudaDriver;
      if (is(text, "memory_copy")) return Category::kGpuMemcpy;
      break;
    case 12:
      if (is(text, "cuda_runtime")) return Category::kCudaRuntime;
      break;
    case 15:
      if (is(text, "python_function")) return Category::kPythonFunction;
      if (is(text, "user_annotation")) return Category::kUserAnnotation;
      if (is(text, "kernel_dispatch")) return Category::kKernel;
      break;
    case 17:
      if (is(text, "cpu_instant_event")) return Category::kCpuInstant;
      break;
    case 19:
      if (is(text, "gpu_user_annotation")) return Category::kGpuUserAnnotation;
      break;
    default:
      break;
  }
  return Category::kOtherCategory;
}

// The letter of "ph".
inline Phase to_phase(char letter) {
  switch (letter) {
    case 'X':
      return Phase::kComplete;
    case 's':
      return Phase::kFlowStart;
    case 'f':
      return Phase::kFlowEnd;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      return Phase::kInstant;
    case 'M':
      return Phase::kMetadata;
    default:
      return Phase::kOther;
  }
}

// Arguments kept in Trace::details: what a report shows or computes with, and no more. A test per
// key of every event must be cheap: a bit per (length, first letter) rules out nearly all others.
inline constexpr std::string_view kDetailKeys[] = {
    "grid", "block", "bytes", "memory bandwidth (GB/s)", "registers per thread", "shared memory",
    "blocks per SM", "warps per SM", "est. achieved occupancy %", "graph id", "graph node id",
    "kernel",  // of a launch: the kernel it started, or recorded into a graph
    "Collective name", "dtype", "In msg nelems", "Out msg nelems", "In split size",
    "Out split size", "Group size", "Process Group Name", "Process Group Description",
    "Process Group Ranks", "Rank", "Global rank start", "Global rank stride", "Seq", "Src Rank",
    "Dst Rank", "kernel_backend", "kernel_file", "kernel_hash", "kernel_name", "kernel_kwargs",
    "num_warps", "num_stages",
    // written into made-up ops of serving engines
    "MoE topk", "MoE GEMM gated", "v4_H_Q", "v4_d_h", "v4_tp", "v4_model_name", "v4_window",
    "v4_index_topk",
    // rocprofv3: which GPU, thread and queue, what it cost
    "agent", "src_agent", "dst_agent", "copy_bytes", "tid", "queue", "operation", "grid_size",
    "workgroup_size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "LDS_Block_Size",
    "Scratch_Size",
    // other producers' names for a kernel and its GPU
    "KernelName", "symbol", "symbol_name", "funcName", "device_id", "deviceId", "dev_id", "DevId",
    "gpu_id", "gpuId",
    // cuda_sync events: what a call or stream waits for
    "wait_on_stream", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id",
    // the name of the track in a Perfetto trace: a GPU queue or stream
    "perfetto_track"};

inline constexpr auto kDetailLetters = [] {  // by length: the first letters that occur
  std::array<std::uint64_t, 40> letters{};
  for (const std::string_view key : kDetailKeys)
    letters[key.size()] |= std::uint64_t{1} << (static_cast<unsigned char>(key[0]) & 63);
  return letters;
}();

inline constexpr auto kDetailsByLength = [] {
  std::array<std::string_view, std::size(kDetailKeys)> keys{};
  std::ranges::copy(kDetailKeys, keys.begin());
  std::ranges::sort(keys, {}, &std::string_view::size);
  return keys;
}();
inline constexpr auto kFirstOfLength = [] {  // in kDetailsByLength; one more than kDetailLetters
  std::array<std::uint8_t, kDetailLetters.size() + 1> first{};
  for (const std::string_view key : kDetailKeys)
    for (std::size_t length = key.size() + 1; length < first.size(); ++length) ++first[length];
  return first;
}();

inline bool is_detail_key(std::string_view key) {
  if (key.empty() || key.size() >= kDetailLetters.size()) return false;
  if ((kDetailLetters[key.size()] >> (static_cast<unsigned char>(key[0]) & 63) & 1) == 0)
    return false;
  for (std::size_t i = kFirstOfLength[key.size()]; i < kFirstOfLength[key.size() + 1]; ++i)
    if (key == kDetailsByLength[i]) return true;
  return false;
}

// Whether an argument is a hardware counter of rocprofv3, which are details too: a real number
// under a name of its own. Nearly all others are ruled out by the first letter, or have no decimal
// point.
inline bool is_counter(std::string_view key, std::string_view value) {
  if (key.empty() || key[0] < 'A' || key[0] > 'Z' || value.empty()) return false;
  if (value[0] != '-' && (value[0] < '0' || value[0] > '9')) return false;
  const auto is_of_real = [](char c) { return c == '.' || c == 'e' || c == 'E'; };
  return std::ranges::any_of(value, is_of_real) && is_counter_name(key);
}

// The category of what CUPTI's range profiler measured: every argument is a counter of the kernel.
inline constexpr std::string_view kProfilerRange = "cuda_profiler_range";

// Arguments besides those of ops and the numbers that EventParser::parse_arg knows.
inline bool is_read_arg(std::string_view key) {
  return key == "name" || key == "labels" || key == "sort_index" || key == "agent" ||
         key == "src_agent" || key == "dst_agent";
}

// What a metadata event may say about its process or thread.
inline bool is_label_name(std::string_view name) {
  return name == "process_name" || name == "process_labels" || name == "process_sort_index" ||
         name == "thread_name" || name == "thread_sort_index";
}

}  // namespace tracelens::kineto
