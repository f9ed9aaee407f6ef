#include "facts/gpu_work.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(GpuWork, TheCategoryGoesBeforeTheName) {
  TestTrace t;
  const EventId copy = t.gpu({.name = "nccl copy", .category = Category::kGpuMemcpy});
  const EventId fill = t.gpu({.name = "Memset", .category = Category::kGpuMemset});
  const EventId nccl = t.gpu({.name = "ncclKernel"});
  const EventId rocm_copy = t.gpu({.name = "__amd_rocclr_copyBuffer"});
  const EventId triton = t.gpu({.name = "triton_poi_fused__to_copy_0"});
  const Trace trace = t.finish();
  const GpuWorkKinds kinds{trace};
  EXPECT_EQ(kinds.of(copy), GpuWork::kCopy);
  EXPECT_EQ(kinds.of(fill), GpuWork::kComputation);
  EXPECT_EQ(kinds.of(nccl), GpuWork::kCommunication);
  EXPECT_EQ(kinds.of(rocm_copy), GpuWork::kCopy);
  EXPECT_EQ(kinds.of(triton), GpuWork::kComputation);
}

}  // namespace
}  // namespace tracelens
