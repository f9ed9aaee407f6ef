#include "mcp/cursor.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <tracelens/version.hpp>

#include "io/text_hash.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6;) text += kDigits[bits >> (held -= 6) & 63];
  }
  if (held > 0) text += kDigits[bits << (6 - held) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((held += 6) >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255);
  }
  return bytes;
}

// What belongs to another version means something else.
std::string plain_cursor(const Cursor& cursor) {
  const std::string body = fmt::format("{}/{}/{:x}/{:x}/{}", kVersion, cursor.tool,
                                       cursor.arguments, cursor.stamp, cursor.offset);
  return fmt::format("{}/{:x}", body, io::text_hash(body));
}

template <class T>
bool read_number(std::string_view text, T& number, int base) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && stop == end && !text.empty();
}

}  // namespace

std::string cursor_text(const Cursor& cursor) { return base64url(plain_cursor(cursor)); }

std::optional<Cursor> parse_cursor(std::string_view text) {
  if (text.size() > 400) return std::nullopt;
  const auto plain = from_base64url(text);
  if (!plain) return std::nullopt;
  std::array<std::string_view, 6> parts;
  std::string_view rest = *plain;
  for (std::string_view& part : parts) {
    const std::size_t slash = rest.find('/');
    part = rest.substr(0, slash);
    rest = slash == rest.npos ? std::string_view{} : rest.substr(slash + 1);
  }
  Cursor cursor{.tool = std::string{parts[1]}};
  if (!read_number(parts[2], cursor.arguments, 16) || !read_number(parts[3], cursor.stamp, 16) ||
      !read_number(parts[4], cursor.offset, 10) || plain_cursor(cursor) != *plain)
    return std::nullopt;
  return cursor;
}

}  // namespace tracelens::mcp
