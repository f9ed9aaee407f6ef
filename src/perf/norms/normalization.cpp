// normalization.cpp: batch, layer, group, instance and RMS norm, forward and backward.
// With E elements and C channels, a forward pass costs 6C to turn statistics into scale and shift,
// 2E to apply them and, in training, 3E to collect them; a backward pass C * (4e + 5e for the
// gradient of the input), e = E/C. Bytes: the tensors plus a few vectors of C.
#include <fmt/core.h>

#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

struct Norm {
  Shape shape;
  std::string type;
  Value stride;
  double channels = 0;
  Value channels_param = {};
  bool bias = true, affine = true, training = true;
  std::vector<bool> mask = {};  // backward: which gradients are wanted
};

std::vector<Param> params_of(const Norm& norm, bool backward) {
  std::vector<Param> params{{"op_shape", norm.shape.tuple()},
                            {"dtype_in_out", Value::tuple({norm.type, Value{}})},
                            {"stride_input", norm.stride},
                            {"stride_output", Value{}},
                            {"num_channels", norm.channels_param},
                            {"has_bias", norm.bias},
                            {"is_affine", norm.affine},
                            {"is_training", norm.training}};
  if (backward) {
    std::vector<Value> mask(norm.mask.begin(), norm.mask.end());
    params.push_back({"output_mask", Value::list(std::move(mask))});
  }
  return params;
}

bool first_wanted(const Norm& norm) {
  if (norm.mask.empty()) fail("the list of wanted gradients is empty");
  return norm.mask[0];
}

Work forward_cost(const Arguments& in, const Norm& norm) {
  in.forward_only();
  const double e = norm.shape.elements(), c = norm.channels, size = in.known_bytes(norm.type);
  const double vectors = 2 + (norm.affine ? 1 + (norm.bias ? 1 : 0) : 0) + (norm.training ? 2 : 0);
  return in.work(6 * c + (norm.training ? 3 * e : 0) + 2 * e, 2 * e * size + vectors * c * size,
                 Unit::kVector, norm.type, params_of(norm, false));
}

// The reference adds 2e when the gradient of the input is not wanted instead of when it is, outside
// training (O-20); users compare these numbers across versions, so both editions keep the formula.
Work backward_cost(const Arguments& in, const Norm& norm) {
  const double e = norm.shape.elements(), c = norm.channels, size = in.known_bytes(norm.type);
  if (c == 0) fail("no channels");
  const double per_channel = e / c;
  const bool grad_input = first_wanted(norm);
  const double flops = c * ((norm.training ? 0 : 3) + 4 * per_channel +
                            (grad_input ? (norm.training ? 5 * per_channel : 0) : 2 * per_channel));
  const double bytes =
      e * size + e * size * (grad_input && norm.training ? 2 : 1) + (norm.training ? c * size : 0) +
      (norm.affine ? c * size + (norm.training ? c * size * (norm.bias ? 2 : 1) : 0) : 0);
  return in.work(flops, bytes, Unit::kVector, norm.type, params_of(norm, true));
}

Norm norm_of(const Arguments& in, std::size_t slot) {
  return {.shape = in.shape(slot), .type = in.type(slot), .stride = in.stride(slot)};
}

void set_channels(Norm& norm, double channels) {
  norm.channels = channels;
  norm.channels_param = count(channels);
}

// The product of a printed list: the normalized shape.
double product_of(const Arguments& in, std::size_t slot) {
  double product = 1;
  for (const std::int64_t size : in.ints(slot)) {
    if (size < 0) fail("negative size in the normalized shape");
    product *= static_cast<double>(size);
  }
  return product;
}

// Whether an optional tensor was given. The reference only asks whether the slot exists (O-18).
bool given(const Arguments& in, std::size_t slot) {
  if (in.edition() == kReference) return !in.dims(slot).is_null();
  return in.has_tensor(slot);
}

// The training flag. The reference takes every text for yes, even "False" (O-18).
bool training_flag(const Arguments& in, std::size_t slot) {
  const std::string& text = in.text(slot);
  return in.edition() == kReference ? !text.empty() : text == "True" || text == "true";
}

// input, weight, bias, running mean, running variance, training, ...
Work batch_norm(const Arguments& in) {
  Norm norm = norm_of(in, 0);
  set_channels(norm, norm.shape.at(1));
  norm.affine = given(in, in.edition() == kReference ? 2 : 1);
  norm.training = training_flag(in, 5);
  return forward_cost(in, norm);
}

// input, normalized shape, weight, bias
Work layer_norm(const Arguments& in) {
  Norm norm = norm_of(in, 0);
  set_channels(norm, product_of(in, 1));
  norm.bias = given(in, 3);
  norm.affine = given(in, 2);
  return forward_cost(in, norm);
}

// input, groups or weight, weight or bias, ...: as PyTorch's several entry points have it
Work group_norm(const Arguments& in) {
  Norm norm = norm_of(in, 0);
  set_channels(norm, norm.shape.at(1));
  norm.affine = given(in, 2);
  return forward_cost(in, norm);
}

// input, normalized shape, weight, eps
Work rms_norm(const Arguments& in) {
  in.forward_only();
  Norm norm = norm_of(in, 0);
  set_channels(norm, product_of(in, 1));
  norm.bias = false;
  norm.affine = given(in, 2);
  norm.training = false;
  const double e = norm.shape.elements(), c = norm.channels, size = in.known_bytes(norm.type);
  if (c == 0) fail("no channels");
  return in.work((e / c) * (2 * c + 2) + e * (norm.affine ? 2 : 1),
                 2 * e * size + (norm.affine ? c * size : 0), Unit::kVector, norm.type,
                 params_of(norm, false));
}

// grad, input, weight, ..., train at 7
Work batch_norm_backward(const Arguments& in) {
  Norm norm = norm_of(in, 1);
  set_channels(norm, norm.shape.at(1));
  norm.affine = given(in, 2);
  norm.training = training_flag(in, 7);
  norm.mask = {!in.dims(0).is_null()};
  return backward_cost(in, norm);
}

// cuDNN's and MIOpen's: input, grad, weight, ...; always training, which the reference denies
// (O-22)
Work vendor_batch_norm_backward(const Arguments& in) {
  Norm norm = norm_of(in, 0);
  set_channels(norm, norm.shape.at(1));
  norm.affine = given(in, 2);
  norm.training = in.edition() == kExtended;
  norm.mask = {true};
  return backward_cost(in, norm);
}

// grad, input, normalized shape, mean, rstd, weight, bias, wanted gradients
Work layer_norm_backward(const Arguments& in) {
  Norm norm = norm_of(in, 1);
  set_channels(norm, product_of(in, 2));
  norm.mask = in.booleans(7);
  if (norm.mask.size() < 3) fail("expected three wanted gradients");
  norm.affine = norm.mask[1];
  norm.bias = norm.mask[2];
  return backward_cost(in, norm);
}

// grad, input, mean, rstd, weight, N, C, HxW, groups, wanted gradients. The reference takes
// C/groups, a real number, for the channels (O-19).
Work group_norm_backward(const Arguments& in) {
  Norm norm = norm_of(in, 1);
  const auto groups = static_cast<double>(in.integer(8));
  if (groups <= 0) fail("expected a positive number of groups");
  if (in.edition() == kReference) {
    norm.channels = norm.shape.at(1) / groups;
    norm.channels_param = norm.channels;
  } else {
    set_channels(norm, norm.shape.at(1));
  }
  norm.affine = given(in, in.edition() == kReference ? 5 : 4);
  norm.mask = in.booleans(9);
  return backward_cost(in, norm);
}

Work instance_norm_backward(const Arguments&) {
  not_implemented("instance norm backward has no model");
}

// grad, input, normalized shape, rstd, weight, wanted gradients
Work rms_norm_backward(const Arguments& in) {
  Norm norm = norm_of(in, 1);
  set_channels(norm, product_of(in, 2));
  norm.bias = false;
  norm.affine = given(in, 4);
  norm.training = false;
  norm.mask = in.booleans(5);
  if (norm.mask.size() < 2) fail("expected two wanted gradients");
  const double e = norm.shape.elements(), c = norm.channels, size = in.known_bytes(norm.type);
  const double grad_weight = norm.mask[1] && norm.affine ? e + (e > c ? e : 0) : 0;
  return in.work((norm.affine ? e : 0) + e + (norm.mask[0] ? 6 * e : 0) + grad_weight,
                 3 * e * size + (norm.affine ? 2 * c * size : 0), Unit::kVector, norm.type,
                 params_of(norm, true));
}

// Layer norm, then scale and shift per batch: input [tokens, batch, hidden]; backward takes the
// gradient of the output first, which has the same shape.
Work ln_modulate(const Arguments& in, bool backward) {
  Norm norm{.shape = in.shape(0, 3), .type = in.type(0), .stride = in.stride_or_null(0)};
  set_channels(norm, norm.shape.at(2));
  if (backward) norm.mask = {true, true, true};
  const double e = norm.shape.elements(), size = in.known_bytes(norm.type);
  const double rows = norm.shape.at(0) * norm.shape.at(1), vector = norm.shape.elements(1);
  const double tensors = backward ? 3 : 2;
  return in.work((backward ? 15 : 12) * e, tensors * (e + vector) * size + 8 * rows, Unit::kVector,
                 norm.type, params_of(norm, backward));
}
Work ln_modulate_forward(const Arguments& in) {
  in.forward_only();
  return ln_modulate(in, false);
}
Work ln_modulate_backward(const Arguments& in) {
  in.forward_only();
  return ln_modulate(in, true);
}

constexpr ModelledOp fwd(std::string_view name, std::string_view model,
                         Work (*run)(const Arguments&)) {
  return {{.name = name,
           .model = model,
           .category = "NORM_fwd",
           .backward_category = "NORM_bwd",
           .sheet = "Normalization"},
          run};
}
constexpr ModelledOp bwd(std::string_view name, std::string_view model,
                         Work (*run)(const Arguments&)) {
  return {{.name = name,
           .model = model,
           .category = "NORM_bwd",
           .backward_category = "NORM_bwd",
           .sheet = "Normalization"},
          run};
}

constexpr ModelledOp kOps[] = {
    fwd("aiter::_groupnorm_run", "GroupNorm", group_norm),
    fwd("aten::group_norm", "GroupNorm", group_norm),
    fwd("aten::native_group_norm", "GroupNorm", group_norm),
    fwd("aten::miopen_group_norm", "GroupNorm", group_norm),
    fwd("aten::cudnn_group_norm", "GroupNorm", group_norm),
    fwd("aten::batch_norm", "BatchNorm", batch_norm),
    fwd("aten::native_batch_norm", "BatchNorm", batch_norm),
    fwd("aten::miopen_batch_norm", "BatchNorm", batch_norm),
    fwd("aten::cudnn_batch_norm", "BatchNorm", batch_norm),
    fwd("aten::layer_norm", "LayerNorm", layer_norm),
    fwd("aten::native_layer_norm", "LayerNorm", layer_norm),
    fwd("aten::miopen_layer_norm", "LayerNorm", layer_norm),
    fwd("aten::cudnn_layer_norm", "LayerNorm", layer_norm),
    fwd("aten::instance_norm", "InstanceNorm", batch_norm),
    fwd("aten::native_instance_norm", "InstanceNorm", batch_norm),
    fwd("aten::miopen_instance_norm", "InstanceNorm", batch_norm),
    fwd("aten::cudnn_instance_norm", "InstanceNorm", batch_norm),
    fwd("aten::_fused_rms_norm", "RMSNorm", rms_norm),
    bwd("aten::batch_norm_backward", "BatchNormBwd", batch_norm_backward),
    bwd("aten::native_batch_norm_backward", "BatchNormBwd", batch_norm_backward),
    bwd("aten::miopen_batch_norm_backward", "BatchNormBwd", vendor_batch_norm_backward),
    bwd("aten::cudnn_batch_norm_backward", "BatchNormBwd", vendor_batch_norm_backward),
    bwd("aten::layer_norm_backward", "LayerNormBwd", layer_norm_backward),
    bwd("aten::native_layer_norm_backward", "LayerNormBwd", layer_norm_backward),
    bwd("aten::miopen_layer_norm_backward", "LayerNormBwd", layer_norm_backward),
    bwd("aten::cudnn_layer_norm_backward", "LayerNormBwd", layer_norm_backward),
    bwd("aten::group_norm_backward", "GroupNormBwd", group_norm_backward),
    bwd("aten::native_group_norm_backward", "GroupNormBwd", group_norm_backward),
    bwd("aten::miopen_group_norm_backward", "GroupNormBwd", group_norm_backward),
    bwd("aten::cudnn_group_norm_backward", "GroupNormBwd", group_norm_backward),
    bwd("aten::instance_norm_backward", "InstanceNormBwd", instance_norm_backward),
    bwd("aten::native_instance_norm_backward", "InstanceNormBwd", instance_norm_backward),
    bwd("aten::miopen_instance_norm_backward", "InstanceNormBwd", instance_norm_backward),
    bwd("aten::cudnn_instance_norm_backward", "InstanceNormBwd", instance_norm_backward),
    bwd("aten::rms_norm_backward", "RMSNormBwd", rms_norm_backward),
    bwd("aten::native_rms_norm_backward", "RMSNormBwd", rms_norm_backward),
    bwd("aten::miopen_rms_norm_backward", "RMSNormBwd", rms_norm_backward),
    bwd("aten::cudnn_rms_norm_backward", "RMSNormBwd", rms_norm_backward),
    bwd("aten::_fused_rms_norm_backward", "RMSNormBwd", rms_norm_backward),
    fwd("primus::fused_ln_modulate", "FusedLnModulate", ln_modulate_forward),
    bwd("primus::fused_ln_modulate_backward", "FusedLnModulateBackward", ln_modulate_backward),
};

}  // namespace

constinit const Family kNormalization = modelled<kOps>();

}  // namespace tracelens::perf
