// emit_text.hpp: the text of a range that PyTorch's emit_nvtx puts around an op.
//   emit_op("aten::mm, seq = 3, op_id = 9, sizes = [[64, 512], [512, 2048]]")
//     -> {.name = "aten::mm", .sequence = 3, .op_id = 9, .dims = ((64, 512), (512, 2048)), .is_op = true}
// On ROCm the same texts come as roctx ranges.
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>

namespace tracelens {

struct EmittedOp {
  std::string_view name;  // the whole text when it is that of no op
  std::int64_t sequence = kAbsent, op_id = kAbsent;
  // A tuple of shapes; null when the text has none. The tensors of a list stand together again where
  // the op is known to begin with one.
  Value dims;
  bool is_op = false;
};

[[nodiscard]] EmittedOp emitted_op(std::string_view text);

}  // namespace tracelens
