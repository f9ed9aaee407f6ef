// ssm.cpp: state-space models: the causal convolution before them and Mamba-2's fused scan.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

// x[batch, channels, length], filter[channels, width], bias: one filter per channel.
Work causal_conv1d(const Arguments& in) {
  in.forward_only();
  const Shape x = in.shape(0, 3);
  const double batch = x.at(0), channels = x.at(1), length = x.at(2), width = in.shape(1).at(1);
  const bool bias = in.has_tensor(2);
  const std::string type = in.type_or(0, "");
  return in.work(
      2 * x.elements() * width,
      (2 * x.elements() + channels * width + (bias ? channels : 0)) * in.bytes_or(type, 2),
      Unit::kMatrix, type,
      {{"batch", count(batch)},
       {"channels", count(channels)},
       {"seq_len", count(length)},
       {"kernel_size", count(width)},
       {"has_bias", bias}});
}

double positive_or(const Arguments& in, std::size_t slot, double otherwise) {
  if (in.text_or_empty(slot).empty()) return otherwise;
  const auto value = static_cast<double>(in.integer(slot));
  if (value == 0) return otherwise;
  if (value < 0) fail("negative size");
  return value;
}

// zxBCdt[B, T, combined] is split into gate, input, state matrices and step sizes; the convolution
// runs over `conv_channels`, then the scan works in chunks of C steps with H heads of size P, G
// groups and a state of N. Backward is counted as forward.
Work mamba_ssd(const Arguments& in) {
  const Shape combined = in.shape(0, 3), conv = in.shape(1);
  const double batch = combined.at(0), steps = combined.at(1), width = combined.at(2);
  const double conv_channels = conv.at(0), conv_width = conv.at(1), heads = in.shape(3).at(0);
  const double chunk = positive_or(in, 6, 128), head = positive_or(in, 15, 64);
  const double groups = positive_or(in, 16, 1);
  const double inner = heads * head, rest = width - 2 * inner - heads;
  if (rest <= 0 || std::fmod(rest, 2 * groups) != 0)
    fail("the sizes of the fused input do not add up");
  const double state = rest / (2 * groups);
  const std::string type = in.type_or(0, "");
  const double size = in.bytes_or(type, 2);
  const double per_head = in.bytes_or(in.type_or(3, ""), 4) + in.bytes_or(in.type_or(4, ""), 4) +
                          in.bytes_or(in.type_or(5, ""), size);
  const double flops = 2 * batch * steps *
                       (conv_channels * conv_width + groups * chunk * state + heads * chunk * head +
                        2 * heads * state * head);
  const double bytes = batch * steps * (width + inner) * size +
                       conv_channels * (conv_width + 1) * size + heads * per_head;
  return in.work(flops, bytes, Unit::kMatrix, type,
                 {{"B", count(batch)},
                  {"T", count(steps)},
                  {"H", count(heads)},
                  {"P", count(head)},
                  {"G", count(groups)},
                  {"N", count(state)},
                  {"C", count(chunk)},
                  {"d_inner", count(inner)},
                  {"d_conv", count(conv_width)},
                  {"conv_channels", count(conv_channels)},
                  {"combined_dim", count(width)}});
}

constexpr ModelledOp kOps[] = {
    {{.name = "DaoAILab::_causal_conv1d_fwd_cpp",
      .model = "causal_conv1d_fwd",
      .category = "SSM_fwd",
      .sheet = "SSM"},
     causal_conv1d},
    {{.name = "MambaSplitConv1dScanCombinedFn",
      .model = "mamba_ssd_fwd",
      .category = "SSM_fwd",
      .backward_category = "SSM_bwd",
      .sheet = "SSM"},
     mamba_ssd},
};

}  // namespace

constinit const Family kSsm = modelled<kOps>();

}  // namespace tracelens::perf
