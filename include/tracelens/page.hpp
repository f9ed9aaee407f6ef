// page.hpp: what the HTML page of a run shows beside its tables: lanes of the timeline, the tree of
// modules and ops, histograms, the roofline. Attached to a report that will be written as a page.
//   ReportOptions options{.page = PageOptions{}};
//   write_report(make_report(trace, options), "report.html");
// Times are ns from the first event. Made in src/analysis/page, written in src/report/page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/finding.hpp>
#include <tracelens/intervals.hpp>
#include <vector>

namespace tracelens {

struct PageOptions {
  std::size_t gpu_slices = 150'000, host_slices = 120'000;  // that a page may hold
  std::optional<Interval> window = {};  // lanes of this part only; ns from the first event
};

// A place in Page::names; the first one is empty.
using PageName = std::uint32_t;

// One kind of work: its colour is the same in every picture.
struct PageClass {
  std::string name = {};    // "GEMM", "communication", "launch"
  std::string colour = {};  // "#2f7ed8"
  bool is_hatched = false;
};

// An interval on a lane.
struct PageSlice {
  std::int64_t start_ns = 0, duration_ns = 0;
  PageName name = 0;
  std::uint8_t kind = 0;         // in Page::classes
  std::uint8_t row = 0;          // overlapping slices stand in rows below each other
  std::uint32_t op = 0;          // 1 + its place in Page::ops; 0: none
  std::uint32_t module = 0;      // 1 + its place in Page::nodes; 0: none
  std::int64_t latency_ns = -1;  // from its launching call to its start; -1: not known
  std::int64_t event = -1;       // its number, as `tracelens tree FILE --path N` takes it; -1: none
};

// Short slices that follow each other, merged: no gap of `gap_ns` or more lies in it.
struct PageRun {
  std::int64_t start_ns = 0, end_ns = 0, busy_ns = 0, count = 0, longest_ns = 0;
  PageName name = 0;      // with most of its time
  std::uint8_t kind = 0;  // likewise
  std::uint8_t row = 0;
};

enum class PageLaneKind : std::uint8_t { kSteps, kGpu, kModules, kOps, kCalls };

struct PageLane {
  PageLaneKind kind = PageLaneKind::kGpu;
  std::string id = {};     // "gpu:0:7": in links
  std::string title = {};  // "GPU 0 stream 7"
  std::int64_t group = 0;  // of a comparison the run, of a job the rank; else 0
  std::uint8_t rows = 1;
  std::int64_t events = 0, busy_ns = 0, longest_gap_ns = 0;
  std::int64_t merged_below_ns = 0, gap_ns = 0;  // 0: every slice is there
  std::vector<PageSlice> slices = {};            // by row, then by start
  std::vector<PageRun> runs = {};                // likewise
};

// An op with its arguments, as the slices name it.
struct PageOp {
  PageName name = 0, shapes = 0, types = 0;
};

enum class PageLevel : std::uint8_t { kModule, kAnnotation, kOp, kKernel };

// What has the same path in every step is one node. Parents come before their children.
struct PageNode {
  std::uint32_t parent = 0;  // 1 + its place; 0: a root
  PageName name = 0;
  PageLevel level = PageLevel::kModule;
  std::uint8_t kind = 0;  // in Page::classes, by most of its time
  std::int64_t gpu_ns = 0, backward_ns = 0, calls = 0, gpu_events = 0;
  std::uint32_t op = 0;  // 1 + its place in Page::ops; 0: none
};

// How busy a GPU, a rank or a run is over the time, for the overview: percent per bucket.
struct PageStrip {
  std::string label = {};
  std::vector<std::uint8_t> computing = {}, communicating = {}, copying = {};
};

struct PageBin {
  std::int64_t from_ns = 0, to_ns = 0, count = 0, total_ns = 0;
};
struct PageHistogram {
  std::string name = {};  // "kernel duration", "launch latency"
  std::vector<PageBin> bins = {};
};

// The axes and roofs of the roofline; its points are a table of the report.
struct PageRoof {
  std::string label = {};  // "bf16 989 TFLOP/s"
  double tflops = 0;
  bool is_achievable = false;
};
struct PageRoofline {
  std::string gpu = {};
  double terabytes = 0;  // memory, per second
  double least_intensity = 0, most_intensity = 0, least_tflops = 0, most_tflops = 0;
  double placed_percent = 0;  // of the GPU time of all ops
  std::vector<PageRoof> roofs = {};
};

// What is not there, and how to get it.
struct PageGap {
  std::string view = {};  // "memory"
  std::string why = {};
};

struct Page {
  std::int64_t origin_ns = 0;  // the time of the first event
  std::int64_t span_ns = 0;
  std::vector<std::string> groups = {};  // names of the runs or ranks of the lanes; empty: one run
  std::vector<std::string> names = {};
  std::vector<PageClass> classes = {};
  std::vector<PageLane> lanes = {};
  std::vector<PageOp> ops = {};
  std::vector<PageNode> nodes = {};
  std::vector<PageStrip> strips = {};
  std::vector<PageHistogram> histograms = {};
  std::optional<PageRoofline> roofline = {};
  std::vector<PageGap> gaps = {};
  std::vector<Finding> findings = {};  // what slows the run down, the costliest first
  std::size_t finding_steps = 0;       // that they are about; 0: none are known
};

}  // namespace tracelens
