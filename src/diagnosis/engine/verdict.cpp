#include "diagnosis/engine/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "diagnosis/kit/figures.hpp"

namespace tracelens {
namespace {

constexpr double kWorthwhile = 5;  // percent
constexpr double kBusy = 70;       // percent of the window: a GPU that works more is at its limit

// What a run is bound by, in words, by the classes of its critical path.
struct Side {
  std::string_view name, words;
};
constexpr Side kSides[] = {
    {"gpu_compute", "the GPU's computing holds"},
    {"gpu_communication", "communication holds"},
    {"gpu_memcpy", "copies hold"},
    {"data_loading", "data loading holds"},
    {"host", "the host holds"},
    {"waits", "waits and latencies hold"},
};

std::size_t side_of(std::string_view bound_by) {
  for (std::size_t i = 0; i < 4; ++i)
    if (kSides[i].name == bound_by) return i;
  return bound_by.starts_with("host_") || bound_by == "thread_handoff" ? 4 : 5;
}

// The largest side of the path and its share.
std::pair<std::string_view, double> largest_side(const Diagnosis& diagnosis) {
  std::array<std::int64_t, std::size(kSides)> times{};
  std::int64_t all = 0;
  for (const auto& [name, ns] : diagnosis.path) times[side_of(name)] += ns, all += ns;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
  return {kSides[most].words, percentage(times[most], all)};
}

}  // namespace

std::string verdict_on(const DiagnosisContext& context, const Diagnosis& diagnosis) {
  if (context.gpu_events().empty()) return "The trace has no GPU work: nothing to diagnose.";
  // Between its first and its last kernel the GPU may be busy all the time, and that be a small part
  // of a step. What was launched in the window may end behind it.
  const std::int64_t window = std::max(context.length_ns(), diagnosis.gpu_busy_ns);
  const double busy_share = percentage(diagnosis.gpu_busy_ns, window);
  // A GPU that communicates and does nothing else mostly waits for others.
  const double computing = busy_share - percentage(context.communication().exposed_ns, window);
  // Without steps the window is the trace, of which the host may have more than the GPU's part.
  const std::string busy =
      diagnosis.steps.empty()
          ? fmt::format(
                "the GPU is busy {:.1f}% of its span",
                percentage(diagnosis.gpu_busy_ns, diagnosis.gpu_busy_ns + diagnosis.gpu_idle_ns))
          : fmt::format("the GPU is busy {:.1f}% of the window", busy_share);
  const auto [side, share] = largest_side(diagnosis);
  const std::string bound =
      diagnosis.path.empty()
          ? busy
          : fmt::format("{} {:.0f}% of the critical path, {}", side, share, busy);
  if (diagnosis.findings.empty() || diagnosis.findings.front().saving_percent < kWorthwhile)
    return fmt::format("{} above {:.0f}%: {}.",
                       computing >= kBusy ? "Nothing worth changing" : "No rule names a cause",
                       kWorthwhile, bound);
  const Finding& first = diagnosis.findings.front();
  const auto largest = std::ranges::max_element(diagnosis.findings, {}, &Finding::saving_percent);
  std::string text =
      fmt::format("{} ({}): {:.1f}% of the time", first.title, first.id, first.saving_percent);
  if (largest->saving_percent > 2 * first.saving_percent)
    text += fmt::format("; then {} ({}): {:.1f}%", largest->title, largest->id,
                        largest->saving_percent);
  return fmt::format("{}; {}.", text, bound);
}

}  // namespace tracelens
