// verbs.hpp: one factory per verb; each is defined in the file of that name.
#pragma once

#include <memory>

#include "verb.hpp"

namespace tracelens::app {

std::unique_ptr<Verb> make_check_verb();
std::unique_ptr<Verb> make_collectives_verb();
std::unique_ptr<Verb> make_compare_verb();
std::unique_ptr<Verb> make_convert_verb();
std::unique_ptr<Verb> make_diff_verb();
std::unique_ptr<Verb> make_fuse_verb();
std::unique_ptr<Verb> make_info_verb();
std::unique_ptr<Verb> make_model_verb();
std::unique_ptr<Verb> make_report_verb();
std::unique_ptr<Verb> make_roofline_verb();
std::unique_ptr<Verb> make_tree_verb();

// Not a Verb: it describes all the others. Prints a completion script for `shell`.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace tracelens::app
