// compat_scripts.hpp: one function per script of the Python TraceLens, each in its own file. A
// script is a verb whose flags are the script's. To add one: a file like compat_pytorch.cpp, a line
// here, one in kScripts (compat.cpp), and its name in CMakeLists.txt.
#pragma once

#include "verb.hpp"

namespace tracelens::app {

std::unique_ptr<Verb> make_pytorch_report_script();
std::unique_ptr<Verb> make_jax_report_script();
std::unique_ptr<Verb> make_collective_report_script();
std::unique_ptr<Verb> make_rocprof_report_script();
std::unique_ptr<Verb> make_pftrace_activity_script();
std::unique_ptr<Verb> make_pftrace_api_script();
std::unique_ptr<Verb> make_pftrace_copy_script();
std::unique_ptr<Verb> make_genesis_report_script();
std::unique_ptr<Verb> make_compare_script();

}  // namespace tracelens::app
