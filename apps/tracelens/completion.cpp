// Completion scripts for bash and zsh, made from the declared flags, so that they cannot go stale.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "verbs.hpp"

namespace tracelens::app {
namespace {

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string bash_script(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    names.push_back(verb->get_name());
    cases +=
        fmt::format("    {}) words=\"{}\" ;;\n", verb->get_name(), fmt::join(flags_of(*verb), " "));
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
                     fmt::arg("flags", fmt::join(flags_of(app), " ")), fmt::arg("cases", cases),
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

std::string zsh_arguments(const CLI::App& app) {
  std::string lines;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) {
      const bool takes_value = option->get_items_expected_max() > 0;
      lines += fmt::format("        '--{}[{}]{}' \\\n", name, zsh_text(option->get_description()),
                           takes_value ? ":value:_files" : "");
    }
  return lines;
}

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* verb : verbs_of(app)) {
    names += fmt::format("    '{}:{}'\n", verb->get_name(), zsh_text(verb->get_description()));
    const std::string rest =
        verb->get_name() == "completion" ? "'1:shell:(bash zsh)'" : "'*:file:_files'";
    cases += fmt::format("    {})\n      _arguments \\\n{}        {} ;;\n", verb->get_name(),
                         zsh_arguments(*verb), rest);
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

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "zsh" ? zsh_script(app) : bash_script(app);
}

}  // namespace tracelens::app
