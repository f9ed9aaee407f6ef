// custom_collective.cpp: collectives that serving stacks run as their own kernels. Only the memory
// traffic of the local GPU is counted, not that of the links; so they have no compute spec.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

Work no_spec(const Arguments& in, double flops, double bytes, std::vector<Param> params) {
  in.forward_only();
  return {.flops = flops, .bytes = bytes, .compute_spec = {}, .params = std::move(params)};
}

// Sum over ranks, add the residual, then RMS norm over rows of c.
template <std::size_t kInput, std::size_t kWeight>
Work all_reduce_norm(const Arguments& in) {
  const Shape x = in.shape(kInput);
  const double n = x.elements(), c = in.shape(kWeight).at(0),
               size = in.known_bytes(in.type(kInput));
  if (c == 0) fail("rows of length 0");
  return no_spec(in, n + std::floor(n / c) * (2 * c + 2) + 2 * n, (4 * n + c) * size,
                 {{"op_shape", x.tuple()},
                  {"dtype_in", in.type(kInput)},
                  {"stride_input", in.stride(kInput)},
                  {"num_channels", count(c)}});
}

// communicator, input, output
Work all_reduce(const Arguments& in) {
  const Shape x = in.shape(1);
  return no_spec(
      in, 0, 2 * x.elements() * in.known_bytes(in.type(1)),
      {{"op_shape", x.tuple()}, {"dtype_in", in.type(1)}, {"stride_input", in.stride(1)}});
}

// communicator, input, output of another size
Work gather_or_scatter(const Arguments& in) {
  const Shape x = in.shape(1), out = in.shape(2);
  return no_spec(in, 0, (x.elements() + out.elements()) * in.known_bytes(in.type(1)),
                 {{"op_shape", x.tuple()},
                  {"out_shape", out.tuple()},
                  {"dtype_in", in.type(1)},
                  {"stride_input", in.stride(1)}});
}

// output, input
Work gather_into(const Arguments& in) {
  const Shape out = in.shape(0), x = in.shape(1);
  return no_spec(in, 0, (x.elements() + out.elements()) * in.known_bytes(in.type(0)),
                 {{"out_shape", out.tuple()}, {"op_shape", x.tuple()}, {"dtype_in", in.type(0)}});
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {
      {.name = name, .model = model, .category = "CustomCollective", .sheet = "CustomCollective"},
      run};
}

constexpr auto kNorm = all_reduce_norm<2, 6>, kNormInPlace = all_reduce_norm<0, 2>;

constexpr ModelledOp kOps[] = {
    op("aiter::fused_allreduce_rmsnorm", "aiter_fused_allreduce_rmsnorm", kNorm),
    op("aiter::fused_allreduce_rmsnorm_", "aiter_fused_allreduce_rmsnorm_", kNormInPlace),
    op("_C_custom_ar::all_reduce", "custom_ar_all_reduce", all_reduce),
    op("aiter::reduce_scatter", "aiter_reduce_scatter", gather_or_scatter),
    op("aiter::all_gather_reg", "aiter_all_gather_reg", gather_or_scatter),
    op("sgl_kernel::all_reduce_reg", "sgl_kernel_all_reduce_reg", all_reduce),
    op("sgl_kernel::qr_all_reduce", "sgl_kernel_qr_all_reduce", all_reduce),
    op("sglang::reg_all_gather_into_tensor", "sgl_kernel_reg_all_gather_into_tensor", gather_into),
    op("_C_custom_ar::qr_all_reduce", "custom_ar_qr_all_reduce", all_reduce),
};

}  // namespace

constinit const Family kCustomCollective = modelled<kOps>();

}  // namespace tracelens::perf
