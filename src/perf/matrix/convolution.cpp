// convolution.cpp: out[N,C_out,...] = input[N,C_in,...] * filter[C_out,C_in/groups,...] (+ bias).
// Forward FLOPs = 2 * elements(out) * elements(filter[1:]), one add per output for a bias; a
// transposed convolution counts from its input instead. Backward: the same once for the gradient of
// the input and once for that of the filter. Bytes: input, filter, bias and output, once forward,
// twice backward (values and gradients).
#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

using Ints = std::vector<std::int64_t>;

struct Convolution {
  Shape input, filter;
  Value types, input_stride, filter_stride;
  Value bias_param;  // as it prints; `bias` says what it means
  bool bias = false;
  Ints stride, padding, dilation, output_padding;
  Value transposed_param;
  bool transposed = false;
  std::int64_t groups = 1;
  bool grad_input = true, grad_filter = true;
};

Value tuple_of(const Ints& values) {
  std::vector<Value> items(values.begin(), values.end());
  return Value::tuple(std::move(items));
}

// One number per spatial dimension; a single one stands for all, an empty text for the default.
Ints per_dimension(const Arguments& in, std::size_t slot, std::size_t dims,
                   std::int64_t otherwise) {
  if (in.text(slot).empty()) return Ints(dims, otherwise);
  Ints values = in.ints(slot);
  if (values.size() == 1) values.assign(dims, values[0]);
  if (values.empty()) fail(fmt::format("argument {}: empty list", slot));
  return values;
}

// True, False or a number, which counts as it does in Python.
Value truth(const Arguments& in, std::size_t slot) {
  if (const auto number = in.integer_if_any(slot)) return *number;
  return in.boolean(slot);
}

std::size_t spatial_dims(const Shape& input) {
  if (input.rank() < 3 || input.rank() > 5)
    fail(fmt::format("expected an input of 3 to 5 dimensions, found {}", input.rank()));
  return input.rank() - 2;
}

double entry(const Ints& values, std::size_t i) {
  if (i >= values.size()) fail("too few values for the spatial dimensions");
  return static_cast<double>(values[i]);
}

Shape output_of(const Convolution& c, Edition edition) {
  std::vector<double> out{c.input.at(0), c.transposed ? c.filter.at(1) : c.filter.at(0)};
  // O-04: a transposed filter holds only one group's output channels.
  if (c.transposed && edition == kExtended) out[1] *= static_cast<double>(c.groups);
  for (std::size_t i = 0; i < spatial_dims(c.input); ++i) {
    const double size = c.input.at(i + 2), reach = entry(c.dilation, i) * (c.filter.at(i + 2) - 1);
    const double pad = entry(c.padding, i), step = entry(c.stride, i);
    if (c.transposed) {
      out.push_back((size - 1) * step - 2 * pad + reach + entry(c.output_padding, i) + 1);
    } else {
      if (step == 0) fail("stride is 0");
      out.push_back(std::trunc((size + 2 * pad - reach - 1) / step + 1));
    }
    if (out.back() < 0) fail("the filter is larger than the padded input");
  }
  return Shape{std::move(out)};
}

double forward_flops(const Convolution& c, const Shape& out) {
  return (c.transposed ? c.input : out).elements() * 2 * c.filter.elements(1) +
         (c.bias ? out.elements() : 0);
}

double backward_flops(const Convolution& c, const Shape& out) {
  const Shape& counted = c.transposed ? c.input : out;
  const double grad_input = counted.elements() * 2 * c.filter.elements(1);
  const double grad_filter = 2 * c.filter.elements() * counted.at(0) * counted.elements(2);
  return (c.grad_input ? grad_input : 0) + (c.grad_filter ? grad_filter : 0) +
         (c.bias ? out.elements() : 0);
}

double forward_bytes(const Convolution& c, const Shape& out, double size) {
  return (c.input.elements() + c.filter.elements() + (c.bias ? out.at(1) : 0) + out.elements()) *
         size;
}

double backward_bytes(const Convolution& c, const Shape& out, double size, Edition edition) {
  const double x = c.input.elements(), w = c.filter.elements(), y = out.elements();
  // O-03: the gradient of the bias is counted in elements instead of bytes, and for it the output's
  // gradient is read again.
  if (edition == kReference) return 2 * (x + w + y) * size + (c.bias ? y + out.at(1) : 0);
  return ((c.grad_input ? y + w + x : 0) + (c.grad_filter ? y + x + w : 0) +
          (c.bias ? out.at(1) : 0)) *
         size;
}

Work work_of(const Convolution& c, const Arguments& in, bool backward) {
  constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};
  const char* name = kNames[spatial_dims(c.input) - 1];
  const auto& types = c.types.items();
  if (types.size() < 2 || types[0] != types[1]) fail("input and filter have different types");
  const Shape out = output_of(c, in.edition());
  std::optional<double> bytes = in.bytes(types[0].as_text());
  if (bytes)
    bytes = backward ? backward_bytes(c, out, *bytes, in.edition()) : forward_bytes(c, out, *bytes);
  return in.work(backward ? backward_flops(c, out) : forward_flops(c, out), bytes, Unit::kMatrix,
                 types[0].as_text(),
                 {{"convNd", name},
                  {"input_shape", c.input.tuple()},
                  {"filter_shape", c.filter.tuple()},
                  {"dtype_input_weight", c.types},
                  {"input_stride", c.input_stride},
                  {"weight_stride", c.filter_stride},
                  {"bias", c.bias_param},
                  {"stride", tuple_of(c.stride)},
                  {"padding", tuple_of(c.padding)},
                  {"dilation", tuple_of(c.dilation)},
                  {"transposed_conv", c.transposed_param},
                  {"output_padding", tuple_of(c.output_padding)},
                  {"groups", c.groups}});
}

// input, weight, bias (backward: its sizes), stride, padding, dilation, transposed, output padding,
// groups; `first` is 1 where the gradient of the output comes first.
Convolution aten_convolution(const Arguments& in, std::size_t first) {
  Convolution c;
  c.input = in.shape(first);
  c.filter = in.shape(first + 1);
  const std::size_t dims = spatial_dims(c.input);
  c.stride = per_dimension(in, first + 3, dims, 1);
  c.padding = per_dimension(in, first + 4, dims, 0);
  c.dilation = per_dimension(in, first + 5, dims, 1);
  c.transposed_param = truth(in, first + 6);
  c.transposed = c.transposed_param.as_bool() || c.transposed_param.as_int() != 0;
  c.output_padding = per_dimension(in, first + 7, dims, 0);
  c.groups = in.integer(first + 8);
  c.types = in.types(first, 2);
  c.input_stride = in.stride_if_any(first);
  c.filter_stride = in.stride_if_any(first + 1);
  return c;
}

Work convolution(const Arguments& in) {
  Convolution c = aten_convolution(in, 0);
  // O-01: the reference sees a bias only if exactly three arguments were recorded.
  c.bias = in.edition() == kReference ? in.size() == 3 : in.has_tensor(2);
  c.bias_param = c.bias;
  return work_of(c, in, in.backward());
}

Work convolution_backward(const Arguments& in) {
  Convolution c = aten_convolution(in, 1);
  c.bias = in.size() > 3 && in.has_tensor(3);
  // O-02: without recorded sizes of the bias the reference prints the empty list it found there.
  c.bias_param = in.size() > 3 && !c.bias ? Value::list({}) : Value{c.bias};
  if (in.edition() == kExtended && in.concrete_size() > 10) {
    const std::vector<bool> wanted = in.booleans(10);
    if (wanted.size() == 3) {
      c.grad_input = wanted[0];
      c.grad_filter = wanted[1];
      c.bias = wanted[2];
      c.bias_param = c.bias;
    }
  }
  return work_of(c, in, true);
}

// input, weight, bias, stride, padding: apex's fused convolution, plain 2-d strides.
Convolution conv_bias(const Arguments& in) {
  Convolution c;
  c.input = in.shape(0);
  c.filter = in.shape(1);
  if (!in.has_concrete()) fail("the trace has no Concrete Inputs for this op");
  const std::size_t dims = spatial_dims(c.input);
  const auto scalar = [&](std::size_t slot, std::int64_t otherwise) {
    return in.text_or_empty(slot).empty() ? otherwise : in.integer(slot);
  };
  c.stride = Ints(dims, scalar(3, 1));
  c.padding = Ints(dims, scalar(4, 0));
  c.dilation = Ints(dims, 1);
  c.output_padding = Ints(dims, 0);
  c.transposed_param = false;
  c.bias = true;
  c.bias_param = true;
  c.types = in.types(0, 2);
  c.input_stride = in.stride_or_null(0);
  c.filter_stride = in.stride_or_null(1);
  return c;
}

Work conv_bias_forward(const Arguments& in) { return work_of(conv_bias(in), in, in.backward()); }

// The backward call records only the gradient; everything else is the forward call's.
Work conv_bias_backward(const Arguments& in) {
  if (!in.call().forward) fail("the forward call with its sequence number is not in the trace");
  const OpCall forward{.name = in.call().name, .args = *in.call().forward};
  const Arguments given{forward, Pass::kBackward, in.edition()};
  return work_of(conv_bias(given), given, true);
}

constexpr ModelledOp conv(std::string_view name, std::string_view model,
                          Work (*run)(const Arguments&)) {
  return {{.name = name,
           .model = model,
           .category = "CONV_fwd",
           .backward_category = "CONV_bwd",
           .sheet = "CONV",
           .backward_work = BackwardWork::kRecorded},
          run};
}
constexpr ModelledOp backward(std::string_view name, std::string_view model,
                              Work (*run)(const Arguments&), bool per_call) {
  return {{.name = name,
           .model = model,
           .category = "CONV_bwd",
           .backward_category = "CONV_bwd",
           .sheet = "CONV",
           .per_call = per_call,
           .backward_work = BackwardWork::kIsOp},
          run};
}

constexpr ModelledOp kOps[] = {
    conv("aten::convolution", "aten_conv", convolution),
    backward("aten::convolution_backward", "aten_conv_bwd", convolution_backward, false),
    conv("ConvBias_", "ConvBias_", conv_bias_forward),
    conv("ConvBiasReLU_", "ConvBiasReLU_", conv_bias_forward),
    backward("ConvBias_Backward", "ConvBias_Backward", conv_bias_backward, true),
    backward("ConvBiasReLU_Backward", "ConvBiasReLU_Backward", conv_bias_backward, true),
};

}  // namespace

constinit const Family kConvolution = modelled<kOps>();

}  // namespace tracelens::perf
