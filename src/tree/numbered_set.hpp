// numbered_set.hpp: some of many rows, numbered from 0 in their order, in two bits for each of the many.
//   NumberedSet set{tree.size()};
//   set.add(17);
//   set.number();                                 // once, when all are in
//   if (set.contains(row)) launchers[set.number_of(row)].count++;
// Where few of the rows have something, a list of what they have and this take far less room than a
// column of all rows, and fit a cache that the column does not fit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracelens {

class NumberedSet {
 public:
  NumberedSet() = default;  // of no rows
  explicit NumberedSet(std::size_t rows) : blocks_((rows + kRows - 1) / kRows) {}

  void add(std::uint32_t row) { blocks_[row / kRows].bits |= bit_of(row); }
  void number() {
    size_ = 0;
    for (Block& block : blocks_) {
      block.before = size_;
      size_ += static_cast<std::uint32_t>(std::popcount(block.bits));
    }
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }  // once they are numbered
  [[nodiscard]] bool contains(std::uint32_t row) const {
    return (blocks_[row / kRows].bits & bit_of(row)) != 0;
  }
  // How many of the set are less: the number of a row of the set.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t row) const {
    const Block& block = blocks_[row / kRows];
    return block.before + static_cast<std::uint32_t>(std::popcount(block.bits & (bit_of(row) - 1)));
  }
  // Calls use(row) for each, in their order.
  template <class Use>
  void for_each(const Use& use) const {
    for (std::uint32_t i = 0; i < blocks_.size(); ++i)
      for (std::uint64_t left = blocks_[i].bits; left != 0; left &= left - 1)
        use(i * kRows + static_cast<std::uint32_t>(std::countr_zero(left)));
  }

 private:
  static constexpr std::uint32_t kRows = 64;  // of a block
  struct Block {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;  // how many are in the blocks before
  };
  static constexpr std::uint64_t bit_of(std::uint32_t row) {
    return std::uint64_t{1} << (row % kRows);
  }

  std::vector<Block> blocks_;
  std::uint32_t size_ = 0;
};

}  // namespace tracelens
