// test_trace.hpp: small traces for tests, one readable line per event; times in microseconds.
//   TestTrace t;
//   const EventId mm = t.op("aten::mm", 0, 10);
//   const auto [call, kernel] = t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 5, .dur =
//   8}); const Trace trace = t.finish();
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>

#include <tracelens/trace_builder.hpp>

namespace tracelens {

class TestTrace {
 public:
  static constexpr int kHostPid = 100;
  struct Gpu {
    std::string_view name = "kernel";
    double ts = 0, dur = 0;
    int stream = 7, device = 0;
    Category category = Category::kKernel;
  };
  struct Launch {
    EventId call, gpu;
  };

  EventId event(Category category, std::string_view name, double ts, double dur, int tid = 1,
                std::int64_t correlation = kAbsent) {
    return builder_.append({.phase = Phase::kComplete,
                            .category = category,
                            .name = builder_.intern(name),
                            .track = builder_.intern(Track{kHostPid, tid}),
                            .signature = {},
                            .ts_ns = ns(ts),
                            .dur_ns = ns(dur),
                            .correlation = correlation});
  }
  EventId op(std::string_view name, double ts, double dur, int tid = 1) {
    return event(Category::kCpuOp, name, ts, dur, tid);
  }
  EventId op(std::string_view name, double ts, double dur, Signature signature, int tid = 1) {
    signature.name = builder_.intern(name);
    return builder_.append({.phase = Phase::kComplete,
                            .category = Category::kCpuOp,
                            .name = signature.name,
                            .track = builder_.intern(Track{kHostPid, tid}),
                            .signature = builder_.intern(signature),
                            .ts_ns = ns(ts),
                            .dur_ns = ns(dur)});
  }
  EventId python(std::string_view name, double ts, double dur, int tid = 1) {
    return event(Category::kPythonFunction, name, ts, dur, tid);
  }
  EventId runtime(std::string_view name, double ts, double dur, std::int64_t correlation = kAbsent,
                  int tid = 1) {
    return event(Category::kCudaRuntime, name, ts, dur, tid, correlation);
  }
  EventId gpu(const Gpu& gpu, std::int64_t correlation = kAbsent) {
    const EventId event = builder_.append({.phase = Phase::kComplete,
                                           .category = gpu.category,
                                           .name = builder_.intern(gpu.name),
                                           .track = gpu_track(gpu.stream, gpu.device),
                                           .signature = {},
                                           .ts_ns = ns(gpu.ts),
                                           .dur_ns = ns(gpu.dur),
                                           .correlation = correlation});
    builder_.set_stream(event, gpu.stream);
    builder_.set_device(event, gpu.device);
    return event;
  }
  void flow_start(std::int64_t id, int tid = 1) {
    flow(Phase::kFlowStart, id, builder_.intern(Track{kHostPid, tid}));
  }
  void flow_end(std::int64_t id, int stream = 7, int device = 0) {
    flow(Phase::kFlowEnd, id, gpu_track(stream, device));
  }
  void flow_end_on_host(std::int64_t id, int tid = 1) {
    flow(Phase::kFlowEnd, id, builder_.intern(Track{kHostPid, tid}));
  }
  // A call, its GPU event and the flow between them, under a fresh correlation id.
  Launch launch(std::string_view call, double ts, double dur, const Gpu& work, int tid = 1) {
    const std::int64_t id = next_correlation_++;
    const EventId call_event = runtime(call, ts, dur, id, tid);
    const EventId gpu_event = gpu(work, id);
    flow_start(id, tid);
    flow_end(id, work.stream, work.device);
    return {call_event, gpu_event};
  }
  TraceBuilder& builder() { return builder_; }
  [[nodiscard]] Trace finish() { return std::move(builder_).finish(); }

 private:
  static std::int64_t ns(double us) { return std::llround(us * 1000); }
  TrackId gpu_track(int stream, int device) { return builder_.intern(Track{device, stream}); }
  void flow(Phase phase, std::int64_t id, TrackId track) {
    builder_.append({.phase = phase,
                     .category = Category::kAsyncCpuToGpu,
                     .name = builder_.intern("ac2g"),
                     .track = track,
                     .signature = {},
                     .ts_ns = 0,
                     .dur_ns = kAbsent,
                     .correlation = id});
  }

  TraceBuilder builder_;
  std::int64_t next_correlation_ = 1000;
};

}  // namespace tracelens
