// byte_stream.hpp: numbers and texts as bytes and back, for processes of one program at one time.
//   ByteWriter out;   out.number(-3);   out.text("allreduce");   send(out.take());
//   ByteReader in{bytes};   in.number();   in.text();   in.end();
// A number takes as few bytes as it needs: whoever writes times writes differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tracelens {

class ByteWriter {
 public:
  void number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    count((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));  // small negative ones are small too
  }
  void count(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void text(std::string_view text) {
    count(text.size());
    bytes_.append(text);
  }
  void plain(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Every call throws PeerError when the bytes end too soon or cannot be what was written.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_{bytes} {}
  [[nodiscard]] std::int64_t number() {
    const std::uint64_t bits = count();
    return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  }
  [[nodiscard]] std::uint64_t count();
  [[nodiscard]] std::uint32_t small_count();  // below 2^32
  // A number of items of at least `least` bytes each: never more than there are bytes for.
  [[nodiscard]] std::size_t length(std::size_t least = 1);
  [[nodiscard]] std::string_view text();  // of the bytes given
  [[nodiscard]] const char* plain(std::size_t size);
  [[nodiscard]] bool is_done() const { return rest_.empty(); }
  void end() const;  // nothing may be left

 private:
  std::string_view rest_;
};

}  // namespace tracelens
