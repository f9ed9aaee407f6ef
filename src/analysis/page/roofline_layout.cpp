#include "analysis/page/roofline_layout.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <utility>

namespace tracelens {
namespace {

constexpr double kMostDecades = 7;

// The specs that points run at, by their rates.
std::vector<RooflineLevel> levels_of(const std::map<std::string, double>& rates,
                                     const std::vector<const RooflinePoint*>& points) {
  std::map<double, std::string, std::greater<>> by_rate;
  for (const auto& [spec, tflops] : rates) {
    const auto runs_at = [&wanted = spec](const RooflinePoint* point) {
      return point->compute_spec == wanted;
    };
    if (std::ranges::none_of(points, runs_at)) continue;
    std::string words = spec;
    std::ranges::replace(words, '_', ' ');
    std::string& specs = by_rate[tflops];
    specs.append(specs.empty() ? "" : ", ").append(words);
  }
  std::vector<RooflineLevel> levels;
  for (auto& [tflops, specs] : by_rate) levels.push_back({tflops, std::move(specs)});
  return levels;
}

double terabytes_of(const Roofline& roofline) { return roofline.gpu.memory_gbps.value_or(0) / 1e3; }

void choose_axes(const Roofline& roofline, RooflineLayout& layout) {
  double left = 1, right = 10, low = 1, high = 10;
  bool any = false;
  const auto include = [&](double intensity, double tflops) {
    left = any ? std::min(left, intensity) : intensity;
    right = any ? std::max(right, intensity) : intensity;
    low = any ? std::min(low, tflops) : tflops;
    high = any ? std::max(high, tflops) : tflops;
    any = true;
  };
  for (const RooflinePoint* const point : layout.shown)
    include(*point->intensity(), *point->tflops());
  const double terabytes = terabytes_of(roofline);
  for (const RooflineLevel& level : layout.levels)
    if (terabytes > 0) include(level.tflops / terabytes, level.tflops);
  const auto cover = [](DecadeRange& axis, double from, double to) {
    axis.last = exponent_of(to);
    axis.first = std::clamp(exponent_of(from), axis.last - kMostDecades, axis.last - 1);
  };
  // The upper ends have air for the names of the roofs.
  cover(layout.intensity, left / 2, right * 4);
  cover(layout.tflops, low / 2, high * 3);
}

}  // namespace

std::string rate_text(double tflops) {
  if (tflops >= 1000) return fmt::format("{:.2f} PFLOP/s", tflops / 1000);
  return fmt::format("{:.4g} TFLOP/s", tflops);
}

RooflineLayout roofline_layout(const Roofline& roofline, std::size_t labelled) {
  RooflineLayout layout;
  for (const RooflinePoint& point : roofline.points) {
    if (!point.has_place()) {
      layout.unplaced_share += point.share;
      ++layout.unplaced;
    } else if (point.share < kSmallestShare && layout.shown.size() >= labelled) {
      ++layout.tiny;
    } else {
      layout.shown.push_back(&point);
    }
  }
  layout.levels = levels_of(roofline.gpu.peak_tflops, layout.shown);
  choose_axes(roofline, layout);
  return layout;
}

PageRoofline page_roofline(const Roofline& roofline) {
  const RooflineLayout layout = roofline_layout(roofline);
  PageRoofline page{.gpu = roofline.gpu.name,
                    .terabytes = terabytes_of(roofline),
                    .least_intensity = std::pow(10, layout.intensity.first),
                    .most_intensity = std::pow(10, layout.intensity.last),
                    .least_tflops = std::pow(10, layout.tflops.first),
                    .most_tflops = std::pow(10, layout.tflops.last),
                    .placed_percent = roofline.placed(),
                    .roofs = {}};
  const auto add = [&page](const std::vector<RooflineLevel>& levels, bool is_achievable) {
    for (const RooflineLevel& level : levels)
      page.roofs.push_back({fmt::format("{} {}", level.specs, rate_text(level.tflops)),
                            level.tflops, is_achievable});
  };
  add(layout.levels, false);
  add(levels_of(roofline.gpu.achievable_tflops, layout.shown), true);
  return page;
}

}  // namespace tracelens
