#include "facts/kernel_names.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(KernelNames, CommunicationIsKnownByPartsOfTheNameInAnyCase) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum", "RCCL_broadcast", "mscclKernel_nccl",
                           "void vllm::cross_device_reduce_2stage<bf16>"})
    EXPECT_TRUE(is_communication_name(name)) << name;
  for (const char* name : {"", "gemm", "ncc", "cross_device"})
    EXPECT_FALSE(is_communication_name(name)) << name;
}

TEST(KernelNames, RocmCopiesAndFillsAreKnownByTheirWholeName) {
  for (const char* name :
       {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_DEVICE.kd", "__amd_rocclr_copyBuffer",
        "__amd_rocclr_copyBufferRect", "__amd_rocclr_copyBufferRectAligned.kd",
        "__amd_rocclr_copyBufferAligned"})
    EXPECT_EQ(name_kind(name), NameKind::kCopy) << name;
  for (const char* name : {"MEMORY_COPY_HOST_TO_HOST", "__amd_rocclr_copyBufferAlignedRect",
                           "my__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer2"})
    EXPECT_EQ(name_kind(name), NameKind::kOther) << name;
  EXPECT_EQ(name_kind("__amd_rocclr_fillBufferAligned.kd"), NameKind::kFill);
  EXPECT_EQ(name_kind("__amd_rocclr_fillBufferRect"), NameKind::kOther);
}

TEST(KernelNames, TheFirstRuleDecides) {
  EXPECT_EQ(kernel_class("rccl_gemm_copy"), KernelClass::kCommunication);
  EXPECT_EQ(kernel_class("Cijk_Ailk.kd"), KernelClass::kGemm);
  EXPECT_EQ(kernel_class("MemcpyDtoD"), KernelClass::kCopy);
  EXPECT_EQ(kernel_class("FmhaFwdKernel"), KernelClass::kAttentionForward);
  EXPECT_EQ(kernel_class("aiter::fmha_fwd_hd128"), KernelClass::kAiterForward);
  EXPECT_EQ(kernel_class("__amd_rocclr_fillBuffer"), KernelClass::kFill);
  EXPECT_EQ(kernel_class("loop_add_fusion_1"), KernelClass::kXla);
}

TEST(KernelNames, CategoriesOfRocprofIgnoreTheCase) {
  EXPECT_EQ(rocprof_category("MatMul_kernel"), "GEMM");
  EXPECT_EQ(rocprof_category("ncclDevKernel_AllReduce_Sum"), "Reduction");  // its first rule
  EXPECT_EQ(rocprof_category("ncclDevKernel_Generic"), "COMM");
  EXPECT_EQ(rocprof_category("MemcpyDtoD"), "Memory");
  EXPECT_EQ(rocprof_category("loop_fusion"), "Other");
}

TEST(KernelNames, GenesisKernelsAreSortedByWhatTheySimulate) {
  EXPECT_EQ(genesis_category("func_solve_init_c478_0"), "Rigid Body Solver");
  EXPECT_EQ(genesis_category("kernel_step_2_c534"), "Time Integration");
  EXPECT_EQ(genesis_category("void at::native::fill"), "PyTorch Runtime");
  EXPECT_EQ(genesis_category("FUNC_SOLVE_INIT"), "Other");
}

TEST(KernelNames, JaxGoesByTheKernelThenByItsOpUnlessItIsAttention) {
  EXPECT_EQ(jax_category("Cijk_Ailk_Bljk", "cudnn-conv.1.0"), "Conv");
  EXPECT_EQ(jax_category("FmhaBwdKernel", "te_fused_attn_backward_ffi.12"), "FA BWD");
  EXPECT_EQ(jax_category("fillBuffer", "te_fused_attn_backward_ffi.12"), "TE");
  EXPECT_EQ(jax_category("loop_fusion", "loop_fusion"), kUncategorizedXla);
}

}  // namespace
}  // namespace tracelens
