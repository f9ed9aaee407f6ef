#include "report/page/blob.hpp"

#include <zlib.h>

#include <bit>
#include <new>
#include <utility>

#include "io/check.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestText = 16'384;  // bytes; a name of a megabyte is no name

void append_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  out += static_cast<char>(value);
}

// Small numbers of either sign become small numbers.
std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

void PageBlob::add(std::string_view name, Type type, bool is_delta, std::size_t count,
                   std::string_view bytes) {
  ++columns_;
  append_number(directory_, name.size());
  directory_ += name;
  directory_ += static_cast<char>(type);
  directory_ += static_cast<char>(is_delta);
  append_number(directory_, count);
  append_number(directory_, bytes.size());
  cells_ += bytes;
}

void PageBlob::add_numbers(std::string_view name, std::span<const std::int64_t> values, Sign sign,
                           Delta delta) {
  std::string bytes;
  bytes.reserve(values.size() * 2);
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    const std::int64_t shown = delta == Delta::kDifferences ? value - before : value;
    TL_CHECK(sign == Sign::kSigned || shown >= 0);
    append_number(bytes, sign == Sign::kSigned ? zigzag(shown) : static_cast<std::uint64_t>(shown));
    before = value;
  }
  add(name, sign == Sign::kSigned ? Type::kSigned : Type::kUnsigned, delta == Delta::kDifferences,
      values.size(), bytes);
}

void PageBlob::add_bytes(std::string_view name, std::span<const std::uint8_t> values) {
  add(name, Type::kByte, false, values.size(),
      {reinterpret_cast<const char*>(values.data()), values.size()});
}

void PageBlob::add_reals(std::string_view name, std::span<const double> values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(double));
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(bits >> shift);
  }
  add(name, Type::kReal, false, values.size(), bytes);
}

void PageBlob::add_texts(std::string_view name, std::span<const std::string> values) {
  std::string bytes;
  for (const std::string& value : values) append_number(bytes, value.size());
  for (const std::string& value : values) bytes += value;
  add(name, Type::kText, false, values.size(), bytes);
}

std::string PageBlob::bytes() const {
  std::string all;
  append_number(all, columns_);
  return all.append(directory_).append(cells_);
}

std::int64_t PageTexts::add(std::string_view text) {
  std::string repaired{ValidUtf8{text}.view()};
  if (repaired.size() > kLongestText) {
    ++shortened_;
    repaired = shorten_middle(repaired, kLongestText / 4);
  }
  const auto [found, is_new] =
      numbers_.try_emplace(repaired, static_cast<std::int64_t>(texts_.size()));
  if (is_new) texts_.push_back(std::move(repaired));
  return found->second;
}

std::string zlib_packed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc{};  // the only way in which it can fail
  packed.resize(size);
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t digit = 0; digit < 4; ++digit)
      out += at + digit <= bytes.size() ? kDigits[three >> (18 - 6 * digit) & 63] : '=';
  }
  return out;
}

}  // namespace tracelens
