// What several threads make of many calls is what one makes of them.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tracelens/gpu.hpp>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ops/category_sheets.hpp"
#include "analysis/ops/op_tables.hpp"
#include "analysis/ops/unified.hpp"

namespace tracelens {
namespace {

// A thread calls ops, from Python and inside a module; another runs what autograd calls for each.
Trace many_calls(int calls) {
  std::mt19937 random{3};
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  TestTrace t;
  const auto launch = [&](double ts, int thread) {
    t.launch("cudaLaunchKernel", ts, 1,
             {.name = below(9) == 0   ? "ncclKernel"
                      : below(2) == 0 ? "gemm"
                                      : "add",
              .ts = 20.0 * below(calls),
              .dur = 1.0 + below(9),
              .stream = 7 + below(2)},
             thread);
  };
  for (int i = 0; i < calls; ++i) {
    const double ts = 10.0 * i;
    if (i % 4 == 0) t.python("train.py(3): main", ts, 39);
    if (i % 2 == 0) t.python("nn.Module: Block_" + std::to_string(below(3)), ts, 18);
    if (below(5) == 0) t.op("aten::outer", ts, 9);
    const EventId op = below(3) == 0
                           ? t.op(below(2) == 0 ? "aten::relu" : "aten::other", ts + 1, 7)
                           : t.op("aten::mm", ts + 1, 7, matrices(8 * (1 + below(20)), 64, 32));
    t.builder().set_sequence(op, i);
    for (int kernels = 1 + below(3); kernels > 0; --kernels) launch(ts + 2 + kernels, 1);
    t.builder().set_sequence(t.op("autograd::engine::evaluate_function: MmBackward0", ts + 3, 6, 2),
                             i);
    t.op("aten::mm_backward", ts + 4, 4, 2);
    launch(ts + 5, 2);
  }
  return t.finish();
}

std::string texts_of(const Table& table) {
  std::string text = table.name() + '\n';
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const Table::Column& column : table.columns()) text += plain_text(column, row) + '\n';
  return text;
}

std::vector<std::string> tables_by(const Trace& trace, OpTableOptions options, int threads) {
  options.gpu = find_gpu("NVIDIA H200");
  const TraceFacts facts{
      trace, {.python_frames = options.call_stack || options.group_by_module, .threads = threads}};
  OpInput input{facts, options};
  std::vector<std::string> texts{
      texts_of(ops_summary(input).value()), texts_of(ops_unique_args(input).value()),
      texts_of(unified_perf_summary(input, collect_unified_ops(input)).value())};
  for (const Table& sheet : category_sheets(input)) texts.push_back(texts_of(sheet));
  return texts;
}

void expect_the_same(const Trace& trace, const OpTableOptions& options) {
  const std::vector<std::string> one = tables_by(trace, options, 1);
  EXPECT_GT(one.size(), 3u);
  EXPECT_NE(one[2].find("MEMORY_BOUND"), std::string::npos);
  const std::vector<std::string> many = tables_by(trace, options, 8);
  ASSERT_EQ(many.size(), one.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(many[i] == one[i]) << one[i].substr(0, one[i].find('\n'));
}

TEST(OpTablesByThreads, AreTheSame) {
  expect_the_same(many_calls(140'000), {.edition = Edition::kExtended});
}

// What is remembered when first asked for must be asked for by one thread: the sanitizer sees it if not.
TEST(OpTablesByThreads, AreTheSameWithWhatIsRememberedOnTheWay) {
  const Trace trace = many_calls(70'000);
  expect_the_same(trace, {.edition = Edition::kExtended, .overlap = true});
  expect_the_same(trace, {.edition = Edition::kReference, .call_stack = true});
  expect_the_same(trace, {.edition = Edition::kExtended, .group_by_module = true});
}

}  // namespace
}  // namespace tracelens
