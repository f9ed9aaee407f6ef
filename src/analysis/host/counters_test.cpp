#include "analysis/host/counters.hpp"

#include <gtest/gtest.h>

#include <tracelens/read_trace.hpp>

#include "analysis/kit/test_ops.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

TEST(Counters, BelongToTheLaunchesInTheirOrder) {
  const io::TemporaryFolder folder;
  const auto path = folder.write("trace.json", R"({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":10,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,"args":{"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":20,"dur":10,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":22,"dur":3,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_profiler_range","name":"add","pid":0,"tid":7,"ts":24,"dur":4,"args":{"smsp__warps.sum":2.5}},
{"ph":"X","cat":"cuda_profiler_range","name":"gemm","pid":0,"tid":7,"ts":4,"dur":5,"args":{"smsp__inst.sum":128,"smsp__warps.sum":4}}
]})");
  const Trace trace = read_trace(path);
  const TraceFacts facts{trace};
  const std::optional<Table> table = counters(HostWork{facts});
  ASSERT_TRUE(table);
  EXPECT_EQ(column(*table, "kernel"), (std::vector<std::string>{"gemm", "add"}));
  EXPECT_EQ(column(*table, "op"), (std::vector<std::string>{"aten::mm", "aten::add"}));
  EXPECT_EQ(column(*table, "smsp__inst.sum"), (std::vector<std::string>{"128.0", ""}));
  EXPECT_EQ(column(*table, "smsp__warps.sum"), (std::vector<std::string>{"4.0", "2.5"}));
}

}  // namespace
}  // namespace tracelens
