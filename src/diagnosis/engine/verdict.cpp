#include "diagnosis/engine/verdict.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "diagnosis/kit/figures.hpp"

namespace tracelens {
namespace {

constexpr double kWorthwhile = 5;  // percent

// What a run is bound by, in words, by the classes of its critical path.
struct Side {
  std::string_view name, words;
};
constexpr Side kSides[] = {
    {"gpu_compute", "the GPU's computing"},
    {"gpu_communication", "communication"},
    {"gpu_memcpy", "copies"},
    {"data_loading", "data loading"},
    {"host", "the host"},
    {"waits", "waits and latencies"},
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
  const std::int64_t span = diagnosis.gpu_busy_ns + diagnosis.gpu_idle_ns;
  const std::string busy =
      fmt::format("the GPU is busy {:.1f}% of its span", percentage(diagnosis.gpu_busy_ns, span));
  const auto [side, share] = largest_side(diagnosis);
  const std::string bound =
      diagnosis.path.empty()
          ? busy
          : fmt::format("{} holds {:.0f}% of the critical path, {}", side, share, busy);
  if (diagnosis.findings.empty() || diagnosis.findings.front().saving_percent < kWorthwhile)
    return fmt::format("Nothing worth changing above {:.0f}%: {}.", kWorthwhile, bound);
  const Finding& first = diagnosis.findings.front();
  return fmt::format("{} costs {:.1f}% ({}); {}.", first.title, first.saving_percent, first.id,
                     bound);
}

}  // namespace tracelens
