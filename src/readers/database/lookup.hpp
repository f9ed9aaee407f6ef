// lookup.hpp: what the rows of a table are to the rows of others: found by their number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/string_table.hpp"

namespace tracelens {

// Values by id. Ids count up, from 1 or from anywhere, and often in several runs: they stand in short
// arrays that are found by the upper part of the id. Ids far apart cost an array each.
template <class T>
class ById {
 public:
  void set(std::int64_t id, T value) {
    const std::int64_t key = id >> kBits;
    if (chunks_.empty() || key != last_key_) {
      const auto [entry, is_new] =
          index_.try_emplace(key, static_cast<std::uint32_t>(chunks_.size()));
      if (is_new) chunks_.push_back(std::make_unique<Chunk>());
      last_key_ = key;
      last_ = chunks_[entry->second].get();
    }
    const auto place = static_cast<std::size_t>(id & kMask);
    last_->values[place] = std::move(value);
    last_->is_there |= std::uint64_t{1} << place;
  }
  [[nodiscard]] const T* find(std::int64_t id) const {
    const auto found = index_.find(id >> kBits);
    if (found == index_.end()) return nullptr;
    const Chunk& chunk = *chunks_[found->second];
    const auto place = static_cast<std::size_t>(id & kMask);
    return (chunk.is_there >> place & 1) != 0 ? &chunk.values[place] : nullptr;
  }
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t room() const { return chunks_.size() << kBits; }  // for how many values

 private:
  static constexpr int kBits = 6;
  static constexpr std::int64_t kMask = (1 << kBits) - 1;
  struct Chunk {
    std::uint64_t is_there = 0;
    std::array<T, std::size_t{1} << kBits> values{};
  };
  std::unordered_map<std::int64_t, std::uint32_t> index_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::int64_t last_key_ = 0;
  Chunk* last_ = nullptr;
};

// Texts that are made of a few numbers, each made once.
//   details.of(std::array{grid_x, block_x}, [&] { return builder.intern(...); })
class TextsByNumbers {
 public:
  // All keys have the same size.
  template <class Make>
  StringId of(std::span<const std::int64_t> key, const Make& make) {
    const std::uint32_t id = index_.find_or_add(
        hash_text({reinterpret_cast<const char*>(key.data()), key.size_bytes()}),
        [&](std::uint32_t known) {
          return std::equal(key.begin(), key.end(),
                            keys_.begin() + static_cast<std::ptrdiff_t>(known * key.size()));
        },
        [&] {
          keys_.insert(keys_.end(), key.begin(), key.end());
          texts_.push_back(make());
          return static_cast<std::uint32_t>(texts_.size() - 1);
        });
    return texts_[id];
  }

 private:
  IdIndex index_;
  std::vector<std::int64_t> keys_;
  std::vector<StringId> texts_;
};

}  // namespace tracelens
