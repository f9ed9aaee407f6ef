#include "readers/xplane/hlo_align.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

// A module of one computation whose instructions run in order: {"fusion.1", "fusion"}, ...
struct Line {
  std::string name, opcode;
};
hlo::Module module_of(const std::vector<Line>& lines) {
  hlo::Module module;
  module.entry = 0;
  hlo::Computation& entry = module.computations.emplace_back();
  for (const Line& line : lines) {
    hlo::Instruction& instruction = entry.instructions.emplace_back();
    instruction.name = line.name;
    instruction.opcode = line.opcode;
  }
  return module;
}

std::vector<std::string> align(const hlo::Module& module,
                               const std::vector<std::string_view>& kernels) {
  std::vector<std::string> names;
  HloAligner aligner{module};
  for (const AlignedKernel& kernel : aligner.align(0, kernels))
    names.push_back(kernel.place.instruction == hlo::kNone ? "?" : module.at(kernel.place).name);
  return names;
}

using Names = std::vector<std::string>;

TEST(KernelName, AnInstructionAndItsKernelHaveOneName) {
  EXPECT_EQ(KernelName{"gemm_fusion_dot.40"}.full, KernelName{"gemm_fusion_dot_40.kd"}.full);
  EXPECT_EQ(KernelName{"loop_add_fusion_1.2"}.stem, "loop_add_fusion");
  EXPECT_EQ(KernelName{"fusion"}.stem, "fusion");
}

TEST(HloAligner, KernelsSharedByEqualFusionsGoToTheOneWhoseTurnItIs) {
  const hlo::Module module = module_of(
      {{"gemm_fusion.1", "fusion"}, {"loop_fusion.1", "fusion"}, {"gemm_fusion.2", "fusion"}});
  EXPECT_EQ(align(module, {"gemm_fusion_1", "loop_fusion_1", "gemm_fusion_1"}),
            (Names{"gemm_fusion.1", "loop_fusion.1", "gemm_fusion.2"}));
}

TEST(HloAligner, KernelsOfLibrariesGoToTheCallBetweenTheirNeighbours) {
  const hlo::Module module = module_of({{"loop_fusion", "fusion"},
                                        {"bitcast.1", "bitcast"},
                                        {"custom-call.1", "custom-call"},
                                        {"loop_fusion.1", "fusion"},
                                        {"custom-call.2", "custom-call"}});
  EXPECT_EQ(
      align(module, {"loop_fusion", "Memset 0", "nvjet_a", "loop_fusion", "nvjet_b"}),
      (Names{"loop_fusion", "custom-call.1", "custom-call.1", "loop_fusion.1", "custom-call.2"}));
}

TEST(HloAligner, InstructionsWithoutAKernelArePassedOver) {
  const hlo::Module module = module_of(
      {{"a_fusion", "fusion"}, {"copy.1", "copy"}, {"b_fusion", "fusion"}, {"c_fusion", "fusion"}});
  EXPECT_EQ(align(module, {"a_fusion", "c_fusion"}), (Names{"a_fusion", "c_fusion"}));
}

TEST(HloAligner, TheBodyOfALoopRunsAsOftenAsTheLoop) {
  hlo::Module module = module_of({{"while.1", "while"}, {"last_fusion", "fusion"}});
  module.computations.push_back(module_of({{"body_fusion", "fusion"}}).computations.front());
  hlo::Instruction& loop = module.computations[0].instructions[0];
  loop.calls = {1};
  loop.backend_config = R"({"known_trip_count":{"n":"3"},"known_init_step":{}})";
  EXPECT_EQ(align(module, {"body_fusion", "body_fusion", "body_fusion", "last_fusion"}),
            (Names{"body_fusion", "body_fusion", "body_fusion", "last_fusion"}));
}

TEST(HloAligner, EachTurnOfALoopStartsItsOpsAnew) {
  hlo::Module module = module_of({{"while.1", "while"}});
  module.computations.push_back(module_of({{"call.1", "custom-call"}}).computations.front());
  hlo::Instruction& loop = module.computations[0].instructions[0];
  loop.calls = {1};
  loop.backend_config = R"({"known_trip_count":{"n":"2"}})";
  const std::vector<std::string_view> kernels{"gemm", "gemm"};
  HloAligner aligner{module};
  const auto aligned = aligner.align(0, kernels);
  EXPECT_TRUE(aligned[0].is_first);
  EXPECT_TRUE(aligned[1].is_first);
}

TEST(HloAligner, AComputationThatCallsItselfEnds) {
  hlo::Module module = module_of({{"call.1", "call"}, {"a_fusion", "fusion"}});
  module.computations[0].instructions[0].calls = {0};
  EXPECT_EQ(align(module, {"a_fusion"}), (Names{"a_fusion"}));
}

TEST(HloAligner, AModuleWithoutWorkFitsNoKernel) {
  EXPECT_EQ(align(module_of({{"p", "parameter"}}), {"a"}), (Names{"?"}));
}

}  // namespace
}  // namespace tracelens
