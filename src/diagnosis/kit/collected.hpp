// collected.hpp: the ops that a rule is about on their way into its draft: what their kernels and
// their host time become, where they are, what they take together.
//   Collected found{c, draft, {.low = 0.5}};
//   for (const OpUse& use : c.op_uses())
//     if (is_slow(use) && found.may_take(use)) found.scale(use, 0.3);
//   if (c.busy_share(found.before_ns()) < 2) return std::nullopt;
//   found.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/draft.hpp"

namespace tracelens {

// How much of each saving the low and the high estimate count; none: the same.
struct EstimateShares {
  std::optional<double> low = {}, high = {};
};

class Collected {
 public:
  Collected(const DiagnosisContext& c, Draft& draft, const EstimateShares& shares = {});

  // Whether it did something on the GPU that no rule before has taken.
  [[nodiscard]] bool may_take(const OpUse& use) const;
  // Its kernels take this part of their time; those already taken by a rule before stay.
  void scale(const OpUse& use, double factor);
  void scale(const OpUse& use, std::span<const EventId> kernels, double factor);
  // Kernels that stand below no op of interest; no place is noted.
  void scale(EventId kernel, double factor);
  // Host time of a call.
  void scale_host(EventId call, double factor);
  void scale_host(TrackId track, std::int64_t from_ns, std::int64_t to_ns, double factor);

  [[nodiscard]] std::int64_t before_ns() const { return before_ns_; }
  [[nodiscard]] std::int64_t after_ns() const { return after_ns_; }
  [[nodiscard]] std::int64_t uses() const { return uses_; }
  [[nodiscard]] double uses_per_step() const;
  void finish();  // the places, the largest first

  // For the verdict: what the ops take a step, their share of the GPU's busy time, what they would
  // take.
  [[nodiscard]] Evidence time() const;
  [[nodiscard]] Evidence share() const;
  [[nodiscard]] Evidence time_left() const;
  [[nodiscard]] Verification verification() const;  // by those times

 private:
  const DiagnosisContext& c_;
  Draft& draft_;
  const EstimateShares shares_;
  std::map<std::uint32_t, FindingPlace> places_;  // by group
  std::int64_t before_ns_ = 0, after_ns_ = 0, uses_ = 0;
};

// The outermost op around a node that can be reached over ops of these names alone; the node itself
// when the op above has none of them.
[[nodiscard]] NodeId outermost(const DiagnosisContext& c, NodeId op,
                               std::initializer_list<std::string_view> names);
// The Python function of this name that an event was called by, the outermost of those not far above
// it; the event itself: there is none.
[[nodiscard]] EventId caller_named(const DiagnosisContext& c, EventId event,
                                   std::string_view function);
// The forward op that the autograd node around an op belongs to; invalid: none.
[[nodiscard]] NodeId forward_of(const DiagnosisContext& c, NodeId backward);
// Ops in order of time, thread by thread: places in c.op_uses().
[[nodiscard]] std::vector<std::uint32_t> uses_by_time(const DiagnosisContext& c);

[[nodiscard]] double param_of(const Work& work, std::string_view name);  // 0: none
[[nodiscard]] inline bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}
[[nodiscard]] bool has_any(std::string_view text, std::initializer_list<std::string_view> parts);
[[nodiscard]] inline bool is_product(std::string_view category) {
  return category == "GEMM" || category.starts_with("GroupedGEMM");
}
// 16 or 8 bit, or TF32: kernels of the matrix units that want aligned rows.
[[nodiscard]] bool uses_narrow_types(const Work& work);

}  // namespace tracelens
