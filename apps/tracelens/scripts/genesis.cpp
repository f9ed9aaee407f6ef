// TraceLens_generate_perf_report_genesis: the files of a capture folder, and the script's flags as
// our options.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <tracelens/error.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "io/text_file.hpp"
#include "report/recipes/genesis.hpp"
#include "report/sinks/sink.hpp"
#include "scripts/script_output.hpp"
#include "trace/json_value.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

// The first file, by name, whose name ends so; in the first folder that has one.
std::optional<fs::path> find_file(const std::vector<fs::path>& folders, std::string_view ending) {
  for (const fs::path& folder : folders) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error})
      if (entry.path().filename().string().ends_with(ending)) found.push_back(entry.path());
    if (!found.empty()) return *std::ranges::min_element(found);
  }
  return std::nullopt;
}

// The seconds of "wall_time=12.5s" in the log of the run.
std::optional<double> wall_time(std::string_view log) {
  constexpr std::string_view kKey = "wall_time=";
  for (auto at = log.find(kKey); at != std::string_view::npos; at = log.find(kKey, at + 1)) {
    const char* const begin = log.data() + at + kKey.size();
    double seconds = 0;
    const auto parsed = std::from_chars(begin, log.data() + log.size(), seconds);
    if (parsed.ec == std::errc{} && parsed.ptr < log.data() + log.size() && *parsed.ptr == 's')
      return seconds;
  }
  return std::nullopt;
}

}  // namespace

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
    if (!fs::is_directory(folder_)) throw Error{folder_, "not a folder"};
    const fs::path capture_folder{folder_};
    std::vector<fs::path> folders{capture_folder};
    if (const fs::path inner = capture_folder / "kernel_trace"; fs::is_directory(inner))
      folders.insert(folders.begin(), inner);

    const auto csv = find_file(folders, "_kernel_trace.csv");
    const auto results = find_file(folders, "_results.json");
    if (!csv && !results)
      throw Error{folder_, "holds neither a kernel CSV nor a *_results.json of rocprofv3"};
    const Trace kernels = read_with_warnings((csv ? *csv : *results).string(), console);
    warn_of_more_processes(kernels, console);
    std::optional<Trace> timeline;
    if (const auto path = find_file(folders, "_results.pftrace"))
      timeline = read_with_warnings(path->string(), console);

    options_.short_kernels = !no_short_;
    options_.steady.gap_ns = static_cast<std::int64_t>(gap_ms_ * 1e6);
    options_.steady.fallback_ns = static_cast<std::int64_t>(fallback_seconds() * 1e9);
    const GenesisReport report = genesis_report({.kernels = &kernels,
                                                 .timeline = timeline ? &*timeline : nullptr,
                                                 .has_kernel_csv = csv.has_value(),
                                                 .manifest = manifest(),
                                                 .name = capture_folder.filename().string()},
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
  [[nodiscard]] Value manifest() const {
    for (const auto* name : {"capture_manifest.json", "combined_manifest.json"})
      if (const fs::path path = fs::path{folder_} / name; fs::exists(path))
        return parse_json_value(io::read_text_file(path.string())).value_or(Value{});
    return {};
  }
  // A little more than the run says it took.
  [[nodiscard]] double fallback_seconds() const {
    if (fallback_s_) return *fallback_s_;
    const fs::path log = fs::path{folder_} / "run.log";
    if (!fs::exists(log)) return 5.0;
    const auto seconds = wall_time(io::read_text_file(log.string()));
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
