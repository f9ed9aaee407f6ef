// roofline_point.hpp: an op, or an HLO op, against what the GPU could do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/value.hpp>
#include <vector>

#include "perf/core/gpu.hpp"
#include "perf/core/roofline.hpp"

namespace tracelens {

// All calls with the same arguments together.
struct RooflinePoint {
  std::string op = {}, category = {}, compute_spec = {};
  Value dims = {}, types = {};
  std::int64_t calls = 0, busy_ns = 0;
  double share = 0;                  // of the GPU time of all ops, in percent
  double flops = 0;                  // of all calls
  std::optional<double> bytes = {};  // of all calls; none: an element size is unknown
  // The best the GPU could do in this place. None: its figures, or the bytes, are not known.
  std::optional<double> best_us = {}, attainable_tflops = {};
  std::optional<perf::Bound> bound = {};

  [[nodiscard]] std::optional<double> intensity() const;  // FLOPs per byte
  [[nodiscard]] std::optional<double> tflops() const;     // none when the GPU time is 0
  [[nodiscard]] std::optional<double> terabytes() const;  // per second
  [[nodiscard]] std::optional<double> percent_of_roof() const;
  // Whether it can be drawn: FLOPs, bytes and time are known and not 0.
  [[nodiscard]] bool has_place() const {
    return intensity().value_or(0) > 0 && tflops().value_or(0) > 0;
  }
};

struct Roofline {
  perf::Gpu gpu;
  std::vector<RooflinePoint> points;     // the most GPU time first
  std::int64_t all_ops_ns = 0;           // GPU time of all ops, modelled or not
  [[nodiscard]] double covered() const;  // share of the points in it, in percent
  [[nodiscard]] double placed() const;   // share of the points that can be drawn
};

}  // namespace tracelens
