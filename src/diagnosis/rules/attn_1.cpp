// ATTN-1: attention by separate products and a softmax, which writes the whole matrix of scores.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "diagnosis/kit/attention.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/kit/shapes.hpp"

namespace tracelens {
namespace attn_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 2, "% of the GPU's busy time in such attention"},
    {"least_scores", 65536, "scores of one head that make fusing worth it"},
    {"host_factor", 0.3, "what is left of its host time"},
    {"backward_flops", 2.5, "times the forward FLOPs that a fused backward kernel needs"},
    {"product_factor", 0.5, "what is left of its products where the GPU's peak is not known"},
};
constexpr int kMostBefore = 6, kMostAfter = 3;  // pointwise ops around the softmax

// Ops from the first product to the second, and their part of the backward pass.
struct Attention {
  NodeId first, end;
  std::vector<std::uint32_t> uses;
  double flops = 0, keys = 0, bytes = 0;
  std::string_view compute_spec = {};
};

bool is_softmax(const OpUse& use) {
  return use.name == "aten::_softmax" || use.name == "aten::softmax" ||
         use.name == "aten::_safe_softmax";
}

double softmax_size(const DiagnosisContext& c, const OpUse& use, std::size_t from_last) {
  const SignatureId id = c.trace.signatures()[use.event.row];
  return id.valid() ? size_from_last(c.trace.signature(id), 0, from_last) : 0;
}

double result_of(const Work& product) {
  return param_of(product, "B") * param_of(product, "M") * param_of(product, "N");
}
double first_operand_of(const Work& product) {
  return param_of(product, "B") * param_of(product, "M") * param_of(product, "K");
}

void add_use(const DiagnosisContext& c, std::uint32_t at, Attention& attention) {
  const OpUse& use = c.op_uses()[at];
  attention.uses.push_back(at);
  if (is_softmax(use)) attention.keys = softmax_size(c, use, 0);
  if (!is_product(use.category) || use.work == nullptr) return;
  const Work& work = *use.work;
  attention.flops += work.flops;
  attention.compute_spec = work.compute_spec;
  // Of the tensors only those without scores are left: the smaller ones.
  const double k = param_of(work, "K"), n = param_of(work, "N"), m = param_of(work, "M");
  attention.bytes += param_of(work, "B") * (m + std::max(k, n)) * std::min(k, n) *
                     (work.compute_spec.ends_with("32") ? 4 : 2);
}

// All below an op that says it does attention by parts.
NodeId told_attention(const DiagnosisContext& c, NodeId node) {
  NodeId outer = {};
  bool by_parts = false;
  for (NodeId above = node; above.valid(); above = c.tree().parent(above)) {
    if (!c.tree().is_op(above)) break;
    const std::string_view name = c.trace.name(c.tree().event(above));
    by_parts |= name == "aten::_scaled_dot_product_attention_math";
    if (has_text(name, "scaled_dot_product")) outer = above;
  }
  return by_parts ? outer : NodeId{};
}

class Finder {
 public:
  Finder(const DiagnosisContext& c, const Numbers& n) : c_{c}, n_{n}, order_{uses_by_time(c)} {}

  std::vector<Attention> find() {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const NodeId told = told_attention(c_, use(at).node);
      if (told.valid()) {
        if (found_.empty() || found_.back().first != told)
          found_.push_back({.first = told, .end = c_.tree().end(told), .uses = {}});
        add_use(c_, order_[at], found_.back());
      } else if (is_softmax(use(at))) {
        around(at);
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const OpUse& use(std::size_t at) const { return c_.op_uses()[order_[at]]; }

  // The product whose result, or whose first operand, is as large as the softmax's argument.
  [[nodiscard]] std::optional<std::size_t> product_near(std::size_t at, int step, int most,
                                                        double scores) const {
    const TrackId track = c_.trace.tracks()[use(at).event.row];
    for (int i = 0; i <= most; ++i) {
      at += static_cast<std::size_t>(step);
      if (at >= order_.size() || c_.trace.tracks()[use(at).event.row] != track) break;
      if (is_softmax(use(at)) || use(at).category.starts_with("SDPA")) break;
      if (!is_product(use(at).category)) continue;
      if (use(at).work == nullptr) break;
      const double size = step < 0 ? result_of(*use(at).work) : first_operand_of(*use(at).work);
      return size == scores ? std::optional{at} : std::nullopt;
    }
    return std::nullopt;
  }

  void around(std::size_t at) {
    const double keys = softmax_size(c_, use(at), 0), queries = softmax_size(c_, use(at), 1);
    if (keys * queries < n_["least_scores"]) return;
    const double scores =
        elements_of(c_.trace.signature(c_.trace.signatures()[use(at).event.row]), 0);
    const auto first = product_near(at, -1, kMostBefore, scores);
    const auto last = product_near(at, 1, kMostAfter, scores);
    if (!first || !last) return;
    const auto whole = [&](std::size_t i) {
      return outermost(c_, use(i).node, {"aten::matmul", "aten::einsum", "aten::bmm"});
    };
    Attention attention{.first = whole(*first), .end = c_.tree().end(whole(*last)), .uses = {}};
    for (std::size_t i = *first; i <= *last; ++i) add_use(c_, order_[i], attention);
    found_.push_back(std::move(attention));
  }

  const DiagnosisContext& c_;
  const Numbers& n_;
  const std::vector<std::uint32_t> order_;
  std::vector<Attention> found_;
};

// The autograd nodes of all ops of an attention.
std::set<std::uint32_t> backward_of(const DiagnosisContext& c, const Attention& attention) {
  std::set<std::uint32_t> nodes;
  for (NodeId node = attention.first; node.row < attention.end.row; ++node.row)
    if (c.tree().is_op(node))
      for (const EventId event : c.tree().backward_of(c.tree().event(node)))
        if (const NodeId one = c.tree().node(event); one.valid()) nodes.insert(one.row);
  return nodes;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  Collected found{c, draft};
  const auto bandwidth = c.reached_bandwidth();
  std::int64_t backward_ns = 0;
  double count = 0;
  for (const Attention& attention : Finder{c, n}.find()) {
    std::vector<EventId> forward, backward;
    for (const std::uint32_t at : attention.uses)
      for (const EventId kernel : c.op_uses()[at].kernels)
        if (c.is_free(kernel)) forward.push_back(kernel);
    const std::set<std::uint32_t> nodes = backward_of(c, attention);
    for (const std::uint32_t row : nodes)
      for (const EventId kernel : c.tree().gpu_events(NodeId{row}))
        if (c.is_free(kernel)) backward.push_back(kernel);
    if (forward.empty() || attention.flops <= 0) continue;

    const auto peak = c.peak_flops(
        attention.compute_spec == "matrix_fp32" ? "matrix_tf32" : attention.compute_spec);
    const double reached = attention_efficiency(attention.keys);
    const auto factor = [&](double flops, double efficiency, std::span<const EventId> kernels) {
      double seconds = flops / (efficiency * *peak);
      if (bandwidth) seconds = std::max(seconds, attention.bytes / *bandwidth);
      return seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(1, c.gpu_sum_ns(kernels)));
    };
    const double part = peak ? factor(attention.flops, reached, forward) : 0;
    for (const std::uint32_t at : attention.uses) {
      const OpUse& use = c.op_uses()[at];
      found.scale(use, peak || !is_product(use.category) ? part : n["product_factor"]);
    }
    const double backward_part =
        peak ? factor(n["backward_flops"] * attention.flops, kBackwardAttention * reached, backward)
             : n["product_factor"];
    for (const EventId kernel : backward) found.scale(kernel, backward_part);
    backward_ns += c.gpu_sum_ns(backward);
    const EventId first = c.tree().event(attention.first);
    const EventId last = c.tree().event(NodeId{attention.end.row - 1});
    const std::int64_t end_ns = is_gpu(c.trace.category(last))
                                    ? c.trace.end_ns(c.op_uses()[attention.uses.back()].event)
                                    : c.trace.end_ns(last);
    found.scale_host(c.trace.tracks()[first.row], c.trace.ts_ns()[first.row],
                     std::max(end_ns, c.trace.end_ns(first)), n["host_factor"]);
    for (const std::uint32_t row : nodes)
      found.scale_host(c.tree().event(NodeId{row}), n["host_factor"]);
    ++count;
  }
  if (count == 0 || c.busy_share(found.before_ns()) < n["least_gpu_pct"]) return std::nullopt;
  found.finish();
  draft.verdict = draft.tell(
      "{} a step attention runs as separate products and a softmax; with the backward pass "
      "that takes {} of the GPU's busy time, {} a step, where fused kernels would take about {}.",
      counted(derived("unified_perf_summary", "softmaxes between products per step",
                      count / static_cast<double>(c.steps()), ""),
              "time", "times"),
      found.share(), found.time(),
      derived("roofline", "time per step of fused attention", in_ms(c.per_step(found.after_ns())),
              "ms"));
  draft.evidence.push_back(derived("unified_perf_summary", "GPU time per step, backward",
                                   in_ms(c.per_step(backward_ns)), "ms"));
  draft.formula = fmt::format(
      "kernels -> fused attention at the efficiency usual for the keys' length, host time x {}",
      n["host_factor"]);
  draft.tries = {
      "torch.nn.functional.scaled_dot_product_attention instead of matmul, softmax, matmul",
      "where it is used already: find out what keeps it from a fused kernel (mask, dropout, type, "
      "head size; torch.nn.attention.sdpa_kernel says why)"};
  draft.verify = {
      .table = "unified_perf_summary",
      .column = "GPU time per step",
      .now = in_ms(c.per_step(found.before_ns())),
      .expected = fmt::format("category SDPA_fwd, about {}", ms_text(c.per_step(found.after_ns()))),
      .is_derived = true};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace attn_1

extern const Rule kAttn1;
constinit const Rule kAttn1 = {.id = "ATTN-1",
                               .title = "Attention without a fused kernel",
                               .numbers = attn_1::kNumbers,
                               .find = attn_1::find};

}  // namespace tracelens
