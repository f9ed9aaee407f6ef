#include "scripts/scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "verb.hpp"
#include "verbs.hpp"

namespace tracelens::app {
namespace {

// As argparse does: --enable_kernel stands for --enable_kernel_summary when that is the only flag
// that begins so. An ambiguous one is left alone and refused as unknown.
void expand_abbreviations(const Flags& flags, std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    if (!argument.starts_with("--")) continue;
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    std::vector<std::string> candidates;
    for (const Flag& flag : flags.flags())
      std::ranges::copy_if(flag.long_names(), std::back_inserter(candidates),
                           [&](const std::string& known) { return known.starts_with(name); });
    const bool exact = std::ranges::find(candidates, name) != candidates.end();
    if (!exact && candidates.size() == 1)
      argument = candidates.front() + (equals == std::string::npos ? "" : argument.substr(equals));
  }
}

const Flag* flag_of(const Flags& flags, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  for (const Flag& flag : flags.flags())
    for (const auto& names : {flag.long_names(), flag.short_names()})
      if (std::ranges::find(names, name) != names.end()) return &flag;
  for (const Flags& choice : flags.choices())
    if (const Flag* const flag = flag_of(choice, argument)) return flag;
  return nullptr;
}

// As argparse does: of a flag that is given again the last one counts, and a flag that takes any
// number of words but has none is as if it were not there.
void keep_last(const Flags& flags, std::vector<std::string>& arguments) {
  std::map<const Flag*, std::vector<std::string>> last;
  std::vector<std::string> kept;
  for (std::size_t at = 0; at < arguments.size();) {
    const Flag* const flag = flag_of(flags, arguments[at]);
    std::size_t end = at + 1;
    if (flag != nullptr && arguments[at].find('=') == std::string::npos) {
      if (flag->takes_several())
        while (end < arguments.size() && !arguments[end].starts_with('-')) ++end;
      else if (flag->takes_value() && end < arguments.size())
        ++end;
    }
    const auto from = arguments.begin() + static_cast<std::ptrdiff_t>(at),
               to = arguments.begin() + static_cast<std::ptrdiff_t>(end);
    if (flag != nullptr && flag->takes_value() && !flag->is_repeatable())
      last[flag].assign(from, to);
    else
      kept.insert(kept.end(), from, to);
    at = end;
  }
  for (const auto& [flag, words] : last) {
    const bool has_value = words.size() > 1 || words.front().find('=') != std::string::npos;
    if (has_value || !flag->may_be_empty()) kept.insert(kept.end(), words.begin(), words.end());
  }
  arguments = std::move(kept);
}

}  // namespace

std::vector<std::string_view> script_names() {
  std::vector<std::string_view> names;
  for (const ScriptKind& script : all_scripts()) names.push_back(script.name);
  return names;
}

int run_script(std::string_view script, std::vector<std::string> arguments, Console& console) {
  const auto kind = std::ranges::find(all_scripts(), script, &ScriptKind::name);
  const std::unique_ptr<Verb> verb = kind->make();
  Flags flags{std::string{script}, "The report of the Python TraceLens, with its flags."};
  verb->declare(flags);
  expand_abbreviations(flags, arguments);
  keep_last(flags, arguments);
  try {
    if (const auto text = flags.parse(arguments)) {
      console.print(*text);
      return kExitOk;
    }
  } catch (const UsageError& error) {
    console.error(fmt::format("{} (try {} --help)", error.what(), script));
    return kExitBadInput;
  }
  return verb->run(console);
}

}  // namespace tracelens::app
