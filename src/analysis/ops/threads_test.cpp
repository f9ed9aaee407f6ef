// What several threads make of many calls is what one makes of them.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ops/category_sheets.hpp"
#include "analysis/ops/op_tables.hpp"
#include "analysis/ops/unified.hpp"

namespace tracelens {
namespace {

// More launchers than are worth one thread's while.
Trace many_calls() {
  constexpr int kCalls = 140'000;
  std::mt19937 random{3};
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  TestTrace t;
  for (int i = 0; i < kCalls; ++i) {
    const double ts = 10.0 * i;
    const int thread = 1 + below(2);
    if (below(5) == 0) t.op("aten::outer", ts, 9, thread);
    if (below(3) == 0)
      t.op(below(2) == 0 ? "aten::relu" : "aten::other", ts + 1, 7, thread);
    else
      t.op("aten::mm", ts + 1, 7, matrices(8 * (1 + below(20)), 64, 32), thread);
    for (int kernel = 1 + below(3); kernel > 0; --kernel)
      t.launch("cudaLaunchKernel", ts + 2 + kernel, 1,
               {.name = below(9) == 0   ? "ncclKernel"
                        : below(2) == 0 ? "gemm"
                                        : "add",
                .ts = 20.0 * below(kCalls),
                .dur = 1.0 + below(9),
                .stream = 7 + below(2)},
               thread);
  }
  return t.finish();
}

std::string texts_of(const Table& table) {
  std::string text = table.name() + '\n';
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const Table::Column& column : table.columns()) text += plain_text(column, row) + '\n';
  return text;
}

std::vector<std::string> tables_by(const Trace& trace, int threads) {
  const TraceFacts facts{trace, {.threads = threads}};
  OpInput input{facts, {.edition = Edition::kExtended}};
  std::vector<std::string> texts{texts_of(ops_summary(input).value()),
                                 texts_of(ops_unique_args(input).value())};
  OpInput beside = OpInput::beside(input);
  texts.push_back(texts_of(unified_perf_summary(beside, collect_unified_ops(beside)).value()));
  OpInput of_sheets = OpInput::beside(input);
  for (const Table& sheet : category_sheets(of_sheets)) texts.push_back(texts_of(sheet));
  return texts;
}

TEST(OpTablesByThreads, AreTheSameByAnyNumber) {
  const Trace trace = many_calls();
  const std::vector<std::string> one = tables_by(trace, 1);
  EXPECT_GT(one.size(), 3u);
  for (const int threads : {4, 16}) {
    const std::vector<std::string> many = tables_by(trace, threads);
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(many[i] == one[i]) << one[i].substr(0, one[i].find('\n'));
  }
}

}  // namespace
}  // namespace tracelens
