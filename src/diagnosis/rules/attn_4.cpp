// ATTN-4: writing the cache of keys and values, or joining partial results, takes much of attention.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/name_test.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/kernel_share.hpp"

namespace tracelens {
namespace attn_4 {

constexpr Number kNumbers[] = {
    {"least_write_pct", 10, "% of attention's time that writing the cache takes"},
    {"least_join_pct", 15, "% of attention's time that joining partial results takes"},
    {"factor", 0.5, "what is left of it"},
};

bool is_write(std::string_view name) {
  return has_any(name, {"reshape_and_cache", "store_cache", "store_kvcache"});
}
bool is_join(std::string_view name) {
  return has_any(name, {"reduce_segments", "splitkv_combine", "attn_combine"});
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::int64_t attention = 0, writes = 0, joins = 0;
  NameTest writes_cache{c.trace, is_write}, joins_parts{c.trace, is_join};
  NameTest attends{c.trace, [](std::string_view name) {
                     return is_write(name) || is_join(name) ||
                            has_any(name, {"flash", "fmha", "attn", "attention", "mha_"});
                   }};
  for (const EventId event : c.gpu_events()) {
    if (!attends(event)) continue;
    const std::int64_t ns = c.dur_ns(event);
    attention += ns;
    if (writes_cache(event)) writes += ns;
    if (joins_parts(event)) joins += ns;
  }
  const bool much_written = percentage(writes, attention) >= n["least_write_pct"];
  const bool much_joined = percentage(joins, attention) >= n["least_join_pct"];
  if (!much_written && !much_joined) return std::nullopt;
  Draft draft;
  Collected found{c, draft};
  if (much_written) scale_kernels(c, is_write, n["factor"], found, draft);
  if (much_joined) scale_kernels(c, is_join, n["factor"], found, draft);
  if (found.before_ns() == 0) return std::nullopt;
  draft.verdict = draft.tell(
      "Of attention's {} a step, {} go to {}.",
      derived("kernel_summary", "attention's time per step", in_ms(c.per_step(attention)), "ms"),
      derived("kernel_summary", "share of attention's time",
              percentage(found.before_ns(), attention), "%"),
      much_written && much_joined ? "writing the cache and joining partial results"
      : much_written              ? "writing the cache of keys and values"
                                  : "joining partial results");
  draft.formula = fmt::format("those kernels x {}", n["factor"]);
  draft.tries = {"another block size of the cache (16, 32, 64)",
                 "fewer splits of the keys in attention"};
  draft.verify = {.table = "kernel_summary",
                  .column = "share of attention's time",
                  .now = percentage(found.before_ns(), attention),
                  .expected = "half of it",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace attn_4

extern const Rule kAttn4;
constinit const Rule kAttn4 = {.id = "ATTN-4",
                               .title = "Cache writes and joins around attention",
                               .numbers = attn_4::kNumbers,
                               .find = attn_4::find};

}  // namespace tracelens
