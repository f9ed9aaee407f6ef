// grouped_gemm.cpp: one product per expert: Y[M,N] = X[M,K] x W[G,K,N], the rows of X split among
// G groups. FLOPs = 2*M*K*N; bytes = X, all of W, and Y.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

struct Pair {
  double m, k, n;
};

bool is_positive_int(const Value& value) { return value.is_int() && value.as_int() > 0; }

bool is_matrix(const Value& value) {
  return value.is_sequence() && value.items().size() == 2 && is_positive_int(value.items()[0]) &&
         is_positive_int(value.items()[1]);
}

// Every [rows, columns] anywhere inside the value, in order.
std::vector<Shape> matrices_in(const Value& value) {
  std::vector<Shape> found;
  std::vector<const Value*> open{&value};  // no recursion: the trace decides how deep it nests
  while (!open.empty()) {
    const Value& next = *open.back();
    open.pop_back();
    if (is_matrix(next))
      found.push_back(Shape{{next.items()[0].as_real(), next.items()[1].as_real()}});
    else
      for (auto item = next.items().rbegin(); item != next.items().rend(); ++item)
        open.push_back(&*item);
  }
  return found;
}

// Lists of left and right matrices of equal length, [m, k] and [k, n].
std::vector<Pair> zipped(const Arguments& in) {
  const auto left = matrices_in(in.dims(0)), right = matrices_in(in.dims(1));
  if (left.empty() || left.size() != right.size()) fail("expected two lists of matrices");
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].at(1) != right[i].at(0)) fail("two matrices do not fit");
    pairs.push_back({left[i].at(0), left[i].at(1), right[i].at(1)});
  }
  return pairs;
}

struct Types {
  std::string in, out;
  Value in_bytes, out_bytes;
};

// The type of the result is not recorded; the reference takes the second input's (O-29).
Types types_of(const Arguments& in) {
  const std::string x = in.type_or(0, ""), y = in.type_or(1, x);
  const auto printed = [&](const std::string& type) {
    const auto size = in.bytes(type);
    return size ? count(*size) : Value{};
  };
  return {x, y, printed(x), printed(y)};
}

std::vector<Param> params_of(double m, double k, double n, double groups, const Types& types) {
  return {{"M", count(m)},
          {"K", count(k)},
          {"N", count(n)},
          {"G", count(groups)},
          {"bpe_in", types.in_bytes},
          {"bpe_out", types.out_bytes}};
}

// X[M,K] and W[G,K,N] or W[G,N,K].
std::optional<std::pair<Pair, double>> compact(const Arguments& in) {
  const Value& x = in.dims(0);
  const Value& w = in.dims(1);
  if (x.items().size() < 2 || w.items().size() != 3 || !is_positive_int(x.items()[0]) ||
      !is_positive_int(x.items()[1]))
    return std::nullopt;
  for (const Value& size : w.items())
    if (!is_positive_int(size)) return std::nullopt;
  const Shape left = in.shape(0), right = in.shape(1);
  const double k = left.at(1);
  if (right.at(1) == k) return {{{left.at(0), k, right.at(2)}, right.at(0)}};
  if (right.at(2) == k) return {{{left.at(0), k, right.at(1)}, right.at(0)}};
  return std::nullopt;
}

// Every group multiplies by a matrix of the same K and N.
Work fixed_k(const Arguments& in) {
  in.forward_only();
  Pair whole{};
  double groups = 0;
  if (const auto found = compact(in)) {
    whole = found->first;
    groups = found->second;
  } else {
    const auto pairs = zipped(in);
    whole = {0, pairs[0].k, pairs[0].n};
    groups = static_cast<double>(pairs.size());
    for (const Pair& pair : pairs) {
      if (pair.k != whole.k || pair.n != whole.n) fail("the groups have different shapes");
      whole.m += pair.m;
    }
  }
  const Types types = types_of(in);
  const double bytes = (whole.m * whole.k + groups * whole.k * whole.n) * in.known_bytes(types.in) +
                       whole.m * whole.n * in.known_bytes(types.out);
  return in.work(2 * whole.m * whole.k * whole.n, bytes, Unit::kMatrix, types.in,
                 params_of(whole.m, whole.k, whole.n, groups, types));
}

// Groups of different K: the gradient of the weights.
Work variable_k(const Arguments& in) {
  in.forward_only();
  std::vector<Pair> pairs;
  if (is_matrix(in.dims(0)) && is_matrix(in.dims(1))) {
    const Shape left = in.shape(0), right = in.shape(1);
    pairs.push_back({left.at(0), left.at(1), right.at(1)});
  } else {
    pairs = zipped(in);
  }
  const Types types = types_of(in);
  const auto in_bytes = in.bytes(types.in), out_bytes = in.bytes(types.out);
  double flops = 0, elements_in = 0, elements_out = 0, m = 0;
  std::vector<Value> group_pairs;
  for (const Pair& pair : pairs) {
    flops += 2 * pair.m * pair.k * pair.n;
    elements_in += pair.m * pair.k + pair.k * pair.n;
    elements_out += pair.m * pair.n;
    m += pair.m;
    group_pairs.push_back(Value::tuple({Value::tuple({count(pair.m), count(pair.k)}),
                                        Value::tuple({count(pair.k), count(pair.n)})}));
  }
  std::optional<double> bytes;
  if (in_bytes && out_bytes) bytes = elements_in * *in_bytes + elements_out * *out_bytes;
  auto params = params_of(m, pairs[0].k, pairs[0].n, static_cast<double>(pairs.size()), types);
  params.push_back({"group_pairs", Value::list(std::move(group_pairs))});
  return in.work(flops, bytes, Unit::kMatrix, types.in, std::move(params));
}

constexpr std::string_view kScaled = "aten::_scaled_grouped_mm";

// PyTorch's own: A and B, each [rows, columns] or [groups, rows, columns]; two flat operands share
// K.
Work torch_grouped(const Arguments& in) {
  in.forward_only();
  const Shape a = in.shape(0), b = in.shape(1);
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3) fail("expected two matrices");
  const bool flat = a.rank() == 2 && b.rank() == 2;
  const double m = a.last(1), k = a.last(), n = b.last();
  const double batch = a.rank() == 3 && b.rank() == 3 ? a.at(0) : 1;
  const auto size = in.bytes(in.type(0));
  // Flat operands: K is cut into groups and each group has an output; how many is the length of the
  // offsets, which follow the scales where there are such.
  const std::size_t offsets = in.call().name == kScaled ? 4 : 2;
  const double outputs = flat && in.has_tensor(offsets) ? in.shape(offsets).elements() : batch;
  std::optional<double> bytes;
  if (size)
    bytes = (a.elements() + b.elements()) * *size + outputs * m * n * (*size == 1 ? 2 : *size);
  return in.work(2 * batch * m * k * n, bytes, Unit::kMatrix, in.type(0),
                 {{"M", count(m)}, {"K", count(k)}, {"N", count(n)}, {"B", count(batch)}});
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {{.name = name,
           .model = model,
           .category = "GroupedGEMM_fwd",
           .backward_category = "GroupedGEMM_bwd",
           .sheet = "GroupedGEMM"},
          run};
}
constexpr ModelledOp our_op(std::string_view name) {
  return {{.name = name,
           .model = "aten_grouped_mm",
           .category = "GroupedGEMM_fwd",
           .sheet = "GroupedGEMM",
           .edition = Edition::kExtended},
          torch_grouped};
}

constexpr std::string_view kFixed = "primus_turbo_grouped_gemm";
constexpr std::string_view kVariable = "primus_turbo_grouped_gemm_variable_k";

constexpr ModelledOp kOps[] = {
    op("primus_turbo::grouped_gemm", kFixed, fixed_k),
    op("primus_turbo::grouped_gemm_impl", kFixed, fixed_k),
    op("primus_turbo_cpp_extension::grouped_gemm", kFixed, fixed_k),
    op("primus_turbo_cpp_extension::ck_grouped_gemm", kFixed, fixed_k),
    op("primus_turbo::grouped_gemm_variable_k", kVariable, variable_k),
    op("primus_turbo::grouped_gemm_variable_k_impl", kVariable, variable_k),
    op("primus_turbo_cpp_extension::grouped_gemm_variable_k", kVariable, variable_k),
    op("primus_turbo_cpp_extension::ck_grouped_gemm_variable_k", kVariable, variable_k),
    our_op("aten::_grouped_mm"),
    our_op(kScaled),
};

}  // namespace

constinit const Family kGroupedGemm = modelled<kOps>();

}  // namespace tracelens::perf
