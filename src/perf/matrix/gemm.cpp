// gemm.cpp: PyTorch's dense matrix products: out[M,N] = A[M,K] x B[K,N] (+ bias), `batch` times.
// FLOPs = batch * (2*M*N*K + M*N for a bias); bytes = A, B, out and bias, each moved once.
#include <fmt/format.h>

#include <algorithm>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"
#include "perf/matrix/gemm_cost.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

struct GemmOp {
  OpInfo info;
  std::size_t a, b;  // argument slots of the matrices
  bool batched, bias;
  double out_bytes = 0;  // element size of the result; 0: that of the wider operand
};

constexpr OpInfo gemm_info(std::string_view name, std::string_view model,
                           Edition edition = kReference) {
  return {.name = name, .model = model, .category = "GEMM", .sheet = "GEMM", .edition = edition};
}

constexpr GemmOp kOps[] = {
    {.info = gemm_info("aten::mm", "aten_mm"), .a = 0, .b = 1, .batched = false, .bias = false},
    {.info = gemm_info("aten::addmm", "aten_addmm"),
     .a = 1,
     .b = 2,
     .batched = false,
     .bias = true},
    {.info = gemm_info("aten::bmm", "aten_bmm"), .a = 0, .b = 1, .batched = true, .bias = false},
    {.info = gemm_info("aten::baddbmm", "aten_baddbmm"),
     .a = 1,
     .b = 2,
     .batched = true,
     .bias = true},
    {.info = gemm_info("aten::_int_mm", "aten_int_mm", kExtended),
     .a = 0,
     .b = 1,
     .batched = false,
     .bias = false,
     .out_bytes = 4},
};

// The reference counts a bias of N elements whatever was added (O-06) and takes the element size
// of A for everything (O-08).
std::optional<double> bytes_moved(const GemmOp& op, const Arguments& in, const GemmSizes& sizes) {
  if (in.edition() == kReference)
    return gemm_bytes(sizes, ElementBytes::all(in.bytes(in.type(op.a))));
  const auto a = in.bytes(in.type(op.a)), b = in.bytes(in.type(op.b));
  if (!a || !b) return std::nullopt;
  const double products =
      *gemm_bytes({.m = sizes.m, .n = sizes.n, .k = sizes.k, .batch = sizes.batch},
                  {a, b, a, op.out_bytes > 0 ? op.out_bytes : std::max(*a, *b)});
  if (!op.bias) return products;
  const auto added = in.bytes(in.type(0));
  if (!added) return std::nullopt;
  return products + in.shape(0).elements() * *added;
}

void check_fit(std::string_view what, double a, double b) {
  if (a != b) fail(fmt::format("the matrices do not fit: {} is {:.0f} and {:.0f}", what, a, b));
}

Work gemm(const GemmOp& op, const Arguments& in) {
  in.forward_only();
  const Shape a = op.batched ? in.shape(op.a, 3) : in.shape(op.a);
  const Shape b = op.batched ? in.shape(op.b, 3) : in.shape(op.b);
  const std::size_t row = op.batched ? 1 : 0;
  const GemmSizes sizes{.m = a.at(row),
                        .n = b.at(row + 1),
                        .k = a.at(row + 1),
                        .batch = op.batched ? a.at(0) : 1,
                        .bias = op.bias};
  if (in.edition() == kExtended) {
    check_fit("K", sizes.k, b.at(row));
    if (op.batched) check_fit("the batch", sizes.batch, b.at(0));
  }
  const Value types = in.types(op.a, 2);
  if (types.items().size() < 2) fail("expected the types of two matrices");
  std::vector<Param> params;
  if (op.batched) params.push_back({"B", count(sizes.batch)});
  params.insert(params.end(), {{"M", count(sizes.m)},
                               {"N", count(sizes.n)},
                               {"K", count(sizes.k)},
                               {"bias", op.bias},
                               {"stride_A", in.stride_if_any(op.a)},
                               {"stride_B", in.stride_if_any(op.b)},
                               {"dtype_A_B", types}});
  if (!op.batched) params.push_back({"B", 1});
  return in.work(gemm_flops(sizes), bytes_moved(op, in, sizes), Unit::kMatrix, in.type(op.a),
                 std::move(params));
}

}  // namespace

constinit const Family kGemm = modelled<kOps, gemm>();

}  // namespace tracelens::perf
