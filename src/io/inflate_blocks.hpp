// inflate_blocks.hpp: what a block of deflate data begins with.
//   Tables own;
//   Block block;
//   if (begin_block(bits, own, block) == Begun::kYes && block.tables != nullptr) decode(bits, *block.tables);
#pragma once

#include <cstdint>

#include "io/inflate_bits.hpp"
#include "io/inflate_codes.hpp"

namespace tracelens::io::inflating {

struct Block {
  bool is_last = false;
  const Tables* tables = nullptr;  // null: its bytes are not packed
  std::uint32_t stored_bytes = 0;
};

enum class Begun {
  kYes,
  kInput,   // the packed bytes end within it; how many bits were taken is not told
  kDamage,  // no block begins like this
};

// `own` is for the codes that a block brings along; it must live as long as the block is read.
[[nodiscard]] Begun begin_block(Bits& bits, Tables& own, Block& block);

}  // namespace tracelens::io::inflating
