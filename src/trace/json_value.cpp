#include "trace/json_value.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <vector>

#include "io/code_points.hpp"
#include "io/numbers.hpp"
#include "trace/equal_keys.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (error != std::errc{} || end != text.data() + at + 4) return std::nullopt;
  return code;
}

bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

// Resolves the escape whose backslash is at `at`; returns the position after it.
std::size_t append_escape(std::string& out, std::string_view raw, std::size_t at) {
  if (at + 1 >= raw.size()) return raw.size();
  const char kind = raw[at + 1];
  constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  if (const auto i = kFrom.find(kind); i != std::string_view::npos) {
    out.push_back(kTo[i]);
    return at + 2;
  }
  const auto code = kind == 'u' ? hex4(raw, at + 2) : std::nullopt;
  if (!code) {  // an unknown escape stands for itself
    out.push_back(kind);
    return at + 2;
  }
  if (is_high_surrogate(*code) && raw.substr(at + 6, 2) == "\\u")
    if (const auto low = hex4(raw, at + 8); low && is_low_surrogate(*low)) {
      io::append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
      return at + 12;
    }
  if (is_high_surrogate(*code) || is_low_surrogate(*code))
    out += kReplacement;
  else
    io::append_utf8(out, *code);
  return at + 6;
}

// The items of all containers that are open lie on one stack, those of the innermost on top: a container
// asks for memory once, when it closes, however long it is. Many threads parse at the same time, and would
// wait for each other at the heap.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_{text} {}

  std::optional<Value> run() {
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return std::nullopt;
      std::optional<Value> done;
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) return std::nullopt;
        ++at_;
        open(c == '{');
        if (!close_or_key(done)) return std::nullopt;
      } else {
        done = scalar();
        if (!done) return std::nullopt;
      }
      while (done) {  // hand the finished value to the container around it
        if (open_.empty()) {
          skip_space();
          return at_ == text_.size() ? done : std::nullopt;
        }
        add(std::move(*done));
        done.reset();
        skip_space();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
        } else if (at_ == text_.size() || text_[at_] != closer()) {
          return std::nullopt;
        }
        if (!close_or_key(done)) return std::nullopt;
      }
    }
  }

 private:
  struct Open {
    bool is_dict = false;
    std::size_t first_item = 0, first_key = 0;
  };

  // A value without containers, which most are, needs no stacks.
  void open(bool is_dict) {
    constexpr std::size_t kUsualDepth = 4, kUsualItems = 32;
    if (open_.empty()) {
      open_.reserve(kUsualDepth);
      items_.reserve(kUsualItems);
      texts_.reserve(kMostTexts);
    }
    open_.push_back({is_dict, items_.size(), keys_.size()});
  }

  [[nodiscard]] char closer() const { return open_.back().is_dict ? '}' : ']'; }

  // Inside a container: either it closes here (its value goes to `done`) or, in a dict, a key and
  // its colon follow. False on anything else.
  bool close_or_key(std::optional<Value>& done) {
    skip_space();
    if (at_ == text_.size()) return false;
    if (text_[at_] == closer()) {
      ++at_;
      done = close();
      return true;
    }
    if (!open_.back().is_dict) return true;
    auto key = string();
    skip_space();
    if (!key || at_ == text_.size() || text_[at_] != ':') return false;
    ++at_;
    keys_.push_back(*std::move(key));
    return true;
  }

  // To the innermost container; in a dict the key on top is the value's.
  void add(Value value) {
    const Open& into = open_.back();
    if (into.is_dict && keys_.size() - into.first_key <= kFewKeys)
      for (std::size_t i = into.first_key; i + 1 < keys_.size(); ++i)
        if (keys_[i] == keys_.back()) {  // the last of equal keys wins
          items_[into.first_item + (i - into.first_key)] = std::move(value);
          keys_.pop_back();
          return;
        }
    items_.push_back(std::move(value));
  }

  Value close() {
    const Open closed = open_.back();
    open_.pop_back();
    if (!closed.is_dict && closed.first_item == items_.size()) return empty_list();
    if (closed.is_dict && keys_.size() - closed.first_key > kFewKeys) drop_earlier_equals(closed);
    std::vector<Value> items = take_from(items_, closed.first_item);
    return closed.is_dict ? Value::dict(take_from(keys_, closed.first_key), std::move(items))
                          : Value::tuple(std::move(items));
  }

  // As add() has it, which would compare each of many keys with all before it.
  void drop_earlier_equals(const Open& dict) {
    const std::size_t kept = keep_last_of_equals(
        keys_.size() - dict.first_key,
        [&](std::size_t at) -> const std::string& { return keys_[dict.first_key + at]; },
        [&](std::size_t to, std::size_t from) {
          keys_[dict.first_key + to] = std::move(keys_[dict.first_key + from]);
          items_[dict.first_item + to] = std::move(items_[dict.first_item + from]);
        });
    keys_.resize(dict.first_key + kept);
    items_.resize(dict.first_item + kept);
  }

  // Empty lists and equal texts, of which arguments are full, are made once.
  const Value& empty_list() {
    if (!empty_) empty_ = Value::tuple({});
    return *empty_;
  }
  Value text_value(std::string text) {
    for (const Value& known : texts_)
      if (known.as_text() == text) return known;
    if (open_.empty() || texts_.size() == kMostTexts) return text;
    return texts_.emplace_back(std::move(text));
  }

  template <class T>
  static std::vector<T> take_from(std::vector<T>& stack, std::size_t first) {
    const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<T> top(std::make_move_iterator(begin), std::make_move_iterator(stack.end()));
    stack.erase(begin, stack.end());
    return top;
  }

  std::optional<std::string> string() {
    if (text_[at_] != '"') return std::nullopt;
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return std::nullopt;
    auto result = unescape_json(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  std::optional<Value> scalar() {
    if (text_[at_] == '"') {
      auto text = string();
      return text ? std::optional<Value>{text_value(*std::move(text))} : std::nullopt;
    }
    std::size_t end = at_;
    while (end < text_.size() && !std::isspace(static_cast<unsigned char>(text_[end])) &&
           text_[end] != ',' && text_[end] != ']' && text_[end] != '}')
      ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (word == "null") return Value{};
    if (word == "true") return Value{true};
    if (word == "false") return Value{false};
    return number(word);
  }

  static std::optional<Value> number(std::string_view word) {
    const char* const begin = word.data();
    const char* const end = begin + word.size();
    std::int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(begin, end, integer);
        error == std::errc{} && stop == end)
      return Value{integer};
    const auto real = io::parse_double(word);
    return real ? std::optional{Value{*real}} : std::nullopt;
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::vector<Value> items_;
  std::vector<std::string> keys_;
  static constexpr std::size_t kMostTexts = 8;  // that are compared with
  static constexpr std::size_t kFewKeys = 32;   // likewise, of a dict
  std::vector<Value> texts_;
  std::optional<Value> empty_;
};

void append_with_length(std::string& text, std::string_view part) {
  io::append_integer(text, part.size());
  text += ':';
  text += part;
}

}  // namespace

std::string unescape_json(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\\') {
      at = append_escape(out, raw, at);
      continue;
    }
    const std::size_t start = at;
    if (io::next_code_point(raw, at).valid)
      out.append(raw, start, at - start);
    else
      out += kReplacement;
  }
  return out;
}

bool is_plain_json_text(std::string_view raw) {
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\\' || !io::next_code_point(raw, at).valid) return false;
  }
  return true;
}

void append_canonical_text(std::string& text, const Value& root) {
  struct Step {
    const Value* value;
    std::size_t next;
  };
  constexpr std::size_t kUsualDepth = 4;
  std::vector<Step> steps;
  steps.reserve(kUsualDepth);
  steps.push_back({&root, 0});
  while (!steps.empty()) {
    Step& step = steps.back();
    const Value& value = *step.value;
    if (step.next == 0) {
      text += static_cast<char>('0' + static_cast<int>(value.kind()));
      switch (value.kind()) {
        case Value::Kind::kBool:
          text += value.as_bool() ? ":1;" : ":0;";
          break;
        case Value::Kind::kInt:
          text += ':';
          io::append_integer(text, value.as_int());
          text += ';';
          break;
        case Value::Kind::kReal:
          fmt::format_to(std::back_inserter(text), ":{:x};",
                         std::bit_cast<std::uint64_t>(value.as_real()));
          break;
        case Value::Kind::kText:
          text += ':';
          append_with_length(text, value.as_text());
          text += ';';
          break;
        default:
          text += '(';
          io::append_integer(text, value.items().size());
          text += ';';
      }
    }
    if (step.next == value.items().size()) {
      steps.pop_back();
      continue;
    }
    const std::size_t i = step.next++;
    if (!value.keys().empty()) {
      append_with_length(text, value.keys()[i]);
      text += '=';
    }
    steps.push_back({&value.items()[i], 0});
  }
}

std::string canonical_text(const Value& value) {
  std::string text;
  append_canonical_text(text, value);
  return text;
}

std::optional<Value> parse_json_value(std::string_view text) { return Parser{text}.run(); }

}  // namespace tracelens
