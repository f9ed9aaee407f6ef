#include "readers/database/nvtx_payload.hpp"

#include <algorithm>

namespace tracelens {
namespace {

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// Bytes of a type of NVTX; 0 for those that are not read: enums, texts, reals.
std::size_t size_of(std::int64_t type) {
  switch (type) {
    case 5:
    case 6:
    case 15:
    case 16:
      return 4;
    case 17:
    case 18:
    case 22:
      return 8;
    default:
      return 0;
  }
}

bool is_signed(std::int64_t type) { return type == 5 || type == 15; }

std::string from_hex(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string bytes;
  if (text.size() % 2 != 0) return bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

std::optional<std::int64_t> NvtxPayload::number(std::string_view name) const {
  for (const auto& [known, value] : numbers)
    if (known == name) return value;
  return std::nullopt;
}

NvtxPayload NvtxSchemas::read(std::string_view blob) const {
  // Four numbers, the second of them the schema, the third the size of what follows.
  constexpr std::size_t kHead = 32;
  NvtxPayload payload;
  const std::string unpacked = from_hex(blob);
  const std::string_view bytes = unpacked.empty() ? blob : std::string_view{unpacked};
  if (bytes.size() < kHead) return payload;
  const auto schema = entries_.find(static_cast<std::int64_t>(little_endian(bytes, 8, 8)));
  if (little_endian(bytes, 0, 8) > 1 || schema == entries_.end()) return payload;
  payload.is_known = true;
  const std::uint64_t size =
      std::min<std::uint64_t>(little_endian(bytes, 16, 8), bytes.size() - kHead);
  for (const Entry& entry : schema->second) {
    const std::size_t width = size_of(entry.type);
    if (width == 0 || width > size || entry.offset > size - width) continue;
    const std::uint64_t value = little_endian(bytes, kHead + entry.offset, width);
    payload.numbers.emplace_back(entry.name, is_signed(entry.type)
                                                 ? std::int64_t{static_cast<std::int32_t>(value)}
                                                 : static_cast<std::int64_t>(value));
  }
  return payload;
}

}  // namespace tracelens
