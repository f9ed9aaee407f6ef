// pseudo_op_frames.hpp: the Python functions that tell of pseudo-ops, for those who leave out frames.
//   if (tells_of_pseudo_op("aiter/mla.py(12): mla_decode_fwd")) keep(frame);
#pragma once

#include <string_view>

namespace tracelens {

// Whether a rule for pseudo-ops may look at a frame of this name; none looks at others.
[[nodiscard]] inline bool tells_of_pseudo_op(std::string_view frame) {
  for (const std::string_view function : {"flydsl_moe_stage", "mla_decode_fwd",
                                          "mla_fp8_prefill_attn", "sparse_attn_v4_paged_decode"})
    if (frame.find(function) != frame.npos) return true;
  return false;
}

}  // namespace tracelens
