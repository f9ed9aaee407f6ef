// TraceLens_generate_perf_report_rocprof: its flags as our options.
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/rocm.hpp>

#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

// x_results.json -> x_perf_report.xlsx; x_results.json.gz -> x_results_perf_report.xlsx
std::string workbook_of_results(std::string trace) {
  constexpr std::string_view kResults = "_results.json", kReport = "_perf_report.xlsx";
  if (!trace.ends_with(kResults)) return trace.substr(0, trace.rfind(".json")).append(kReport);
  for (auto at = trace.find(kResults); at != std::string::npos;
       at = trace.find(kResults, at + kReport.size()))
    trace.replace(at, kResults.size(), kReport);
  return trace;
}

}  // namespace

class RocprofScript : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("--profile_json_path", trace_, "Results of rocprofv3").required();
    output_.declare(flags, "Folder for one CSV file per sheet instead");
    flags.add("--disable_kernel_summary", no_summary_, "No sheets about kernels by name");
    flags.add("--kernel_details", options_.kernel_details, "Sheet with every dispatch");
    flags.add("--short_kernel_study", options_.short_kernels, "Sheets about short kernels");
    flags.add("--short_kernel_threshold_us", options_.short_kernel_us,
              "What is short, in microseconds");
    flags.add("--short_kernel_histogram_bins", options_.histogram_bins, "Bins")
        .check(between(1, 100'000));
    flags.add("--topk_kernels", options_.top_kernels, "Rows of kernel_details");
  }

  int run(Console& console) override {
    const std::string workbook = output_.default_workbook(workbook_of_results(trace_), console);
    output_.check({trace_}, workbook);
    options_.kernel_summary = !no_summary_;
    const Trace trace = read_with_warnings(trace_, console);
    if (trace.source().recorder != Recorder::kRocprof)
      throw Error{trace_, "not a rocprofv3 file: it has no \"rocprofiler-sdk-tool\""};
    warn_of_more_processes(trace, console);
    output_.write(rocprof_tables(trace, options_), workbook, console);
    return kExitOk;
  }

 private:
  std::string trace_;
  ScriptOutput output_{ScriptOutput::Folder::kInstead};
  RocprofTableOptions options_;
  bool no_summary_ = false;
};

template std::unique_ptr<Verb> make_verb<RocprofScript>();

}  // namespace tracelens::app
