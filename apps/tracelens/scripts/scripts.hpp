// scripts.hpp: the script names and flags of the Python TraceLens, translated into ours.
//   TraceLens_generate_perf_report_pytorch --profile_json_path trace.json.gz --output_csvs_dir out/
// The program answers to a script's name when it is called by it (the package installs links), or
// as `tracelens compat <script> ...`. Nothing is computed here: a script is a way to fill in
// options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"

namespace tracelens::app {

// The names of all scripts that are understood.
[[nodiscard]] std::vector<std::string_view> script_names();

// The exit status of running `script`, one of script_names(). Throws Error on bad input.
int run_script(std::string_view script, std::vector<std::string> arguments, Console& console);

}  // namespace tracelens::app
