// Every op of every edition against arguments no sane program would record.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "perf/registry/op_registry.hpp"
#include "perf/registry/test_call.hpp"

namespace tracelens::perf {
namespace {

constexpr std::string_view kDims[] = {
    "",
    "[]",
    "7",
    "null",
    R"("text")",
    "[null]",
    "[[]]",
    "[[], [], [], [], [], [], [], [], [], []]",
    "[[-1, -1], [-1, -1], [-1, -1]]",
    "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]",
    "[[9223372036854775807, 9223372036854775807], [9223372036854775807, 9223372036854775807]]",
    "[[281474976710656, 281474976710656, 281474976710656, 281474976710656],"
    " [281474976710656, 281474976710656, 281474976710656, 281474976710656],"
    " [281474976710656, 281474976710656, 281474976710656, 281474976710656]]",
    R"([["8", "4"], ["4", "2"]])",
    "[[1.5, 2.5], [2.5, 1.5]]",
    "[[[2, 3], [3]], [[[[[1, 2]]]]]]",
    "[[8, 4], [4, 2], [2, 2], [2], [2], [2], [2, 2, 2], [2], [8, 2], [2], [2]]",
    "[[2, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2], [2], [2, 2], [2], [2], [2], [2], [2]]",
    "[[2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2], [2], [2], [2], [2], [2], [2], [2]]",
    "[[1, 0, 1], [0, 1, 0], [0], [0], [0], [0, 0], [0], [0], [0, 0]]",
};
constexpr std::string_view kTypes[] = {
    "",
    "[null, 3, true]",
    R"(["float", "float", "float", "float", "float", "float", "float", "float", "float", "float",
        "float", "float", "float", "float", "float", "float", "float", "float", "float"])",
    R"(["TensorList", "nonsense", "", "Scalar", "bool", "", "", "", "", "", ""])",
};
constexpr std::string_view kConcrete[] = {
    "",
    "[1, 2, 3]",
    R"(["", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", ""])",
    R"(["[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]", "[]"])",
    R"(["-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1"])",
    R"(["0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0"])",
    R"(["[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "True", "[0, 0]", "0", "0"])",
    R"(["9223372036854775807", "9223372036854775807", "9223372036854775807", "9223372036854775807",
        "9223372036854775807", "9223372036854775807", "9223372036854775807", "nan", "inf"])",
};

std::vector<Signature> signatures() {
  std::vector<Signature> made;
  for (const std::string_view dims : kDims)
    for (const std::string_view types : kTypes)
      for (const std::string_view concrete : kConcrete)
        made.push_back(signature_from_json(dims, types, concrete, dims));
  return made;
}

bool is_sound(double amount) { return std::isfinite(amount) && amount >= 0; }

TEST(HostileInput, EveryModelAnswersWithFiniteWorkOrAReason) {
  const auto all = signatures();
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    std::set<std::string_view> tried;  // ops that share a model share its code
    for (const OpInfo* op : all_ops(edition)) {
      if (op->model.empty() || !tried.insert(op->model).second) continue;
      for (const Signature& args : all)
        for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
          const auto work = built_in_work({.name = op->name, .args = args}, pass, edition);
          ASSERT_TRUE(work ? is_sound(work->flops) && is_sound(work->bytes.value_or(0))
                           : !work.reason().text.empty())
              << op->name;
        }
    }
  }
}

TEST(HostileInput, HugeProductsDoNotWrap) {
  const TestCall call{"aten::mm", "[[4294967296, 4294967296], [4294967296, 4294967296]]",
                      R"(["float", "float"])"};
  ASSERT_TRUE(call.work());
  EXPECT_DOUBLE_EQ(call.work()->flops, 2 * std::pow(2.0, 96));
}

TEST(HostileInput, NegativeSizesAreNamed) {
  const auto work = TestCall("aten::mm", "[[-8, 4], [4, 2]]", R"(["float", "float"])").work();
  ASSERT_FALSE(work);
  EXPECT_EQ(work.reason().text, "argument 0: impossible size -8");
}

TEST(HostileInput, MissingShapesAreNamed) {
  const auto work = TestCall("aten::mm", "", "").work();
  ASSERT_FALSE(work);
  EXPECT_EQ(work.reason().text, "the trace has no Input Dims for this op");
}

}  // namespace
}  // namespace tracelens::perf
