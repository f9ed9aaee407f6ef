// blob.hpp: columns of numbers and texts as they stand in a page; docs/page-format.md has the format.
//   PageBlob blob;
//   blob.add_numbers("duration", {3, 5, 8});
//   file.write(base64(zlib_packed(blob.bytes())));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracelens {

class PageBlob {
 public:
  enum class Sign : bool { kUnsigned, kSigned };
  enum class Delta : bool { kWhole, kDifferences };

  // Unsigned values must not be negative.
  void add_numbers(std::string_view name, std::span<const std::int64_t> values,
                   Sign sign = Sign::kUnsigned, Delta delta = Delta::kWhole);
  void add_bytes(std::string_view name, std::span<const std::uint8_t> values);
  void add_reals(std::string_view name, std::span<const double> values);
  void add_texts(std::string_view name, std::span<const std::string> values);

  [[nodiscard]] std::string bytes() const;  // the directory and the columns

 private:
  enum class Type : std::uint8_t { kUnsigned, kSigned, kByte, kReal, kText };
  void add(std::string_view name, Type type, bool is_delta, std::size_t count,
           std::string_view bytes);

  std::size_t columns_ = 0;
  std::string directory_, cells_;
};

// Every text of a page once: the others hold its number. Number 0 is the empty one.
class PageTexts {
 public:
  std::int64_t add(std::string_view text);  // repaired to valid UTF-8; very long ones are shortened
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }
  [[nodiscard]] std::size_t shortened() const { return shortened_; }

 private:
  std::vector<std::string> texts_{std::string{}};
  std::unordered_map<std::string, std::int64_t> numbers_{{std::string{}, 0}};
  std::size_t shortened_ = 0;
};

[[nodiscard]] std::string zlib_packed(const std::string& bytes);
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace tracelens
