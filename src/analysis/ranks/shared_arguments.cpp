#include "analysis/ranks/shared_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "trace/json_value.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kSequence = "\"Seq\"";
// What comes first in a key: no whole text is the rest of another.
constexpr char kWhole = 'w', kRest = 'r';

struct Digits {
  std::size_t at = 0, size = 0;
  std::int64_t number = 0;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The digits behind the only "Seq" of the text; nothing when there are several or it is no plain
// number. Inside of strings quotes are escaped, so what is found is a key, of whatever object.
std::optional<Digits> sequence_digits(std::string_view text) {
  const std::size_t key = text.find(kSequence);
  if (key == std::string_view::npos || key == 0 || text[key - 1] == '\\') return std::nullopt;
  std::size_t at = key + kSequence.size();
  if (text.find(kSequence, at) != std::string_view::npos) return std::nullopt;
  const auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  skip_blanks();
  if (at == text.size() || text[at] != ':') return std::nullopt;
  ++at;
  skip_blanks();
  Digits digits{.at = at};
  const char* const first = text.data() + at;
  const auto result = std::from_chars(first, text.data() + text.size(), digits.number);
  if (result.ec != std::errc{} || result.ptr == text.data() + text.size()) return std::nullopt;
  digits.size = static_cast<std::size_t>(result.ptr - first);
  const bool is_plain = *first != '-' && (*first != '0' || digits.size == 1) &&
                        (*result.ptr == ',' || *result.ptr == '}' || is_blank(*result.ptr));
  return is_plain ? std::optional{digits} : std::nullopt;
}

}  // namespace

std::uint32_t SharedArguments::find(std::string_view text, bool is_cut) {
  const auto [entry, is_new] =
      numbers_.try_emplace(key_, static_cast<std::uint32_t>(known_.size()));
  if (is_new) {
    Known& known =
        known_.emplace_back(Known{.arguments = parse_json_value(text).value_or(Value{})});
    const Value* const sequence = known.arguments.find("Seq");
    if (sequence != nullptr && sequence->is_int()) known.sequence = sequence->as_int();
    known.may_differ = is_cut;
  }
  return entry->second;
}

SharedArguments::Read SharedArguments::of(EventId event) {
  static const Value kNothing;
  const auto id = trace_.detail_texts().at(event);
  if (!id) return {.arguments = &kNothing, .number = static_cast<std::uint32_t>(-1)};
  const std::string_view text = trace_.text(*id);
  if (const auto digits = sequence_digits(text)) {
    key_.assign(1, kRest).append(text.substr(0, digits->at)).push_back('\0');
    key_.append(text.substr(digits->at + digits->size));
    const std::size_t before = known_.size();
    const std::uint32_t number = find(text, true);
    Known& known = known_[number];
    // Told by the first text: the digits that were cut out are the number that counts.
    if (known_.size() > before) known.may_differ = known.sequence == digits->number;
    if (known.may_differ) return {&known.arguments, digits->number, number};
  }
  key_.assign(1, kWhole).append(text);
  const std::uint32_t number = find(text, false);
  return {&known_[number].arguments, known_[number].sequence, number};
}

}  // namespace tracelens
