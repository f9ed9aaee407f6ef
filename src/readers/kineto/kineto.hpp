// kineto.hpp: PyTorch profiler traces (Kineto), and Chrome trace JSON in general.
//   if (is_kineto(in.peek(4096))) return read_kineto(in, options);
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "io/stream.hpp"

namespace tracelens {

// True for anything that begins like a JSON object or list.
[[nodiscard]] bool is_kineto(std::string_view head);

// Throws Error when the text is no trace; see read_trace() for what is forgiven.
[[nodiscard]] Trace read_kineto(io::Stream& in, const ReadOptions& options);
struct TextLimits;  // text_limits.hpp
[[nodiscard]] Trace read_kineto_within(io::Stream& in, const ReadOptions& options,
                                       const TextLimits& limits);

// Where the events of a trace stand in the unpacked text of its file.
struct EventPlaces {
  std::vector<std::uint64_t> begins;  // by event row
  std::vector<std::uint32_t> sizes;   // 0: an element that could not be read
  std::uint64_t list_begin = 0;       // behind the '[' of the event list
  std::uint64_t list_end = 0;         // where the ']' of the event list is; 0: nowhere
};
struct TextIndex {
  Trace trace;
  EventPlaces places;
  bool is_frame_strict = false;  // what stands around the event list is JSON for everybody
};

// The same for those who copy events as text. The trace has the times, threads, names and links of
// the events, and not what else stands in their arguments; those of ops are read when asked for.
[[nodiscard]] TextIndex index_kineto(io::Stream& in, const ReadOptions& options,
                                     bool op_arguments = false);

// Where to cut `text` so that, very likely, a whole event ends there: after a '}' that is followed
// by a comma and the start of another object. text.size() when there is no such place near the end.
// Only a guess: the place may lie inside a string or a nested list. The merge notices and repairs.
[[nodiscard]] std::size_t guess_cut(std::string_view text);

}  // namespace tracelens
