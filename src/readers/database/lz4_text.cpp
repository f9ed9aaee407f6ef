// The frame format is small enough to be read here: a head, blocks that refer back to what is
// unpacked already, and sums that are not checked, since a wrong text is no JSON.
#include "readers/database/lz4_text.hpp"

#include <cstddef>
#include <cstdint>

namespace tracelens {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 20;

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_{bytes} {}
  [[nodiscard]] bool has(std::size_t count) const { return count <= bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::uint32_t number(std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint32_t{byte()} << (8 * i);
    return value;
  }
  std::string_view take(std::size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

 private:
  std::string_view bytes_;
};

// A length whose four bits are full goes on in bytes, the last of which is not 255.
bool add_length(Bytes& in, std::size_t& length) {
  if (length != 15) return true;
  for (std::uint8_t more = 255; more == 255;) {
    if (in.empty() || length > kLongestText) return false;
    more = in.byte();
    length += more;
  }
  return true;
}

bool unpack_block(Bytes in, std::string& out) {
  constexpr std::size_t kLeastMatch = 4;
  while (!in.empty()) {
    const std::uint8_t token = in.byte();
    std::size_t literals = token >> 4, match = token & 15;
    if (!add_length(in, literals) || !in.has(literals)) return false;
    out += in.take(literals);
    if (in.empty()) break;  // the last sequence has no match
    if (!in.has(2)) return false;
    const std::size_t back = in.number(2);
    if (!add_length(in, match)) return false;
    match += kLeastMatch;
    if (back == 0 || back > out.size() || out.size() + match > kLongestText) return false;
    for (std::size_t from = out.size() - back; match > 0; --match) out += out[from++];
  }
  return out.size() <= kLongestText;
}

bool unpack_frame(Bytes in, std::string& out) {
  constexpr std::uint32_t kMagic = 0x184D2204, kStoredAsIs = 0x80000000;
  if (!in.has(7) || in.number(4) != kMagic) return false;
  const std::uint8_t flags = in.byte();
  const bool has_sums = (flags & 0x10) != 0, has_size = (flags & 0x08) != 0,
             has_dictionary = (flags & 0x01) != 0;
  in.byte();  // how large blocks are at most
  if (flags >> 6 != 1 || has_dictionary || !in.has(has_size ? 9 : 1)) return false;
  in.take(has_size ? 9 : 1);
  while (in.has(4)) {
    const std::uint32_t head = in.number(4), size = head & ~kStoredAsIs;
    if (head == 0) return true;
    if (!in.has(size)) return false;
    const std::string_view block = in.take(size);
    if ((head & kStoredAsIs) != 0)
      out += block;
    else if (!unpack_block(Bytes{block}, out))
      return false;
    if (has_sums && !in.has(4)) return false;
    if (has_sums) in.take(4);
  }
  return false;
}

}  // namespace

std::optional<std::string> unpacked_text(std::string_view stored) {
  constexpr std::string_view kMark = "LZ4F";
  constexpr std::size_t kHead = 8;  // the mark and the length
  if (!stored.starts_with(kMark)) return std::string{stored};
  if (stored.size() < kHead) return std::nullopt;
  std::string text;
  if (!unpack_frame(Bytes{stored.substr(kHead)}, text)) return std::nullopt;
  return text;
}

}  // namespace tracelens
