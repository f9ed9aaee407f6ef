#include "analysis/ranks/byte_stream.hpp"

#include <limits>
#include <tracelens/collectives.hpp>

namespace tracelens {
namespace {

[[noreturn]] void refuse(const char* what) { throw PeerError{"rank summaries", what}; }
constexpr const char* kCut =
    "the bytes of another process are cut; expected processes of one version";
constexpr const char* kDamaged =
    "the bytes of another process are damaged; expected processes of one version";

}  // namespace

std::uint64_t ByteReader::count() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(*plain(1));
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  refuse(kDamaged);
}

std::uint32_t ByteReader::small_count() {
  const std::uint64_t value = count();
  if (value > std::numeric_limits<std::uint32_t>::max()) refuse(kDamaged);
  return static_cast<std::uint32_t>(value);
}

std::size_t ByteReader::length(std::size_t least) {
  const std::uint64_t items = count();
  if (items > rest_.size() / least) refuse(kDamaged);
  return items;
}

std::string_view ByteReader::text() {
  const std::size_t size = length();
  return {plain(size), size};
}

const char* ByteReader::plain(std::size_t size) {
  if (size > rest_.size()) refuse(kCut);
  const char* const at = rest_.data();
  rest_.remove_prefix(size);
  return at;
}

void ByteReader::end() const {
  if (!rest_.empty()) refuse(kDamaged);
}

}  // namespace tracelens
