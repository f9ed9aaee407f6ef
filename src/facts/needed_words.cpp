#include "facts/needed_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/ascii.hpp"

namespace tracelens {
namespace {

using Words = std::vector<std::string>;  // one of them is needed; none: nothing is

std::size_t shortest(const Words& words) {
  return words.empty() ? 0 : std::ranges::min(words, {}, &std::string::size).size();
}

// Reads an expression from left to right. What it does not understand ends a word, or makes it give up.
class Reader {
 public:
  explicit Reader(std::string_view pattern) : rest_{pattern} {}

  Words read() {
    // Letters beyond ASCII have several bytes, and some are those of ASCII in another case.
    if (!std::ranges::all_of(rest_, io::is_ascii)) return {};
    if (rest_.starts_with("(?i)")) rest_.remove_prefix(4);
    Words words = alternatives();
    return rest_.empty() && !gave_up_ ? words : Words{};
  }

 private:
  // Up to the end, or the bracket that closes them: one of the words of each.
  Words alternatives() {
    Words all;
    bool all_need = true;
    while (true) {
      const Words one = sequence();
      all_need = all_need && !one.empty();
      std::ranges::copy(one, std::back_inserter(all));
      if (gave_up_ || rest_.empty() || rest_.front() != '|') break;
      rest_.remove_prefix(1);
    }
    return all_need ? all : Words{};
  }

  // What comes one after the other: the words that say most.
  Words sequence() {
    Words best;
    std::string word;
    const auto keep = [&best](Words words) {
      if (shortest(words) > shortest(best)) best = std::move(words);
    };
    const auto end_word = [&] {
      if (!word.empty()) keep({std::exchange(word, {})});
    };
    while (!gave_up_ && !rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      const char next = rest_.front();
      rest_.remove_prefix(1);
      if (next == '(') {
        end_word();
        if (rest_.starts_with('?') && !rest_.starts_with("?:")) gave_up_ = true;
        if (rest_.starts_with("?:")) rest_.remove_prefix(2);
        if (++depth_ > kDeepest) gave_up_ = true;
        if (gave_up_) return {};
        Words inside = alternatives();
        --depth_;
        if (!rest_.starts_with(')')) gave_up_ = true;
        if (gave_up_) return {};
        rest_.remove_prefix(1);
        if (!may_be_left_out()) keep(std::move(inside));
      } else if (next == '[') {
        end_word();
        skip_class();
        (void)may_be_left_out();
      } else if (next == '.' || next == '^' || next == '$') {
        end_word();
        (void)may_be_left_out();
      } else if (next == '\\' && !rest_.empty() && is_letter_or_digit(rest_.front())) {
        end_word();
        if (!is_simple_escape(rest_.front())) gave_up_ = true;
        rest_.remove_prefix(1);
        (void)may_be_left_out();
      } else {
        char letter = next;
        if (next == '\\' && !rest_.empty()) {
          letter = rest_.front();
          rest_.remove_prefix(1);
        }
        const bool is_repeated = rest_.starts_with('+');
        if (may_be_left_out()) {
          end_word();
        } else {
          word += io::lower(letter);
          if (is_repeated) end_word();
        }
      }
    }
    end_word();
    return best;
  }

  // Passes over what says how often something comes; whether it may not come at all.
  bool may_be_left_out() {
    bool may = false;
    while (!rest_.empty()) {
      const char next = rest_.front();
      if (next == '{') {
        // Any other brace is a letter: not worth telling apart from what comes before it.
        const std::size_t end = rest_.find_first_not_of("0123456789,", 1);
        if (end == rest_.npos || end == 1 || rest_[1] == ',' || rest_[end] != '}') {
          gave_up_ = true;
          return true;
        }
        rest_.remove_prefix(end + 1);
        may = true;
      } else if (next == '?' || next == '*' || next == '+') {
        may = may || next != '+';
        rest_.remove_prefix(1);
      } else {
        break;
      }
    }
    return may;
  }

  void skip_class() {
    if (rest_.starts_with('^')) rest_.remove_prefix(1);
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '[') gave_up_ = true;  // [[:alpha:]]
      if (rest_[i] == '\\') {
        ++i;
      } else if (rest_[i] == ']' && i > 0) {
        rest_.remove_prefix(i + 1);
        return;
      }
    }
    gave_up_ = true;
  }

  static bool is_letter_or_digit(char c) {
    return (io::lower(c) >= 'a' && io::lower(c) <= 'z') || (c >= '0' && c <= '9');
  }
  // A kind of letter, or a place between two: nothing that goes on behind the letter.
  static bool is_simple_escape(char letter) {
    return std::string_view{"bBdDsSwWAz"}.find(letter) != std::string_view::npos;
  }

  static constexpr int kDeepest = 100;  // brackets in brackets
  std::string_view rest_;
  int depth_ = 0;
  bool gave_up_ = false;
};

}  // namespace

std::vector<std::string> needed_words(std::string_view pattern) { return Reader{pattern}.read(); }

}  // namespace tracelens
