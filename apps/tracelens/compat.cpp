#include "compat.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "compat_scripts.hpp"

namespace tracelens::app {
namespace {

struct ScriptKind {
  std::string_view name;
  std::unique_ptr<Verb> (*make)();
};
constexpr ScriptKind kScripts[] = {
    {"TraceLens_generate_perf_report_pytorch", make_pytorch_report_script},
    {"TraceLens_generate_perf_report_jax", make_jax_report_script},
    {"TraceLens_generate_multi_rank_collective_report_pytorch", make_collective_report_script},
    {"TraceLens_generate_perf_report_rocprof", make_rocprof_report_script},
    {"TraceLens_generate_perf_report_pftrace_hip_activity", make_pftrace_activity_script},
    {"TraceLens_generate_perf_report_pftrace_hip_api", make_pftrace_api_script},
    {"TraceLens_generate_perf_report_pftrace_memory_copy", make_pftrace_copy_script},
    {"TraceLens_generate_perf_report_genesis", make_genesis_report_script},
    {"TraceLens_compare_perf_reports_pytorch", make_compare_script},
};

// As argparse does: --enable_kernel stands for --enable_kernel_summary when that is the only flag
// that begins so. An ambiguous one is left alone and refused as unknown.
void expand_abbreviations(const CLI::App& app, std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    if (!argument.starts_with("--")) continue;
    const auto equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::vector<std::string> candidates;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& known : option->get_lnames())
        if (known.starts_with(name)) candidates.push_back(known);
    const bool exact = std::ranges::find(candidates, name) != candidates.end();
    if (!exact && candidates.size() == 1)
      argument =
          "--" + candidates.front() + (equals == std::string::npos ? "" : argument.substr(equals));
  }
}

}  // namespace

std::vector<std::string_view> compat_scripts() {
  std::vector<std::string_view> names;
  for (const ScriptKind& script : kScripts) names.push_back(script.name);
  return names;
}

int run_compat(std::string_view script, std::vector<std::string> arguments, Console& console) {
  const auto* const kind = std::ranges::find(kScripts, script, &ScriptKind::name);
  CLI::App app{"The report of the Python TraceLens, with its flags.", std::string{script}};
  const std::unique_ptr<Verb> translation = kind->make();
  translation->declare(app);
  expand_abbreviations(app, arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    console.error(fmt::format("{} (try {} --help)", error.what(), script));
    return kExitBadInput;
  }
  return translation->run(console);
}

}  // namespace tracelens::app
