// GEMMs of a replay as command lines of vendors' benchmark programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tracelens/replay.hpp>
#include <utility>

#include "io/numbers.hpp"
#include "report/replay/records.hpp"

namespace tracelens {
namespace {

// A matrix in memory: rows x columns, and which of the two lies densely.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  bool row_major = true;
  std::int64_t leading = 0;  // elements from one row (or column) to the next
  std::int64_t batch = 1, batch_stride = 0;
};

// alpha A B + beta C, and then the bias
struct Gemm {
  Matrix a, b;
  std::string_view a_type, b_type, out_type;  // "bf16"
  double alpha = 1, beta = 0;
  bool has_bias = false;
  bool has_scales = false;  // one for each matrix, as 8-bit types need
};

std::vector<std::int64_t> integers(const Value& list) {
  std::vector<std::int64_t> out;
  for (const Value& item : list.items()) out.push_back(item.as_int());
  return out;
}

std::optional<Matrix> matrix_of(const ReplayArguments& call, std::size_t i) {
  if (i >= call.dims.items().size()) return std::nullopt;
  const std::vector<std::int64_t> dims = integers(call.dims.items()[i]);
  std::vector<std::int64_t> strides;
  if (i < call.strides.items().size()) strides = integers(call.strides.items()[i]);
  const std::size_t n = dims.size();
  if ((n != 2 && n != 3) || std::ranges::any_of(dims, [](auto size) { return size <= 0; }))
    return std::nullopt;
  if (strides.size() != n) {
    strides.assign(n, 1);
    strides[n - 2] = dims[n - 1];
    if (n == 3) strides[0] = dims[1] * dims[2];
  }
  Matrix matrix{.rows = dims[n - 2], .columns = dims[n - 1]};
  if (strides[n - 1] == 1)
    matrix.leading = std::max(strides[n - 2], matrix.columns);
  else if (strides[n - 2] == 1)
    matrix.row_major = false, matrix.leading = std::max(strides[n - 1], matrix.rows);
  else
    return std::nullopt;  // neither direction is dense: libraries copy it first
  if (n == 3) matrix.batch = dims[0], matrix.batch_stride = strides[0];
  return matrix;
}

struct Type {
  std::string_view recorded;
  std::string_view name;
  std::string_view cuda;     // empty: not on NVIDIA GPUs
  std::string_view cutlass;  // the same
  std::string_view number;   // of the ScalarType, as out_dtype is recorded
};
constexpr Type kTypes[] = {{"c10::BFloat16", "bf16", "CUDA_R_16BF", "bf16", "15"},
                           {"c10::Half", "f16", "CUDA_R_16F", "f16", "5"},
                           {"float", "f32", "CUDA_R_32F", "f32", "6"},
                           {"double", "f64", "CUDA_R_64F", "f64", "7"},
                           {"c10::Float8_e4m3fn", "f8", "CUDA_R_8F_E4M3", "fe4m3", "24"},
                           {"c10::Float8_e4m3fnuz", "f8_fnuz", "", "", "26"},
                           {"c10::Float8_e5m2", "bf8", "CUDA_R_8F_E5M2", "fe5m2", "23"},
                           {"c10::Float8_e5m2fnuz", "bf8_fnuz", "", "", "25"}};

std::string_view short_type(std::string_view recorded) {
  for (const Type& type : kTypes)
    if (type.recorded == recorded) return type.name;
  return "";
}

using NameOf = std::string_view Type::*;

std::string_view type_for(NameOf program, std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type.*program;
  return "";
}
std::string_view cuda_type(std::string_view name) { return type_for(&Type::cuda, name); }
std::string_view cutlass_type(std::string_view name) { return type_for(&Type::cutlass, name); }

// What aten::_scaled_mm was told to give; by default bf16, the usual choice.
std::string_view scaled_out_type(const ReplayArguments& call) {
  constexpr std::size_t kOutType = 6;
  if (kOutType < call.concrete.items().size())
    for (const Type& type : kTypes)
      if (call.concrete.items()[kOutType].as_text() == type.number) return type.name;
  return "bf16";
}

// A factor; 1, which is the default, when it was not recorded.
double factor_at(const ReplayArguments& call, std::size_t i) {
  const double factor = io::parse_double(text_at(call.concrete, i)).value_or(1);
  return std::isfinite(factor) ? factor : 1;
}

// What is added: libraries add a vector on the way out, anything else lies in C before.
void take_addend(Gemm& gemm, const ReplayArguments& call) {
  constexpr std::size_t kBeta = 3, kAlpha = 4;
  gemm.alpha = factor_at(call, kAlpha);
  gemm.beta = factor_at(call, kBeta);
  if (call.op != "aten::addmm" || call.dims.items()[0].items().size() != 1 || gemm.beta != 1)
    return;
  gemm.has_bias = true;
  gemm.beta = 0;
}

std::optional<Gemm> gemm_of(const ReplayArguments& call) {
  const bool is_scaled = call.op == "aten::_scaled_mm";
  const bool is_added = call.op == "aten::addmm" || call.op == "aten::baddbmm";
  if (!is_added && !is_scaled && call.op != "aten::mm" && call.op != "aten::bmm")
    return std::nullopt;
  const std::size_t first = is_added ? 1 : 0;
  const std::optional<Matrix> a = matrix_of(call, first), b = matrix_of(call, first + 1);
  if (!a || !b || a->columns != b->rows || a->batch != b->batch) return std::nullopt;
  const std::string_view a_type = short_type(text_at(call.types, first)),
                         b_type = short_type(text_at(call.types, first + 1));
  if (a_type.empty() || b_type.empty()) return std::nullopt;
  Gemm gemm{.a = *a,
            .b = *b,
            .a_type = a_type,
            .b_type = b_type,
            .out_type = is_scaled ? scaled_out_type(call) : a_type,
            .has_scales = is_scaled};
  constexpr std::size_t kScaledBias = 4;
  if (is_scaled) gemm.has_bias = !text_at(call.types, kScaledBias).empty();
  if (is_added) take_addend(gemm, call);
  return gemm;
}

// For programs that add no vector on the way out: PyTorch then copies it to C first.
Gemm with_bias_in_c(Gemm gemm) {
  if (std::exchange(gemm.has_bias, false)) gemm.beta = 1;
  return gemm;
}

// BLAS counts columns first: C = A B by rows is C' = B' A' by columns.
std::string blas(const Gemm& gemm, std::string_view program, std::string_view trans_a,
                 std::string_view trans_b, const std::string& more) {
  const Matrix &x = gemm.b, &y = gemm.a;
  std::string out = fmt::format(
      "{} -m {} -n {} -k {} {} {} {} {} --lda {} --ldb {} --ldc {} --ldd {} --a_type {}_r "
      "--b_type {}_r --c_type {}_r --d_type {}_r --compute_type {} --alpha {} --beta {}",
      program, x.columns, y.rows, x.rows, trans_a, x.row_major ? 'N' : 'T', trans_b,
      y.row_major ? 'N' : 'T', x.leading, y.leading, x.columns, x.columns, gemm.b_type, gemm.a_type,
      gemm.out_type, gemm.out_type, gemm.a_type == "f64" ? "f64_r" : "f32_r", gemm.alpha,
      gemm.beta);
  if (x.batch > 1)
    out += fmt::format(" --batch_count {} --stride_a {} --stride_b {} --stride_c {} --stride_d {}",
                       x.batch, x.batch_stride, y.batch_stride, x.columns * y.rows,
                       x.columns * y.rows);
  return out + more;
}

// The arguments of cublasLtMatmul, by the names its documentation gives them.
std::string cublaslt(const Gemm& gemm) {
  const Matrix &x = gemm.b, &y = gemm.a;
  std::string out = fmt::format(
      "cublasLtMatmul m={} n={} k={} transa={} transb={} lda={} ldb={} ldc={} Atype={} Btype={} "
      "Ctype={} computeType={} alpha={} beta={}",
      x.columns, y.rows, x.rows, x.row_major ? 'N' : 'T', y.row_major ? 'N' : 'T', x.leading,
      y.leading, x.columns, cuda_type(gemm.b_type), cuda_type(gemm.a_type),
      cuda_type(gemm.out_type), gemm.a_type == "f64" ? "CUBLAS_COMPUTE_64F" : "CUBLAS_COMPUTE_32F",
      gemm.alpha, gemm.beta);
  if (x.batch > 1)
    out += fmt::format(" batchCount={} strideA={} strideB={} strideC={}", x.batch, x.batch_stride,
                       y.batch_stride, x.columns * y.rows);
  return out + (gemm.has_bias ? " epilogue=CUBLASLT_EPILOGUE_BIAS" : "");
}

std::string cutlass(const Gemm& gemm) {
  const auto layout = [](const Matrix& matrix) { return matrix.row_major ? "row" : "column"; };
  std::string out = fmt::format(
      "cutlass_profiler --operation=Gemm --m={} --n={} --k={} --batch_count={} --A={}:{} "
      "--B={}:{} --C={}:row",
      gemm.a.rows, gemm.b.columns, gemm.a.columns, gemm.a.batch, cutlass_type(gemm.a_type),
      layout(gemm.a), cutlass_type(gemm.b_type), layout(gemm.b), cutlass_type(gemm.out_type));
  if (gemm.alpha != 1 || gemm.beta != 0)
    out += fmt::format(" --alpha={} --beta={}", gemm.alpha, gemm.beta);
  return out;
}

bool is_for_cuda(const Gemm& gemm) {
  return !cuda_type(gemm.a_type).empty() && !cuda_type(gemm.b_type).empty() &&
         !cuda_type(gemm.out_type).empty();
}

std::string command(const Gemm& gemm, GemmBench bench) {
  switch (bench) {
    case GemmBench::kCublaslt:
      return cublaslt(gemm);
    case GemmBench::kHipblaslt:
      return blas(gemm, "hipblaslt-bench", "--transA", "--transB",
                  std::string{gemm.has_scales ? " --scaleA 1 --scaleB 1" : ""} +
                      (gemm.has_bias ? " --bias_vector" : ""));
    case GemmBench::kRocblas:
      return blas(with_bias_in_c(gemm),
                  gemm.a.batch > 1 ? "rocblas-bench -f gemm_strided_batched_ex"
                                   : "rocblas-bench -f gemm_ex",
                  "--transposeA", "--transposeB", "");
    case GemmBench::kCutlass:
      return cutlass(with_bias_in_c(gemm));
  }
  return "";
}

}  // namespace

std::vector<std::string> gemm_bench_commands(const Replay& replay, GemmBench bench) {
  const bool needs_cuda = bench == GemmBench::kCublaslt || bench == GemmBench::kCutlass;
  std::vector<std::string> commands;
  for (const ReplayRecord& record : replay.records)
    if (const std::optional<Gemm> gemm = gemm_of(record.call);
        gemm && (!needs_cuda || is_for_cuda(*gemm)))
      commands.push_back(command(*gemm, bench));
  return commands;
}

}  // namespace tracelens
