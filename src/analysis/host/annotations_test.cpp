#include "analysis/host/annotations.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(Annotations, HoldTheWorkThatTheirProcessLaunchedMeanwhile) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "forward", 0, 20);
  t.event(Category::kUserAnnotation, "backward", 20, 30);
  t.event(Category::kUserAnnotation, "backward", 60, 10);
  t.launch("cudaLaunchKernel", 10, 2, {.ts = 40, .dur = 15});
  t.launch("cudaLaunchKernel", 25, 2, {.ts = 60, .dur = 5}, 2);   // by autograd's thread
  t.launch("cudaLaunchKernel", 62, 2, {.ts = 62, .dur = 10}, 2);  // 3 us beside the other
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const Table table = annotations(HostWork{facts});
  EXPECT_EQ(column(table, "name"), (std::vector<std::string>{"backward", "forward"}));
  EXPECT_EQ(column(table, "count"), (std::vector<std::string>{"2", "1"}));
  EXPECT_EQ(column(table, "host_ms"), (std::vector<std::string>{"0.04", "0.02"}));
  EXPECT_EQ(column(table, "gpu_events"), (std::vector<std::string>{"2", "1"}));
  EXPECT_EQ(column(table, "gpu_busy_ms"), (std::vector<std::string>{"0.012", "0.015"}));
}

}  // namespace
}  // namespace tracelens
