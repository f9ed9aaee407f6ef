// testing.hpp: what a page holds, read back: for tests.
//   const auto columns = testing::columns_of(bytes);     // of a PageBlob
//   EXPECT_EQ(columns.at("duration").numbers, ...);
#pragma once

#include <zlib.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::testing {

struct BlobColumn {
  int type = 0;
  std::vector<std::int64_t> numbers = {};
  std::vector<double> reals = {};
  std::vector<std::string> texts = {};
};

class BlobReader {
 public:
  explicit BlobReader(std::string_view bytes) : rest_{bytes} {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

inline BlobColumn decoded(std::string_view bytes, int type, bool is_delta, std::size_t count) {
  BlobReader in{bytes};
  BlobColumn column{.type = type};
  std::int64_t before = 0;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    if (type == 2) column.numbers.push_back(static_cast<unsigned char>(in.take(1)[0]));
    if (type == 3) {
      std::uint64_t bits = 0;
      const std::string_view eight = in.take(8);
      for (std::size_t b = 8; b-- > 0;) bits = bits << 8 | static_cast<unsigned char>(eight[b]);
      column.reals.push_back(std::bit_cast<double>(bits));
    }
    if (type == 4) lengths.push_back(in.number());
    if (type > 1) continue;
    const std::uint64_t raw = in.number();
    const auto value =
        type == 0 ? static_cast<std::int64_t>(raw)
                  : static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
    column.numbers.push_back(is_delta ? before += value : value);
  }
  for (const std::size_t length : lengths) column.texts.emplace_back(in.take(length));
  return column;
}

inline std::map<std::string, BlobColumn> columns_of(std::string_view bytes) {
  struct Entry {
    std::string name;
    int type;
    bool is_delta;
    std::size_t count, bytes;
  };
  BlobReader in{bytes};
  std::vector<Entry> directory(in.number());
  for (Entry& entry : directory) {
    entry.name = in.take(in.number());
    entry.type = in.take(1)[0];
    entry.is_delta = in.take(1)[0] != 0;
    entry.count = in.number();
    entry.bytes = in.number();
  }
  std::map<std::string, BlobColumn> columns;
  for (const Entry& entry : directory)
    columns[entry.name] = decoded(in.take(entry.bytes), entry.type, entry.is_delta, entry.count);
  return columns;
}

inline std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

inline std::string unpacked(const std::string& packed, std::size_t size) {
  std::string bytes(size, '\0');
  uLongf length = size;
  if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length,
                 reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK)
    return {};
  bytes.resize(length);
  return bytes;
}

}  // namespace tracelens::testing
