// The table of edit distances is never made. Walking back only asks whether a distance is one more
// than the one above it, and those bits come 64 at a time from Myers' algorithm (A fast bit-vector
// algorithm for approximate string matching, 1999; in blocks as by Hyyrö, 2003).
#include "analysis/diff/align.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tracelens {
namespace {

constexpr std::size_t kWord = 64;
constexpr std::size_t kMaxBits = std::size_t{1} << 31;  // of remembered deltas: 256 MB
constexpr std::size_t kBlock = 16'384;                  // of a list that is too long

// Where each name stands in the first list, as bits. A name that is there often has its own bit
// vector; of the others, of which there may be many, the places are listed.
class Occurrences {
 public:
  Occurrences(std::span<const std::uint32_t> names, std::size_t words) : scratch_(words) {
    for (std::size_t i = 0; i < names.size(); ++i)
      places_[names[i]].push_back(static_cast<std::uint32_t>(i));
    for (const auto& [name, places] : places_) {
      if (places.size() <= words) continue;
      std::vector<std::uint64_t>& bits = often_[name];
      bits.resize(words);
      for (const std::uint32_t place : places) bits[place / kWord] |= bit(place);
    }
  }

  // Valid until the next call.
  const std::vector<std::uint64_t>& of(std::uint32_t name) {
    if (const auto own = often_.find(name); own != often_.end()) return own->second;
    for (const std::uint32_t place : set_) scratch_[place / kWord] = 0;
    set_.clear();
    if (const auto found = places_.find(name); found != places_.end()) set_ = found->second;
    for (const std::uint32_t place : set_) scratch_[place / kWord] |= bit(place);
    return scratch_;
  }

 private:
  static std::uint64_t bit(std::uint32_t place) { return std::uint64_t{1} << (place % kWord); }

  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> places_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> often_;  // at most 64 names
  std::vector<std::uint64_t> scratch_;
  std::vector<std::uint32_t> set_;
};

// For each prefix of the second list: at which places of the first the distance grows by one.
class VerticalSteps {
 public:
  VerticalSteps(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second)
      : words_{(first.size() + kWord - 1) / kWord} {
    std::vector<std::uint64_t> up(words_, ~std::uint64_t{0}), down(words_, 0);
    rises_.reserve(words_ * second.size());
    Occurrences occurrences{first, words_};
    for (const std::uint32_t name : second) {
      next_column(occurrences.of(name), up, down);
      rises_.insert(rises_.end(), up.begin(), up.end());
    }
  }

  // Whether D[i][j] = D[i-1][j] + 1, for i, j from 1.
  [[nodiscard]] bool rises(std::size_t i, std::size_t j) const {
    return (rises_[(j - 1) * words_ + (i - 1) / kWord] >> ((i - 1) % kWord) & 1) != 0;
  }

 private:
  static void next_column(const std::vector<std::uint64_t>& equal, std::vector<std::uint64_t>& up,
                          std::vector<std::uint64_t>& down) {
    int carry = 1;  // the first row of the table grows by one per column
    for (std::size_t w = 0; w < up.size(); ++w) {
      std::uint64_t matches = equal[w];
      const std::uint64_t across = matches | down[w];
      if (carry < 0) matches |= 1;
      const std::uint64_t along = (((matches & up[w]) + up[w]) ^ up[w]) | matches;
      std::uint64_t grows = down[w] | ~(along | up[w]), shrinks = up[w] & along;
      const int carry_in = carry;
      carry = static_cast<int>(grows >> 63) - static_cast<int>(shrinks >> 63);
      grows = grows << 1 | (carry_in > 0 ? 1 : 0);
      shrinks = shrinks << 1 | (carry_in < 0 ? 1 : 0);
      up[w] = shrinks | ~(across | grows);
      down[w] = grows & across;
    }
  }

  std::size_t words_;
  std::vector<std::uint64_t> rises_;
};

// Appends the steps from the end backwards; `base` is added to the places.
void walk_back(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
               std::size_t base_first, std::size_t base_second, std::vector<EditStep>& steps) {
  const auto place = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
  std::size_t i = first.size(), j = second.size();
  for (; i > 0 && j > 0 && first[i - 1] == second[j - 1]; --i, --j)
    steps.push_back({place(base_first + i - 1), place(base_second + j - 1)});
  const VerticalSteps table{first.first(i), i > 0 ? second.first(j) : second.first(0)};
  while (i > 0 || j > 0) {
    if (i > 0 && j > 0 && first[i - 1] == second[j - 1]) {
      --i, --j;
      steps.push_back({place(base_first + i), place(base_second + j)});
    } else if (i > 0 && (j == 0 || table.rises(i, j))) {
      --i;
      steps.push_back({place(base_first + i), EditStep::kNowhere});
    } else {
      --j;
      steps.push_back({EditStep::kNowhere, place(base_second + j)});
    }
  }
}

std::size_t common_end(std::span<const std::uint32_t> first,
                       std::span<const std::uint32_t> second) {
  const auto ends = std::mismatch(first.rbegin(), first.rend(), second.rbegin(), second.rend());
  return static_cast<std::size_t>(ends.first - first.rbegin());
}

}  // namespace

std::vector<EditStep> edit_script(std::span<const std::uint32_t> first,
                                  std::span<const std::uint32_t> second) {
  std::vector<EditStep> steps;
  steps.reserve(first.size() + second.size());
  const std::size_t common = common_end(first, second);
  const std::size_t m = first.size() - common, n = second.size() - common;
  if (m == 0 || n <= kMaxBits / m) {
    walk_back(first, second, 0, 0, steps);
  } else {
    // Block by block from the end, each with the part of the other list at the same height.
    const std::size_t blocks = (std::max(first.size(), second.size()) + kBlock - 1) / kBlock;
    for (std::size_t block = blocks; block-- > 0;) {
      const auto part = [&](std::span<const std::uint32_t> list) {
        const std::size_t from = list.size() * block / blocks;
        return std::pair{from, list.subspan(from, list.size() * (block + 1) / blocks - from)};
      };
      const auto [from_first, part_first] = part(first);
      const auto [from_second, part_second] = part(second);
      walk_back(part_first, part_second, from_first, from_second, steps);
    }
  }
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace tracelens
