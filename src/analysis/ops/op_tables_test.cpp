#include "analysis/ops/op_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// Two equal aten::mm, one of another shape, and an op with a nested one.
class OpTables : public testing::Test {
 protected:
  OpTables() {
    t_.op("aten::mm", 0, 10, matrices(2, 3, 4));
    t_.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 4});
    t_.op("aten::mm", 20, 10, matrices(2, 3, 4));
    t_.launch("cudaLaunchKernel", 21, 1, {.name = "gemm", .ts = 110, .dur = 6});
    t_.launch("cudaLaunchKernel", 23, 1, {.name = "split", .ts = 113, .dur = 5, .stream = 9});
    t_.op("aten::mm", 40, 10, matrices(8, 3, 4));
    t_.launch("cudaLaunchKernel", 41, 1, {.name = "gemm", .ts = 130, .dur = 1});
    t_.op("aten::outer", 60, 20);
    t_.launch("cudaLaunchKernel", 61, 1,
              {.name = "void at::native::reduce_kernel<1>", .ts = 140, .dur = 2});
    t_.op("aten::inner", 64, 10);
    t_.launch("cudaLaunchKernel", 65, 1, {.name = "k", .ts = 150, .dur = 3});
    t_.launch("cudaLaunchKernel", 70, 1, {.name = "ncclKernel", .ts = 160, .dur = 50});
  }
  Trace make() { return t_.finish(); }
  TestTrace t_;
};

TEST_F(OpTables, GpuTimeIsBusyTimeOfTheOpsOwnKernelsWithoutCommunication) {
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const Table table = ops_summary(input).value();
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::mm", "aten::inner", "aten::outer"));
  // 4 + [110, 118) + 1; the two kernels of the second call overlap by 3.
  EXPECT_EQ(cell(table, "total_direct_kernel_time_sum", 0), "13.0");
  EXPECT_EQ(cell(table, "total_direct_kernel_time_sum", 2), "2.0");
  EXPECT_EQ(cell(table, "total_subtree_kernel_time_sum", 2), "55.0");  // nested and nccl too
  EXPECT_EQ(cell(table, "Categories", 2), "['reduce']");
  EXPECT_EQ(cell(table, "Cumulative Percentage (%)", 2), "100.0");
}

TEST_F(OpTables, CategoriesAreSummedAndTheCostliestComesFirst) {
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const Table table = ops_summary_by_category(input).value();
  EXPECT_THAT(column(table, "op category"), ElementsAre("GEMM", "other", "reduce"));
  EXPECT_THAT(column(table, "Count"), ElementsAre("3", "1", "1"));
  EXPECT_EQ(cell(table, "total_direct_kernel_time_ms", 0), "0.013");
}

TEST(OpTablesOfLaunches, ACompiledRegionDoesAllThatItsKernelsDo) {
  TestTrace t;
  t.op("Torch-Compiled Region: 0/0", 0, 20);
  t.launch("cuLaunchKernel", 1, 1, {.name = "triton_poi_fused_add_0", .ts = 10, .dur = 3});
  t.launch("cudaLaunchKernel", 3, 1, {.name = "nvjet_sm90", .ts = 13, .dur = 4, .stream = 7});
  t.launch("cudaLaunchKernel", 5, 1, {.name = "nvjet_sm90", .ts = 15, .dur = 4, .stream = 9});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {.edition = Edition::kExtended}};
  const Table kinds = ops_summary_by_category(input).value();
  EXPECT_THAT(column(kinds, "op category"), ElementsAre("GEMM", "triton"));
  EXPECT_THAT(column(kinds, "total_direct_kernel_time_ms"), ElementsAre("0.006", "0.003"));
  const Table ops = ops_summary(input).value();
  EXPECT_EQ(cell(ops, "total_direct_kernel_time_ms", 0), "0.009");
  EXPECT_EQ(cell(ops, "Categories", 0), "['GEMM', 'triton']");
}

TEST(OpTablesOfLaunches, AnOpCalledLikeItsTritonKernelIsWhatTheKernelIsFor) {
  TestTrace t;
  t.op("sage_fwd_1", 0, 10);
  t.launch("hipModuleLaunchKernel", 1, 1, {.name = "sage_fwd", .ts = 10, .dur = 3});
  t.op("my_step_0", 20, 10);
  t.launch("hipModuleLaunchKernel", 21, 1, {.name = "my_step", .ts = 30, .dur = 2});
  t.op("MyStep_0", 40, 10);
  t.launch("hipModuleLaunchKernel", 41, 1, {.name = "MyStep", .ts = 50, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {.edition = Edition::kExtended}};
  const Table ops = ops_summary(input).value();
  EXPECT_THAT(column(ops, "Categories"),
              ElementsAre("['attention_fwd']", "['triton']", "['triton']"));
}

// Two GEMMs and an attention kernel in a graph, a Triton kernel launched by the driver, and an op that
// no table knows.
TEST(OpTablesOfLaunches, KernelsWithoutAnOpCountByWhatTheyDo) {
  TestTrace t;
  t.runtime("hipGraphLaunch", 0, 10, 7);
  t.gpu({.name = "Cijk_Ailk", .ts = 100, .dur = 4}, 7);
  t.gpu({.name = "attn_fwd", .ts = 104, .dur = 5}, 7);
  t.gpu({.name = "Cijk_Bljk", .ts = 109, .dur = 2}, 7);
  t.flow_start(7);
  for (int kernel = 0; kernel < 3; ++kernel) t.flow_end(7);
  t.launch("hipModuleLaunchKernel", 20, 1, {.name = "_my_step", .ts = 120, .dur = 3});
  t.launch("cuLaunchKernel", 30, 1, {.name = "void mine::special<4>", .ts = 130, .dur = 1});
  t.op("my::linear", 40, 10);
  t.launch("cudaLaunchKernel", 41, 1, {.name = "my_quant_kernel", .ts = 140, .dur = 1});
  t.launch("cudaLaunchKernel", 43, 1, {.name = "my_gemm", .ts = 141, .dur = 9});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {.edition = Edition::kExtended}};
  const Table kinds = ops_summary_by_category(input).value();
  EXPECT_THAT(column(kinds, "op category"),
              ElementsAre("GEMM", "attention_fwd", "triton", "other"));
  EXPECT_THAT(column(kinds, "total_direct_kernel_time_ms"),
              ElementsAre("0.016", "0.005", "0.003", "0.001"));
  EXPECT_THAT(column(kinds, "Count"), ElementsAre("2", "1", "1", "1"));
  // By name a call is one, whatever its kernels do.
  const Table ops = ops_summary(input).value();
  EXPECT_THAT(column(ops, "name"), ElementsAre("hipGraphLaunch", "my::linear",
                                               "hipModuleLaunchKernel", "cuLaunchKernel"));
  EXPECT_THAT(column(ops, "Count"), ElementsAre("1", "1", "1", "1"));
  EXPECT_EQ(cell(ops, "Categories", 0), "['GEMM', 'attention_fwd']");
  EXPECT_EQ(cell(ops, "Categories", 1), "['GEMM']");
  const Table calls = ops_unique_args(input).value();
  EXPECT_THAT(column(calls, "op category"),
              ElementsAre("GEMM", "GEMM", "attention_fwd", "triton", "other"));
  // As the reference has them.
  OpInput reference{facts, {}};
  EXPECT_THAT(column(ops_summary_by_category(reference).value(), "op category"),
              ElementsAre("other"));
}

TEST_F(OpTables, EqualArgumentsMakeOneRow) {
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const Table table = ops_unique_args(input).value();
  EXPECT_THAT(column(table, "operation_count"), ElementsAre("2", "1", "1", "1"));
  EXPECT_EQ(cell(table, "Input Dims", 0), "((2, 3), (3, 4))");
  EXPECT_EQ(cell(table, "total_direct_kernel_time_mean", 0), "6.0");
  EXPECT_EQ(cell(table, "ex_UID", 0), "0");
  EXPECT_EQ(cell(table, "thread_name", 0), "Unknown");
  EXPECT_EQ(cell(table, "Input Dims", 1), "");  // aten::inner has no arguments
}

TEST_F(OpTables, CallsWithAnotherNumberOfKernelsCanStandApart) {
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput input{facts, {.group_by_kernel_count = true, .first_occurrence = true}};
  const Table table = ops_unique_args(input).value();
  EXPECT_THAT(column(table, "num_kernels"), ElementsAre("2", "1", "1", "1", "1"));
  EXPECT_EQ(cell(table, "first_occurrence_time", 0), "20.0");
}

TEST_F(OpTables, TopRowsKeepThePercentagesOfTheWholeTable) {
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput all{facts, {}}, top{facts, {.top_ops = 1}};
  const Table table = ops_unique_args(top).value();
  EXPECT_EQ(table.rows(), 1u);
  EXPECT_EQ(cell(table, "Percentage (%)", 0),
            cell(ops_unique_args(all).value(), "Percentage (%)", 0));
}

TEST_F(OpTables, WorkBesideAnotherStreamIsSeenByBothOps) {
  t_.op("aten::side", 90, 5);
  t_.launch("cudaLaunchKernel", 91, 1, {.name = "side", .ts = 102, .dur = 10, .stream = 3});
  const Trace trace = make();
  const TraceFacts facts{trace};
  OpInput input{facts, {.overlap = true}};
  const Table table = ops_unique_args_kl_overlap(input).value();
  EXPECT_THAT(column(table, "total_direct_kernel_time_sum"),
              ElementsAre("10.0", "8.0", "4.0", "3.0", "2.0", "1.0"));
  // aten::side, [102, 112), shares 2 us with each of the two gemms.
  EXPECT_EQ(cell(table, "overlapping_kernel_names", 0), "['gemm']");
  EXPECT_EQ(cell(table, "overlap_pct_mean", 0), "0.4");
  // The second call's two kernels share 3 us with each other, and its gemm 2 with `side`.
  EXPECT_EQ(cell(table, "overlapping_kernel_names", 1), "['side', 'split', 'gemm']");
  EXPECT_EQ(cell(table, "overlap_pct_mean", 1), "1.0");  // (2 + 3 + 3) / 8
  EXPECT_EQ(cell(table, "overlapping_kernel_names", 2), "['side']");
  EXPECT_EQ(cell(table, "overlap_pct_mean", 2), "0.5");
  EXPECT_EQ(cell(table, "overlapping_kernel_names", 3), "");
}

// A linear layer twice, in blocks of different classes; and an op in no module.
TEST(OpTablesByModule, CallsInAnotherClassOfModuleStandApartWithTheModulesAround) {
  TestTrace t;
  const char* const blocks[] = {"nn.Module: Block_0", "nn.Module: Block_1", "nn.Module: Head_0"};
  for (int i = 0; i < 3; ++i) {
    t.python("nn.Module: Model_0", 100 * i, 90);
    t.python(blocks[i], 100 * i + 1, 60);
    t.op("aten::mm", 100 * i + 2, 10, matrices(2, 3, 4));
    t.launch("cudaLaunchKernel", 100 * i + 4, 1, {.name = "gemm", .ts = 100.0 * i, .dur = 4});
  }
  t.op("aten::mm", 400, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 402, 1, {.name = "gemm", .ts = 400, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput input{facts, {.group_by_module = true, .inference = true}};
  for (const Table& table : {ops_summary(input).value(), ops_unique_args(input).value(),
                             ops_summary_by_category(input).value()})
    EXPECT_THAT(column(table, "parent_module"),
                ElementsAre("nn.Module: Block", "nn.Module: Head", "NA"));
  const Table summary = ops_summary(input).value();
  EXPECT_THAT(column(summary, "total_subtree_kernel_time_count"), ElementsAre("2", "1", "1"));
  EXPECT_EQ(cell(summary, "call_stack_first", 0),
            "['aten::mm', 'nn.Module: Block_0', 'nn.Module: Model_0']");
  EXPECT_FALSE(summary.has_column("total_subtree_kernel_time_ms"));
  EXPECT_EQ(cell(ops_unique_args(input).value(), "call_stack", 2), "['aten::mm']");
}

TEST(OpTablesOfAnEmptyTrace, AreAbsent) {
  const Trace trace = TestTrace{}.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  EXPECT_FALSE(ops_summary_by_category(input));
  EXPECT_FALSE(ops_summary(input));
  EXPECT_FALSE(ops_unique_args(input));
}

}  // namespace
}  // namespace tracelens
