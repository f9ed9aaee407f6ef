// input_buffer.hpp: the packed bytes in front of an unpacker, a block at a time.
//   while (!input.at_least(1).empty()) input.consume(unpack(input.unread()));
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "io/byte_source.hpp"

namespace tracelens::io {

// Of a source that has come this far, what was used of the bytes that were read.
inline double part_of(double progress, std::uint64_t used, std::uint64_t read) {
  return read == 0 ? 0 : progress * static_cast<double>(used) / static_cast<double>(read);
}

class InputBuffer {
 public:
  explicit InputBuffer(std::unique_ptr<ByteSource> source) : source_{std::move(source)} {}

  [[nodiscard]] std::span<char> unread() const { return {block_.get() + begin_, end_ - begin_}; }

  // Unread bytes: `count` of them or more, or all there are when the source ends before that.
  // `count` is at most kBlockBytes. Invalidates earlier spans.
  std::span<char> at_least(std::size_t count) {
    if (end_ - begin_ < count) refill();
    return unread();
  }

  void consume(std::size_t count) { begin_ += count; }

  // How many packed bytes have been consumed so far.
  [[nodiscard]] std::uint64_t position() const { return block_offset_ + begin_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }
  // 0..1 of the source, as far as it has been consumed.
  [[nodiscard]] double progress() const {
    return part_of(source_->progress(), position(), block_offset_ + end_);
  }

  // Reads from now on what `wrap` makes of the source, which it moves from, and the place where that goes on.
  template <class Wrap>
  void read_through(const Wrap& wrap) {
    source_ = wrap(source_, block_offset_ + end_);
  }

  static constexpr std::size_t kBlockBytes = 256 << 10;

 private:
  void refill() {
    std::memmove(block_.get(), block_.get() + begin_, end_ - begin_);
    block_offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
    end_ += source_->read({block_.get() + end_, kBlockBytes - end_});
  }

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> block_{new char[kBlockBytes]};
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t block_offset_ = 0;  // packed bytes before block_
};

// What every unpacker has in common: progress and size are those of the packed bytes, and damage
// below is told before damage here.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> packed, std::string label)
      : input_{std::move(packed)}, label_{std::move(label)} {}

  [[nodiscard]] std::uint64_t packed_bytes() const override {
    return input_.source().packed_bytes();
  }
  [[nodiscard]] double progress() const override { return input_.progress(); }
  [[nodiscard]] const std::string& damage() const override {
    const std::string& below = input_.source().damage();
    return below.empty() ? damage_ : below;
  }

 protected:
  // Each ends the stream after what has been produced; `at` is a count of packed bytes.
  void end_cut(std::uint64_t at) {
    end_damaged(label_ + " data ends early at packed byte " + std::to_string(at));
  }
  void end_damaged_near(std::uint64_t at) {
    end_damaged(label_ + " data is damaged near packed byte " + std::to_string(at));
  }
  // After the last packed part: zeros and line ends are padding (tar and tape tools write them);
  // anything else may have been a part whose first bytes are damaged.
  void end_with_padding() {
    ended_ = true;
    const auto is_padding = [](char c) { return c == '\0' || c == '\n' || c == '\r'; };
    for (auto next = input_.at_least(1); !next.empty(); next = input_.at_least(1)) {
      const auto other = std::ranges::find_if_not(next, is_padding);
      input_.consume(static_cast<std::size_t>(other - next.begin()));
      if (other == next.end()) continue;
      return end_damaged(label_ + " data is followed by something else at packed byte " +
                         std::to_string(input_.position()));
    }
  }
  void end_damaged(std::string text) {
    damage_ = std::move(text);
    ended_ = true;
  }

  InputBuffer input_;
  std::string label_, damage_;
  bool ended_ = false;
};

}  // namespace tracelens::io
