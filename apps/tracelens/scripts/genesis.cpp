// TraceLens_generate_perf_report_genesis: its flags as our options.
#include <fmt/format.h>

#include <filesystem>
#include <tracelens/files.hpp>
#include <tracelens/rocm.hpp>
#include <tracelens/sinks.hpp>

#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {

namespace fs = std::filesystem;

class GenesisScript : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("--capture-dir,--combined-run-dir", folder_, "Folder of the captured run").required();
    flags.add("--output-dir", output_, "Folder for the report").show_default();
    flags.add("--kernel-details", options_.kernel_details, "Sheet with every dispatch");
    flags.add("--no-short-kernel-study", no_short_, "No sheets about short kernels");
    flags.add("--short-kernel-threshold-us", options_.short_kernel_us,
              "What is short, in microseconds");
    flags.add("--steady-state-gap-ms", options_.gap_ms, "A pause this long ends the build")
        .check(between(0.0, 1e9));
    flags
        .add("--steady-state-fallback-s", options_.fallback_s,
             "How much of the end to take when there is no such pause")
        .check(between(0.0, 1e6));
    flags.add("--include-api", ignored_, "Accepted, without effect: no table shows them");
    flags.add("--keep-work", ignored_, "Accepted, without effect: there are no such files");
    flags.add("--traceconv", traceconv_, "Accepted, without effect");
  }

  int run(Console& console) override {
    options_.short_kernels = !no_short_;
    options_.read = [&console](const std::string& path) {
      Trace trace = read_with_warnings(path, console);
      warn_of_more_processes(trace, console);
      return trace;
    };
    const GenesisReport report = genesis_report(folder_, options_);
    make_folder(output_);
    const fs::path out{output_};
    write_tables(report.tables, (out / "genesis_perf_report.xlsx").string(),
                 {.edition = Edition::kReference});
    tracelens::write_text_file((out / "genesis_summary.md").string(), report.summary);
    console.print(fmt::format("Excel: {}\nSummary: {}\n",
                              (out / "genesis_perf_report.xlsx").string(),
                              (out / "genesis_summary.md").string()));
    return kExitOk;
  }

 private:
  std::string folder_, output_ = "analysis_output", traceconv_;
  GenesisOptions options_;
  bool no_short_ = false, ignored_ = false;
};

template std::unique_ptr<Verb> make_verb<GenesisScript>();

}  // namespace tracelens::app
