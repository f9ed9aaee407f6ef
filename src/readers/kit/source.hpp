// source.hpp: what every reader says at its end about where the bytes came from.
#pragma once

#include <string_view>
#include <tracelens/trace_builder.hpp>

#include "io/stream.hpp"

namespace tracelens {

// Fills in Source and warns of what the packing had to say: damage, or traces that were not read.
inline void describe_source(TraceBuilder& builder, const io::Stream& in, Recorder recorder,
                            std::string_view format) {
  Source& source = builder.source();
  if (!in.damage().empty()) {
    builder.warnings().add(in.damage(), source.text_bytes);
    source.cut_short = true;
  }
  if (!in.remark().empty()) builder.warnings().add(in.remark(), 0);
  source.name = in.name();
  source.recorder = recorder;
  source.format = format;
  source.packing = in.packing();
  source.packed_bytes = in.packed_bytes();
}

}  // namespace tracelens
