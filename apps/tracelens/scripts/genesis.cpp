// TraceLens_generate_perf_report_genesis: its flags as our options.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "io/output_file.hpp"
#include "report/import/genesis_capture.hpp"
#include "report/recipes/genesis.hpp"
#include "report/sinks/sink.hpp"
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
    flags.add("--steady-state-gap-ms", gap_ms_, "A pause this long ends the build")
        .check(between(0.0, 1e9));
    flags
        .add("--steady-state-fallback-s", fallback_s_,
             "How much of the end to take when there is no such pause")
        .check(between(0.0, 1e6));
    flags.add("--include-api", ignored_, "Accepted, without effect: no table shows them");
    flags.add("--keep-work", ignored_, "Accepted, without effect: there are no such files");
    flags.add("--traceconv", traceconv_, "Accepted, without effect");
  }

  int run(Console& console) override {
    const GenesisFiles files = find_genesis_files(folder_);
    const Trace kernels = read_with_warnings(files.kernels, console);
    warn_of_more_processes(kernels, console);
    std::optional<Trace> timeline;
    if (files.timeline) timeline = read_with_warnings(*files.timeline, console);

    options_.short_kernels = !no_short_;
    options_.steady.gap_ns = static_cast<std::int64_t>(gap_ms_ * 1e6);
    options_.steady.fallback_ns = static_cast<std::int64_t>(fallback_seconds() * 1e9);
    const GenesisReport report = genesis_report({.kernels = &kernels,
                                                 .timeline = timeline ? &*timeline : nullptr,
                                                 .has_kernel_csv = files.has_kernel_csv,
                                                 .manifest = genesis_manifest(folder_),
                                                 .name = fs::path{folder_}.filename().string()},
                                                options_);
    io::make_directories(output_);
    const fs::path out{output_};
    write_tables(report.tables, (out / "genesis_perf_report.xlsx").string(), {});
    io::OutputFile page{(out / "genesis_summary.md").string()};
    page.write(report.summary);
    page.commit();
    console.print(fmt::format("Excel: {}\nSummary: {}\n",
                              (out / "genesis_perf_report.xlsx").string(),
                              (out / "genesis_summary.md").string()));
    return kExitOk;
  }

 private:
  // A little more than the run says it took.
  [[nodiscard]] double fallback_seconds() const {
    if (fallback_s_) return *fallback_s_;
    const auto seconds = genesis_seconds(folder_);
    return seconds ? *seconds * 1.05 : 5.0;
  }

  std::string folder_, output_ = "analysis_output", traceconv_;
  GenesisOptions options_;
  double gap_ms_ = 1000;
  std::optional<double> fallback_s_;
  bool no_short_ = false, ignored_ = false;
};

template std::unique_ptr<Verb> make_verb<GenesisScript>();

}  // namespace tracelens::app
