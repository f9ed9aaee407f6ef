// HOST-3: a loop does the same short work piece by piece, with launches for every piece, where one
// batched op could do it at once: a linear layer per head, a product per expert, an average or a norm
// per parameter.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_3 {

constexpr Number kNumbers[] = {
    {"least_repeats", 8, "repetitions of the same ops one after the other"},
    {"longest", 24, "ops of one repetition"},
    {"short_us", 50,
     "us of GPU time of a kernel of the loop, on average; longer ones need no batch"},
    {"least_gpu_factor", 0.1, "what is left of GPU time at least"},
    {"least_tensors", 32, "repetitions where each is on a tensor of its own shape"},
    {"tensors_gpu_factor", 0.5, "what is left of their GPU time"},
    {"least_pct", 5, "% of the window that mending saves"},
};

// Outermost ops of a thread, in order of time.
using Ops = std::vector<EventId>;

struct Loop {
  std::size_t first = 0, period = 0, repeats = 0;  // places in the ops
  bool is_by_tensor = false;                       // shapes differ: one tensor after the other
  [[nodiscard]] std::size_t end() const { return first + period * repeats; }
};

// Numbers for the shapes of the arguments of ops: an index or a slice differs from piece to piece.
class Shapes {
 public:
  explicit Shapes(const Trace& trace) : trace_{trace}, of_(trace.signature_table().size()) {}
  [[nodiscard]] std::size_t of(EventId op) {
    const SignatureId signature = trace_.signatures()[op.row];
    if (!signature.valid()) return 0;
    std::size_t& known = of_[signature.row];
    if (known == 0)
      known = ids_.try_emplace(python_repr(trace_.signature(signature).dims), ids_.size() + 1)
                  .first->second;
    return known;
  }

 private:
  const Trace& trace_;
  std::vector<std::size_t> of_;  // by signature; 0: not met yet
  std::map<std::string, std::size_t> ids_;
};

// Stretches in which the same ops come again and again. Short periods first: what they cover is no
// part of a longer one.
template <class Same>
void add_loops(const Ops& ops, std::size_t least, std::size_t longest, bool is_by_tensor,
               const Same& same, std::vector<bool>& covered, std::vector<Loop>& found) {
  for (std::size_t period = 1; period <= longest; ++period) {
    std::size_t run = 0;  // places before this one that are as those one period later
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const bool goes_on =
          i + period < ops.size() && !covered[i] && !covered[i + period] && same(i, i + period);
      if (goes_on) {
        ++run;
        continue;
      }
      const std::size_t repeats = run / period + 1;
      if (repeats >= least) {
        found.push_back({i - run, period, repeats, is_by_tensor});
        std::fill_n(covered.begin() + static_cast<std::ptrdiff_t>(i - run), period * repeats, true);
      }
      run = 0;
    }
  }
}

bool is_any_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// What torch._foreach_ has for a list of tensors.
bool has_list_form(std::string_view op) {
  constexpr std::string_view kOps[] = {"aten::add_",
                                       "aten::sub_",
                                       "aten::mul_",
                                       "aten::div_",
                                       "aten::lerp_",
                                       "aten::copy_",
                                       "aten::zero_",
                                       "aten::addcmul_",
                                       "aten::norm",
                                       "aten::addcdiv_",
                                       "aten::sqrt",
                                       "aten::clone",
                                       "aten::linalg_vector_norm"};
  return is_any_of(op, kOps);
}

// With arguments of the same shapes, or on one tensor after the other outside of the optimizer.
std::vector<Loop> loops_in(const DiagnosisContext& c, const Numbers& n, Shapes& shapes,
                           const Ops& ops) {
  constexpr std::size_t kFewOps = 4;
  std::vector<Loop> found;
  std::vector<bool> covered(ops.size());
  const auto has_same_name = [&](std::size_t a, std::size_t b) {
    return c.trace.names()[ops[a].row] == c.trace.names()[ops[b].row];
  };
  const auto is_list_op = [&](EventId op) {
    return has_list_form(c.trace.name(op)) &&
           !in_ranges(c.ranges().optimizer(), c.trace.tracks()[op.row], c.trace.ts_ns()[op.row]);
  };
  add_loops(
      ops, static_cast<std::size_t>(std::max(2.0, n["least_tensors"])), kFewOps, true,
      [&](std::size_t a, std::size_t b) { return has_same_name(a, b) && is_list_op(ops[a]); },
      covered, found);
  add_loops(
      ops, static_cast<std::size_t>(std::max(2.0, n["least_repeats"])),
      static_cast<std::size_t>(std::max(1.0, n["longest"])), false,
      [&](std::size_t a, std::size_t b) {
        return has_same_name(a, b) && shapes.of(ops[a]) == shapes.of(ops[b]);
      },
      covered, found);
  return found;
}

// Whether the pieces do not need each other's results: they are put together afterwards, or each is
// cut from a tensor that has as many of them. Layers of a network are not.
bool is_independent(const DiagnosisContext& c, const Ops& ops, const Loop& loop) {
  if (loop.is_by_tensor) return true;
  constexpr std::string_view kJoins[] = {"aten::cat", "aten::stack", "aten::concat"};
  constexpr std::string_view kCuts[] = {"aten::select", "aten::slice", "aten::narrow"};
  constexpr std::size_t kNear = 3;
  for (std::size_t i = loop.end(); i < std::min(ops.size(), loop.end() + kNear); ++i)
    if (is_any_of(c.trace.name(ops[i]), kJoins)) return true;
  for (std::size_t i = loop.first; i < loop.first + loop.period; ++i) {
    const SignatureId signature = c.trace.signatures()[ops[i].row];
    if (!signature.valid() || !is_any_of(c.trace.name(ops[i]), kCuts)) continue;
    const Value& dims = c.trace.signature(signature).dims;
    if (dims.items().empty() || !dims.items()[0].is_sequence()) continue;
    for (const Value& size : dims.items()[0].items())
      if (size.is_number() && size.as_real() == static_cast<double>(loop.repeats)) return true;
  }
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::map<TrackId, Ops> threads;
  for (const EventId op : c.tree().op_roots())
    if (c.in_window(c.trace.ts_ns()[op.row])) threads[c.trace.tracks()[op.row]].push_back(op);

  // The way back repeats what the way forward did, as often.
  std::map<TrackId, std::vector<Loop>> loops;
  std::set<std::size_t> counts;
  Shapes shapes{c.trace};
  for (const auto& [track, ops] : threads) {
    loops[track] = loops_in(c, n, shapes, ops);
    for (const Loop& loop : loops[track])
      if (!loop.is_by_tensor && is_independent(c, ops, loop)) counts.insert(loop.repeats);
  }
  const auto is_backward = [&](EventId op) {
    return c.trace.name(op).starts_with("autograd::engine::evaluate_function");
  };
  // The first and last repetition may have other neighbours on the way back.
  const auto was_forward = [&](std::size_t repeats) {
    const auto at = counts.lower_bound(repeats > 2 ? repeats - 2 : 0);
    return at != counts.end() && *at <= repeats + 2;
  };
  Draft draft;
  std::map<std::pair<std::string, std::string>, FindingPlace> places;
  std::int64_t pieces = 0, launches = 0, gpu = 0, host = 0, by_tensor = 0;
  for (const auto& [track, ops] : threads) {
    for (const Loop& loop : loops[track]) {
      const bool back = is_backward(ops[loop.first]);
      const bool is_one = back ? was_forward(loop.repeats) : is_independent(c, ops, loop);
      if (!is_one) continue;
      const double left = 1 / static_cast<double>(loop.repeats);
      const std::int64_t start = c.trace.ts_ns()[ops[loop.first].row],
                         end = c.trace.end_ns(ops[loop.end() - 1]);
      std::vector<EventId> kernels;
      std::int64_t busy = 0;
      for (std::size_t i = loop.first; i < loop.end(); ++i)
        for (const EventId kernel : c.tree().gpu_events(c.tree().node(ops[i]))) {
          if (!c.is_free(kernel)) continue;
          kernels.push_back(kernel);
          busy += c.dur_ns(kernel);
        }
      if (kernels.empty() ||
          static_cast<double>(busy) > n["short_us"] * 1e3 * static_cast<double>(kernels.size()))
        continue;
      draft.edit.scale_host(track, start, end, left);
      for (const EventId kernel : kernels)
        draft.edit.scale_gpu(kernel, loop.is_by_tensor ? n["tensors_gpu_factor"]
                                                       : std::max(left, n["least_gpu_factor"]));
      by_tensor += loop.is_by_tensor ? end - start : 0;
      pieces += static_cast<std::int64_t>(loop.repeats);
      launches += static_cast<std::int64_t>(kernels.size());
      gpu += busy;
      host += end - start;
      const std::string line = c.python_line(ops[loop.first]);
      FindingPlace& place = places[{std::string{c.trace.name(ops[loop.first])}, line}];
      place.time_ns += end - start;
      place.count += static_cast<std::int64_t>(loop.repeats);
      if (!place.name.empty()) continue;
      place.kind = "op";
      place.name = std::string{c.trace.name(ops[loop.first])};
      place.python = line;
      place.module = c.module_of(ops[loop.first]);
      place.shape = c.shape_of(ops[loop.first]);
    }
  }
  if (pieces == 0 || c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  for (auto& [key, place] : places) draft.where.push_back(std::move(place));
  const auto steps = static_cast<double>(c.steps());
  draft.verdict = draft.tell(
      "{} a step the same few ops run on another {}, with {} of {} on average; the "
      "host takes {} a step for them.",
      counted(
          derived("kernel_sequences", "pieces per step", static_cast<double>(pieces) / steps, ""),
          "time", "times"),
      2 * by_tensor > host ? "tensor" : "piece of the data",
      counted(
          derived("step_phases", "launches in loops", static_cast<double>(launches) / steps, ""),
          "launch", "launches"),
      derived("short_kernels_summary", "mean time",
              in_ms(gpu) * 1e3 / static_cast<double>(launches), "us"),
      derived("step_phases", "host time in loops", in_ms(c.per_step(host)), "ms"));
  draft.formula = "n repetitions -> one: host time / n, GPU time / n, at most / 10";
  if (by_tensor > 0)
    draft.tries.push_back(
        "one call for all tensors: torch._foreach_lerp_ and its like, foreach=True of "
        "clip_grad_norm_");
  if (by_tensor < host) {
    draft.tries.push_back("one batched op for all pieces: torch.bmm, a wider linear layer, einsum");
    draft.tries.push_back("torch.vmap over the pieces; grouped GEMM where their sizes differ");
  }
  draft.tries.push_back("the loop inside torch.compile or a graph, where batching is not possible");
  draft.verify = {
      .table = "step_phases",
      .column = "launches",
      .now = static_cast<double>(c.gpu_events().size()) / steps,
      .expected = fmt::format("< {:.0f}", static_cast<double>(c.gpu_events().size()) / steps -
                                              0.8 * static_cast<double>(launches) / steps),
      .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace host_3

extern const Rule kHost3;
constinit const Rule kHost3 = {.id = "HOST-3",
                               .title = "A loop over small pieces of work",
                               .numbers = host_3::kNumbers,
                               .find = host_3::find};

}  // namespace tracelens
