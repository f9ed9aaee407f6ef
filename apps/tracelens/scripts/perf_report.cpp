#include "scripts/perf_report.hpp"

#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <utility>

namespace tracelens::app {
namespace {

// runs/x.json.gz -> runs/x_perf_report.xlsx: the path cut at its last ".json"
std::string workbook_beside_trace(const std::string& trace) {
  return trace.substr(0, trace.rfind(".json")) + "_perf_report.xlsx";
}

}  // namespace

void PerfReportScript::declare_common(Flags& flags) {
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
  flags.add("--enable_pseudo_ops", pseudo_ops_,
            "Ops made up around kernels of MoE and attention that none of their own stands for");
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
  flags.add("--include_overlap_info", overlap_, "Sheets about overlapping kernels");
  flags.add("--include_call_stack", options_.call_stack, "Call stack columns");
}

Trace PerfReportScript::prepare(Trace trace, bool /*is_comparison*/, Console& /*console*/) {
  if (!pseudo_ops_) return trace;
  PseudoOpOptions options = pseudo_op_options(Edition::kReference);
  const bool is_merged = options_.stitching != nullptr && options_.stitching->merged;
  options.python_frames =
      options_.call_stack || options_.group_by_module || options_.recompute || is_merged;
  return add_pseudo_ops(std::move(trace), options);
}

int PerfReportScript::run(Console& console) {
  if (!extension_.empty())
    throw Error{extension_,
                "Python extensions are not supported; declare ops with "
                "`tracelens report --models file.json` instead"};
  check();
  origami_.warn(console);
  if (no_collectives_) options_.without.emplace_back("collectives");
  if (!kernel_summary_) options_.without.emplace_back("kernel-summary");
  if (!short_kernels_) options_.without.emplace_back("short-kernels");
  if (overlap_) options_.also.emplace_back("overlap");

  const std::string workbook = output_.default_workbook(workbook_beside_trace(trace_), console);
  std::vector<std::string> inputs = other_inputs();
  inputs.insert(inputs.end(), {trace_, comparison_, options_.gpu_file});
  output_.check(inputs, workbook);

  check_options(options_);
  const Trace trace = prepare(read_with_warnings(trace_, console), false, console);
  Report report = make_report(trace, options_);
  if (!comparison_.empty())
    add_other_trace(report, trace, prepare(read_with_warnings(comparison_, console), true, console),
                    options_);
  for (const std::string& sentence : report.warnings) console.warn(sentence);
  output_.write(report, workbook, console);
  return kExitOk;
}

}  // namespace tracelens::app
