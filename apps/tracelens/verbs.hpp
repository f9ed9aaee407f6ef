// verbs.hpp: the tables of what the program can do: a row is all that a new one needs here.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace tracelens::app {

class Verb;
template <class SomeVerb>
std::unique_ptr<Verb> make_verb();  // see verb.hpp

struct VerbKind {
  const char* name;
  const char* description;
  std::unique_ptr<Verb> (*make)();
};
[[nodiscard]] std::span<const VerbKind> all_verbs();  // in the order of --help

// A script of the Python TraceLens, see scripts/scripts.hpp.
struct ScriptKind {
  std::string_view name;
  std::unique_ptr<Verb> (*make)();
};
[[nodiscard]] std::span<const ScriptKind> all_scripts();

}  // namespace tracelens::app
