// tensor_ops.cpp: what PyTorch runs between the products and that the Python TraceLens leaves
// unmodelled: softmax, indexing, sorting, losses, dropout, pooling, fills, three-operand
// arithmetic. All of it is limited by memory, so the bytes matter: every tensor read and written
// once, tables only as far as their rows are used. FLOPs are the arithmetic per element; moving
// costs none.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

constexpr double kIndexBytes = 8;  // PyTorch returns indices as 64-bit integers

std::optional<double> times(double elements, std::optional<double> size) {
  if (!size) return std::nullopt;
  return elements * *size;
}

std::optional<double> plus(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

Work finish(const Arguments& in, double flops, std::optional<double> bytes, std::size_t type_slot,
            std::vector<Param> params) {
  in.forward_only();
  return in.work(flops, bytes, Unit::kVector, in.type(type_slot), std::move(params));
}

Work like_input(const Arguments& in, double flops_each, double tensors,
                double extra_bytes_each = 0) {
  const Shape shape = in.shape(0);
  const double n = shape.elements();
  return finish(in, flops_each * n,
                plus(times(tensors * n, in.bytes(in.type(0))), extra_bytes_each * n), 0,
                {{"op_shape", shape.tuple()}, {"dtype", in.type(0)}});
}

// --- softmax: maximum, subtraction, exponential, sum, division ---

// input, dimension, whether 16-bit input gives 32-bit output
Work softmax(const Arguments& in) {
  const bool widens = in.text_or_empty(2) == "True";
  return widens ? like_input(in, 5, 1, 4) : like_input(in, 5, 2);
}

// gradient, output: product, sum, subtraction, product
Work softmax_backward(const Arguments& in) { return like_input(in, 4, 3); }

// --- dropout: a random number and a product; the mask is one byte each ---

Work dropout(const Arguments& in) { return like_input(in, 2, 2, 1); }

// --- writing without reading ---

Work fill(const Arguments& in) { return like_input(in, 0, 1); }
Work random_fill(const Arguments& in) { return like_input(in, 1, 1); }

// --- one element goes to the host: tensor.item() ---

Work read_scalar(const Arguments& in) { return like_input(in, 0, 2); }

// --- arithmetic on three operands, broadcast ---

Work ternary(const Arguments& in) {
  double out = 1;
  std::optional<double> bytes = 0;
  for (std::size_t slot = 0; slot < std::min<std::size_t>(in.size(), 3); ++slot) {
    const Shape shape = in.shape(slot);
    if (shape.empty()) continue;
    out = std::max(out, shape.elements());  // one operand has the full shape in all but rare cases
    bytes = plus(bytes, times(shape.elements(), in.bytes(in.type(slot))));
  }
  // aten::where takes its condition first; the values decide the type.
  const std::size_t value = in.type(0) == "bool" ? 1 : 0;
  return finish(in, 2 * out, plus(bytes, times(out, in.bytes(in.type(value)))), value,
                {{"op_shape", in.shape(0).tuple()}, {"num_elements", count(out)}});
}

// --- joining: the types of the tensors in a list are not recorded, only their shapes ---

// The element size that PyTorch's kernel has in its name: "CatArrayBatchedCopy<OpaqueType<2u>,
// ...".
std::optional<double> joined_element_bytes(std::span<const std::string_view> kernels) {
  constexpr std::string_view kMark = "OpaqueType<";
  for (const std::string_view kernel : kernels) {
    if (kernel.find("CatArrayBatchedCopy") == kernel.npos) continue;
    const std::size_t at = kernel.find(kMark);
    if (at == kernel.npos) continue;
    const std::string_view digits = kernel.substr(at + kMark.size());
    int size = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error == std::errc{} && size > 0) return size;
  }
  return std::nullopt;
}

Work join(const Arguments& in) {
  double elements = 0;
  for (const Value& shape : in.dims(0).items()) {
    double product = 1;
    for (const Value& size : shape.items()) {
      if (!size.is_int() || size.as_int() < 0) fail("argument 0: not a list of tensors");
      product *= size.as_real();
    }
    if (!shape.is_sequence()) fail("argument 0: not a list of tensors");
    elements += product;
  }
  if (in.dims(0).items().empty()) fail("the shapes of the list were not recorded");
  in.forward_only();
  return {.flops = 0,
          .bytes = times(2 * elements, joined_element_bytes(in.call().kernels)),
          .compute_spec = {},
          .params = {{"num_tensors", count(static_cast<double>(in.dims(0).items().size()))},
                     {"num_elements", count(elements)}}};
}

// --- indexing ---

// `moved`: elements read and written, without the indices.
Work picked(const Arguments& in, double out, double indices, double moved) {
  return finish(
      in, 0, plus(times(moved, in.bytes(in.type(0))), indices * kIndexBytes), 0,
      {{"num_elements", count(out)}, {"num_indices", count(indices)}, {"dtype", in.type(0)}});
}

// What is read of a table is at most the table, however often its elements are asked for.
Work looked_up(const Arguments& in, double out, double indices) {
  return picked(in, out, indices, std::min(out, in.shape(0).elements()) + out);
}

double per_index(const Arguments& in, std::int64_t dim) {
  const Shape table = in.shape(0);
  const auto rank = static_cast<std::int64_t>(table.rank());
  if (dim < -rank || dim >= rank) fail("dimension out of range");
  const double size = table.at(static_cast<std::size_t>(dim < 0 ? dim + rank : dim));
  return size == 0 ? 0 : table.elements() / size;
}

// table, dimension, indices
Work index_select(const Arguments& in) {
  const double indices = in.shape(2).elements();
  return looked_up(in, indices * per_index(in, in.integer(1)), indices);
}

// table, indices
Work embedding(const Arguments& in) {
  const double indices = in.shape(1).elements();
  return looked_up(in, indices * per_index(in, 0), indices);
}

// gradient, indices, rows of the table: every row of the result is written
Work embedding_backward(const Arguments& in) {
  const Shape grad = in.shape(0);
  const double indices = in.shape(1).elements(), rows = static_cast<double>(in.integer(2));
  if (rows < 0) fail("negative number of rows");
  const double table = rows * grad.last();
  return finish(in, grad.elements(),
                plus(times(grad.elements() + table, in.bytes(in.type(0))), indices * kIndexBytes),
                0, {{"num_elements", count(grad.elements())}, {"num_weights", count(rows)}});
}

// input, dimension, indices
Work gather(const Arguments& in) {
  const double indices = in.shape(2).elements();
  return looked_up(in, indices, indices);
}

// target, dimension, indices, source: source read, target written; adding reads the target too
Work scatter(const Arguments& in) {
  const double indices = in.shape(2).elements();
  return picked(in, indices, indices, 2 * indices);
}
Work scatter_add(const Arguments& in) {
  const double indices = in.shape(2).elements();
  return picked(in, indices, indices, 3 * indices);
}

// input, list of index tensors, which replace the leading dimensions
Work index(const Arguments& in) {
  const Shape table = in.shape(0);
  const auto& lists = in.dims(1).items();
  if (lists.empty()) fail("the shapes of the indices were not recorded");
  double indices = 0;
  for (const Value& list : lists) {
    double product = 1;
    for (const Value& size : list.items()) product *= size.as_real();
    indices = std::max(indices, product);
  }
  if (lists.size() > table.rank()) fail("more indices than dimensions");
  const double each = table.elements(lists.size());
  return looked_up(in, indices * each, indices * static_cast<double>(lists.size()));
}

// target, indices, values
Work index_put(const Arguments& in) {
  const double values = in.shape(2).elements();
  return picked(in, values, values, (in.text_or_empty(3) == "True" ? 3 : 2) * values);
}

// --- order ---

// input, k, dimension: values and indices of the k best of every row
Work topk(const Arguments& in) {
  const Shape input = in.shape(0);
  const auto best = static_cast<double>(in.integer(1));
  const double rows = per_index(in, in.integer_if_any(2).value_or(-1));
  const double n = input.elements(), out = rows * best;
  if (best < 0) fail("negative k");
  return finish(in, n, plus(times(n + out, in.bytes(in.type(0))), out * kIndexBytes), 0,
                {{"op_shape", input.tuple()}, {"k", count(best)}});
}

// Values and indices, sorted along the last dimension: log2(length) comparisons per element.
Work sort(const Arguments& in) {
  const Shape input = in.shape(0);
  const double n = input.elements(), length = input.empty() ? 1 : input.last();
  return finish(in, n * std::log2(std::max(length, 1.0)),
                plus(times(2 * n, in.bytes(in.type(0))), n * kIndexBytes), 0,
                {{"op_shape", input.tuple()}});
}

// --- losses ---

// log-probabilities [rows, classes], targets: one element of every row
Work nll_loss(const Arguments& in) {
  const Shape scores = in.shape(0);
  const double rows = in.shape(1).elements();
  return finish(in, rows, plus(times(rows, in.bytes(in.type(0))), rows * kIndexBytes), 0,
                {{"op_shape", scores.tuple()}});
}

// gradient, log-probabilities, targets: the whole gradient is written, almost all of it zero
Work nll_loss_backward(const Arguments& in) {
  const Shape scores = in.shape(1);
  const double rows = in.shape(2).elements();
  return finish(in, rows, plus(times(scores.elements(), in.bytes(in.type(1))), rows * kIndexBytes),
                1, {{"op_shape", scores.tuple()}});
}

// prediction, target: difference, square, sum
Work mse_loss(const Arguments& in) { return like_input(in, 3, 2); }

// gradient, prediction, target
Work mse_loss_backward(const Arguments& in) {
  const double n = in.shape(1).elements();
  return finish(in, 3 * n, times(3 * n, in.bytes(in.type(1))), 1,
                {{"op_shape", in.shape(1).tuple()}});
}

// --- pooling ---

// input, window, stride, padding, dilation, round up
Shape pooled(const Arguments& in, bool has_dilation) {
  const Shape input = in.shape(0);
  const auto window = in.ints(1);
  const auto entry = [](const std::vector<std::int64_t>& list, std::size_t i,
                        std::int64_t otherwise) {
    if (list.empty()) return static_cast<double>(otherwise);
    return static_cast<double>(list[std::min(i, list.size() - 1)]);
  };
  if (window.empty() || input.rank() < 3) fail("expected a window and an image");
  const auto stride = in.ints(2), padding = in.ints(3);
  const auto dilation = has_dilation ? in.ints(4) : std::vector<std::int64_t>{};
  const std::size_t dims = std::min<std::size_t>(2, input.rank() - 1);
  std::vector<double> out = input.sizes();
  for (std::size_t i = 0; i < dims; ++i) {
    const double reach = entry(dilation, i, 1) * (entry(window, i, 1) - 1) + 1;
    const double step = entry(stride, i, window[std::min(i, window.size() - 1)]);
    if (step <= 0) fail("stride is not positive");
    double& size = out[out.size() - dims + i];
    const double steps = (size + 2 * entry(padding, i, 0) - reach) / step;
    size =
        (in.text_or_empty(has_dilation ? 5 : 4) == "True" ? std::ceil(steps) : std::floor(steps)) +
        1;
    if (size < 0) fail("the window is larger than the image");
  }
  return Shape{std::move(out)};
}

double window_size(const Arguments& in, std::size_t slot) {
  double size = 1;
  const auto window = in.ints(slot);
  for (const std::int64_t side : window) size *= static_cast<double>(side);
  return window.size() == 1 ? size * size : size;
}

Work max_pool(const Arguments& in) {
  const Shape input = in.shape(0), out = pooled(in, true);
  return finish(in, out.elements() * window_size(in, 1),
                plus(times(input.elements() + out.elements(), in.bytes(in.type(0))),
                     out.elements() * kIndexBytes),
                0, {{"op_shape", input.tuple()}, {"output_shape", out.tuple()}});
}

// gradient, input, ..., indices: every input element gets a gradient
Work max_pool_backward(const Arguments& in) {
  const double grads = in.shape(0).elements();
  const Shape input = in.shape(1);
  return finish(in, grads,
                plus(times(grads + input.elements(), in.bytes(in.type(0))), grads * kIndexBytes), 0,
                {{"op_shape", input.tuple()}});
}

Work avg_pool(const Arguments& in) {
  const Shape input = in.shape(0), out = pooled(in, false);
  return finish(in, out.elements() * window_size(in, 1),
                times(input.elements() + out.elements(), in.bytes(in.type(0))), 0,
                {{"op_shape", input.tuple()}, {"output_shape", out.tuple()}});
}

constexpr ModelledOp op(std::string_view name, std::string_view kind, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = kind, .sheet = kind, .edition = kExtended},
          run};
}
// Elementwise arithmetic has its category already, but no sheet that fits its parameters.
constexpr ModelledOp arithmetic(std::string_view name, std::string_view model,
                                Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "elementwise", .edition = kExtended}, run};
}

constexpr ModelledOp joining(std::string_view name) {
  ModelledOp joined = op(name, "Joining", "join", join);
  joined.info.per_call = true;  // its kernel tells the element size
  return joined;
}

constexpr ModelledOp kOps[] = {
    op("aten::_softmax", "Softmax", "softmax", softmax),
    op("aten::_log_softmax", "Softmax", "softmax", softmax),
    op("aten::_safe_softmax", "Softmax", "softmax", softmax),
    op("aten::_softmax_backward_data", "Softmax", "softmax_backward", softmax_backward),
    op("aten::_log_softmax_backward_data", "Softmax", "softmax_backward", softmax_backward),
    joining("aten::cat"),
    joining("aten::stack"),
    op("aten::index", "Indexing", "index", index),
    op("aten::index_select", "Indexing", "index_select", index_select),
    // No sheet: its kernels are those of the aten::index_select inside it.
    {{.name = "aten::embedding",
      .model = "embedding",
      .category = "Indexing",
      .edition = kExtended},
     embedding},
    op("aten::embedding_dense_backward", "Indexing", "embedding_backward", embedding_backward),
    op("aten::gather", "Indexing", "gather", gather),
    op("aten::scatter", "Indexing", "scatter", scatter),
    op("aten::scatter_", "Indexing", "scatter", scatter),
    op("aten::scatter_add", "Indexing", "scatter_add", scatter_add),
    op("aten::scatter_add_", "Indexing", "scatter_add", scatter_add),
    op("aten::index_put_", "Indexing", "index_put", index_put),
    op("aten::_index_put_impl_", "Indexing", "index_put", index_put),
    op("aten::sort", "Sorting", "sort", sort),
    op("aten::topk", "Sorting", "topk", topk),
    op("aten::nll_loss_forward", "Loss", "nll_loss", nll_loss),
    op("aten::nll_loss_backward", "Loss", "nll_loss_backward", nll_loss_backward),
    op("aten::mse_loss", "Loss", "mse_loss", mse_loss),
    op("aten::mse_loss_backward", "Loss", "mse_loss_backward", mse_loss_backward),
    op("aten::max_pool2d_with_indices", "Pooling", "max_pool", max_pool),
    op("aten::max_pool2d_with_indices_backward", "Pooling", "max_pool_backward", max_pool_backward),
    op("aten::avg_pool2d", "Pooling", "avg_pool", avg_pool),
    op("aten::bernoulli_", "Random", "random_fill", random_fill),
    op("aten::exponential_", "Random", "random_fill", random_fill),
    op("aten::normal_", "Random", "random_fill", random_fill),
    op("aten::random_", "Random", "random_fill", random_fill),
    op("aten::uniform_", "Random", "random_fill", random_fill),
    arithmetic("aten::native_dropout", "dropout", dropout),
    arithmetic("aten::native_dropout_backward", "dropout", dropout),
    {{.name = "aten::_local_scalar_dense",
      .model = "read_scalar",
      .category = "copy",
      .edition = kExtended},
     read_scalar},
    arithmetic("aten::fill_", "fill", fill),
    arithmetic("aten::zero_", "fill", fill),
    arithmetic("aten::addcdiv", "ternary", ternary),
    arithmetic("aten::addcdiv_", "ternary", ternary),
    arithmetic("aten::addcmul", "ternary", ternary),
    arithmetic("aten::addcmul_", "ternary", ternary),
    arithmetic("aten::lerp", "ternary", ternary),
    arithmetic("aten::lerp_", "ternary", ternary),
    arithmetic("aten::where", "ternary", ternary),
};

}  // namespace

constinit const Family kTensorOps = modelled<kOps>();

}  // namespace tracelens::perf
