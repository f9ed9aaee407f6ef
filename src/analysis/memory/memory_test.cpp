#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/memory/blocks.hpp"
#include "analysis/memory/peak.hpp"
#include "analysis/memory/tables.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// [memory] events one after the other; the totals follow from the sizes.
class MemoryTrace : public TestTrace {
 public:
  explicit MemoryTrace(std::int64_t initial = 0) : total_{initial} {}
  void alloc(std::int64_t address, std::int64_t bytes, double ts, int tid = 1) {
    blocks_[address] = bytes;
    change(address, bytes, ts, tid);
  }
  void free(std::int64_t address, double ts, int tid = 1) {
    change(address, -blocks_[address], ts, tid);
  }
  void free_of_before(std::int64_t bytes, double ts) { change(-1, -bytes, ts, 1); }
  void lose(std::int64_t bytes) { total_ += bytes; }  // an event that was not recorded

 private:
  void change(std::int64_t address, std::int64_t bytes, double ts, int tid) {
    total_ += bytes;
    const EventId event = builder().append({.phase = Phase::kInstant,
                                            .category = Category::kCpuInstant,
                                            .name = builder().intern("[memory]"),
                                            .track = builder().intern(Track{kHostPid, tid}),
                                            .ts_ns = static_cast<std::int64_t>(ts * 1000)});
    builder().set_memory_change(event, {.address = address,
                                        .bytes = bytes,
                                        .allocated = total_,
                                        .reserved = 5000,
                                        .order = next_++,
                                        .device_type = 1,
                                        .device = 0});
  }
  std::map<std::int64_t, std::int64_t> blocks_;
  std::int64_t total_;
  std::int32_t next_ = 0;
};

TEST(Memory, TotalsPeakAndWhatWasThereBefore) {
  MemoryTrace t{1000};
  t.op("first", 0, 1);
  t.alloc(1, 300, 10);
  t.alloc(2, 500, 20);
  t.free(1, 30);
  t.free(99, 35);       // of before the trace, of unknown size: nothing to say about
  t.alloc(3, 300, 40);  // as much as at 20: the first counts
  const Trace trace = t.finish();
  const auto devices = memory_devices(trace);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name(), "cuda:0");
  EXPECT_EQ(devices[0].initial, 1000);
  EXPECT_EQ(devices[0].peak_allocated, 1800);
  EXPECT_EQ(devices[0].peak_ts_ns, 20'000);
  EXPECT_EQ(devices[0].fragmentation(), 3200);
  EXPECT_EQ(devices[0].allocs, 3);
  EXPECT_EQ(devices[0].violations, 0);
}

TEST(Memory, ThePeakMayBeWhatWasThereBefore) {
  MemoryTrace t{1000};
  t.op("first", 0, 1);
  t.free_of_before(400, 10);
  t.alloc(1, 100, 20);
  const Trace trace = t.finish();
  const auto devices = memory_devices(trace);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_FALSE(devices[0].peak);
  EXPECT_EQ(devices[0].peak_allocated, 1000);
  EXPECT_EQ(devices[0].peak_ts_ns, 10'000);
  const Table peak = memory_owners(TraceFacts{trace}, devices).peak;
  ASSERT_EQ(peak.rows(), 1u);
  EXPECT_EQ(peak.column("category").texts()[0], block_use_name(BlockUse::kBeforeTrace));
}

TEST(Memory, EventsCountByTheirTimesAndALostOneShows) {
  MemoryTrace t{1000};
  t.alloc(1, 300, 20);
  t.alloc(2, 100, 30);
  t.lose(50);
  t.alloc(3, 100, 40);
  const Trace trace = t.finish();
  EXPECT_EQ(memory_devices(trace)[0].violations, 1);
  EXPECT_EQ(memory_devices(trace)[0].peak_allocated, 1550);
  EXPECT_TRUE(memory_devices(TestTrace{}.finish()).empty());
}

TEST(Memory, TheHostComesAfterTheGpus) {
  TraceBuilder builder;
  for (const std::int16_t type : std::initializer_list<std::int16_t>{0, 6, 1}) {
    const EventId event =
        builder.append({.phase = Phase::kInstant, .category = Category::kCpuInstant, .ts_ns = 1});
    const std::int16_t device = type == 0 ? -1 : 2;
    builder.set_memory_change(event,
                              {.bytes = 8, .allocated = 8, .device_type = type, .device = device});
  }
  const Trace trace = std::move(builder).finish();
  std::vector<std::string> names;
  for (const DeviceMemory& device : memory_devices(trace)) names.push_back(device.name());
  EXPECT_EQ(names, (std::vector<std::string>{"cuda:2", "hip:2", "cpu"}));
}

// A training step: each use of memory once.
TEST(Memory, WhatABlockIsForFollowsFromWhereItComesAndGoes) {
  MemoryTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 1000);
  t.python("nn.Module: Mlp_0", 0, 200);
  const EventId linear = t.op("aten::linear", 10, 100);
  t.builder().set_sequence(linear, 5);
  t.op("aten::addmm", 20, 50);
  t.alloc(1, 100, 30);  // its result, used by the backward pass
  t.alloc(2, 10, 35);   // what only the kernel needs
  t.free(2, 60);
  t.op("aten::mul", 120, 20);
  t.alloc(3, 20, 130);  // gone before the backward pass
  t.free(3, 150);
  const EventId wrapper = t.op("autograd::engine::evaluate_function: AddmmBackward0", 300, 100, 2);
  t.builder().set_sequence(wrapper, 5);
  t.op("aten::mm", 310, 50, 2);
  t.alloc(4, 400, 320, 2);  // lives on
  t.free(1, 390, 2);
  t.event(Category::kUserAnnotation, "Optimizer.step#Adam.step", 500, 100);
  t.op("aten::zeros", 510, 50);
  t.alloc(5, 5, 520);
  t.free(4, 1500);  // by the next step
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  const MemoryPlaces places{facts};
  const auto device = memory_devices(trace).at(0);
  const auto blocks = memory_blocks(device, places);
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0].use, BlockUse::kActivation);
  EXPECT_EQ(blocks[1].use, BlockUse::kWorkspace);
  EXPECT_EQ(blocks[2].use, BlockUse::kTemporary);
  EXPECT_EQ(blocks[3].use, BlockUse::kGradient);
  EXPECT_EQ(blocks[4].use, BlockUse::kOptimizer);

  const auto owners = owners_at_peak(device, blocks, places);  // at 320: 100 and 400
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners[0].op, "aten::mm");
  EXPECT_EQ(owners[0].top_op, "autograd::engine::evaluate_function: AddmmBackward0");
  EXPECT_EQ(owners[0].module, "nn.Module: Mlp");
  EXPECT_EQ(owners[0].bytes, 400);
  EXPECT_EQ(owners[0].freed_in_step, 0);
  EXPECT_EQ(owners[1].op, "aten::addmm");
  EXPECT_EQ(owners[1].top_op, "aten::linear");
  EXPECT_EQ(owners[1].freed_in_step, 100);
}

TEST(Memory, TheRestOfThePeakIsFromBeforeTheTrace) {
  MemoryTrace t{1000};
  t.python("train.py(3): step", 0, 100);
  t.python("torch/nn/functional.py(9): relu", 5, 50);
  t.op("aten::relu", 10, 20);
  t.alloc(1, 300, 15);
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  const Table peak = memory_owners(facts, memory_devices(trace)).peak;
  ASSERT_EQ(peak.rows(), 2u);
  EXPECT_EQ(peak.column("category").texts()[0], "before trace");
  EXPECT_EQ(peak.column("bytes").integers()[0], 1000);
  EXPECT_EQ(peak.column("line").texts()[1], "train.py(3): step");
  EXPECT_NEAR(peak.column("pct_of_peak").reals()[1], 300.0 / 13, 1e-9);
}

TEST(Memory, ALongTimelineKeepsItsPeaks) {
  MemoryTrace t;
  for (int i = 0; i < 1000; ++i) {
    t.alloc(i, i == 777 ? 50'000'000 : 1'000'000, 2 * i);
    t.free(i, 2 * i + 1);
  }
  const Trace trace = t.finish();
  const Table table = memory_timeline(trace, memory_devices(trace), 100);
  EXPECT_LE(table.rows(), 100u);
  const auto allocated = table.column("allocated_mb").reals();
  EXPECT_DOUBLE_EQ(*std::max_element(allocated.begin(), allocated.end()), 50);
}

TEST(Memory, CurvesOfAPictureHaveThePeakAtItsTime) {
  MemoryTrace t;
  t.op("first", 0, 1);
  double ts = 1;
  for (int i = 1; i <= 20'000; ++i) {
    t.alloc(i, i == 7'777 ? 50'000'000 : 1'000 + i, ts);
    if (i == 7'777) ts += 0.01;
    t.free(i, ts += 0.01);
    ts += 0.01;
  }
  const Trace trace = t.finish();
  const std::vector<DeviceMemory> devices = memory_devices(trace);
  const Table table = memory_curves(trace, devices);
  EXPECT_LE(table.rows(), 4u * 4'001);
  EXPECT_GE(table.rows(), 4'000u);
  const auto allocated = table.column("allocated_mb").reals();
  const auto most = std::max_element(allocated.begin(), allocated.end());
  EXPECT_DOUBLE_EQ(*most, 50);
  EXPECT_DOUBLE_EQ(
      table.column("ts_ms").reals()[static_cast<std::size_t>(most - allocated.begin())],
      static_cast<double>(devices[0].peak_ts_ns) / 1e6);
  const auto times = table.column("ts_ms").reals();
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_DOUBLE_EQ(allocated.back(), 0);
}

}  // namespace
}  // namespace tracelens
