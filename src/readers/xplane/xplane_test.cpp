#include "readers/xplane/xplane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

#include "io/mapped_file.hpp"
#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"
#include "trace/hlo.hpp"
#include "xplane.pb.h"

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes profiles: tables of names fill themselves.
class PlaneMaker {
 public:
  PlaneMaker(xplane_proto::Space& space, std::string name, std::int64_t id = 0)
      : plane_{*space.add_planes()} {
    plane_.set_name(std::move(name));
    plane_.set_id(id);
  }
  xplane_proto::Line& line(std::int64_t id, std::string name, std::int64_t timestamp_ns = 0) {
    xplane_proto::Line& line = *plane_.add_lines();
    line.set_id(id);
    line.set_name(std::move(name));
    line.set_timestamp_ns(timestamp_ns);
    return line;
  }
  xplane_proto::Event& event(xplane_proto::Line& line, const std::string& name,
                             std::int64_t offset_ps, std::int64_t duration_ps) {
    const auto [entry, is_new] =
        kinds_.try_emplace(name, static_cast<std::int64_t>(kinds_.size()) + 1);
    if (is_new) (*plane_.mutable_event_metadata())[entry->second].set_name(name);
    xplane_proto::Event& event = *line.add_events();
    event.set_metadata_id(entry->second);
    event.set_offset_ps(offset_ps);
    event.set_duration_ps(duration_ps);
    return event;
  }
  void number(xplane_proto::Event& event, const std::string& name, std::uint64_t value) {
    auto& stat = *event.add_stats();
    stat.set_metadata_id(stat_name(name));
    stat.set_uint64_value(value);
  }
  void text(xplane_proto::Event& event, const std::string& name, const std::string& value) {
    auto& stat = *event.add_stats();
    stat.set_metadata_id(stat_name(name));
    stat.set_ref_value(static_cast<std::uint64_t>(stat_name(value)));
  }
  // Moves the values of an event to its kind; those that the kind has already stay there.
  void share_values(xplane_proto::Event& event) {
    auto& kind = (*plane_.mutable_event_metadata())[event.metadata_id()];
    if (kind.stats().empty()) *kind.mutable_stats() = event.stats();
    event.clear_stats();
  }

 private:
  std::int64_t stat_name(const std::string& name) {
    const auto [entry, is_new] =
        stats_.try_emplace(name, static_cast<std::int64_t>(stats_.size()) + 1);
    if (is_new) (*plane_.mutable_stat_metadata())[entry->second].set_name(name);
    return entry->second;
  }

  xplane_proto::Plane& plane_;
  std::map<std::string, std::int64_t> kinds_, stats_;
};

Trace read(const xplane_proto::Space& space) {
  const std::string bytes = space.SerializeAsString();
  return read_trace_bytes("vm.xplane.pb", bytes);
}

std::vector<std::string> names(const Trace& trace, Category category) {
  std::vector<std::string> found;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == category) found.emplace_back(trace.name(event));
  return found;
}

EventId first(const Trace& trace, Category category) {
  for (const EventId event : trace.all_events())
    if (trace.category(event) == category) return event;
  return {};
}

// A GPU that runs module m: op a (two kernels), then op b, twice.
xplane_proto::Space two_runs() {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(14, "Stream #14(Compute)", 1000);
  std::int64_t at = 0;
  std::uint64_t correlation = 1;
  for (int run = 0; run < 2; ++run)
    for (const auto& [kernel, op] :
         std::vector<std::pair<std::string, std::string>>{{"k1", "a"}, {"k2", "a"}, {"k3", "b"}}) {
      auto& event = gpu.event(stream, kernel, at, 2'000'000);
      gpu.number(event, "correlation_id", correlation++);
      gpu.text(event, "kernel_details", "regs:1 grid:1,1,1");
      gpu.text(event, "hlo_op", op);
      gpu.text(event, "hlo_module", "m");
      at += 3'000'000;
    }
  return space;
}

TEST(Xplane, IsRecognisedByItsFirstPlane) {
  EXPECT_TRUE(is_xplane(two_runs().SerializeAsString()));
  EXPECT_FALSE(is_xplane(R"({"traceEvents": []})"));
  EXPECT_FALSE(is_xplane(""));
  EXPECT_FALSE(is_xplane(std::string_view{"\x0a\x05hello", 7}));
}

TEST(Xplane, WhatUnpacksToAbsurdlyMuchIsRefused) {
  const std::string zeros = io::zstd(std::string(1 << 20, '\0'));
  std::string bomb;
  for (int megabytes = 0; megabytes < 80; ++megabytes) bomb += zeros;
  io::Stream in = io::Stream::over("bomb.zst", bomb);
  try {
    (void)read_xplane(in, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("bomb.zst: unpacks to more than 200 times its size"));
  }
}

// Mapped or read, a profile that another program shortens meanwhile is one that was cut.
TEST(Xplane, AFileThatIsShortenedMeanwhileIsCutShort) {
  io::guard_mapped_files();
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1");
  for (int i = 0; i < 5000; ++i) gpu.event(stream, "k", i * 2000, 1000);
  const io::TemporaryFolder folder;
  const std::string path = folder.write("p.xplane.pb", space.SerializeAsString());
  io::Stream in = io::Stream::open(path);
  std::filesystem::resize_file(path, 30'000);
  const Trace trace = read_xplane(in, {});
  EXPECT_GT(trace.size(), 1000u);
  EXPECT_LT(trace.size(), 5000u);
  EXPECT_TRUE(trace.source().cut_short);
  std::string warnings;
  for (const auto& warning : trace.warnings().entries()) warnings += warning.what + '\n';
  EXPECT_THAT(warnings, HasSubstr("file ends early at byte"));
}

TEST(Xplane, PicosecondsBecomeNanosecondsExactly) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1", 1'633'193'266);
  gpu.event(stream, "Im3d2Col", 3'191'621'000, 16'104'000);
  const Trace trace = read(space);
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace.ts_ns()[0], 1'633'193'266 + 3'191'621);
  EXPECT_EQ(trace.dur_ns()[0], 16'104);
}

TEST(Xplane, ModulesAndOpsStandAboveTheirKernels) {
  const Trace trace = read(two_runs());
  EXPECT_THAT(names(trace, Category::kKernel), ElementsAre("k1", "k2", "k3", "k1", "k2", "k3"));
  // Without HLO nothing tells where a run ends but the names: a, b, a, b are one run.
  EXPECT_THAT(names(trace, Category::kCpuOp), ElementsAre("m", "a", "b", "a", "b"));
  const Signature& op = trace.signature(trace.signatures()[first(trace, Category::kKernel).row]);
  EXPECT_EQ(trace.text(op.name), "a");
  EXPECT_EQ(op.concrete.items().front().as_text(), "m");
  EXPECT_EQ(trace.warnings().entries().size(), 1u);  // no HLO
}

TEST(Xplane, TheHostTellsRunsOfAModuleApart) {
  xplane_proto::Space space = two_runs();
  PlaneMaker host{space, "/host:CPU"};
  auto& thread = host.line(7, "python3");
  for (std::uint64_t run = 0; run < 2; ++run) {
    const auto start = static_cast<std::int64_t>(run) * 10'000'000;
    host.event(thread, "m:XLA GPU module", start, 9'000'000);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      auto& launch = host.event(thread, "cuLaunchKernel",
                                start + static_cast<std::int64_t>(i) * 1'000'000, 500'000);
      host.number(launch, "correlation_id", 3 * run + i);
    }
  }
  const Trace trace = read(space);
  EXPECT_THAT(names(trace, Category::kCpuOp),
              ElementsAre("m", "a", "b", "m", "a", "b", "m:XLA GPU module", "m:XLA GPU module"));
  EXPECT_EQ(names(trace, Category::kCudaRuntime).size(), 6u);
}

// What all events of a kind have in common, a profiler may write once, at the kind.
TEST(Xplane, ValuesOfAKindAreThoseOfItsEvents) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1");
  auto& kernel = gpu.event(stream, "copy_kernel", 0, 1000);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"kernel_details", "grid:1,1,1"}, {"hlo_op", "a"}, {"hlo_module", "m"}})
    gpu.text(kernel, key, value);
  gpu.number(kernel, "correlation_id", 7);
  gpu.share_values(kernel);
  auto& other = gpu.event(stream, "copy_kernel", 2000, 1000);
  gpu.number(other, "correlation_id", 8);  // its own wins
  PlaneMaker host{space, "/host:CPU"};
  auto& step = host.event(host.line(7, "python3"), "train", 0, 9000);
  host.number(step, "_r", 1);
  host.number(step, "step_num", 3);
  host.share_values(step);
  const Trace trace = read(space);
  EXPECT_THAT(names(trace, Category::kKernel), ElementsAre("copy_kernel", "copy_kernel"));
  EXPECT_THAT(names(trace, Category::kCpuOp), ElementsAre("m", "a"));
  EXPECT_THAT(names(trace, Category::kUserAnnotation), ElementsAre("train 3"));
  std::vector<std::int64_t> launches;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kKernel)
      launches.push_back(trace.correlations()[event.row]);
  EXPECT_THAT(launches, ElementsAre(7, 8));
}

TEST(Xplane, AnOpEndsWhenTheNextOneStarts) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1");
  for (int i = 0; i < 2; ++i) {  // each runs 3 us, the second starts after 2
    auto& event = gpu.event(stream, "k", i * 2'000'000, 3'000'000);
    gpu.text(event, "hlo_op", i == 0 ? "a" : "b");
    gpu.text(event, "hlo_module", "m");
  }
  const Trace trace = read(space);
  std::map<std::string, std::int64_t> lengths;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kCpuOp)
      lengths[std::string{trace.name(event)}] = trace.dur_ns()[event.row];
  EXPECT_EQ(lengths["a"], 2000);
  EXPECT_EQ(lengths["b"], 3000);
  EXPECT_EQ(lengths["m"], 5000);
}

TEST(Xplane, DetailsTellKernelsFromCopiesNotNames) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1");
  gpu.text(gpu.event(stream, "copy_fusion", 0, 1000), "kernel_details", "grid:1,1,1");
  gpu.text(gpu.event(stream, "CopyDeviceToDevice", 1, 1000), "memcpy_details", "size:1024 async:0");
  gpu.event(stream, "MemcpyH2D", 2, 1000);
  const Trace trace = read(space);
  EXPECT_THAT(names(trace, Category::kKernel), ElementsAre("copy_fusion"));
  EXPECT_THAT(names(trace, Category::kGpuMemcpy), ElementsAre("CopyDeviceToDevice", "MemcpyH2D"));
  EXPECT_EQ(trace.details(first(trace, Category::kGpuMemcpy)).find("bytes")->as_int(), 1024);
}

TEST(Xplane, ALineOutOfOrderIsSorted) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1");
  gpu.event(stream, "second", 5'000'000, 1000);
  gpu.event(stream, "first", 1'000'000, 1000);
  EXPECT_THAT(names(read(space), Category::kKernel), ElementsAre("first", "second"));
}

TEST(Xplane, StepsFramesAndInternalsOfTheHost) {
  xplane_proto::Space space;
  PlaneMaker host{space, "/host:CPU"};
  auto& thread = host.line(-4106831565636175816, "python3");
  auto& step = host.event(thread, "train", 0, 9'000'000);
  host.number(step, "_r", 1);
  host.number(step, "step_num", 3);
  host.event(thread, "$model.py:12 forward", 1'000'000, 1'000'000);
  host.event(thread, "MemoryAllocation", 1'500'000, 0);
  host.event(thread, "PjitFunction(step)", 3'000'000, 1'000'000);
  const Trace trace = read(space);
  EXPECT_THAT(names(trace, Category::kUserAnnotation), ElementsAre("train 3"));
  EXPECT_THAT(names(trace, Category::kPythonFunction), ElementsAre("model.py:12 forward"));
  EXPECT_THAT(names(trace, Category::kCpuOp), ElementsAre("PjitFunction(step)"));
  EXPECT_EQ(trace.track(EventId{0}).tid.as_int(), 837089336);  // the lower 32 bits
  EXPECT_EQ(trace.sequence_numbers().at(first(trace, Category::kUserAnnotation)), 3);
}

TEST(Xplane, ACutProfileGivesWhatCameBeforeTheCut) {
  xplane_proto::Space space = two_runs();
  PlaneMaker later{space, "/device:GPU:1", 1};
  auto& stream = later.line(1, "Stream #1");
  for (int i = 0; i < 100; ++i) later.event(stream, "lost", i * 1000, 1000);
  const std::string bytes = space.SerializeAsString();
  const Trace trace =
      read_trace_bytes("cut.xplane.pb", std::string_view{bytes}.substr(0, bytes.size() - 400));
  EXPECT_TRUE(trace.source().cut_short);
  EXPECT_GE(names(trace, Category::kKernel).size(), 6u);
}

TEST(Xplane, TimesBeyondTheRangeAreSkippedAndCounted) {
  xplane_proto::Space space;
  PlaneMaker gpu{space, "/device:GPU:0"};
  auto& stream = gpu.line(1, "Stream #1", std::numeric_limits<std::int64_t>::max());
  gpu.event(stream, "k", 5'000'000, 1000);
  const Trace trace = read(space);
  EXPECT_EQ(trace.size(), 0u);
  EXPECT_EQ(trace.warnings().count("damaged event"), 1u);
}

TEST(Xplane, TheProfilersOwnWarningsAreKept) {
  xplane_proto::Space space = two_runs();
  space.add_warnings("dropped 12 events");
  EXPECT_EQ(read(space).warnings().count("the profiler says: dropped 12 events"), 1u);
}

TEST(Xplane, AFolderIsTheHostsOfItsNewestRun) {
  const io::TemporaryFolder folder;
  const auto write = [&](const std::string& run, const std::string& host) {
    const std::string path = folder.path("plugins/profile/" + run);
    std::filesystem::create_directories(path);
    std::ofstream{path + "/" + host + ".xplane.pb", std::ios::binary}
        << two_runs().SerializeAsString();
  };
  write("2026_01_01", "old");
  write("2026_01_02", "a");
  write("2026_01_02", "b");
  const Trace trace = read_trace(folder.path(""));
  EXPECT_EQ(names(trace, Category::kKernel).size(), 12u);
  std::map<std::int64_t, int> pids;
  for (const EventId event : trace.all_events()) ++pids[trace.track(event).pid.as_int()];
  EXPECT_TRUE(pids.contains(1) && pids.contains(1001) && pids.size() == 2u);
}

TEST(Xplane, AnEmptyFolderSaysWhatItLacks) {
  const io::TemporaryFolder folder;
  try {
    (void)read_trace(folder.path(""));
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(".xplane.pb"));
  }
}

// Every kernel of a compiled module has its HLO op, in graphs, loops and library calls alike.
class Recorded : public ::testing::TestWithParam<const char*> {};
TEST_P(Recorded, EveryKernelHasItsInstruction) {
  const Trace trace = read_trace(std::string{"tests/data"} + "/" + GetParam() + ".xplane.pb.gz");
  const auto modules = hlo::modules_of(trace);
  std::size_t kernels = 0;
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kKernel) continue;
    ++kernels;
    const SignatureId id = trace.signatures()[event.row];
    ASSERT_TRUE(id.valid()) << trace.name(event);
    const Signature& op = trace.signature(id);
    const auto module = modules.find(hlo::program_of(op));
    ASSERT_NE(module, modules.end()) << trace.name(event);
    EXPECT_NE(module->second.find(trace.text(op.name)), nullptr) << trace.text(op.name);
  }
  EXPECT_GT(kernels, 0u);
}
INSTANTIATE_TEST_SUITE_P(All, Recorded,
                         ::testing::Values("jax_gemm", "jax_transformer_xla", "jax_scan",
                                           "jax_scan_eager", "jax_fp8", "jax_attention", "jax_conv",
                                           "jax_shard_map"),
                         [](const auto& param) { return std::string{param.param}; });

TEST(Xplane, FusionsOfOneNameInAGraphAreTheInstructionsOfTheSchedule) {
  const Trace trace = read_trace(std::string{"tests/data"} + "/jax_transformer_xla.xplane.pb.gz");
  // The kernel gemm_fusion_dot_40 serves the four layers' fusions, once each per step.
  std::map<std::string, int> ops;
  for (const EventId event : trace.all_events())
    if (trace.name(event) == "gemm_fusion_dot_40")
      ++ops[std::string{trace.text(trace.signature(trace.signatures()[event.row]).name)}];
  const std::map<std::string, int> expected{{"gemm_fusion_dot.40", 3},
                                            {"gemm_fusion_dot.44", 3},
                                            {"gemm_fusion_dot.48", 3},
                                            {"gemm_fusion_dot.52", 3}};
  EXPECT_EQ(ops, expected);
}

}  // namespace
}  // namespace tracelens
