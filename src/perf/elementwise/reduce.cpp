// reduce.cpp: many elements to few: sums, means, extremes, norms, and running sums.
// FLOPs = elements of the input; bytes = input read, result written.
#include <algorithm>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"
#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

bool is_scan(std::string_view name) {
  return name.find("cumsum") != std::string_view::npos ||
         name.find("cumprod") != std::string_view::npos;
}

std::optional<std::vector<std::int64_t>> as_ints(const Value& value) {
  if (value.is_int()) return std::vector{value.as_int()};
  if (!value.is_sequence()) return std::nullopt;
  std::vector<std::int64_t> ints;
  for (const Value& item : value.items()) ints.push_back(item.as_int());
  return ints;
}

std::string reduce_type(std::string_view name) {
  for (const std::string_view kind : {"mean", "max", "min", "norm"})
    if (name.find(kind) != std::string_view::npos) return std::string{kind};
  return "sum";
}

// Of two arguments the second is the type of the result; dimensions come with more.
bool takes_type_alone(std::string_view op) {
  return op == "aten::sum" || op == "aten::mean" || op == "aten::prod";
}

// The dimensions to reduce: the last list or integer among the arguments after the input; none: all
// of them. Traces hold arguments as text, which the reference does not look into, so there every
// reduction comes down to one element (O-16).
std::vector<std::int64_t> reduced_dims(const Arguments& in) {
  const std::string_view op = in.call().name;
  for (std::size_t slot = in.concrete_size(); slot-- > 1;) {
    if (in.edition() != kReference && in.concrete_size() == 2 && takes_type_alone(op)) break;
    const Value& value = in.concrete(slot);
    if (auto dims = as_ints(value)) return *std::move(dims);
    if (in.edition() == kReference || !value.is_text()) continue;
    if (auto dims = parse_ints(value.as_text())) return *std::move(dims);
    // A lone integer is a dimension in slot 1, but for norms, whose order stands there.
    if (slot == 1 && reduce_type(op) != "norm")
      if (const auto dim = parse_int(value.as_text())) return {*dim};
  }
  return {};
}

double result_elements(const Shape& input, const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return 1;
  std::vector<double> sizes = input.sizes();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  for (const std::int64_t dim : dims) {
    if (dim < -rank || dim >= rank) continue;
    sizes[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)] = 1;
  }
  return Shape{std::move(sizes)}.elements();
}

// Forward and backward move the same elements and count the same.
Work reduce(const Arguments& in) {
  if (!in.has_dims() || in.size() == 0 || in.dims(0).is_null())
    return in.work(0, std::nullopt, Unit::kVector, "",
                   {{"num_input_elems", 0},
                    {"num_output_elems", 0},
                    {"dtype_in_out", Value::tuple({Value{}, Value{}})}});
  const Shape input = in.shape(0);
  double n_in = input.elements();
  double n_out = is_scan(in.call().name) ? n_in : result_elements(input, reduced_dims(in));
  // O-17: with two tensors, max and min compare them element by element and reduce nothing.
  const auto other = in.edition() == kReference ? std::nullopt : in.tensor_if(1);
  if (other) {
    n_out = std::max(n_in, other->elements());
    n_in += other->elements();
  }
  const double flops = other ? n_out : n_in;
  const Value type = in.type_or_null(0);
  std::optional<double> bytes = in.bytes(type.as_text());
  if (bytes) bytes = (n_in + n_out) * *bytes;
  return in.work(flops, bytes, Unit::kVector, type.as_text(),
                 {{"num_input_elems", count(n_in)},
                  {"num_output_elems", count(n_out)},
                  {"dtype_in_out", Value::tuple({type, Value{}})},
                  {"reduce_type", reduce_type(in.call().name)}});
}

constexpr ModelledOp op(std::string_view name, Edition edition = kReference) {
  return {{.name = name,
           .model = "aten_reduce",
           .category = "reduce",
           .sheet = "Reduce",
           .edition = edition},
          reduce};
}

constexpr ModelledOp kOps[] = {
    op("aten::sum"),
    op("aten::mean"),
    op("aten::max"),
    op("aten::min"),
    op("aten::norm"),
    op("aten::linalg_norm"),
    op("aten::std"),
    op("aten::var"),
    op("aten::logsumexp"),
    op("aten::cumsum"),
    op("aten::cumprod"),
    op("aten::amin"),
    op("aten::amax"),
    op("aten::all", kExtended),
    op("aten::any", kExtended),
    op("aten::argmax", kExtended),
    op("aten::argmin", kExtended),
    op("aten::count_nonzero", kExtended),
    op("aten::linalg_vector_norm", kExtended),
    op("aten::prod", kExtended),
    op("aten::std_mean", kExtended),
    op("aten::var_mean", kExtended),
};

}  // namespace

constinit const Family kReduce = modelled<kOps>();

}  // namespace tracelens::perf
