#include "readers/chrome/strict_json.hpp"

#include <bitset>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <tracelens/json.hpp>

#include "io/code_points.hpp"
#include "readers/chrome/json_scan.hpp"

namespace tracelens::json {
namespace {

// Like the functions of json_scan.hpp it needs no look at the end of the text: behind it stands a
// '\0', which is no JSON, and kPadding bytes may be read. Functions return where to go on, or nullptr.
class Judge {
 public:
  explicit Judge(std::string_view text)
      : begin_{text.data()}, end_{text.data() + text.size()}, failed_{begin_} {}

  // One value; of a list that is open already, values with commas between them.
  template <bool kIsList>
  bool is_fine() {
    const char* p = begin_;
    std::size_t depth = 0;
    for (bool in_object = false;;) {
      p = skip(p);
      const char first = *p;
      if (first == '{' || first == '[') {
        const char* const inside = skip(p + 1);
        if (*inside != closing(first == '{')) {
          if (depth == kMaxJsonDepth) return fail(p) != nullptr;
          is_object_[depth++] = in_object = first == '{';
          p = in_object ? key(inside) : inside;
          if (p == nullptr) return false;
          continue;
        }
        p = inside + 1;
      } else {
        p = first == '"' ? string(p + 1) : scalar(p);
        if (p == nullptr) return false;
      }
      for (p = skip(p); depth > 0 && *p == closing(in_object); p = skip(p + 1))
        in_object = --depth > 0 && is_object_[depth - 1];
      if (depth == 0 && p == end_) return true;
      if (*p != ',' || (depth == 0 && !kIsList)) return fail(p) != nullptr;
      ++p;
      if (in_object && (p = key(skip(p))) == nullptr) return false;
    }
  }

  // After is_fine() was false: whether that is only because the text ends.
  [[nodiscard]] bool has_run_out() const {
    constexpr std::ptrdiff_t kLongestEscape = 12;  // \ud83d\ude00: judged whole, like a word
    return end_ - failed_ < kLongestEscape;
  }

 private:
  static constexpr char closing(bool of_object) { return of_object ? '}' : ']'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  const char* skip(const char* p) const { return skip_space<true>(p, end_); }
  const char* fail(const char* at) {
    failed_ = at;
    return nullptr;
  }

  const char* key(const char* p) {
    if (*p != '"') return fail(p);
    p = string(p + 1);
    if (p == nullptr) return nullptr;
    p = skip(p);
    return *p == ':' ? p + 1 : fail(p);
  }

  const char* string(const char* p) {  // behind its first quote
    while (p != nullptr) {
      const std::uint64_t bits = not_plain(p);
      if (bits == 0) {
        p += 16;
        continue;
      }
      p += first_byte(bits);
      if (*p == '"') return p + 1;
      p = special(p);
    }
    return nullptr;
  }

  // What is not plain in a string: an escape, or a code point beyond ASCII.
  [[gnu::noinline]] const char* special(const char* p) {
    if (*p == '\\') return escape(p);
    if (is_control(*p)) return fail(p);
    std::size_t size = 0;
    const std::string_view rest{p, static_cast<std::size_t>(end_ - p)};
    return io::next_code_point(rest, size).valid ? p + size : fail(p);
  }

  const char* escape(const char* p) {
    constexpr std::string_view kKnown = "\"\\/bfnrt";
    if (kKnown.find(p[1]) != std::string_view::npos) return p + 2;
    constexpr std::ptrdiff_t kSize = 6;  // \u00e9
    const std::uint32_t unit = utf16_unit(p);
    if (unit < 0xD800 || (unit >= 0xE000 && unit != kNone)) return p + kSize;
    if (unit >= 0xDC00) return fail(p);
    const std::uint32_t second = utf16_unit(p + kSize);
    return second >= 0xDC00 && second < 0xE000 ? p + 2 * kSize : fail(p);
  }

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static std::uint32_t utf16_unit(const char* p) {
    constexpr std::ptrdiff_t kDigits = 4;
    if (p[0] != '\\' || p[1] != 'u') return kNone;
    std::uint32_t unit = 0;
    const char* const digits = p + 2;
    const auto [stop, error] = std::from_chars(digits, digits + kDigits, unit, 16);
    return stop == digits + kDigits ? unit : kNone;
  }

  const char* word(const char* p, std::string_view word) {
    return std::memcmp(p, word.data(), word.size()) == 0 ? p + word.size() : fail(p);
  }

  const char* scalar(const char* p) {
    if (*p == 't') return word(p, "true");
    if (*p == 'f') return word(p, "false");
    if (*p == 'n') return word(p, "null");
    if (*p == '-') ++p;
    p = *p == '0' ? p + 1 : digits(p);
    if (p != nullptr && *p == '.') p = digits(p + 1);
    if (p == nullptr || (*p != 'e' && *p != 'E')) return p;
    ++p;
    return digits(*p == '-' || *p == '+' ? p + 1 : p);
  }
  const char* digits(const char* p) {
    if (!is_digit(*p)) return fail(p);
    do ++p;
    while (is_digit(*p));
    return p;
  }

  const char *begin_, *end_, *failed_;
  std::bitset<kMaxJsonDepth> is_object_;
};

std::string padded(std::string_view text) {
  std::string copy;
  copy.reserve(text.size() + kPadding);
  return copy.append(text).append(kPadding, '\0');
}

}  // namespace

bool is_strict_json(std::string_view text) {
  const std::string copy = padded(text);
  return Judge{{copy.data(), text.size()}}.is_fine<false>();
}

bool is_strict_list(std::string_view text) { return Judge{text}.is_fine<true>(); }

bool begins_strict_json(std::string_view text) {
  const std::string copy = padded(text);
  Judge judge{{copy.data(), text.size()}};
  return judge.is_fine<false>() || judge.has_run_out();
}

}  // namespace tracelens::json
