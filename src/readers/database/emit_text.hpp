// emit_text.hpp: the text of a range that PyTorch's emit_nvtx puts around an op.
//   const EmittedOp op = emitted_op("aten::mm, seq = 3, op_id = 9, sizes = [[64, 512], [512, 2048]]");
//   op.name                                      // "aten::mm"; sequence 3, op_id 9
//   dims_of(op)                                  // ((64, 512), (512, 2048))
// On ROCm the same texts come as roctx ranges.
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>

namespace tracelens {

struct EmittedOp {
  std::string_view name;   // the whole text when it is that of no op
  std::string_view sizes;  // "[[64, 512], [512, 2048]]"; empty when the text has none
  std::int64_t sequence = kAbsent, op_id = kAbsent;
  bool is_op = false;
};

// Nothing is copied: the views are parts of the text.
[[nodiscard]] EmittedOp emitted_op(std::string_view text);

// A tuple of shapes; null when there are none. The tensors of a list stand together again where the op
// is known to begin with one.
[[nodiscard]] Value dims_of(const EmittedOp& op);

}  // namespace tracelens
