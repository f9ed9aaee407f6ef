#include "readers/chrome/strict_json.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <tracelens/json.hpp>
#include <vector>

#include "io/code_points.hpp"
#include "readers/chrome/json_scan.hpp"

namespace tracelens::json {
namespace {

// Bytes of a string that need no second look.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = ' '; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// Objects and lists that are open.
class Containers {
 public:
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] bool in_object() const {
    return (is_object_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1) != 0;
  }
  void open(bool object) {
    is_object_[depth_ / 64] |= std::uint64_t{object} << (depth_ % 64);
    ++depth_;
  }
  void close() {
    --depth_;
    is_object_[depth_ / 64] &= ~(std::uint64_t{1} << (depth_ % 64));
  }

  // All of them in a word, as long as it has room: a bit for each, and one on top.
  [[nodiscard]] bool fit_a_word() const { return depth_ < 64; }
  [[nodiscard]] std::uint64_t word() const { return is_object_[0] | std::uint64_t{1} << depth_; }
  void set_word(std::uint64_t word) {
    depth_ = static_cast<std::size_t>(std::bit_width(word)) - 1;
    is_object_[0] = word ^ std::uint64_t{1} << depth_;
  }

 private:
  std::array<std::uint64_t, kMaxJsonDepth / 64> is_object_{};  // no bits above depth_
  std::size_t depth_ = 0;
};

// Events are much alike. Where text goes on, from a key, as it did before from a key in the same
// containers, it is as fine as it was there. Most of a trace is only compared.
class KnownKeys {
 public:
  explicit KnownKeys(std::string_view text) : text_{text} {}

  // From the key at `at` to the last one that is known to be reached. False when that is this one,
  // which is then remembered: the judge goes on from it byte by byte.
  bool pass(std::size_t& at, Containers& containers) {
    if (text_.size() - at < 2 * kStep || !containers.fit_a_word()) return false;
    std::uint32_t& newest = newest_[alike_hash(text_.data() + at) >> (64 - kSlotBits)];
    const Key here{at, containers.word()};
    if (newest != 0 && keys_[newest].containers == here.containers) {
      const Key& known = keys_[newest];
      const std::size_t alike = count_alike(at, known.at);
      const Key* last = &known;
      while (last != &keys_.back() && last[1].at - known.at < alike) ++last;
      if (last != &known) {
        at += last->at - known.at;
        containers.set_word(last->containers);
        return true;
      }
    }
    if (keys_.size() == kMostKeys) return false;
    newest = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(here);
    return false;
  }

 private:
  static constexpr std::size_t kStep = 16, kSlotBits = 10;
  static constexpr std::size_t kMostKeys = std::size_t{1} << 16;
  static constexpr std::size_t kLongest = 4096;  // of what may be compared in vain
  struct Key {
    std::size_t at = 0;
    std::uint64_t containers = 0;
  };

  [[nodiscard]] std::size_t count_alike(std::size_t at, std::size_t known) const {
    const std::size_t most =
        std::min({text_.size() - at - kStep, kLongest, keys_.back().at - known + 1});
    for (std::size_t count = 0; count < most; count += kStep)
      if (const auto bits = unlike(text_.data() + at + count, text_.data() + known + count))
        return count + static_cast<std::size_t>(first_byte(bits));
    return most;
  }
  std::string_view text_;
  std::vector<Key> keys_ = {{}};  // in the order of the text; the first is none
  std::array<std::uint32_t, std::size_t{1} << kSlotBits> newest_{};  // in keys_
};

class Judge {
 public:
  explicit Judge(std::string_view text) : text_{text} {}

  bool is_fine() {
    bool wants_value = true;
    do {
      skip_space();
      if (wants_value ? !begin_value(wants_value) : !go_on(wants_value)) return false;
    } while (containers_.depth() > 0 || wants_value);
    skip_space();
    return at_ == text_.size();
  }

  // Values with commas between them, as in a list that is open already.
  bool is_fine_list() {
    containers_.open(false);
    known_.emplace(text_);
    bool wants_value = true;
    do {
      skip_space();
      if (wants_value ? !begin_value(wants_value) : !go_on(wants_value)) return false;
      if (containers_.depth() == 0) return false;
      skip_space();
    } while (at_ < text_.size() || wants_value || containers_.depth() > 1);
    return true;
  }

  // After is_fine() was false: whether that is only because the text ends.
  [[nodiscard]] bool has_run_out() const {
    constexpr std::size_t kLongestEscape = 12;  // \ud83d\ude00: judged whole, like a word
    return text_.size() - at_ < kLongestEscape;
  }

 private:
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (here() != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (here() == ' ' || here() == '\n' || here() == '\r' || here() == '\t') ++at_;
  }

  // A scalar, an empty container, or the start of one up to its first value.
  bool begin_value(bool& wants_value) {
    wants_value = false;
    const char first = here();
    if (first == '"') return string();
    if (first != '{' && first != '[') return scalar();
    ++at_;
    skip_space();
    if (take(first == '{' ? '}' : ']')) return true;
    if (containers_.depth() == kMaxJsonDepth) return false;
    containers_.open(first == '{');
    wants_value = true;
    return first == '[' || key();
  }

  // Inside a container, after a value.
  bool go_on(bool& wants_value) {
    const bool in_object = containers_.in_object();
    if (take(in_object ? '}' : ']')) {
      containers_.close();
      return true;
    }
    if (!take(',')) return false;
    wants_value = true;
    skip_space();
    return !in_object || key();
  }

  bool key() {
    while (known_ && here() == '"' && known_->pass(at_, containers_)) {
    }
    if (here() != '"' || !string()) return false;
    skip_space();
    return take(':');
  }

  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      if (text_.size() - at_ >= 16) {  // most of a string is plain
        const std::uint64_t bits = not_plain(text_.data() + at_);
        if (bits == 0) {
          at_ += 16;
          continue;
        }
        at_ += static_cast<std::size_t>(first_byte(bits));
      }
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (kPlain[byte]) {
        ++at_;
      } else if (byte == '"') {
        ++at_;
        return true;
      } else if (byte == '\\') {
        if (!escape()) return false;
      } else if (byte < ' ' || !io::next_code_point(text_, at_).valid) {
        return false;
      }
    }
    return false;
  }

  bool escape() {
    ++at_;
    constexpr std::string_view kKnown = "\"\\/bfnrt";
    if (at_ < text_.size() && kKnown.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    const std::uint32_t unit = utf16_unit();
    if (unit >= 0xD800 && unit < 0xDC00) {
      if (!take('\\')) return false;
      const std::uint32_t second = utf16_unit();
      return second >= 0xDC00 && second < 0xE000;
    }
    return unit < 0xD800 || (unit >= 0xE000 && unit != kNone);
  }

  // At "u00e9", which it passes; kNone when it is none.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t utf16_unit() {
    constexpr std::size_t kDigits = 4;
    if (!take('u') || text_.size() - at_ < kDigits) return kNone;
    std::uint32_t unit = 0;
    const char* const begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, begin + kDigits, unit, 16);
    if (stop != begin + kDigits) return kNone;
    at_ += kDigits;
    return unit;
  }

  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool scalar() {
    if (here() == 't') return word("true");
    if (here() == 'f') return word("false");
    if (here() == 'n') return word("null");
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      return digits();
    }
    return true;
  }
  bool digits() {
    const std::size_t before = at_;
    while (here() >= '0' && here() <= '9') ++at_;
    return at_ > before;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Containers containers_;
  std::optional<KnownKeys> known_;  // of a long text
};

}  // namespace

bool is_strict_json(std::string_view text) { return Judge{text}.is_fine(); }

bool is_strict_list(std::string_view text) { return Judge{text}.is_fine_list(); }

bool begins_strict_json(std::string_view text) {
  Judge judge{text};
  return judge.is_fine() || judge.has_run_out();
}

}  // namespace tracelens::json
