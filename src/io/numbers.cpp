#include "io/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tracelens::io {
namespace {

// A decimal number taken apart: sign, the digits around the point, and a power of ten.
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;
  std::int64_t exponent = 0;

  [[nodiscard]] std::int64_t digits() const { return std::ssize(whole) + std::ssize(fraction); }
  [[nodiscard]] unsigned digit(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return static_cast<unsigned>(at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0';
  }
};

// The digits at the start of `text`, which are cut off from it.
std::string_view take_digits(std::string_view& text) {
  const auto* const stop = std::find_if_not(text.begin(), text.end(), detail::is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(stop - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// Cuts `c` off when `text` starts with it.
bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_sign(std::string_view& text) {  // true for a minus
  return take(text, '-') || (take(text, '+') && false);
}

std::optional<std::int64_t> take_exponent(std::string_view& text) {
  const bool negative = take_sign(text);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  constexpr std::int64_t kHuge = 1'000'000'000'000'000;  // no text has that many digits
  std::int64_t value = 0;
  for (const char c : digits) value = std::min(kHuge, value * 10 + (c - '0'));
  return negative ? -value : value;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal number;
  number.negative = take_sign(text);
  number.whole = take_digits(text);
  if (take(text, '.')) number.fraction = take_digits(text);
  if (number.digits() == 0) return std::nullopt;
  if (take(text, 'e') || take(text, 'E')) {
    const auto exponent = take_exponent(text);
    if (!exponent) return std::nullopt;
    number.exponent = *exponent;
  }
  if (!text.empty()) return std::nullopt;
  return number;
}

// value = value * 10 + digit; false when that does not fit.
bool append_digit(std::uint64_t& value, unsigned digit) {
  return !__builtin_mul_overflow(value, 10u, &value) &&
         !__builtin_add_overflow(value, digit, &value);
}

// Is what stands after the first `kept` digits more than half of the last kept one, or half of it
// with that one odd?
bool rounds_up(const Decimal& number, std::int64_t kept, std::uint64_t value) {
  if (kept < 0 || kept >= number.digits()) return false;
  if (number.digit(kept) != 5) return number.digit(kept) > 5;
  for (std::int64_t i = kept + 1; i < number.digits(); ++i)
    if (number.digit(i) != 0) return true;
  return value % 2 == 1;
}

}  // namespace

std::optional<std::int64_t> parse_us_as_ns(std::string_view text) {
  const auto number = parse_decimal(text);
  if (!number) return std::nullopt;

  // How many of the digits stand before the point once the unit is nanoseconds.
  const std::int64_t kept = std::ssize(number->whole) + number->exponent + 3;
  std::uint64_t value = 0;
  for (std::int64_t i = 0; i < std::min(kept, number->digits()); ++i)
    if (!append_digit(value, number->digit(i))) return std::nullopt;
  for (std::int64_t i = number->digits(); i < kept && value != 0; ++i)
    if (!append_digit(value, 0)) return std::nullopt;
  if (rounds_up(*number, kept, value) && __builtin_add_overflow(value, 1u, &value))
    return std::nullopt;

  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > kMax + (number->negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(number->negative ? 0 - value : value);
}

std::optional<std::int64_t> parse_int64(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || stop != text.data() + text.size()) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  const bool is_negative = text.starts_with('-');
  const std::size_t exponent = text.find_first_of("eE");
  // Without an exponent it is as large or small as it is long.
  const bool is_small = exponent == text.npos
                            ? text.substr(0, text.find('.')).find_first_of("123456789") == text.npos
                            : text.substr(exponent + 1).starts_with('-');
  value = is_small ? 0 : std::numeric_limits<double>::infinity();
  return is_negative ? -value : value;
}

std::string shortest_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string printed{text, end.ptr};
  if (plain && printed.find('.') == std::string::npos) printed += ".0";
  return printed;
}

}  // namespace tracelens::io
