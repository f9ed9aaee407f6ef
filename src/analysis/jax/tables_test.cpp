// The tables of JAX profiles, on recordings from an H200 (tests/data/record/record_jax.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tracelens/read_trace.hpp>
#include <tracelens/tree.hpp>
#include <utility>

#include "analysis/jax/check.hpp"
#include "analysis/jax/hlo_ops.hpp"
#include "analysis/jax/kernels.hpp"
#include "analysis/jax/launchers.hpp"
#include "analysis/jax/op_sheets.hpp"
#include "analysis/jax/ops.hpp"
#include "analysis/jax/roofline.hpp"
#include "analysis/jax/steps.hpp"
#include "analysis/jax/timeline.hpp"
#include "io/temporary_folder.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

struct Profile {
  explicit Profile(const std::string& name)
      : Profile{read_trace(std::string{"tests/data"} + "/jax_" + name + ".xplane.pb.gz")} {}
  explicit Profile(Trace read)
      : trace{std::move(read)},
        facts{trace},
        tree{facts.tree()},
        ops{trace},
        kernels{trace, tree, ops} {}
  Trace trace;
  TraceFacts facts;
  const Tree& tree;
  JaxOps ops;
  JaxKernels kernels;

  // FLOPs of an op by its name; -1 when it is not there or has no model.
  [[nodiscard]] double flops(std::string_view op_name) const {
    for (std::uint32_t id = 0; id < trace.signature_table().size(); ++id)
      if (const JaxOp* const op = ops.of(SignatureId{id}); op != nullptr && op->name == op_name)
        return op->work ? op->work->flops : -1;
    return -1;
  }
};

const Table& find(const std::vector<Table>& tables, std::string_view name) {
  for (const Table& table : tables)
    if (table.name() == name) return table;
  throw std::runtime_error{"no table " + std::string{name}};
}

TEST(JaxFlops, TheProductOfJaxGemm) {  // 2048x4096 @ 4096x1024
  EXPECT_EQ(Profile{"gemm"}.flops("custom-call.1"), 2.0 * 2048 * 4096 * 1024);
}

// The transformer: 4 layers, batch 8, length 512, width 512, 8 heads of 64, MLP width 2048. Every
// product of its training step, by what it multiplies.
TEST(JaxFlops, EveryDotOfTheTransformer) {
  const double tokens = 8 * 512, width = 512, mlp = 2048, heads = 8 * 8, length = 512, size = 64;
  const std::map<std::string, double> layer{
      {"qkv", 2 * tokens * width * 3 * width},
      {"scores", 2 * heads * length * length * size},
      {"values", 2 * heads * length * length * size},
      {"out", 2 * tokens * width * width},
      {"up", 2 * tokens * width * mlp},
      {"down", 2 * tokens * mlp * width},
  };
  double forward = 0;
  for (const auto& [name, flops] : layer) forward += 4 * flops;
  const Profile profile{"transformer_xla"};
  double found = 0;
  std::size_t dots = 0;
  for (std::uint32_t id = 0; id < profile.trace.signature_table().size(); ++id) {
    const JaxOp* const op = profile.ops.of(SignatureId{id});
    if (op == nullptr || op->kind != "gemm") continue;
    // A fusion may add a bias or scale beside its dot: the dot itself is counted here.
    const perf::HloCosts costs{*op->hlo};
    double product = 0;
    if (op->gemm) {
      product = op->gemm->flops();
    } else {
      const std::uint32_t body = op->instruction->calls.front();
      for (std::uint32_t i = 0; i < op->hlo->computations[body].instructions.size(); ++i)
        if (const auto gemm = costs.gemm({body, i})) product += gemm->flops();
    }
    bool is_known = false;
    for (const auto& [name, flops] : layer) is_known = is_known || product == flops;
    EXPECT_TRUE(is_known) << op->name << ": " << product;
    found += product;
    ++dots;
  }
  // Backward, each product has two gradients; that of the first layer's input is not needed.
  EXPECT_EQ(dots, 4u * 6 * 3 - 1);
  EXPECT_EQ(found, 3 * forward - layer.at("qkv"));
}

TEST(JaxFlops, ConvolutionAndItsGradients) {  // 16x64x64x64 * 3x3x64x128, stride 2
  const Profile profile{"conv"};
  const double flops = 2.0 * (16 * 32 * 32 * 128) * (3 * 3 * 64);
  EXPECT_EQ(profile.flops("cudnn-conv.2"), flops);
  EXPECT_EQ(profile.flops("cudnn-conv-bw-filter.2"), flops);
  EXPECT_EQ(profile.flops("cudnn-conv-bw-input.2"), flops);
}

TEST(JaxFlops, CausalAttentionOfCudnn) {  // batch 2, length 1024, 16 heads of 64, causal
  const Profile profile{"attention"};
  const double scores = 0.5 * 2 * 2 * 16 * 1024.0 * 1024;
  EXPECT_EQ(profile.flops("dot_product_attention_fwd.5"), scores * (64 + 64));
  EXPECT_EQ(profile.flops("dot_product_attention_bwd.8"), scores * (3 * 64 + 2 * 64));
}

TEST(JaxFlops, EightBitProduct) {  // 1024x2048 @ 2048x512, split along K in batches or not
  const Profile profile{"fp8"};
  EXPECT_EQ(profile.flops("cublas-batch-gemm.1"), 2.0 * 1024 * 2048 * 512);
}

class EveryProfile : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryProfile, TimeByHloOpIsTheTimeOfAllGpuEvents) {
  const Profile profile{GetParam()};
  std::int64_t events_ns = 0;
  for (const EventId event : profile.trace.all_events())
    if (is_gpu(profile.trace.category(event))) events_ns += duration_of(profile.trace, event);
  const auto tables = jax_hlo_tables(profile.trace, profile.tree, profile.ops, {});
  for (const char* name : {"hlo_ops_by_kind", "hlo_scopes"}) {
    double ms = 0;
    for (const double cell : find(tables, name).column("GPU time (ms)").reals()) ms += cell;
    EXPECT_EQ(std::llround(ms * 1e6), events_ns) << name;
  }
  double us = 0;
  for (const double cell : find(tables, "hlo_ops").column("GPU time (µs)_sum").reals()) us += cell;
  EXPECT_EQ(std::llround(us * 1e3), events_ns);
  EXPECT_TRUE(profile.tree.linked_gpu_events().size() == profile.kernels.all().size() ||
              GetParam() != std::string{"gemm"});
}

TEST_P(EveryProfile, KernelTablesHoldEveryKernel) {
  const Profile profile{GetParam()};
  const auto tables = jax_launcher_tables(profile.kernels);
  EXPECT_EQ(find(tables, "kernel_launchers").rows(), profile.kernels.all().size());
  std::int64_t count = 0;
  for (const std::int64_t cell :
       find(tables, "kernel_launchers_summary_by_category").column("Count").integers())
    count += cell;
  EXPECT_EQ(static_cast<std::size_t>(count), profile.kernels.all().size());
}

TEST_P(EveryProfile, TablesWithARowForEachKernelAreMadeIfWanted) {
  const Profile profile{GetParam()};
  std::vector<std::pair<std::string, std::size_t>> asked;
  const auto tables =
      jax_launcher_tables(profile.kernels, [&](std::string_view table, std::size_t rows) {
        asked.emplace_back(table, rows);
        return false;
      });
  const auto all = jax_launcher_tables(profile.kernels);
  ASSERT_EQ(asked.size(), 2u);
  for (const auto& [name, rows] : asked) EXPECT_EQ(find(all, name).rows(), rows) << name;
  EXPECT_EQ(tables.size() + 2, all.size());
}

TEST_P(EveryProfile, IsGoodEnoughToAnalyse) {
  const Profile profile{GetParam()};
  EXPECT_NE(check_jax(profile.trace).verdict, Verdict::kFail);
}

INSTANTIATE_TEST_SUITE_P(All, EveryProfile,
                         ::testing::Values("gemm", "transformer_xla", "scan", "scan_eager", "fp8",
                                           "attention", "conv", "shard_map"),
                         [](const auto& param) { return std::string{param.param}; });

TEST(JaxKernels, WordsOfTheMetadataPickKernels) {
  const Profile profile{"transformer_xla"};
  const std::string words[] = {"jvp(mlp)"};
  const JaxKernels some = profile.kernels.with_metadata(words);
  EXPECT_GT(some.all().size(), 0u);
  EXPECT_LT(some.all().size(), profile.kernels.all().size());
  const std::string none[] = {"no such scope"};
  for (const Table& table : jax_launcher_tables(profile.kernels.with_metadata(none)))
    EXPECT_EQ(table.rows(), 0u) << table.name();
}

TEST(JaxKernels, LaunchLatencyIsFromTheCallOnTheHost) {
  const Profile profile{"conv"};
  for (const JaxKernel& kernel : profile.kernels.all()) EXPECT_TRUE(kernel.latency_ns.has_value());
}

TEST(JaxSteps, EachStepOwnsTheWorkItLaunched) {
  const Profile profile{"transformer_xla"};
  const auto steps = jax_steps(profile.trace);
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->rows(), 3u);
  for (const std::int64_t events : steps->column("GPU events").integers()) EXPECT_EQ(events, 153);
  EXPECT_EQ(steps->column("step").texts()[2], "train 2");
}

TEST(JaxModules, EveryRunOfAModuleCounts) {
  for (const char* name : {"gemm", "transformer_xla", "scan", "scan_eager", "shard_map"}) {
    const Profile profile{name};
    const auto tables = jax_hlo_tables(profile.trace, profile.tree, profile.ops, {});
    const Table& modules = find(tables, "hlo_modules");
    ASSERT_EQ(modules.rows(), 1u) << name;
    EXPECT_EQ(modules.column("runs").integers()[0], 3) << name;
  }
}

TEST(JaxModules, ALoopRunsItsBodyOncePerTurn) {
  for (const char* name : {"scan", "scan_eager"}) {
    const Profile profile{name};
    const auto tables = jax_hlo_tables(profile.trace, profile.tree, profile.ops, {});
    const Table& ops = find(tables, "hlo_ops");
    bool found = false;
    for (std::size_t row = 0; row < ops.rows(); ++row)
      if (ops.column("HLO op").texts()[row] == "gemm_fusion_dot.1") {
        EXPECT_EQ(ops.column("runs").integers()[row], 3 * 8) << name;
        found = true;
      }
    EXPECT_TRUE(found) << name;
  }
}

TEST(JaxRoofline, APointIsAllRunsOfAnOp) {  // a loop of 8 turns, run three times
  const Profile profile{"scan"};
  const JaxRooflinePoints found = jax_roofline_points(profile.trace, profile.tree);
  const auto point = std::ranges::find(found.points, "gemm_fusion_dot.1", &RooflinePoint::op);
  ASSERT_NE(point, found.points.end());
  EXPECT_EQ(point->calls, 3 * 8);
  EXPECT_EQ(point->category, "gemm");
  EXPECT_EQ(point->flops, 3 * 8 * profile.flops("gemm_fusion_dot.1"));
  EXPECT_GT(point->flops, 0);
  EXPECT_GT(*point->bytes, 0);
  EXPECT_GT(point->busy_ns, 0);
  EXPECT_LE(point->busy_ns, found.all_ops_ns);
}

TEST(JaxOpSheets, AnOpOfSeveralKernelsHasOneRate) {
  const Profile profile{"conv"};
  const auto tables = jax_op_sheets(profile.kernels);
  const Table& sheet = find(tables, "op_conv");
  for (std::size_t row = 0; row < sheet.rows(); ++row)  // an H200 does at most 990 TFLOP/s
    EXPECT_LT(sheet.column("TFLOPS/s_max").reals()[row], 990);
}

// One profile as that of two hosts, whose correlation ids and clocks are then the same.
class TwoHosts : public ::testing::Test {
 protected:
  TwoHosts() {
    for (const char* host : {"a", "b"})
      fs::copy_file(std::string{"tests/data"} + "/jax_transformer_xla.xplane.pb.gz",
                    folder_.path(std::string{host} + ".xplane.pb.gz"));
    both_.emplace(read_trace(folder_.path("")));
  }

  const io::TemporaryFolder folder_;
  const Profile one_{"transformer_xla"};
  std::optional<Profile> both_;
};

TEST_F(TwoHosts, HaveTheirOwnSteps) {
  const auto steps = jax_steps(both_->trace);
  const auto alone = jax_steps(one_.trace);
  ASSERT_EQ(steps->rows(), 6u);
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(steps->column("host").texts()[row], row < 3 ? "a" : "b");
    for (const char* column : {"start (ms)", "GPU busy (ms)", "GPU span (ms)"})
      EXPECT_EQ(steps->column(column).reals()[row], alone->column(column).reals()[row % 3]);
    EXPECT_EQ(steps->column("GPU events").integers()[row], 153);
  }
}

TEST_F(TwoHosts, HaveTheirOwnOpsAndGpus) {
  const auto tables = jax_hlo_tables(both_->trace, both_->tree, both_->ops, {});
  const auto alone = jax_hlo_tables(one_.trace, one_.tree, one_.ops, {});
  const Table& ops = find(tables, "hlo_ops");
  ASSERT_EQ(ops.rows(), 2 * find(alone, "hlo_ops").rows());
  std::set<std::pair<std::string, std::string>> seen;  // host and op
  for (std::size_t row = 0; row < ops.rows(); ++row)
    EXPECT_TRUE(
        seen.emplace(ops.column("host").texts()[row], ops.column("HLO op").texts()[row]).second);
  const Table by_gpu = jax_timeline(both_->facts, Edition::kReference).by_gpu;
  ASSERT_EQ(by_gpu.rows(), 16u);
  EXPECT_EQ(by_gpu.column("host").texts()[15], "b");
}

TEST_F(TwoHosts, HaveTheTimelineOfOneWhenBothDidTheSame) {
  const Table both = jax_gpu_timeline(both_->facts, {.include_unlinked = true}).table;
  const Table one = jax_gpu_timeline(one_.facts, {.include_unlinked = true}).table;
  ASSERT_EQ(both.rows(), one.rows());
  for (std::size_t row = 0; row < one.rows(); ++row)
    EXPECT_EQ(both.column("time ms").reals()[row], one.column("time ms").reals()[row]);
}

TEST(JaxTimeline, OfOneGpuIsTheSameByDeviceAndForAll) {  // copies, fills and kernels alike
  const Profile profile{"transformer_xla"};
  const Table all = jax_gpu_timeline(profile.facts, {.include_unlinked = true}).table;
  const Table by_gpu = jax_timeline(profile.facts, Edition::kExtended).by_gpu;
  ASSERT_EQ(by_gpu.rows(), all.rows());
  for (std::size_t row = 0; row < all.rows(); ++row)
    EXPECT_EQ(by_gpu.column("time ms").reals()[row], all.column("time ms").reals()[row]);
}

TEST(JaxTimeline, BusyAndIdleTimeMakeTheTotal) {
  const Profile profile{"scan"};
  const JaxTimeline timeline = jax_timeline(profile.facts, Edition::kReference);
  ASSERT_EQ(timeline.by_gpu.rows(), 8u);
  const auto ms = timeline.by_gpu.column("time ms").reals();
  EXPECT_NEAR(ms[0] + ms[1] + ms[2], ms[3], 1e-9);
  EXPECT_NEAR(ms[3] + ms[4], ms[5], 1e-9);
}

}  // namespace
}  // namespace tracelens
