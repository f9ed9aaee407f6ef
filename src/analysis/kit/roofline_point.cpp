#include <tracelens/roofline.hpp>

#include "analysis/kit/cells.hpp"

namespace tracelens {

std::optional<double> RooflinePoint::intensity() const {
  if (!bytes || *bytes <= 0) return std::nullopt;
  return flops / *bytes;
}

std::optional<double> RooflinePoint::tflops() const {
  if (busy_ns <= 0) return std::nullopt;
  return flops / 1e3 / static_cast<double>(busy_ns);
}

std::optional<double> RooflinePoint::terabytes() const {
  if (busy_ns <= 0 || !bytes) return std::nullopt;
  return *bytes / 1e3 / static_cast<double>(busy_ns);
}

std::optional<double> RooflinePoint::percent_of_roof() const {
  if (busy_ns <= 0 || !best_us) return std::nullopt;
  return *best_us / us(busy_ns) * 100;
}

double Roofline::covered() const {
  double share = 0;
  for (const RooflinePoint& point : points) share += point.share;
  return share;
}

double Roofline::placed() const {
  double share = 0;
  for (const RooflinePoint& point : points)
    if (point.has_place()) share += point.share;
  return share;
}

}  // namespace tracelens
