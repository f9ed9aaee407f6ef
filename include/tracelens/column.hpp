// column.hpp: the values of one column, one behind the other, like a vector of plain values. In src/trace.
//   Column<std::int64_t> ts_ns;
//   ts_ns.push_back(7);
//   std::int64_t* const room = ts_ns.add_unwritten(1000);   // the next thousand, for others to write
//   std::span<const std::int64_t> all = ts_ns;
// Three things a vector cannot do: add values without writing them, so that the threads that have them
// write them, each its own; grow without being copied, since the system moves the pages of large columns; and
// leave no hole in the heap when it does, since a large column has pages of its own.
// Growing moves the values: pointers into a column last until then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tracelens {

// Room for `bytes`, with what was in the `old_bytes` at `old`, which it takes the place of; of 0 bytes there is
// none, nullptr. Throws std::bad_alloc.
[[nodiscard]] void* resize_column_memory(void* old, std::size_t old_bytes, std::size_t bytes);
void free_column_memory(void* memory, std::size_t bytes);
// Whether memory that shrinks so stays where it is, or there is little to copy.
[[nodiscard]] bool shrinks_cheaply(std::size_t old_bytes, std::size_t bytes);

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Column() = default;
  Column(const Column& other) {
    if (!other.empty())
      std::uninitialized_copy(other.begin(), other.end(), add_unwritten(other.size()));
  }
  Column(Column&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)},
        size_{std::exchange(other.size_, 0)},
        capacity_{std::exchange(other.capacity_, 0)} {}
  Column& operator=(Column other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { free_column_memory(data_, capacity_ * sizeof(T)); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data()[size_++] = value;
  }
  // Whoever adds them sees to it that they are written before they are read.
  T* add_unwritten(std::size_t count) {
    if (capacity_ - size_ < count) grow(size_ + count);
    return data() + std::exchange(size_, size_ + count);
  }
  void assign(std::size_t count, T value) {
    size_ = 0;
    std::uninitialized_fill_n(add_unwritten(count), count, value);
  }
  // Memory is only touched when used.
  void reserve(std::size_t count) {
    if (count > capacity_) set_capacity(count);
  }
  void shrink_to_fit() {
    if (size_ < capacity_) set_capacity(size_);
  }
  // The same, but not where much would be copied for it.
  void trim() {
    if (shrinks_cheaply(capacity_ * sizeof(T), size_ * sizeof(T))) shrink_to_fit();
  }

 private:
  void grow(std::size_t least) { set_capacity(std::max({least, 2 * capacity_, std::size_t{16}})); }
  void set_capacity(std::size_t capacity) {
    data_ =
        static_cast<T*>(resize_column_memory(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;  // owned
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tracelens
