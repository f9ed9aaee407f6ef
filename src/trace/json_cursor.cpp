#include "trace/json_cursor.hpp"

#include <algorithm>
#include <charconv>

#include "trace/json_value.hpp"

namespace tracelens {

std::size_t JsonCursor::place() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  return at_;
}

char JsonCursor::next() { return place() == text_.size() ? '\0' : text_[at_]; }

void JsonCursor::expect(char token) {
  if (next() != token) throw Failure{at_, std::string{"expected "} + token};
  ++at_;
}

void JsonCursor::enter(char opener) {
  expect(opener);
  is_first_ = true;
}

bool JsonCursor::more(char closer) {
  const bool first = is_first_;
  is_first_ = false;
  if (next() == closer) {
    ++at_;
    return false;
  }
  if (!first) expect(',');
  return true;
}

JsonCursor::Text JsonCursor::text() {
  if (next() != '"') throw Failure{at_, "expected text in quotes"};
  const std::size_t start = at_ + 1;
  std::size_t stop = start;
  while (stop < text_.size() && text_[stop] != '"') stop += text_[stop] == '\\' ? 2 : 1;
  if (stop >= text_.size()) throw Failure{at_, "the quote does not end"};
  at_ = stop + 1;
  return {unescape_json(text_.substr(start, stop - start)), start};
}

JsonCursor::Text JsonCursor::number() {
  const std::size_t start = place();
  const std::size_t stop = std::min(text_.find_first_of(" \t\r\n,]}", start), text_.size());
  const std::string_view word = text_.substr(start, stop - start);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    throw Failure{start, "expected a number"};
  at_ = stop;
  return {std::string{word}, start};
}

void JsonCursor::end() {
  if (next() != '\0' || at_ < text_.size()) throw Failure{at_, "expected the end of the file"};
}

}  // namespace tracelens
