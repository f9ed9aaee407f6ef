#include "mcp/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tracelens/near_names.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/json.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::size_t kLongestText = 65536;  // of an argument without a limit of its own

bool has_most(const Argument& argument) {
  return argument.most != std::numeric_limits<std::int64_t>::max();
}

Value schema_of_members(std::span<const Argument* const> members);

Value schema_of_item(const Argument& argument) {
  Members schema;
  switch (argument.kind) {
    case ArgumentKind::kText:
      schema.emplace_back("type", "string");
      if (!argument.is_list && has_most(argument)) schema.emplace_back("maxLength", argument.most);
      break;
    case ArgumentKind::kInteger:
    case ArgumentKind::kNumber:
      schema.emplace_back("type", argument.kind == ArgumentKind::kInteger ? "integer" : "number");
      if (argument.is_list) break;
      if (argument.least != 0) schema.emplace_back("minimum", argument.least);
      if (has_most(argument)) schema.emplace_back("maximum", argument.most);
      break;
    case ArgumentKind::kBool:
      schema.emplace_back("type", "boolean");
      break;
    case ArgumentKind::kChoice: {
      std::vector<Value> words;
      for (const std::string_view word : argument.words) words.push_back(text_value(word));
      schema.emplace_back("enum", array(std::move(words)));
      break;
    }
    case ArgumentKind::kObject: {
      if (argument.members.empty()) {
        schema.emplace_back("type", "object");
        break;
      }
      std::vector<const Argument*> members;
      for (const Argument& each : argument.members) members.push_back(&each);
      return schema_of_members(members);
    }
    case ArgumentKind::kAny:
      break;
  }
  return object(std::move(schema));
}

Value schema_of(const Argument& argument) {
  Value schema = schema_of_item(argument);
  if (argument.is_list) {
    Members list{{"type", "array"}, {"items", std::move(schema)}};
    if (argument.least > 0) list.emplace_back("minItems", argument.least);
    if (has_most(argument)) list.emplace_back("maxItems", argument.most);
    schema = object(std::move(list));
  }
  if (argument.description.empty()) return schema;
  return with(schema, "description", text_value(argument.description));
}

Value schema_of_members(std::span<const Argument* const> members) {
  Members properties;
  std::vector<Value> required;
  for (const Argument* const each : members) {
    properties.emplace_back(std::string{each->name}, schema_of(*each));
    if (each->is_required) required.push_back(text_value(each->name));
  }
  Members schema{{"type", "object"}, {"properties", object(std::move(properties))}};
  if (!required.empty()) schema.emplace_back("required", array(std::move(required)));
  return object(std::move(schema));
}

std::string names_of(std::span<const Argument* const> members) {
  std::vector<std::string_view> names;
  for (const Argument* const each : members) names.push_back(each->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> complaint_about_members(const Value& value, const std::string& where,
                                                   std::span<const Argument* const> members);

std::optional<std::string> complaint_about_item(const Value& value, const std::string& name,
                                                const Argument& argument) {
  const auto bounds = [&] {
    return has_most(argument) ? fmt::format("{} to {}", argument.least, argument.most)
                              : fmt::format("at least {}", argument.least);
  };
  switch (argument.kind) {
    case ArgumentKind::kText: {
      if (!value.is_text()) return fmt::format("{}: expected a text", name);
      const std::size_t most = !argument.is_list && has_most(argument)
                                   ? static_cast<std::size_t>(argument.most)
                                   : kLongestText;
      if (value.as_text().size() > most) return fmt::format("{}: longer than {} bytes", name, most);
      return std::nullopt;
    }
    case ArgumentKind::kInteger: {
      // 20.0 is an integer in JSON Schema.
      const bool is_whole =
          value.is_int() || (value.is_number() && std::floor(value.as_real()) == value.as_real());
      const double number = value.as_real();
      if (!is_whole || (!argument.is_list && (number < static_cast<double>(argument.least) ||
                                              number > static_cast<double>(argument.most))))
        return fmt::format("{}: expected an integer, {}", name, bounds());
      return std::nullopt;
    }
    case ArgumentKind::kNumber:
      if (!value.is_number() || !std::isfinite(value.as_real()) ||
          (!argument.is_list && (value.as_real() < static_cast<double>(argument.least) ||
                                 value.as_real() > static_cast<double>(argument.most))))
        return fmt::format("{}: expected a number, {}", name, bounds());
      return std::nullopt;
    case ArgumentKind::kBool:
      return is_bool(value) ? std::nullopt
                            : std::optional{fmt::format("{}: expected true or false", name)};
    case ArgumentKind::kChoice:
      if (!value.is_text() ||
          std::ranges::find(argument.words, value.as_text()) == argument.words.end())
        return fmt::format("{}: expected one of {}", name, fmt::join(argument.words, ", "));
      return std::nullopt;
    case ArgumentKind::kObject: {
      if (!is_object(value)) return fmt::format("{}: expected an object", name);
      if (argument.members.empty()) return std::nullopt;
      std::vector<const Argument*> members;
      for (const Argument& each : argument.members) members.push_back(&each);
      return complaint_about_members(value, name + ".", members);
    }
    case ArgumentKind::kAny:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> complaint_about_one(const Value& value, const std::string& name,
                                               const Argument& argument) {
  if (!argument.is_list) return complaint_about_item(value, name, argument);
  if (!value.is_sequence()) return fmt::format("{}: expected a list", name);
  const auto count = static_cast<std::int64_t>(value.items().size());
  if (count < argument.least || count > argument.most)
    return fmt::format("{}: expected {} to {} items", name, argument.least, argument.most);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    if (auto complaint =
            complaint_about_item(value.items()[i], fmt::format("{}[{}]", name, i), argument))
      return complaint;
  return std::nullopt;
}

std::optional<std::string> complaint_about_members(const Value& value, const std::string& where,
                                                   std::span<const Argument* const> members) {
  for (std::size_t i = 0; i < value.keys().size(); ++i) {
    const std::string& key = value.keys()[i];
    const auto found = std::ranges::find(members, key, [](const Argument* a) { return a->name; });
    if (found != members.end()) {
      if (auto complaint = complaint_about_one(value.items()[i], where + key, **found))
        return complaint;
      continue;
    }
    std::vector<std::string> names;
    for (const Argument* const each : members) names.emplace_back(each->name);
    const auto near = nearest_names(key, names);
    return fmt::format("there is no argument {}{}; there are {}", in_quotes(where + key),
                       near.empty() ? "" : fmt::format(", did you mean {}", near.front()),
                       names_of(members));
  }
  for (const Argument* const each : members)
    if (each->is_required && value.find(each->name) == nullptr)
      return fmt::format("{}{} is missing: {}", where, each->name,
                         each->description.empty() ? "it is required" : each->description);
  return std::nullopt;
}

}  // namespace

const Argument* ArgumentList::find(std::string_view name) const {
  for (const auto part : {own, common})
    for (const Argument& each : part)
      if (each.name == name) return &each;
  return nullptr;
}

std::vector<const Argument*> ArgumentList::all() const {
  std::vector<const Argument*> arguments;
  for (const auto part : {own, common})
    for (const Argument& each : part) arguments.push_back(&each);
  return arguments;
}

// Every model reads all schemas before it reads anything else: defaults and what objects inside do not
// take are left to the answers of a wrong call.
Value input_schema(const ArgumentList& list) {
  return with(schema_of_members(list.all()), "additionalProperties", false);
}

std::optional<std::string> complaint_about(const Value& arguments, const ArgumentList& list) {
  return complaint_about_members(arguments, {}, list.all());
}

namespace {

// What the tool calls a flag; empty: it has nothing of the kind.
std::string argument_for_flag(std::string name, const ArgumentList& list) {
  std::ranges::replace(name, '-', '_');
  if (name == "uid") name = "event";
  for (const Argument* const each : list.all()) {
    if (each->name == name) return name;
    for (const Argument& member : each->members)
      if (member.name == name) return fmt::format("{}.{}", each->name, name);
  }
  return {};
}

}  // namespace

std::string with_arguments_for_flags(std::string_view sentence, const ArgumentList& list) {
  constexpr std::string_view kOfFlags = "abcdefghijklmnopqrstuvwxyz-_";
  std::string text;
  while (!sentence.empty()) {
    const std::size_t begin = std::min(sentence.find("--"), sentence.size());
    text += sentence.substr(0, begin);
    sentence.remove_prefix(begin);
    const std::size_t end = std::min(sentence.find_first_not_of(kOfFlags), sentence.size());
    const std::string_view flag = sentence.substr(0, end);
    const bool is_flag = flag.size() > 2 && (text.empty() || text.ends_with(' ') ||
                                             text.ends_with('(') || text.ends_with('\''));
    const std::string name =
        is_flag ? argument_for_flag(std::string{flag.substr(2)}, list) : std::string{};
    text += name.empty() ? flag : name;
    if (is_flag && name.empty()) text += " (of the command line)";
    sentence.remove_prefix(end);
  }
  // "--names: --names count must ..."
  const std::string where = text.substr(0, text.find(": ") + 2);
  if (where.size() > 2 &&
      text.compare(where.size(), where.size() - 2, where, 0, where.size() - 2) == 0)
    text.erase(0, where.size());
  return text;
}

std::string usage_of(const Argument& argument) {
  constexpr std::string_view kKinds[] = {"text", "integer", "number",   "true or false",
                                         "",     "object",  "any value"};
  std::string usage{kKinds[static_cast<std::size_t>(argument.kind)]};
  if (argument.kind == ArgumentKind::kChoice)
    usage = fmt::format("{}", fmt::join(argument.words, " or "));
  if (argument.is_list) usage = "list of " + usage;
  if (argument.kind == ArgumentKind::kObject && !argument.members.empty()) {
    std::vector<std::string_view> names;
    for (const Argument& each : argument.members) names.push_back(each.name);
    usage += fmt::format(" of {}", fmt::join(names, ", "));
  }
  if (!argument.is_list && has_most(argument) &&
      (argument.kind == ArgumentKind::kInteger || argument.kind == ArgumentKind::kNumber))
    usage += fmt::format(", {} to {}", argument.least, argument.most);
  if (argument.otherwise) usage += fmt::format(", {} by default", *argument.otherwise);
  return usage;
}

}  // namespace tracelens::mcp
