#include "facts/kernel_names.hpp"

#include "io/ascii.hpp"

namespace tracelens {
namespace {

using CategoryRule = NameRule<std::string_view>;

constexpr NameRule<NameKind> kNameKinds[] = {
    {NameKind::kCopy, Match::kWhole, "MEMORY_COPY_HOST_TO_DEVICE"},
    {NameKind::kCopy, Match::kWhole, "MEMORY_COPY_DEVICE_TO_HOST"},
    {NameKind::kCopy, Match::kWhole, "MEMORY_COPY_DEVICE_TO_DEVICE"},
    {NameKind::kCopy, Match::kWhole, "__amd_rocclr_copyBuffer"},
    {NameKind::kCopy, Match::kWhole, "__amd_rocclr_copyBufferAligned"},
    {NameKind::kCopy, Match::kWhole, "__amd_rocclr_copyBufferRect"},
    {NameKind::kCopy, Match::kWhole, "__amd_rocclr_copyBufferRectAligned"},
    {NameKind::kFill, Match::kWhole, "__amd_rocclr_fillBuffer"},
    {NameKind::kFill, Match::kWhole, "__amd_rocclr_fillBufferAligned"},
    {NameKind::kCommunication, Match::kAnyCase, "nccl"},
    {NameKind::kCommunication, Match::kAnyCase, "rccl"},
    {NameKind::kCommunication, Match::kAnyCase, "cross_device_reduce"},
};

constexpr NameRule<KernelClass> kKernelClasses[] = {
    {KernelClass::kCommunication, Match::kAnyCase, "nccl"},
    {KernelClass::kCommunication, Match::kAnyCase, "rccl"},
    {KernelClass::kCommunication, Match::kAnyCase, "cross_device_reduce"},
    {KernelClass::kGemm, Match::kAnyCase, "cublaslt"},
    {KernelClass::kGemm, Match::kAnyCase, "cijk"},
    {KernelClass::kGemm, Match::kAnyCase, "gemm"},
    {KernelClass::kGemm, Match::kAnyCase, "nvjet"},
    {KernelClass::kAttentionBackward, Match::kAnyCase, "fmhabwd"},
    {KernelClass::kAttentionBackward, Match::kAnyCase, "kernel_func"},
    {KernelClass::kAttentionBackward, Match::kAnyCase, "flash_bprop"},
    {KernelClass::kAttentionForward, Match::kAnyCase, "fmhafwd"},
    {KernelClass::kAttentionForward, Match::kAnyCase, "flash_fprop"},
    {KernelClass::kCopy, Match::kAnyCase, "copy"},
    {KernelClass::kCopy, Match::kAnyCase, "memcpy"},
    {KernelClass::kCopy, Match::kAnyCase, "memset"},
    {KernelClass::kTransformerEngine, Match::kAnyCase, "transformer_engine"},
    {KernelClass::kAiterForward, Match::kAnyCase, "aiter::fmha_fwd"},
    {KernelClass::kAiterBackward, Match::kAnyCase, "aiter::fmha_bwd"},
    {KernelClass::kFill, Match::kAnyCase, "fillbuffer"},
};

constexpr CategoryRule kRocprof[] = {
    {"GEMM", Match::kAnyCase, "gemm"},        {"GEMM", Match::kAnyCase, "matmul"},
    {"GEMM", Match::kAnyCase, "cijk"},        {"Elementwise", Match::kAnyCase, "elementwise"},
    {"Reduction", Match::kAnyCase, "reduce"}, {"Reduction", Match::kAnyCase, "sum"},
    {"Convolution", Match::kAnyCase, "conv"}, {"Normalization", Match::kAnyCase, "norm"},
    {"Attention", Match::kAnyCase, "flash"},  {"Attention", Match::kAnyCase, "attn"},
    {"Attention", Match::kAnyCase, "fmha"},   {"Memory", Match::kAnyCase, "copy"},
    {"Memory", Match::kAnyCase, "memcpy"},    {"COMM", Match::kAnyCase, "nccl"},
    {"COMM", Match::kAnyCase, "rccl"},
};

constexpr CategoryRule kGenesis[] = {
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_solve_body"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_solve_one_iter"},
    {"Rigid Body Solver", Match::kAnywhere, "func_solve_body"},
    {"Rigid Body Solver", Match::kAnywhere, "func_solve_init"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_linesearch"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_solve_iter_post_linesearch"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_update_constraint"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_update_gradient"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_cg_save"},
    {"Rigid Body Solver", Match::kAnywhere, "_kernel_update_search_direction"},
    {"Rigid Body Solver", Match::kAnywhere, "kernel_compute_mass_matrix"},
    {"Broadphase Collision", Match::kAnywhere, "func_broad_phase"},
    {"Narrowphase Collision", Match::kAnywhere, "_func_narrowphase"},
    {"Narrowphase Collision", Match::kAnywhere, "_func_prepare_gjk"},
    {"Narrowphase Collision", Match::kAnywhere, "_func_reset_narrowphase"},
    {"Contact Management", Match::kAnywhere, "func_sort_contacts"},
    {"Contact Management", Match::kAnywhere, "func_update_contact"},
    {"Time Integration", Match::kAnywhere, "kernel_step_1"},
    {"Time Integration", Match::kAnywhere, "kernel_step_2"},
    {"Time Integration", Match::kAnywhere, "func_update_qacc"},
    {"Constraints", Match::kAnywhere, "add_equality_constraints"},
    {"Constraints", Match::kAnywhere, "add_inequality_constraints"},
    {"Forward Kinematics", Match::kAnywhere, "kernel_forward_kinematics"},
    {"Forward Kinematics", Match::kAnywhere, "kernel_update_verts"},
    {"Geometry / AABB", Match::kAnywhere, "kernel_update_geom"},
    {"Geometry / AABB", Match::kAnywhere, "kernel_bit_reduction"},
    {"Memory Ops (ROCm)", Match::kAnywhere, "__amd_rocclr_copyBuffer"},
    {"Memory Ops (ROCm)", Match::kAnywhere, "__amd_rocclr_fillBuffer"},
    {"Memory Ops (ROCm)", Match::kAnywhere, "__amd_rocclr_initHeap"},
    {"Runtime Init", Match::kAnywhere, "runtime_initialize"},
    {"Runtime Init", Match::kAnywhere, "runtime_get_memory"},
    {"Runtime Init", Match::kAnywhere, "runtime_allocate"},
    {"Runtime Init", Match::kAnywhere, "fill_ndarray"},
    {"Runtime Init", Match::kAnywhere, "kernel_init_geom"},
    {"Runtime Init", Match::kAnywhere, "kernel_init_vvert"},
    {"Runtime Init", Match::kAnywhere, "ext_arr_to_ndarray"},
    {"PyTorch Runtime", Match::kAnywhere, "at::native::"},
    {"PyTorch Runtime", Match::kAnywhere, "elementwise_kernel"},
};

constexpr CategoryRule kJax[] = {
    {"GEMM", Match::kAnywhere, "Cijk"},
    {"GEMM", Match::kAnywhere, "gemm"},
    {"GEMM", Match::kAnywhere, "nvjet"},
    {"GEMM", Match::kAnywhere, "cublasLt"},
    {"FA BWD", Match::kAnywhere, "FmhaBwd"},
    {"FA BWD", Match::kAnywhere, "flash_bprop"},
    {"FA BWD", Match::kAnywhere, "ck_fused_attn::dk_dv_reduce_thd"},
    {"FA BWD", Match::kAnywhere, "fmha_bwd"},
    {"FA FWD", Match::kAnywhere, "FmhaFwd"},
    {"FA FWD", Match::kAnywhere, "flash_fprop"},
    {"FA FWD", Match::kAnywhere, "fmha_fwd"},
    {"FA V3", Match::kAnywhere, "kernel_func"},
    {"Conv", Match::kAnywhere, "conv_"},
    {"Conv", Match::kAnywhere, "conv."},
    {"Conv", Match::kAnywhere, "conv-"},
    {"TE", Match::kAnywhere, "transformer_engine"},
    {"TE", Match::kAnywhere, "te_fused_attn"},
    {"Communication rccl/nccl", Match::kAnywhere, "rccl"},
    {"Communication rccl/nccl", Match::kAnywhere, "nccl"},
};
constexpr std::string_view kJaxCategories[] = {
    "GEMM", "FA BWD", "FA FWD", "FA V3", "Conv", "TE", "Communication rccl/nccl"};

}  // namespace

bool matches(std::string_view name, Match match, std::string_view text) {
  constexpr std::string_view kDescriptor = ".kd";
  switch (match) {
    case Match::kAnywhere:
      return name.find(text) != std::string_view::npos;
    case Match::kAnyCase:
      return io::contains_ignoring_case(name, text);
    case Match::kWhole:
      if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
      return name == text;
  }
  return false;
}

NameKind name_kind(std::string_view kernel) {
  return first_match(kernel, kNameKinds, NameKind::kOther);
}

KernelClass kernel_class(std::string_view kernel) {
  return first_match(kernel, kKernelClasses, KernelClass::kXla);
}

std::string_view rocprof_category(std::string_view kernel) {
  return first_match<std::string_view>(kernel, kRocprof, "Other");
}

std::string_view genesis_category(std::string_view kernel) {
  return first_match<std::string_view>(kernel, kGenesis, "Other");
}

std::string_view jax_category(std::string_view kernel, std::string_view hlo_op) {
  const auto by_name = first_match<std::string_view>(kernel, kJax, kUncategorizedXla);
  return by_name.starts_with("FA ") ? by_name
                                    : first_match<std::string_view>(hlo_op, kJax, by_name);
}

std::span<const std::string_view> jax_categories() { return kJaxCategories; }

}  // namespace tracelens
