#include "report/replay/schema.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Schema, KnowsNamesTypesDefaultsAndKeywords) {
  const auto schema =
      parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->op, "aten::add");
  ASSERT_EQ(schema->arguments.size(), 3u);
  EXPECT_EQ(schema->arguments[1].name, "other");
  EXPECT_FALSE(schema->arguments[1].keyword_only);
  EXPECT_TRUE(schema->arguments[2].keyword_only);
  EXPECT_TRUE(schema->arguments[2].has_default);
}

TEST(Schema, LooksThroughAliasesAndCommasInDefaults) {
  const auto split = parse_schema(
      "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->arguments[0].type, "Tensor");
  EXPECT_EQ(split->arguments[0].name, "self");
  EXPECT_FALSE(split->arguments[2].keyword_only);

  const auto conv = parse_schema(
      "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
      "SymInt[2] padding=[0, 0]) -> Tensor");
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->arguments.size(), 5u);
  EXPECT_EQ(conv->arguments[3].type, "SymInt[2]");

  const auto foreach = parse_schema("aten::_foreach_add_(Tensor(a!)[] self, Scalar x) -> ()");
  ASSERT_TRUE(foreach);
  EXPECT_EQ(foreach->arguments[0].type, "Tensor[]");
}

TEST(Schema, RefusesWhatIsNone) {
  for (const char* line : {"", "aten::mm", "aten::mm(Tensor", "aten::mm(Tensor)",
                           "two words(int a)", "x(int[ a) -> int"})
    EXPECT_FALSE(parse_schema(line)) << line;
}

}  // namespace
}  // namespace tracelens
