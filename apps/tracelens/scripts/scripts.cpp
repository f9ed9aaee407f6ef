#include "scripts/scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

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
