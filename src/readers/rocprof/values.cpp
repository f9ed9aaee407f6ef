#include "readers/rocprof/values.hpp"

#include <algorithm>

#include "readers/chrome/json_scan.hpp"
#include "trace/json_value.hpp"

namespace tracelens {

ValueStream::ValueStream(io::Stream& in, std::size_t block_bytes)
    : in_{in}, block_bytes_{std::max<std::size_t>(block_bytes, 16)} {
  text_.resize(0);
}

bool ValueStream::more() {
  if (ended_) return false;
  text_.erase_front(at_);
  first_byte_ += at_;
  at_ = 0;
  // At least as much again as there is, so that a long value costs linear time.
  const std::size_t want = std::max(block_bytes_, text_.size());
  const std::size_t got = in_.read(text_.room(want));
  text_.resize(text_.size() + got);
  ended_ = got < want;
  return got > 0;
}

char ValueStream::peek() {
  for (;;) {
    const std::string_view text = text_.view();
    const std::size_t from = at_;
    while (at_ < text.size() && static_cast<unsigned char>(text[at_]) <= ' ') ++at_;
    if (from < at_) count_controls(from, StrayControls::kNoWhiteSpace);
    if (at_ < text.size()) return text[at_];
    if (!more()) return '\0';
  }
}

bool ValueStream::take(char c) {
  if (peek() != c || c == '\0') return false;
  ++at_;
  return true;
}

std::optional<std::string_view> ValueStream::value() {
  const char first = peek();
  if (first == '\0') return std::nullopt;
  const bool is_scalar = first != '"' && first != '{' && first != '[';
  for (;;) {
    const char* const begin = text_.view().data() + at_;
    const char* const end = text_.view().data() + text_.size();
    const char* after = json::skip_value<true>(begin, end);
    const bool is_strict = after != nullptr;
    if (!is_strict) after = json::skip_value(begin, end);
    if (after != nullptr && !(is_scalar && after == end && !ended_)) {
      const std::size_t from = at_;
      at_ += static_cast<std::size_t>(after - begin);
      if (!is_strict) count_controls(from, StrayControls::kInStringsToo);
      return std::string_view{begin, static_cast<std::size_t>(after - begin)};
    }
    if (is_scalar && after == nullptr) return std::nullopt;  // a bracket or comma out of place
    if (static_cast<std::size_t>(end - begin) > kLongestValue) return std::nullopt;
    if (!more() && !(is_scalar && ended_)) return std::nullopt;
  }
}

std::optional<std::string> ValueStream::key() {
  const auto quoted = value();
  if (!quoted || quoted->size() < 2 || quoted->front() != '"') return std::nullopt;
  std::string name = unescape_json(quoted->substr(1, quoted->size() - 2));
  if (!take(':')) return std::nullopt;
  return name;
}

bool ValueStream::skip() {
  if (const char first = peek(); first != '{' && first != '[') return value().has_value();
  std::uint64_t depth = 0;
  bool in_text = false, escaped = false, is_whole = false;
  do {
    const std::size_t from = at_;
    for (const std::string_view text = text_.view(); at_ < text.size() && !is_whole;) {
      const char c = text[at_++];
      if (in_text) {
        in_text = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_text = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        is_whole = --depth == 0;
      }
    }
    count_controls(from, StrayControls::kNoWhiteSpace);
  } while (!is_whole && more());
  return is_whole;
}

void ValueStream::drain() {
  do {
    const std::size_t from = at_;
    at_ = text_.size();
    count_controls(from, StrayControls::kNoWhiteSpace);
  } while (more());
}

void ValueStream::count_controls(std::size_t from, StrayControls::Which which) {
  const std::string_view text = text_.view().substr(from, at_ - from);
  if (which == StrayControls::kInStringsToo ||
      json::has_stray_controls(text.data(), text.data() + text.size()))
    controls_.count(text, first_byte_ + from, which);
}

}  // namespace tracelens
