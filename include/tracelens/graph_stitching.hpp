// graph_stitching.hpp: the kernels of a replayed graph under the ops recorded at its capture. In
// src/serving.
//   const StitchedTrace stitched = stitch_graphs(read_trace("serve.json.gz"), "capture_traces/");
//   make_report(stitched.trace, {.stitching = &stitched.stitching});
// A replay shows one call (cudaGraphLaunch, hipGraphLaunch) and its kernels; the trace of the
// capture shows the ops, but no kernels. A copy of the captured ops is put below each launch and
// each kernel below the captured call that recorded it: the result is a Trace like any other, in
// which the copies follow the recorded events. A launch whose kernels do not fit any capture stays
// as it is, and its entry says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// How the kernels of a launch were told to be those of a capture.
enum class Alignment : std::uint8_t {
  kNone,        // they were not
  kByPosition,  // one by one: as many, of the same names
  kInOrder,     // the same names in the same order; the capture has calls that ran nothing
  kByName,      // as many of each name, in another order
  kByStream,    // several streams: in order on each of them
  kPartly,      // most in order; the others stay with the launch
  kByOrder,     // as many, but the capture does not tell the names of kernels
};
[[nodiscard]] std::string_view alignment_text(Alignment alignment);

// A graph launch of the replay and what became of it.
struct StitchedLaunch {
  EventId launch;
  EventId step = {};               // the annotation around it; invalid: none
  std::string capture = {};        // file name; empty: none was found
  std::uint32_t capture_root = 0;  // which of its captures, from 0
  Alignment alignment = Alignment::kNone;
  std::uint32_t kernels = 0, matched = 0;   // GPU events of any kind
  std::uint32_t dropped = 0;                // captured calls that ran nothing here
  std::int64_t gpu_ns = 0, matched_ns = 0;  // sums of durations
  std::string reason = {};                  // why not, or what is not sure; empty: all is well
};

struct GraphStitching {
  std::string folder;                    // of the captures; empty: none was given
  std::vector<StitchedLaunch> launches;  // by time
  std::vector<std::string> notes;        // sentences about the folder and its files
  // The reference merges all or nothing: false when it would report on the unmerged trace.
  bool merged = false;
};

struct StitchOptions {
  Edition edition = Edition::kExtended;
  int threads = 0;  // for reading; 0: one per core
  // With the Python frames of the capture, nn.Modules among them; most of what is copied. The
  // reference always takes them.
  bool python_frames = true;
};

struct StitchedTrace {
  Trace trace;
  GraphStitching stitching;
};

// Reads what it needs of the folder: traces of captures, one file each, and execution_details.json
// where there is one. `captures` may also be a single file, such as the replay's own. Throws Error
// when there is no such folder; nothing else in it ends the run.
[[nodiscard]] StitchedTrace stitch_graphs(Trace replay, const std::string& captures,
                                          const StitchOptions& options = {});

// The launches of a trace without captures: all of them unmatched.
[[nodiscard]] GraphStitching unstitched_graphs(const Trace& trace);

// What a reader must know before believing the numbers: how much GPU time lies in launches without
// ops, why, and what is not sure. In src/analysis/gpu.
[[nodiscard]] std::vector<std::string> stitching_warnings(const Trace& trace,
                                                          const GraphStitching& stitching);

}  // namespace tracelens
