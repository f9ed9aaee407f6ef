#include "perf/registry/user_models.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <tracelens/error.hpp>

#include "perf/registry/run_models.hpp"
#include "perf/registry/test_call.hpp"

namespace tracelens::perf {
namespace {

constexpr std::string_view kFile = R"json({"models": [
  {"op": "my::gemm", "category": "GEMM",
   "let": {"M": "dims[0][0]", "K": "dims[0][1]", "N": "dims[1][1]"},
   "flops": "2*M*N*K", "bytes": "elem(0)*(M*K + K*N + M*N)"},
  {"pattern": "^my::copy_.*$", "category": "copy", "bytes": "2*numel(0)*elem(0)"},
  {"op": "aten::mm", "category": "mine", "compute": "matrix_fp8", "flops": 5}
]})json";

Signature gemm_arguments() {
  return signature_from_json("[[8, 4], [4, 2]]", R"(["c10::Half", "c10::Half"])", "", "");
}

std::string error_of(std::string_view text) {
  try {
    return "read " + std::to_string(read_user_models(text, "m.json").size());
  } catch (const Error& error) {
    return error.what();
  }
}
std::string error_of_model(std::string_view members) {
  return error_of("{\"models\": [\n{" + std::string{members} + "}]}");
}

TEST(UserModels, ADeclarationGivesWorkParametersAndTheComputeSpecOfItsType) {
  const UserModels models = read_user_models(kFile, "m.json");
  const UserModel* model = models.find("my::gemm");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->info().category, "GEMM");
  EXPECT_EQ(model->info().sheet, "GEMM");
  const Signature args = gemm_arguments();
  const auto work = model->work({.name = "my::gemm", .args = args});
  ASSERT_TRUE(work) << work.reason().text;
  EXPECT_EQ(work->flops, 2 * 8 * 2 * 4);
  EXPECT_EQ(work->bytes, 2 * (8 * 4 + 4 * 2 + 8 * 2));
  EXPECT_EQ(work->compute_spec, "matrix_fp16");
  ASSERT_EQ(work->params.size(), 3u);
  EXPECT_EQ(work->params[1].name, "K");
  EXPECT_EQ(work->params[1].value, Value{4});
}

TEST(UserModels, APatternCoversEveryOpItMatches) {
  const UserModels models = read_user_models(kFile, "m.json");
  const UserModel* model = models.find("my::copy_rows");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->info().sheet, "");
  const Signature args = gemm_arguments();
  const auto work = model->work({.name = "my::copy_rows", .args = args});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 0);
  EXPECT_EQ(work->bytes, 2 * 32 * 2);
  EXPECT_EQ(work->compute_spec, "vector_fp16");
  EXPECT_EQ(models.find("not::my::copy_rows"), nullptr);
}

TEST(UserModels, MissingArgumentsAreAReasonThatNamesTheExpression) {
  const UserModels models = read_user_models(kFile, "m.json");
  const Signature args = signature_from_json("[[8, 4]]", R"(["float"])", "", "");
  const auto work = models.find("my::gemm")->work({.name = "my::gemm", .args = args});
  ASSERT_FALSE(work);
  EXPECT_EQ(work.reason().text, "N: there is no argument 1, only 1");
  const Signature nothing;
  EXPECT_FALSE(models.find("my::gemm")->work({.name = "my::gemm", .args = nothing}));
}

TEST(UserModels, NegativeAndInfiniteWorkIsAReason) {
  const UserModels models = read_user_models(
      R"({"models": [{"op": "a", "category": "c", "flops": "1 - 2"},
                     {"op": "b", "category": "c", "flops": "10 ^ 400"}]})",
      "m.json");
  const Signature args = gemm_arguments();
  EXPECT_EQ(models.find("a")->work({.name = "a", .args = args}).reason().text,
            "flops: -1 is negative");
  EXPECT_EQ(models.find("b")->work({.name = "b", .args = args}).reason().text,
            "flops: out of the range of numbers");
}

TEST(UserModels, BackwardWorkIsNotDeclared) {
  const UserModels models = read_user_models(kFile, "m.json");
  const Signature args = gemm_arguments();
  const auto work =
      models.find("my::gemm")->work({.name = "my::gemm", .args = args}, Pass::kBackward);
  ASSERT_FALSE(work);
  EXPECT_EQ(work.reason().kind, Reason::Kind::kNotImplemented);
}

TEST(UserModels, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(
      error_of("{\"models\": [{\n \"op\": \"a\", \"category\": \"c\",\n \"flops\": \"2*M\"}]}"),
      "m.json: line 3, column 14: unknown name 'M'");
  EXPECT_EQ(error_of("[1]"), R"(m.json: line 1, column 1: expected an object: {"models": [...]})");
  EXPECT_EQ(error_of(R"({"modles": []})"),
            "m.json: line 1, column 3: unknown key 'modles', expected models");
  EXPECT_EQ(error_of_model(R"("category": "c", "flops": "1")"),
            "m.json: line 2, column 1: a model needs either op or pattern");
  EXPECT_EQ(error_of_model(R"("op": "a", "flops": "1")"),
            "m.json: line 2, column 1: a model needs a category");
  EXPECT_EQ(error_of_model(R"("op": "a", "category": "c")"),
            "m.json: line 2, column 1: a model needs flops, bytes or both");
  EXPECT_EQ(error_of_model(R"("op": [1], "category": "c", "flops": "1")"),
            "m.json: line 2, column 8: expected text in quotes or a number");
  EXPECT_EQ(error_of_model(R"("op": "a", "category": "c", "flops": "1", "let": {"dims": 1})"),
            "m.json: line 2, column 53: 'dims' cannot be given a value: it is taken or is no name");
  EXPECT_EQ(error_of_model(R"("pattern": "(", "category": "c", "flops": "1")"),
            "m.json: line 2, column 14: not a regular expression: missing ): (");
  EXPECT_NE(error_of_model(R"("op": "a", "category": "c", "flops": "1", "sheet": "x")")
                .find("line 2, column 54: no sheet 'x', expected one of GEMM"),
            std::string::npos);
  EXPECT_NE(error_of_model(R"("op": "a", "category": "c", "flops": "1", "compute": "matrix_fp7")")
                .find("column 56: compute: expected"),
            std::string::npos);
}

TEST(UserModels, TwoModelsForOneOpAreAnError) {
  EXPECT_EQ(error_of(R"({"models": [{"op": "a", "category": "c", "flops": "1"},
{"op": "a", "category": "c", "flops": "2"}]})"),
            "m.json: line 2, column 9: a second model for 'a'");
}

TEST(UserModels, BrokenJsonIsAnErrorAtItsPlace) {
  for (const std::string_view text :
       {"", "{", "{\"models\": [", "{\"models\": [{\"op\": \"a\",}]}", "{\"models\": []} x",
        "{\"models\": [{\"op\": \"a}]}", "{\"models\": [1 2]}", "nul", "{\"models\": [\xff]}"})
    EXPECT_EQ(error_of(text).substr(0, 13), "m.json: line ") << text << ": " << error_of(text);
  EXPECT_EQ(error_of("{\"models\": []}"), "read 0");
  const std::string deep = "{\"models\": " + std::string(100'000, '[');
  EXPECT_EQ(error_of(deep).substr(0, 13), "m.json: line ");
}

TEST(RunModels, OwnModelsComeFirst) {
  const UserModels own = read_user_models(kFile, "m.json");
  const RunModels with{Edition::kExtended, &own}, without{Edition::kExtended};
  const Signature args = gemm_arguments();
  const OpCall mm{.name = "aten::mm", .args = args};
  EXPECT_EQ(with.work(mm)->flops, 5);
  EXPECT_EQ(with.work(mm)->compute_spec, "matrix_fp8");
  EXPECT_EQ(with.category("aten::mm", ""), "mine");
  EXPECT_EQ(with.find_op("aten::mm")->category, "mine");
  EXPECT_EQ(without.work(mm)->flops, 2 * 8 * 4 * 2);
  EXPECT_EQ(without.category("aten::mm", ""), "GEMM");
  const OpCall copy{.name = "my::copy_rows", .args = args};
  EXPECT_TRUE(with.has_model(copy));
  EXPECT_FALSE(without.has_model(copy));
  EXPECT_EQ(with.category("aten::bmm", ""), "GEMM");
}

// The page shows the example that this test reads.
TEST(UserModels, TheExampleOfTheManualWorks) {
  std::ifstream in{
      "docs"
      "/how-to/own-models.md"};
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  const std::size_t start = page.find("```json\n");
  ASSERT_NE(start, std::string::npos);
  const std::size_t body = start + 8;
  const UserModels models =
      read_user_models(std::string_view{page}.substr(body, page.find("```", body) - body), "page");
  const Signature gemm =
      signature_from_json("[[4096, 8192], [8192, 1024], [1024]]",
                          R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])", "", "");
  ASSERT_NE(models.find("my::fused_gemm"), nullptr);
  const auto work = models.find("my::fused_gemm")->work({.name = "my::fused_gemm", .args = gemm});
  ASSERT_TRUE(work) << work.reason().text;
  EXPECT_EQ(work->flops, 2.0 * 4096 * 8192 * 1024 + 4096 * 1024);
  EXPECT_EQ(work->bytes, 2.0 * (4096.0 * 8192 + 8192 * 1024 + 4096 * 1024 + 1024));
  EXPECT_EQ(work->compute_spec, "matrix_bf16");
  const Signature rotary =
      signature_from_json("[[2, 16, 512, 128], [512, 128]]", R"(["float", "float"])", "", "");
  const auto rope = models.find("my::rope_half")->work({.name = "my::rope_half", .args = rotary});
  ASSERT_TRUE(rope) << rope.reason().text;
  EXPECT_EQ(rope->bytes, 4.0 * (2 * 2 * 16 * 512 * 128 + 512 * 128));
}

}  // namespace
}  // namespace tracelens::perf
