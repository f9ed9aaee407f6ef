// lookup.hpp: what the rows of a table are to the rows of others: found by their number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/string_table.hpp"

namespace tracelens {

// Values by id. Ids usually count up from 1, and then stand in an array; others go into a hash table.
template <class T>
class ById {
 public:
  void set(std::int64_t id, T value) {
    // Ids that are far apart must not cost an array of what is between them.
    if (id >= 0 && static_cast<std::uint64_t>(id) < dense_.size() + kGap &&
        static_cast<std::uint64_t>(id) < 8 * dense_count_ + kGap) {
      ++dense_count_;
      if (static_cast<std::size_t>(id) >= dense_.size()) {
        dense_.resize(static_cast<std::size_t>(id) + 1);
        is_there_.resize(dense_.size());
      }
      dense_[static_cast<std::size_t>(id)] = std::move(value);
      is_there_[static_cast<std::size_t>(id)] = true;
    } else {
      sparse_[id] = std::move(value);
    }
  }
  [[nodiscard]] const T* find(std::int64_t id) const {
    if (id >= 0 && static_cast<std::uint64_t>(id) < dense_.size() &&
        is_there_[static_cast<std::size_t>(id)])
      return &dense_[static_cast<std::size_t>(id)];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool empty() const { return dense_.empty() && sparse_.empty(); }
  [[nodiscard]] std::size_t dense_size() const { return dense_.size(); }

 private:
  static constexpr std::uint64_t kGap = 1024;
  std::uint64_t dense_count_ = 0;
  std::vector<T> dense_;
  std::vector<bool> is_there_;
  std::unordered_map<std::int64_t, T> sparse_;
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
