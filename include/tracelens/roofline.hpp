// roofline.hpp: the best time a GPU could do some work in, what limits it, and where the ops of a
// trace stand against that.
//   if (const auto roof = roofline(*work, *find_gpu("H200"))) use(roof->best_us, roof->bound);
//
//   const Roofline points = measure_roofline(trace, *find_gpu("H200"));
//   write_text_file("roofline.svg", roofline_svg(points, {.trace_name = "rank0.json.gz"}));
// Implemented in src/perf, src/analysis/inspect and src/report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens {

// --- any work ---
enum class Bound : std::uint8_t { kCompute, kMemory };
[[nodiscard]] std::string_view bound_name(Bound bound);  // "COMPUTE_BOUND", "MEMORY_BOUND"

enum class Peaks : std::uint8_t { kDatasheet, kAchievable };

struct Roof {
  double best_us = 0;     // the longer of the two below
  double compute_us = 0;  // at the peak rate of the work's compute spec
  double memory_us = 0;   // at full memory bandwidth
  Bound bound = Bound::kCompute;
  // Share of the best time in the time it took; nothing when that is 0.
  [[nodiscard]] std::optional<double> percent_of(double busy_us) const;
};

// Nothing when the bytes, the bandwidth or the peak are unknown, or (reference edition) the work
// has no FLOPs; in the extended edition work without FLOPs is limited by memory alone.
[[nodiscard]] std::optional<Roof> roofline(const Work& work, const Gpu& gpu,
                                           Edition edition = Edition::kReference,
                                           Peaks peaks = Peaks::kDatasheet);

// --- the ops of a trace ---
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
  std::optional<Bound> bound = {};

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
  Gpu gpu;
  std::vector<RooflinePoint> points;     // the most GPU time first
  std::int64_t all_ops_ns = 0;           // GPU time of all ops, modelled or not
  [[nodiscard]] double covered() const;  // share of the points in it, in percent
  [[nodiscard]] double placed() const;   // share of the points that can be drawn
};

struct RooflineOptions {
  Edition edition = Edition::kExtended;
  const ModelSet* models = nullptr;  // one's own, asked first; not owned
  Peaks peaks = Peaks::kDatasheet;
};

// One point per op and distinct arguments, measured as in unified_perf_summary: the GPU time of the
// op with everything below it; of a JAX profile one per HLO op. Only ops whose arguments were
// recorded and whose model answered are points.
[[nodiscard]] Roofline measure_roofline(const Trace& trace, const Gpu& gpu,
                                        const RooflineOptions& options = {});

// In a sentence, why a trace gives no points.
[[nodiscard]] std::string why_no_points(const Trace& trace);

[[nodiscard]] Table roofline_table(const Roofline& roofline);

struct RooflinePicture {
  std::string trace_name;
  std::size_t labelled = 12;  // points with a number and a line in the list
};

// The roofline as a picture: one SVG file, no scripts, nothing loaded. Log-log: FLOPs per byte to
// the right, TFLOP/s up. The slope is the memory bandwidth, the level lines are the peak rates that
// the points run at. A circle is an op with its arguments: its area is GPU time, its colour the
// category; the costliest have numbers that a list beside the plot explains. Follows the reader's
// light or dark theme. Text from the trace is escaped. Points without FLOPs, bytes or time have no
// place on the axes and are counted below the plot instead.
[[nodiscard]] std::string roofline_svg(const Roofline& roofline, const RooflinePicture& picture);

}  // namespace tracelens
