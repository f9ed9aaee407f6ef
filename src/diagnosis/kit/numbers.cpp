#include "diagnosis/kit/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/json.hpp>

#include "io/check.hpp"

namespace tracelens {
namespace {

std::optional<std::vector<std::string>> texts_of(const Value& list) {
  if (!list.is_sequence()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Value& item : list.items()) {
    if (!item.is_text()) return std::nullopt;
    texts.push_back(item.as_text());
  }
  return texts;
}

}  // namespace

RuleSettings read_rule_settings(const std::string& file) {
  RuleSettings settings{.file = file};
  if (file.empty()) return settings;
  const std::optional<Value> read = parse_json_value(read_text_file(file));
  if (!read || read->kind() != Value::Kind::kDict)
    throw Error{file, "expected one JSON object, such as {\"DATA-1.least_pct\": 3}"};
  for (std::size_t i = 0; i < read->keys().size(); ++i) {
    const std::string& key = read->keys()[i];
    const Value& value = read->items()[i];
    if (value.is_number())
      settings.numbers[key] = value.as_real();
    else if (value.is_text())
      settings.texts[key] = value.as_text();
    else if (auto list = texts_of(value))
      settings.lists[key] = *std::move(list);
    else
      throw Error{file, fmt::format("{}: expected a number, a text or a list of texts", key)};
  }
  return settings;
}

double Numbers::operator[](std::string_view key) const {
  const auto own = std::ranges::find(own_, key, &Number::key);
  TL_CHECK(own != own_.end());
  if (settings_.numbers.empty()) return own->value;
  const auto set = settings_.numbers.find(fmt::format("{}.{}", id_, key));
  return set == settings_.numbers.end() ? own->value : set->second;
}

}  // namespace tracelens
