#include "analysis/gpu/work.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(GpuWork, CommunicationIsKnownByPartsOfTheNameInAnyCase) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum", "RCCL_broadcast", "mscclKernel_nccl",
                           "void vllm::cross_device_reduce_2stage<bf16>"})
    EXPECT_TRUE(is_communication_name(name)) << name;
  for (const char* name : {"", "gemm", "ncc", "cross_device"})
    EXPECT_FALSE(is_communication_name(name)) << name;
}

TEST(GpuWork, RocmCopiesAndFillsAreKnownByTheirWholeName) {
  for (const char* name :
       {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_DEVICE.kd", "__amd_rocclr_copyBuffer",
        "__amd_rocclr_copyBufferRect", "__amd_rocclr_copyBufferRectAligned.kd",
        "__amd_rocclr_copyBufferAligned"})
    EXPECT_TRUE(is_copy_kernel_name(name)) << name;
  for (const char* name : {"MEMORY_COPY_HOST_TO_HOST", "__amd_rocclr_copyBufferAlignedRect",
                           "my__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer2"})
    EXPECT_FALSE(is_copy_kernel_name(name)) << name;
  EXPECT_TRUE(is_fill_kernel_name("__amd_rocclr_fillBufferAligned.kd"));
  EXPECT_FALSE(is_fill_kernel_name("__amd_rocclr_fillBufferRect"));
}

TEST(GpuWork, TheCategoryGoesBeforeTheName) {
  TestTrace t;
  const EventId copy = t.gpu({.name = "nccl copy", .category = Category::kGpuMemcpy});
  const EventId fill = t.gpu({.name = "Memset", .category = Category::kGpuMemset});
  const EventId nccl = t.gpu({.name = "ncclKernel"});
  const EventId rocm_copy = t.gpu({.name = "__amd_rocclr_copyBuffer"});
  const EventId triton = t.gpu({.name = "triton_poi_fused__to_copy_0"});
  const Trace trace = t.finish();
  GpuWorkKinds kinds{trace};
  EXPECT_EQ(kinds.of(copy), GpuWork::kCopy);
  EXPECT_EQ(kinds.of(fill), GpuWork::kComputation);
  EXPECT_EQ(kinds.of(nccl), GpuWork::kCommunication);
  EXPECT_EQ(kinds.of(rocm_copy), GpuWork::kCopy);
  EXPECT_EQ(kinds.of(triton), GpuWork::kComputation);
}

TEST(GpuWork, BusyTimeCountsOverlapOnce) {
  TestTrace t;
  const EventId a = t.gpu({.ts = 0, .dur = 10}), b = t.gpu({.ts = 5, .dur = 10, .stream = 8});
  const Trace trace = t.finish();
  const EventId both[] = {a, b};
  EXPECT_EQ(busy_ns(trace, both), 15'000);
  EXPECT_EQ(busy_ns(trace, {}), 0);
}

}  // namespace
}  // namespace tracelens
