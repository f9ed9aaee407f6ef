// arguments.hpp: what a tool takes, as a table: its JSON Schema, the checks and the docs come from it.
//   constexpr Argument kArguments[] = {
//       {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 500, .otherwise = 20}};
//   if (const auto complaint = complaint_about(arguments, kArguments)) return tool_error(*complaint);
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens::mcp {

enum class ArgumentKind : std::uint8_t {
  kText,
  kInteger,
  kNumber,
  kBool,
  kChoice,  // one of `words`
  kObject,  // of `members`; without any: any object
  kAny,
};

struct Argument {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::kText;
  std::string_view description = {};
  bool is_required = false;
  bool is_list = false;  // of values of this kind, `least` to `most` of them
  std::int64_t least = 0, most = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> otherwise = {};  // of an integer that is not given
  std::span<const std::string_view> words = {};
  std::span<const Argument> members = {};
};

// An argument list: those of the tool itself, then those that many tools have.
struct ArgumentList {
  std::span<const Argument> own = {}, common = {};
  [[nodiscard]] const Argument* find(std::string_view name) const;
  [[nodiscard]] std::vector<const Argument*> all() const;
};

[[nodiscard]] Value input_schema(const ArgumentList& list);

// What is wrong with the arguments of a call, in a sentence that says what to give instead; nothing
// when all is well.
[[nodiscard]] std::optional<std::string> complaint_about(const Value& arguments,
                                                         const ArgumentList& list);

// A sentence of the library, which speaks of the flags of the command line, with the arguments of this
// tool in their place: "--names" is "names", "--link-by-correlation" "options.link_by_correlation". Flags
// that it has nothing for are told to be those of the command line.
[[nodiscard]] std::string with_arguments_for_flags(std::string_view sentence,
                                                   const ArgumentList& list);

// "limit integer 1 to 500, 20 by default", for a page.
[[nodiscard]] std::string usage_of(const Argument& argument);

}  // namespace tracelens::mcp
