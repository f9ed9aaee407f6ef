#include "report/recipes/diagnosis_words.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string_view>

#include "diagnosis/kit/figures.hpp"

namespace tracelens {
namespace {

constexpr double kWorthTelling = 2;  // percent that the correction changes the window by

// " round_trip=True": the columns that say which row.
std::string row_of(const decltype(Evidence::key)& key) {
  std::string text;
  for (const auto& [column, value] : key) text += fmt::format(" {}={}", column, value);
  return text;
}

}  // namespace

std::optional<std::int64_t> per_step_ns(const Diagnosis& diagnosis, std::int64_t ns) {
  if (diagnosis.steps.empty()) return std::nullopt;
  return ns / std::ssize(diagnosis.steps);
}

std::string run_of(const Diagnosis& diagnosis) {
  std::string text = diagnosis.files.empty()
                         ? std::string{}
                         : std::filesystem::path{diagnosis.files.front()}.filename().string();
  if (diagnosis.files.size() > 1) text += fmt::format(" and {} more", diagnosis.files.size() - 1);
  text += fmt::format("   {}", counted(diagnosis.devices, "GPU"));
  if (!diagnosis.gpu.empty()) text += ": " + diagnosis.gpu;
  text += fmt::format("   window {}", ms_text(diagnosis.length_ns));
  const std::int64_t change = diagnosis.length_ns - diagnosis.corrected_ns;
  if (percentage(change < 0 ? -change : change, diagnosis.length_ns) > kWorthTelling)
    text +=
        fmt::format(" recorded, about {} without the profiler", ms_text(diagnosis.corrected_ns));
  if (!diagnosis.steps.empty())
    text += fmt::format(" ({})", counted(std::ssize(diagnosis.steps), "step"));
  return text;
}

std::string gpu_time_of(const Diagnosis& diagnosis) {
  const std::int64_t span = diagnosis.gpu_busy_ns + diagnosis.gpu_idle_ns;
  if (span == 0) return {};
  return fmt::format("GPU busy {} ({} of its span), idle {}", ms_text(diagnosis.gpu_busy_ns),
                     figure(percentage(diagnosis.gpu_busy_ns, span), "%"),
                     ms_text(diagnosis.gpu_idle_ns));
}

std::string path_of(const Diagnosis& diagnosis) {
  std::int64_t all = 0, told = 0;
  for (const auto& [name, ns] : diagnosis.path) all += ns;
  if (all == 0) return {};
  std::string text = "critical path:";
  for (const auto& [name, ns] : diagnosis.path) {
    if (percentage(ns, all) < 5) break;
    text += fmt::format("  {} {:.0f}%", name, percentage(ns, all));
    told += ns;
  }
  if (percentage(all - told, all) >= 0.5)
    text += fmt::format("  other {:.0f}%", percentage(all - told, all));
  return text;
}

std::string headline(const Diagnosis& diagnosis, const Finding& finding) {
  if (finding.saving_ns == 0 && !finding.locked_by.empty())
    return fmt::format("after {}   confidence {}", finding.locked_by,
                       confidence_name(finding.confidence));
  if (finding.alone.high_ns == 0 && finding.saving_ns == 0) return "for information";
  const auto per_step =
      finding.saving_ns == 0 ? std::nullopt : per_step_ns(diagnosis, finding.saving_ns);
  return fmt::format("saves {}{}  {:.1f}%   confidence {}", ms_text(finding.saving_ns),
                     per_step ? fmt::format(" ({} a step)", ms_text(*per_step)) : "",
                     finding.saving_percent, confidence_name(finding.confidence));
}

std::string place_of(const Evidence& evidence) {
  std::string text = evidence.table;
  if (text.empty()) return evidence.column;  // of the trace itself, or a limit of the rule
  if (evidence.is_derived) text = "derived from " + text + ":";
  return text + row_of(evidence.key) + " " + evidence.column;
}

std::string text_of(const FindingPlace& place) {
  std::string text = place.name;
  if (!place.shape.empty()) text += " " + place.shape;
  if (!place.module.empty()) text += " in " + place.module;
  if (!place.python.empty()) text += " at " + place.python;
  if (place.time_ns > 0) text += "   " + ms_text(place.time_ns);
  if (place.count > 0) text += (place.time_ns > 0 ? ", " : "   ") + counted(place.count, "time");
  return text;
}

std::string estimate_of(const Finding& finding) {
  return fmt::format("{}: alone {} (low {}, high {})", finding.formula,
                     ms_text(finding.alone.mid_ns), ms_text(finding.alone.low_ns),
                     ms_text(finding.alone.high_ns));
}

std::string check_of(const Finding& finding) {
  const Verification& verify = finding.verify;
  std::string what = verify.is_derived
                         ? fmt::format("{} (derived from {})", verify.column, verify.table)
                         : fmt::format("{}.{}", verify.table, verify.column);
  if (!verify.key.empty()) what += " of" + row_of(verify.key);
  return fmt::format("{} {} -> {}", what, figure(verify.now, ""), verify.expected);
}

std::string closing_of(const Diagnosis& diagnosis, std::size_t shown) {
  std::string text;
  const auto left_out =
      static_cast<std::int64_t>(diagnosis.findings.size() - shown + diagnosis.below_minimum);
  if (left_out > 0) text += fmt::format("Not shown: {}. ", counted(left_out, "smaller finding"));
  if (diagnosis.saving_all_ns > 0)
    text += fmt::format("All together {} ({:.1f}%): {} -> {}.", ms_text(diagnosis.saving_all_ns),
                        percentage(diagnosis.saving_all_ns, diagnosis.corrected_ns),
                        ms_text(diagnosis.corrected_ns),
                        ms_text(diagnosis.corrected_ns - diagnosis.saving_all_ns));
  const std::int64_t left_ns = diagnosis.corrected_ns - diagnosis.saving_all_ns;
  if (const auto now = per_step_ns(diagnosis, diagnosis.corrected_ns);
      now && diagnosis.saving_all_ns > 0)
    text +=
        fmt::format(" A step: {} -> {}.", ms_text(*now), ms_text(*per_step_ns(diagnosis, left_ns)));
  return text;
}

}  // namespace tracelens
