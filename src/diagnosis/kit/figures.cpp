#include "diagnosis/kit/figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tracelens/diagnose.hpp>

namespace tracelens {
namespace {

std::string number(double value) {
  const double size = std::fabs(value);
  if (size < 1e9 && value == std::floor(value) && (size < 10 || size >= 1000))
    return fmt::format("{:.0f}", value);
  if (size >= 1e6) return fmt::format("{:.3g}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace

std::string figure(double value, std::string_view unit) {
  const bool is_count = unit.empty() && value == std::floor(value) && std::fabs(value) < 1e15;
  std::string text = is_count ? fmt::format("{:.0f}", value) : number(value);
  if (unit.empty()) return text;
  return unit == "%" ? text + "%" : fmt::format("{} {}", text, unit);
}

std::string ms_text(std::int64_t ns) { return figure(in_ms(ns), "ms"); }

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "minor", "major", "critical"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string_view confidence_name(Confidence confidence) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

}  // namespace tracelens
