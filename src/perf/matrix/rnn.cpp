// rnn.cpp: whole recurrent networks in one call. Every weight matrix [rows, columns] multiplies one
// vector per sequence and time step: FLOPs = 2 * rows * columns * batch * steps, summed over the
// matrices; backward does it twice, for inputs and weights. Bytes: input, weights and output.
#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

struct RnnOp {
  OpInfo info;
  std::size_t hidden;         // slot of the hidden size
  std::size_t bidirectional;  // slot of that flag
  bool backward;
};

struct Weights {
  double products = 0, elements = 0;
};

Weights weights_of(const Value& list) {
  Weights sum;
  for (const Value& shape : list.items()) {
    double product = 1;
    for (const Value& size : shape.items()) {
      if (!size.is_int() || size.as_int() < 0) fail("argument 1: not a list of tensors");
      product *= size.as_real();
    }
    sum.elements += product;
    if (shape.items().size() == 2) sum.products += product;
  }
  if (sum.products == 0) fail("the shapes of the weights were not recorded");
  return sum;
}

// input [batch, steps, width] in either order, weights, ...
Work rnn(const RnnOp& op, const Arguments& in) {
  in.forward_only();
  const Shape input = in.shape(0, 3);
  const Weights weights = weights_of(in.dims(1));
  const double vectors = input.at(0) * input.at(1);
  const auto hidden = static_cast<double>(in.integer(op.hidden));
  if (hidden < 0) fail("negative hidden size");
  const double directions = in.text_or_empty(op.bidirectional) == "True" ? 2 : 1;
  const double passes = op.backward ? 2 : 1;
  std::optional<double> bytes = in.bytes(in.type(0));
  if (bytes)
    bytes = passes * (input.elements() + weights.elements + vectors * hidden * directions) * *bytes;
  return in.work(passes * 2 * weights.products * vectors, bytes, Unit::kMatrix, in.type(0),
                 {{"input_shape", input.tuple()},
                  {"hidden_size", count(hidden)},
                  {"num_weights", count(weights.elements)}});
}

constexpr OpInfo info(std::string_view name, std::string_view model) {
  return {.name = name,
          .model = model,
          .category = "RNN",
          .sheet = "RNN",
          .edition = Edition::kExtended};
}

constexpr RnnOp kOps[] = {
    {.info = info("aten::_cudnn_rnn", "rnn"), .hidden = 7, .bidirectional = 13, .backward = false},
    {.info = info("aten::_cudnn_rnn_backward", "rnn_backward"),
     .hidden = 11,
     .bidirectional = 17,
     .backward = true},
    {.info = info("aten::miopen_rnn", "rnn"), .hidden = 6, .bidirectional = 11, .backward = false},
};

}  // namespace

constinit const Family kRnn = modelled<kOps, rnn>();

}  // namespace tracelens::perf
