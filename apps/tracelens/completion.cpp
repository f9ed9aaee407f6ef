#include "completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace tracelens::app {
namespace {

std::vector<std::string> names_of(const Flags& flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags.flags()) {
    std::ranges::copy(flag.short_names(), std::back_inserter(names));
    std::ranges::copy(flag.long_names(), std::back_inserter(names));
  }
  return names;
}

std::string bash_script(const Flags& program) {
  std::vector<std::string> names;
  std::string cases;
  for (const Flags& verb : program.commands()) {
    names.push_back(verb.name());
    cases += fmt::format("    {}) words=\"{}\" ;;\n", verb.name(), fmt::join(names_of(verb), " "));
  }
  return fmt::format(R"(# bash completion for tracelens, made by `tracelens completion bash`
_tracelens() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb= words=
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} != -* ]] && {{ verb=${{COMP_WORDS[i]}}; break; }}
  done
  case $verb in
    "") words="{names} {flags}" ;;
{cases}  esac
  [[ $verb == completion ]] && words="bash zsh"
  COMPREPLY=()
  if [[ -z $verb || $word == -* || $verb == completion ]]; then
    COMPREPLY=($(compgen -W "$words {common}" -- "$word"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -F _tracelens tracelens
)",
                     fmt::arg("names", fmt::join(names, " ")),
                     fmt::arg("flags", fmt::join(names_of(program), " ")), fmt::arg("cases", cases),
                     fmt::arg("common", "--quiet --verbose"));
}

// Text for zsh's _arguments: brackets, colons and quotes have a meaning there.
std::string zsh_text(std::string text) {
  std::erase_if(text, [](char c) { return c == '\''; });
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_arguments(const Flags& flags) {
  std::string lines;
  for (const Flag& flag : flags.flags())
    for (const std::string& name : flag.long_names())
      lines += fmt::format("        '{}[{}]{}' \\\n", name, zsh_text(flag.help()),
                           flag.takes_value() ? ":value:_files" : "");
  return lines;
}

std::string zsh_script(const Flags& program) {
  std::string names, cases;
  for (const Flags& verb : program.commands()) {
    names += fmt::format("    '{}:{}'\n", verb.name(), zsh_text(verb.description()));
    const std::string rest =
        verb.name() == "completion" ? "'1:shell:(bash zsh)'" : "'*:file:_files'";
    cases += fmt::format("    {})\n      _arguments \\\n{}        {} ;;\n", verb.name(),
                         zsh_arguments(verb), rest);
  }
  return fmt::format(R"(#compdef tracelens
# zsh completion for tracelens, made by `tracelens completion zsh`
_tracelens() {{
  local -a verbs
  verbs=(
{names}  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{cases}  esac
}}
_tracelens "$@"
)",
                     fmt::arg("names", names), fmt::arg("cases", cases));
}

}  // namespace

std::string completion_script(const Flags& program, const std::string& shell) {
  return shell == "zsh" ? zsh_script(program) : bash_script(program);
}

}  // namespace tracelens::app
