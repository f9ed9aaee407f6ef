// values.hpp: a JSON text of any length, taken value by value.
//   ValueStream in{stream, 512 << 10};
//   in.take('[');
//   while (in.peek() == '{') { use(in.value());  in.take(','); }
// For documents whose long lists lie at known places: the reader walks down to them by keys and
// then takes one element at a time. Only the value at hand is in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/stream.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/chrome/stray_controls.hpp"

namespace tracelens {

class ValueStream {
 public:
  ValueStream(io::Stream& in, std::size_t block_bytes);

  // The next byte that is not white space; '\0' at the end of the text.
  char peek();
  // Goes past the next byte when it is `c`.
  bool take(char c);
  // The next value, whole and as written, followed by json::kPadding readable bytes; valid until
  // the next call. None when the text ends or is no value here, or when the value is longer than
  // kLongestValue.
  std::optional<std::string_view> value();
  // The same for a member's name: its text and the colon behind it.
  std::optional<std::string> key();
  // Goes past the next value without keeping it. False when the text ends before it does.
  bool skip();
  // Reads to the end, so that a damaged packing is noticed.
  void drain();

  [[nodiscard]] const StrayControls& controls() const { return controls_; }  // passed so far
  [[nodiscard]] std::uint64_t byte() const { return first_byte_ + at_; }  // where the next value is

  static constexpr std::size_t kLongestValue = std::size_t{64} << 20;

 private:
  bool more();
  // Of the text that was gone past since `from`.
  void count_controls(std::size_t from, StrayControls::Which which);

  io::Stream& in_;
  std::size_t block_bytes_;
  PaddedText text_;
  std::size_t at_ = 0;
  std::uint64_t first_byte_ = 0;  // of text_
  StrayControls controls_;
  bool ended_ = false;
};

// The members of the object `in` is at: on_member(key) takes or skips the value and tells whether
// to go on. False when it did not, or when the text ends inside the object.
template <class OnMember>
bool for_each_member(ValueStream& in, OnMember&& on_member) {
  if (!in.take('{')) return false;
  while (in.peek() == '"') {
    const std::optional<std::string> key = in.key();
    if (!key || !on_member(*key)) return false;
    if (!in.take(',')) break;
  }
  return in.take('}');
}

// The same for the elements of a list.
template <class OnElement>
bool for_each_element(ValueStream& in, OnElement&& on_element) {
  if (!in.take('[')) return false;
  while (in.peek() != ']') {
    if (!on_element()) return false;
    if (!in.take(',')) break;
  }
  return in.take(']');
}

}  // namespace tracelens
