// JAX-1: the GPU waits for programs to be dispatched.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/jax/kernels.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/timeline_words.hpp"

namespace tracelens {
namespace jax_1 {

constexpr Number kNumbers[] = {
    {"least_idle_pct", 15, "% of the GPU's span that it idles"},
    {"most_latency_us", 50, "us between launch and start, in the middle: more means a full queue"},
    {"factor", 0.8, "of the idle time that goes"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.facts.kind() != TraceKind::kJax) return std::nullopt;
  const DeviceTimes& gpus = c.gpu_times();
  const double idle = percentage(gpus.all_span_ns - gpus.all_busy_ns, gpus.all_span_ns);
  if (idle < n["least_idle_pct"]) return std::nullopt;
  const JaxOps ops{c.trace};
  std::vector<std::int64_t> latencies;
  const JaxKernels kernels{c.trace, c.tree(), ops};
  for (const JaxKernel& kernel : kernels.all())
    if (kernel.latency_ns) latencies.push_back(*kernel.latency_ns);
  if (latencies.size() < 2) return std::nullopt;
  const auto middle = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2);
  std::ranges::nth_element(latencies, middle);
  if (static_cast<double>(*middle) >= n["most_latency_us"] * 1e3) return std::nullopt;
  Draft draft;
  const std::int64_t idle_ns = gpus.mean_idle_ns();
  draft.idle_ns = static_cast<std::int64_t>(n["factor"] * static_cast<double>(idle_ns));
  draft.where = {{.kind = "range", .name = "between kernels", .time_ns = idle_ns, .count = 1}};
  draft.verdict = draft.tell(
      "The GPU idles {} ({} of its span), and kernels start {} after their launch, in the middle: "
      "the host launches late.",
      timeline_proof(c, "idle_time", "time ms", in_ms(idle_ns), "ms"),
      timeline_proof(c, "idle_time", "percent", idle, "%"),
      derived("kernel_launchers", "GPU_kernel_launch_latency median",
              static_cast<double>(*middle) / 1e3, "us"));
  draft.formula = fmt::format("{:.0f}% of the idle time goes", 100 * n["factor"]);
  draft.tries = {"jit larger parts of the program; lax.scan for loops",
                 "donate buffers, and do not wait for results inside the loop",
                 "keep Python work and logging out of the loop"};
  draft.verify = timeline_verification(timeline_proof(c, "idle_time", "percent", idle, "%"),
                                       fmt::format("< {}", figure(n["least_idle_pct"], "%")));
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace jax_1

extern const Rule kJax1;
constinit const Rule kJax1 = {.id = "JAX-1",
                              .title = "Dispatch gaps",
                              .is_generic = true,
                              .numbers = jax_1::kNumbers,
                              .find = jax_1::find};

}  // namespace tracelens
