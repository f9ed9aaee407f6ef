// group_rows.hpp: rows with equal keys form a group; a key is a handful of interned integers.
//   RowGroups groups;
//   for (const Launcher& op : launchers) groups.add({op.name.row, op.category});
//   groups.close();
//   for (std::uint32_t row : groups.rows(0)) ...              // rows of the first group, ascending
// Groups are numbered in the order of their first rows.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tracelens {

template <class T>
concept KeyPart = std::integral<T> && sizeof(T) <= sizeof(std::uint32_t);

struct GroupKey {
  template <KeyPart... Parts>
  GroupKey(Parts... some) : parts{static_cast<std::uint32_t>(some)...} {}  // NOLINT(*-explicit-*)
  bool operator==(const GroupKey&) const = default;

  std::array<std::uint32_t, 8> parts;  // those that are not used stay 0
};

// Dense numbers for distinct keys: an open-addressing hash table, since one lookup per row is the
// cost that counts.
class KeyIndex {
 public:
  KeyIndex() : slots_(64, kFree) {}
  std::uint32_t id_of(const GroupKey& key) {
    std::size_t slot = hash(key) & (slots_.size() - 1);
    while (slots_[slot] != kFree) {
      if (keys_[slots_[slot]] == key) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const auto id = static_cast<std::uint32_t>(keys_.size());
    slots_[slot] = id;
    keys_.push_back(key);
    if (keys_.size() * 2 > slots_.size()) grow();
    return id;
  }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] const GroupKey& key(std::uint32_t id) const { return keys_[id]; }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;

  static std::size_t hash(const GroupKey& key) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < key.parts.size(); i += 2) {
      hash ^= std::uint64_t{key.parts[i]} << 32 | key.parts[i + 1];
      hash *= 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
  void grow() {
    slots_.assign(slots_.size() * 4, kFree);
    for (std::uint32_t id = 0; id < keys_.size(); ++id) {
      std::size_t slot = hash(keys_[id]) & (slots_.size() - 1);
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = id;
    }
  }

  std::vector<std::uint32_t> slots_;
  std::vector<GroupKey> keys_;
};

class RowGroups {
 public:
  // Rows are numbered by the calls: the first call adds row 0.
  std::uint32_t add(const GroupKey& key) {
    group_of_row_.push_back(index_.id_of(key));
    return group_of_row_.back();
  }
  void close() {
    starts_.assign(index_.size() + 1, 0);
    for (const std::uint32_t group : group_of_row_) ++starts_[group + 1];
    for (std::size_t group = 1; group < starts_.size(); ++group)
      starts_[group] += starts_[group - 1];
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    rows_.resize(group_of_row_.size());
    for (std::uint32_t row = 0; row < group_of_row_.size(); ++row)
      rows_[next[group_of_row_[row]]++] = row;
  }
  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> rows(std::size_t group) const {  // after close()
    return std::span{rows_}.subspan(starts_[group], starts_[group + 1] - starts_[group]);
  }

 private:
  KeyIndex index_;
  std::vector<std::uint32_t> group_of_row_, starts_, rows_;
};

// One record per distinct key, in the order in which the keys first appear.
//   Grouped<Totals> totals;
//   totals.at({name.row, category}, [&] { return Totals{...}; }).count += 1;
template <class Record>
class Grouped {
 public:
  // `make` is called for a new key only.
  template <class Make>
  Record& at(const GroupKey& key, Make&& make) {
    const std::uint32_t id = index_.id_of(key);
    if (id == records_.size()) records_.push_back(make());
    return records_[id];
  }
  std::vector<Record> take() && { return std::move(records_); }

 private:
  KeyIndex index_;
  std::vector<Record> records_;
};

}  // namespace tracelens
