#include "diagnosis/kit/collected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "diagnosis/kit/figures.hpp"

namespace tracelens {
namespace {

constexpr const char *kOps = "unified_perf_summary", *kTime = "GPU time per step";

}  // namespace

Collected::Collected(const DiagnosisContext& c, Draft& draft, const EstimateShares& shares)
    : c_{c}, draft_{draft}, shares_{shares} {
  if (shares.low) draft.low.emplace();
  if (shares.high) draft.high.emplace();
}

bool Collected::may_take(const OpUse& use) const {
  return use.busy_ns > 0 &&
         std::ranges::any_of(use.kernels, [&](EventId kernel) { return c_.is_free(kernel); });
}

void Collected::scale(EventId kernel, double factor) {
  if (!c_.is_free(kernel)) return;
  factor = std::clamp(factor, 0.0, 1.0);
  const auto part = [factor](double share) {
    return std::clamp(1 - share * (1 - factor), 0.0, 1.0);
  };
  draft_.edit.scale_gpu(kernel, factor);
  if (shares_.low) draft_.low->scale_gpu(kernel, part(*shares_.low));
  if (shares_.high) draft_.high->scale_gpu(kernel, part(*shares_.high));
  const std::int64_t ns = c_.dur_ns(kernel);
  before_ns_ += ns;
  after_ns_ += static_cast<std::int64_t>(factor * static_cast<double>(ns));
}

void Collected::scale(const OpUse& use, double factor) { scale(use, use.kernels, factor); }

void Collected::scale(const OpUse& use, std::span<const EventId> kernels, double factor) {
  const std::int64_t before = before_ns_;
  for (const EventId kernel : kernels) scale(kernel, factor);
  ++uses_;
  FindingPlace& place = places_[use.group];
  if (++place.count == 1) {
    place.kind = "op";
    place.name = use.name;
    place.shape = c_.shape_of(use.event);
    place.module = c_.module_of(use.event);
    place.python = c_.python_line(use.event);
  }
  place.time_ns += before_ns_ - before;
}

void Collected::scale_host(TrackId track, std::int64_t from_ns, std::int64_t to_ns, double factor) {
  draft_.edit.scale_host(track, from_ns, to_ns, factor);
  if (shares_.low) draft_.low->scale_host(track, from_ns, to_ns, 1 - *shares_.low * (1 - factor));
  if (shares_.high)
    draft_.high->scale_host(track, from_ns, to_ns, std::max(0.0, 1 - *shares_.high * (1 - factor)));
}

void Collected::scale_host(EventId call, double factor) {
  scale_host(c_.trace.tracks()[call.row], c_.trace.ts_ns()[call.row], c_.trace.end_ns(call),
             factor);
}

double Collected::uses_per_step() const {
  return static_cast<double>(uses_) / static_cast<double>(c_.steps());
}

void Collected::finish() {
  for (auto& [group, place] : places_) draft_.where.push_back(std::move(place));
  std::ranges::stable_sort(draft_.where, std::ranges::greater{}, &FindingPlace::time_ns);
}

Evidence Collected::time() const {
  return derived(kOps, kTime, in_ms(c_.per_step(before_ns_)), "ms");
}
Evidence Collected::share() const {
  return derived(kOps, "share of busy time", c_.busy_share(before_ns_), "%");
}
Evidence Collected::time_left() const {
  return derived("roofline", "time per step", in_ms(c_.per_step(after_ns_)), "ms");
}
Verification Collected::verification() const {
  return {.table = kOps,
          .column = kTime,
          .now = in_ms(c_.per_step(before_ns_)),
          .expected = fmt::format("about {}", ms_text(c_.per_step(after_ns_))),
          .is_derived = true};
}

NodeId outermost(const DiagnosisContext& c, NodeId op,
                 std::initializer_list<std::string_view> names) {
  const Tree& tree = c.tree();
  for (NodeId above = tree.parent(op); above.valid() && tree.is_op(above);
       above = tree.parent(above)) {
    const std::string_view name = c.trace.name(tree.event(above));
    if (std::ranges::find(names, name) == names.end()) break;
    op = above;
  }
  return op;
}

NodeId forward_of(const DiagnosisContext& c, NodeId backward) {
  for (NodeId node = backward; node.valid(); node = c.tree().parent(node))
    if (const EventId forward = c.tree().forward_of(c.tree().event(node)); forward.valid())
      return c.tree().node(forward);
  return {};
}

EventId caller_named(const DiagnosisContext& c, EventId event, std::string_view function) {
  constexpr int kNotFar = 64;
  const std::string ending = fmt::format(": {}", function);
  EventId found = event;
  NodeId node = c.tree().node(event);
  for (int level = 0; level < kNotFar && node.valid(); ++level, node = c.tree().parent(node)) {
    const EventId caller = c.tree().event(node);
    if (c.trace.category(caller) == Category::kPythonFunction &&
        c.trace.name(caller).ends_with(ending))
      found = caller;
  }
  return found;
}

std::vector<std::uint32_t> uses_by_time(const DiagnosisContext& c) {
  const auto uses = c.op_uses();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < uses.size(); ++i)
    if (uses[i].event.valid() && uses[i].node.valid()) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint32_t i) {
    const std::uint32_t row = uses[i].event.row;
    return std::tuple{c.trace.tracks()[row].row, c.trace.ts_ns()[row], row};
  });
  return order;
}

double param_of(const Work& work, std::string_view name) {
  for (const Param& param : work.params)
    if (param.name == name && param.value.is_number()) return param.value.as_real();
  return 0;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return has_text(text, part); });
}

bool uses_narrow_types(const Work& work) { return has_any(work.compute_spec, {"16", "8", "tf32"}); }

}  // namespace tracelens
