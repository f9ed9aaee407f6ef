#include "report/replay/hlo_program.hpp"

#include <gtest/gtest.h>

#include <tracelens/json.hpp>

namespace tracelens {
namespace {

hlo::Shape array(std::vector<std::int64_t> dims) {
  std::vector<std::int64_t> minor_to_major;
  for (std::size_t i = dims.size(); i-- > 0;)
    minor_to_major.push_back(static_cast<std::int64_t>(i));
  return {.type = {11}, .dims = std::move(dims), .minor_to_major = minor_to_major, .parts = {}};
}

// Everything that could tell where it comes from has a mark.
hlo::Instruction marked(std::string_view opcode, std::vector<std::int64_t> dims) {
  hlo::Instruction instruction;
  instruction.name = "SECRETname.1";
  instruction.opcode = opcode;
  instruction.shape = array(std::move(dims));
  instruction.op_type = instruction.op_name = "jit(SECRETscope)/dot_general";
  instruction.source_file = "/home/SECRETuser/model.py";
  instruction.source_line = 31;
  instruction.deduplicated_name = instruction.scheduling_name = "SECRETdeduplicated";
  instruction.backend_config = R"({"SECRETkey": 1, "gemm_backend_config": {"selected_algorithm":
      "SECRETalgorithm", "alpha_real": 0.5, "beta": 0, "epilogue": "BIAS", "dot_dimension_numbers":
      {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"]}}})";
  return instruction;
}

// A fusion of a product with a reduction by a called computation; a library's product.
hlo::Module small_module() {
  hlo::Module module;
  module.name = "jit_SECRETmodule";
  hlo::Instruction fusion = marked("fusion", {8}), library = marked("custom-call", {8, 16});
  fusion.operands = {0, 1};
  fusion.calls = {1};
  library.operands = {0, 1};
  library.target = "__cublas$lt$matmul";
  module.computations.push_back(
      {.name = "SECRETmain",
       .instructions = {marked("parameter", {8, 4}), marked("parameter", {4, 16}), fusion, library},
       .root = 2,
       .schedule = {}});
  hlo::Instruction second = marked("parameter", {4, 16}), dot = marked("dot", {8, 16});
  second.parameter = 1;
  dot.operands = {0, 1};
  dot.dot = hlo::DotDims{
      .lhs_contracting = {1}, .rhs_contracting = {0}, .lhs_batch = {}, .rhs_batch = {}};
  hlo::Instruction zero = marked("constant", {}), reduce = marked("reduce", {8});
  zero.literal = "-inf";
  reduce.operands = {2, 3};
  reduce.dimensions = {1};
  reduce.calls = {2};
  module.computations.push_back(
      {.name = "SECRETfused",
       .instructions = {marked("parameter", {8, 4}), second, dot, zero, reduce},
       .root = 4,
       .schedule = {}});
  hlo::Instruction right = marked("parameter", {}), maximum = marked("maximum", {});
  right.parameter = 1;
  maximum.operands = {0, 1};
  module.computations.push_back({.name = "SECRETregion",
                                 .instructions = {marked("parameter", {}), right, maximum},
                                 .root = 2,
                                 .schedule = {}});
  return module;
}

TEST(HloProgram, HoldsTheInstructionAndAllItCalls) {
  const auto program = parse_json_value(hlo_program(small_module(), {0, 2}));
  ASSERT_TRUE(program);
  const auto& computations = program->find("computations")->items();
  ASSERT_EQ(computations.size(), 3u);
  const auto& body = computations[0].find("body")->items();
  ASSERT_EQ(body.size(), 3u);  // its two operands are parameters
  EXPECT_EQ(body[1].find("op")->as_text(), "parameter");
  EXPECT_EQ(body[1].find("shape")->as_text(), "f32[4,16]{1,0}");
  EXPECT_EQ(json_text(*body[2].find("calls")), "[1]");
  const auto& fused = computations[1].find("body")->items();
  EXPECT_EQ(json_text(*fused[2].find("dot")), "[[1], [0], [], []]");
  EXPECT_EQ(fused[3].find("value")->as_text(), "-inf");
  EXPECT_EQ(json_text(*fused[4].find("calls")), "[2]");
  EXPECT_EQ(json_text(*fused[4].find("dims")), "[1]");
  EXPECT_EQ(computations[2].find("root")->as_int(), 2);
}

TEST(HloProgram, ALibraryCallSaysWhatItMultiplies) {
  const auto program = parse_json_value(hlo_program(small_module(), {0, 3}));
  ASSERT_TRUE(program);
  const Value& call = program->find("computations")->items()[0].find("body")->items()[2];
  EXPECT_EQ(call.find("target")->as_text(), "__cublas$lt$matmul");
  EXPECT_EQ(json_text(*call.find("dot")), "[[1], [0], [], []]");
  EXPECT_DOUBLE_EQ(call.find("scale")->as_real(), 0.5);
  EXPECT_EQ(call.find("epilogue")->as_text(), "BIAS");
}

TEST(HloProgram, NothingPrivateLeavesTheModule) {
  for (const std::uint32_t instruction : {2u, 3u}) {
    const hlo::Module module = small_module();
    EXPECT_EQ(hlo_program(module, {0, instruction}).find("SECRET"), std::string::npos);
    EXPECT_EQ(hlo_label(module, {0, instruction}).find("SECRET"), std::string::npos);
  }
}

TEST(HloProgram, LabelsSayWhatAnOpIsAbout) {
  EXPECT_EQ(hlo_label(small_module(), {0, 2}), "fusion(dot)");
  EXPECT_EQ(hlo_label(small_module(), {0, 3}), "__cublas$lt$matmul");
  EXPECT_EQ(hlo_label(small_module(), {1, 4}), "reduce");
}

TEST(HloProgram, ComputationsThatCallEachOtherEnd) {
  hlo::Module module = small_module();
  module.computations[2].instructions[2].calls = {1, hlo::kNone};
  module.computations[1].instructions[4].operands = {2, hlo::kNone};
  const auto program = parse_json_value(hlo_program(module, {0, 2}));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->find("computations")->items().size(), 3u);
}

TEST(HloProgram, AProgramIsNoOp) {
  hlo::Module module = small_module();
  module.computations[1].instructions.resize(5000, marked("add", {8}));
  const auto program = parse_json_value(hlo_program(module, {0, 2}));
  ASSERT_TRUE(program);
  EXPECT_NE(program->find("problem"), nullptr);
}

}  // namespace
}  // namespace tracelens
