// TraceLens_generate_perf_report_pytorch: its flags as our options.
#include <fmt/format.h>

#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>

#include "scripts/origami.hpp"
#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

// runs/x.json.gz -> runs/x_perf_report.xlsx: the path cut at its last ".json"
std::string workbook_beside_trace(const std::string& trace) {
  return trace.substr(0, trace.rfind(".json")) + "_perf_report.xlsx";
}

}  // namespace

class PytorchReportScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    options_.gpu_from_trace = false;
    options_.without = {"idle", "warnings"};
    options_.achievable_peaks = true;

    flags.add("--profile_json_path", trace_, "Trace to report on").required();
    output_.declare(flags, "Folder for one CSV file per sheet");
    flags.add("--include_unlinked_kernels", options_.include_unlinked,
              "GPU events without a launch count in the timeline");
    flags.add("--micro_idle_thresh_us", options_.micro_idle_us, "Split idle time here")
        .check(count_from(0));
    flags.add("--disable_coll_analysis", no_collectives_, "No sheet coll_analysis");
    flags.add("--enable_kernel_summary", kernel_summary_, "Sheet kernel_summary");
    flags.add("--short_kernel_study", short_kernels_, "Sheets about short kernels");
    flags.add("--short_kernel_threshold_us", options_.short_kernel_us, "What is short")
        .check(number_from(0));
    flags.add("--short_kernel_histogram_bins", options_.histogram_bins, "Bins")
        .check(between(1, 100'000));
    flags.add("--topk_short_kernels", options_.top_short_kernels, "Rows to keep")
        .check(count_from(0));
    flags.add("--enable_pseudo_ops", pseudo_ops_, "Accepted; made-up ops are not there yet");
    flags.add("--topk_ops", ignored_, "Accepted, without effect");
    flags.add("--topk_roofline_ops", ignored_, "Accepted, without effect");
    flags.add("--comparison_json_path", comparison_,
              "Second trace: columns about it in unified_perf_summary, and sheet diff_stats");
    flags.add("--extension_file", extension_, "Python extensions are not supported");
    flags.add("--python_path", ignored_, "Accepted, without effect");
    const Flag& file = flags.add("--gpu_arch_json_path", options_.gpu_file, "GPU figures");
    flags.add("--gpu_arch_platform", options_.gpu, "Known GPU").excludes(file);
    flags.add("--group_by_num_kernels", options_.group_by_kernel_count, "Group by it too");
    origami_.declare(flags);
    flags.add("--inductor_cache_dir", ignored_, "Accepted, without effect");
    flags.add("--include_overlap_info", overlap_, "Sheets about overlapping kernels");
    flags.add("--detect_recompute", options_.recompute, "Tell recomputed work apart");
    flags.add("--include_first_occurrence_time", options_.first_occurrence, "Extra column");
    flags.add("--include_call_stack", options_.call_stack, "Call stack columns");
  }

  int run(Console& console) override {
    if (!extension_.empty())
      throw Error{extension_,
                  "Python extensions are not supported; declare ops with "
                  "`tracelens report --models file.json` instead"};
    if (pseudo_ops_)
      console.warn("--enable_pseudo_ops: made-up ops are not supported yet; ignored");
    origami_.warn(console);
    if (no_collectives_) options_.without.emplace_back("collectives");
    if (!kernel_summary_) options_.without.emplace_back("kernel-summary");
    if (!short_kernels_) options_.without.emplace_back("short-kernels");
    if (overlap_) options_.also.emplace_back("overlap");

    const std::string workbook = output_.default_workbook(workbook_beside_trace(trace_), console);
    output_.check({trace_, comparison_, options_.gpu_file}, workbook);

    check_options(options_);
    const Trace trace = read_with_warnings(trace_, console);
    Report report = make_report(trace, options_);
    if (!comparison_.empty())
      add_other_trace(report, trace, read_with_warnings(comparison_, console), options_);
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    output_.write(report, workbook, console);
    return kExitOk;
  }

 private:
  std::string trace_, comparison_, extension_, ignored_;
  bool kernel_summary_ = false, short_kernels_ = false, overlap_ = false;
  bool no_collectives_ = false, pseudo_ops_ = false;
  OrigamiFlags origami_;
  ScriptOutput output_{ScriptOutput::Folder::kToo};
  ReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<PytorchReportScript>();

}  // namespace tracelens::app
