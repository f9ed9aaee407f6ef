// padded_text.hpp: text that may be looked at 16 bytes at a time up to and past its end.
// Keeps json::kPadding zero bytes behind the text. Growing does not touch the new bytes.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "readers/chrome/json_scan.hpp"

namespace tracelens {

class PaddedText {
 public:
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void append(std::string_view text) {
    if (text.empty() && bytes_ != nullptr) return;
    reserve(size_ + text.size());
    if (!text.empty()) std::memcpy(bytes_.get() + size_, text.data(), text.size());
    resize(size_ + text.size());
  }
  // Room for `count` more bytes; resize() says how many of them were filled.
  std::span<char> room(std::size_t count) {
    reserve(size_ + count);
    return {bytes_.get() + size_, count};
  }
  void resize(std::size_t size) {  // at most what was reserved
    if (bytes_ == nullptr) reserve(size);
    size_ = size;
    std::memset(bytes_.get() + size_, 0, json::kPadding);
  }
  void erase_front(std::size_t count) {
    std::memmove(bytes_.get(), bytes_.get() + count, size_ - count);
    resize(size_ - count);
  }
  void clear() { resize(0); }

 private:
  void reserve(std::size_t size) {
    if (bytes_ != nullptr && size + json::kPadding <= capacity_) return;
    const std::size_t capacity = std::max(size, capacity_ * 2) + json::kPadding;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tracelens
