#include <gtest/gtest.h>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/tree.hpp>

#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "serving/test_graphs.hpp"

namespace tracelens {
namespace {

const std::vector<TestOp> kOps = {{"aten::mm", "gemm"}, {"aten::add", "add"}};
const std::vector<std::string> kKernels = {"gemm", "add"};

class GraphStitch : public testing::Test {
 protected:
  StitchedTrace stitch(const std::vector<TestLaunch>& launches,
                       Edition edition = Edition::kExtended) {
    const std::string text = replay_text(launches);
    return stitch_graphs(read_trace_bytes("replay.json", text), folder_.path(""),
                         {.edition = edition});
  }
  void capture(const std::string& file, const TestCapture& capture) {
    (void)folder_.write(file, capture_text(capture));
  }
  static TestCapture with_rows(int rows) {
    TestCapture capture{.ops = kOps};
    for (TestOp& op : capture.ops) op.rows = rows;
    return capture;
  }

  io::TemporaryFolder folder_;
};

// The op each linked GPU event belongs to, in tree order.
std::vector<std::string> ops_of_kernels(const Trace& trace) {
  const Tree tree = build_tree(trace);
  std::vector<std::string> ops;
  for (const EventId gpu : tree.linked_gpu_events()) {
    const NodeId op = tree.nearest_op(tree.node(gpu));
    ops.push_back(std::string{trace.name(gpu)} + " < " +
                  std::string{op.valid() ? trace.name(tree.event(op)) : "nothing"});
  }
  return ops;
}

const std::string kDecode32 =
    "execute_32_context_0(sq0sk0sqsq0sqsk0)"
    "_generation_32(sq32sk64sqsq32sqsk64)";

TEST_F(GraphStitch, PutsEachKernelUnderTheOpThatRecordedIt) {
  capture("b32.json", {.ops = kOps, .annotation = "capture_32_FULL"});
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    const auto [trace, stitching] = stitch({{kKernels, kDecode32}, {kKernels, kDecode32}}, edition);
    EXPECT_EQ(ops_of_kernels(trace),
              (std::vector<std::string>{"gemm < aten::mm", "add < aten::add", "gemm < aten::mm",
                                        "add < aten::add"}));
    ASSERT_EQ(stitching.launches.size(), 2u);
    const StitchedLaunch& launch = stitching.launches[0];
    EXPECT_EQ(launch.alignment, Alignment::kByPosition);
    EXPECT_EQ(launch.capture, "b32.json");
    EXPECT_EQ(launch.matched, 2u);
    EXPECT_EQ(launch.matched_ns, 20'000);
    EXPECT_EQ(launch.reason, "");
    EXPECT_EQ(trace.name(launch.step), kDecode32);
    EXPECT_TRUE(stitching.notes.empty());
  }
}

TEST_F(GraphStitch, TheReferenceCopiesAllBehindARootAtTheTimeOfTheLaunch) {
  capture("b32.json", {.ops = kOps, .annotation = "capture_32_FULL"});
  const Trace trace = stitch({{kKernels, kDecode32}}, Edition::kReference).trace;
  const EventId root{trace.recorded()};
  EXPECT_EQ(trace.name(root), "CaptureRoot");
  EXPECT_EQ(trace.size(), trace.recorded() + 8u);  // the root and seven events
  for (std::uint32_t row = root.row; row < trace.size(); ++row) {
    EXPECT_EQ(trace.ts_ns()[row], 10'000);
    EXPECT_EQ(trace.dur_ns()[row], 50'000);
  }
}

TEST_F(GraphStitch, TakesTheSmallestCaptureWithRoomForTheStep) {
  for (const int rows : {16, 64, 128}) {
    TestCapture sized = with_rows(rows);
    sized.annotation = "capture_" + std::to_string(rows) + "_FULL";
    capture("b" + std::to_string(rows) + ".json", sized);
  }
  const auto [trace, stitching] = stitch({{kKernels, kDecode32}});
  EXPECT_EQ(stitching.launches[0].capture, "b64.json");
  EXPECT_EQ(stitching.launches[0].reason,
            "captured for a batch of 64, its step has 32: shapes are those of the capture");
  EXPECT_TRUE(stitching.notes.empty());  // engines pad
}

TEST_F(GraphStitch, ACaptureForAMuchLargerBatchIsToldAloud) {
  TestCapture large = with_rows(512);
  large.annotation = "capture_512_FULL";
  capture("b512.json", large);
  const auto [trace, stitching] = stitch({{kKernels, kDecode32}, {kKernels, kDecode32}});
  EXPECT_EQ(stitching.launches[1].matched, 2u);
  ASSERT_EQ(stitching.notes.size(), 1u);
  EXPECT_NE(stitching.notes[0].find("b512.json was captured for a batch of 512"),
            std::string::npos);
}

TEST_F(GraphStitch, SaysWhyNotWhenNoCaptureIsLargeEnough) {
  capture("b16.json", {.ops = kOps, .annotation = "capture_16_FULL"});
  const auto [trace, stitching] = stitch({{kKernels, kDecode32}});
  EXPECT_EQ(stitching.launches[0].alignment, Alignment::kNone);
  EXPECT_EQ(stitching.launches[0].reason,
            "no capture is for a batch of 32 or more; the largest is for 16");
  EXPECT_EQ(trace.size(), trace.recorded());
}

TEST_F(GraphStitch, AnotherModelStaysUnstitched) {
  capture("b32.json", {.ops = {{"aten::conv2d", "conv"}, {"aten::relu", "relu"}},
                       .annotation = "capture_32_FULL"});
  const auto [trace, stitching] = stitch({{kKernels, kDecode32}, {kKernels, {}}});
  for (const StitchedLaunch& launch : stitching.launches) {
    EXPECT_EQ(launch.alignment, Alignment::kNone);
    EXPECT_EQ(launch.reason, "b32.json: its kernels are not those of the capture");
    EXPECT_EQ(launch.gpu_ns, 20'000);
  }
}

TEST_F(GraphStitch, PairsThePiecesOfAStepByPosition) {
  capture("b32.json", {.ops = kOps, .annotation = "capture_32_PIECEWISE", .graphs = 2});
  const std::string text = replay_text({{kKernels, {}}, {kKernels, {}}});
  // One step around both launches.
  std::string step = event_text("user_annotation", kDecode32, 0, 5000, "");
  std::string both = text;
  both.insert(both.find('[') + 1, step);
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    const auto [trace, stitching] = stitch_graphs(read_trace_bytes("replay.json", both),
                                                  folder_.path(""), {.edition = edition});
    EXPECT_EQ(stitching.launches[0].capture_root, 0u);
    EXPECT_EQ(stitching.launches[1].capture_root, 1u);
    EXPECT_EQ(stitching.launches[1].matched, 2u);
  }
}

TEST_F(GraphStitch, WithoutAnnotationsTheKernelsChoose) {
  capture("conv.json", {.ops = {{"aten::conv2d", "conv"}, {"aten::relu", "relu"}}});
  capture("mm.json", with_rows(32));
  const auto [trace, stitching] = stitch({{kKernels, {}}, {{"conv", "relu"}, {}}, {{"other"}, {}}});
  EXPECT_EQ(stitching.launches[0].capture, "mm.json");
  EXPECT_EQ(stitching.launches[1].capture, "conv.json");
  EXPECT_EQ(stitching.launches[2].reason, "its kernels fit none of 2 captures");
  // The reference asks for a step.
  EXPECT_EQ(stitch({{kKernels, {}}}, Edition::kReference).stitching.launches[0].reason,
            "it lies in no step");
}

TEST_F(GraphStitch, NeverGuessesBetweenCapturesThatSayDifferentThings) {
  capture("a.json", with_rows(32));
  capture("b.json", with_rows(64));
  EXPECT_EQ(stitch({{kKernels, {}}}).stitching.launches[0].reason,
            "it fits several captures equally well, a.json among them");
  capture("b.json", with_rows(32));
  EXPECT_EQ(stitch({{kKernels, {}}}).stitching.launches[0].capture, "a.json");
}

TEST_F(GraphStitch, WithoutKernelNamesItSaysThatOnlyTheOrderWasChecked) {
  capture("a.json", {.ops = kOps, .names_kernels = false});
  const auto [trace, stitching] = stitch({{{"sm90_xmma_gemm_f32", "vectorized_add"}, {}}});
  EXPECT_EQ(stitching.launches[0].alignment, Alignment::kByOrder);
  EXPECT_EQ(stitching.launches[0].reason, "by order: the capture does not name its kernels");
  EXPECT_EQ(stitch({{{"one"}, {}}}).stitching.launches[0].reason,
            "a.json: the capture has 2 calls, the launch ran 1 GPU events, and the capture does "
            "not name its kernels");
}

TEST_F(GraphStitch, APartOfALaunchMayMatch) {
  capture("b32.json", {.ops = {{"aten::mm", "gemm"}, {"aten::add", "add"}, {"aten::mul", "mul"}},
                       .annotation = "capture_32_FULL"});
  const auto [trace, stitching] = stitch({{{"gemm", "new", "mul"}, kDecode32}});
  EXPECT_EQ(stitching.launches[0].alignment, Alignment::kPartly);
  EXPECT_EQ(stitching.launches[0].matched, 2u);
  EXPECT_EQ(stitching.launches[0].dropped, 1u);
  EXPECT_EQ(ops_of_kernels(trace),
            (std::vector<std::string>{"gemm < aten::mm", "mul < aten::mul", "new < nothing"}));
}

TEST_F(GraphStitch, AFolderOfNothingLeavesTheTraceAsItIs) {
  const auto [trace, stitching] = stitch({{kKernels, kDecode32}, {{}, {}}});
  EXPECT_EQ(stitching.notes.size(), 1u);
  EXPECT_EQ(stitching.launches[0].reason, "there is no capture that could be read");
  EXPECT_EQ(stitching.launches[1].reason, "it ran nothing on the GPU in this trace");
  EXPECT_EQ(trace.size(), trace.recorded());
}

TEST_F(GraphStitch, TheTraceItselfMayHoldTheCapture) {
  // Capture at 0 .. 100 us, replay of it later in the same file.
  std::string both = capture_text({.ops = kOps});
  const std::string replay = replay_text({{{}, {}}, {kKernels, {}}});
  both.resize(both.size() - 2);
  both += ',' + replay.substr(replay.find('[') + 1);
  const std::string file = folder_.write("both.json", both);
  const auto [trace, stitching] = stitch_graphs(read_trace(file), file);
  ASSERT_EQ(stitching.launches.size(), 2u);
  EXPECT_EQ(stitching.launches[1].matched, 2u);
  EXPECT_EQ(ops_of_kernels(trace),
            (std::vector<std::string>{"gemm < aten::mm", "add < aten::add"}));
}

TEST(UnstitchedGraphs, AreListedWithTheirGpuTime) {
  const std::string text = replay_text({{kKernels, kDecode32}, {kKernels, {}}});
  const Trace trace = read_trace_bytes("replay.json", text);
  const GraphStitching stitching = unstitched_graphs(trace);
  ASSERT_EQ(stitching.launches.size(), 2u);
  EXPECT_EQ(stitching.launches[0].gpu_ns, 20'000);
  EXPECT_EQ(stitching.launches[0].reason, "no captures were given");
  EXPECT_FALSE(stitching.launches[1].step.valid());
}

// Frames are most of a capture. Those that pseudo-ops are put around stay, whatever is asked for.
TEST_F(GraphStitch, WithoutFramesPseudoOpsAreStillFound) {
  capture("b32.json", {.ops = {{"aiter::mla_decode_stage1_asm_fwd", "gemm"}, {"aten::add", "add"}},
                       .annotation = "capture_32_FULL",
                       .frame = "aiter/mla.py(3): mla_decode_fwd"});
  const std::string text = replay_text({{kKernels, kDecode32}});
  StitchedTrace stitched = stitch_graphs(read_trace_bytes("replay.json", text), folder_.path(""),
                                         {.python_frames = false});
  const Trace trace = add_pseudo_ops(std::move(stitched.trace));
  const Tree tree = build_tree(trace);
  const EventId pseudo{static_cast<std::uint32_t>(trace.size() - 1)};
  EXPECT_EQ(trace.name(pseudo), "pseudo_mla_decode_fwd");
  EXPECT_EQ(tree.gpu_count(tree.node(pseudo)), 2u);
}

}  // namespace
}  // namespace tracelens
