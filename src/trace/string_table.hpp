// string_table.hpp: every distinct text once, as a dense id.
//   StringTable strings;
//   const StringId mm = strings.intern("aten::mm");   // the same id for the same text
// Ids are handed out in order of first appearance. The table owns its text in blocks that never
// move, so a view stays valid as long as the table (or whoever took the blocks) lives.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

[[nodiscard]] inline std::uint64_t hash_text(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}
// Folds the hash of one more part into `hash`: hashes both, not small numbers, of which few values would be left.
// (XXH3 with a seed is far slower on long texts.)
[[nodiscard]] inline std::uint64_t mix_hash(std::uint64_t hash, std::uint64_t part) {
  return (hash ^ part) * 0x9E3779B97F4A7C15U + std::rotl(part, 29);
}

// Text in blocks that never move.
class TextArena {
 public:
  TextArena() = default;
  explicit TextArena(std::vector<std::unique_ptr<char[]>> blocks) : blocks_{std::move(blocks)} {}
  std::string_view copy(std::string_view text);
  [[nodiscard]] std::vector<std::unique_ptr<char[]>> take() && { return std::move(blocks_); }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

// Open addressing over 32-bit ids; the caller compares the candidates. Shared by the tables of
// strings, signatures and tracks, which differ only in what an id stands for.
class IdIndex {
 public:
  // The id whose entry `same(id)` accepts, or the fresh id that `add()` returns.
  template <class Same, class Add>
  std::uint32_t find_or_add(std::uint64_t hash, Same&& same, Add&& add) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.id == kFree) {
        slot = {tag, static_cast<std::uint32_t>(hash), add()};
        ++count_;
        return slot.id;
      }
      if (slot.tag == tag && same(slot.id)) return slot.id;
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  struct Slot {
    std::uint32_t tag = 0, low = 0, id = kFree;
  };
  void grow();

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

class StringTable {
 public:
  struct Texts {
    std::vector<std::string_view> views;
    std::vector<std::unique_ptr<char[]>> blocks;
  };
  StringTable() = default;
  explicit StringTable(Texts texts);  // what take() gave, to go on with

  StringId intern(std::string_view text) {
    return {index_.find_or_add(
        hash_text(text), [&](std::uint32_t id) { return texts_[id] == text; },
        [&] {
          texts_.push_back(arena_.copy(text));
          return static_cast<std::uint32_t>(texts_.size() - 1);
        })};
  }
  [[nodiscard]] std::string_view text(StringId id) const { return texts_[id.row]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

  // Hands over the texts (by id) and the blocks they lie in.
  [[nodiscard]] Texts take() && { return {std::move(texts_), std::move(arena_).take()}; }

 private:
  IdIndex index_;
  std::vector<std::string_view> texts_;
  TextArena arena_;
};

}  // namespace tracelens
