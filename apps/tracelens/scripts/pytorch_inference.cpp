// TraceLens_generate_perf_report_pytorch_inference: its flags as our options.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/graph_stitching.hpp>
#include <utility>

#include "scripts/perf_report.hpp"

namespace tracelens::app {

class InferenceReportScript : public PerfReportScript {
 public:
  void declare(Flags& flags) override {
    declare_common(flags);
    options_.inference = true;
    no_collectives_ = true;  // there is no flag that switches them on
    flags.add("--group_by_parent_module", options_.group_by_module,
              "Rows of the sheets of ops by class of nn.Module, and the modules around");
    flags.add("--capture_folder", captures_,
              "Traces of graph captures: replayed kernels are attributed to the captured ops");
    flags.add("--comparison_capture_folder", comparison_captures_, "The same for the second trace");
  }

 private:
  void check() override {
    if (!comparison_captures_.empty() && comparison_.empty())
      throw Error{"--comparison_capture_folder", "needs --comparison_json_path"};
  }
  [[nodiscard]] std::vector<std::string> other_inputs() const override {
    return {captures_, comparison_captures_};
  }
  [[nodiscard]] Trace prepare(Trace trace, bool is_comparison, Console& console) override {
    const std::string& captures = is_comparison ? comparison_captures_ : captures_;
    GraphStitching stitching;
    if (captures.empty()) {
      stitching = unstitched_graphs(trace);
    } else {
      StitchedTrace stitched =
          stitch_graphs(std::move(trace), captures, {.edition = Edition::kReference});
      trace = std::move(stitched.trace);
      stitching = std::move(stitched.stitching);
    }
    for (const std::string& note : stitching.notes) console.warn(note);
    warn_of_opaque_graphs(stitching, console);
    if (!is_comparison) {
      stitching_ = std::move(stitching);
      options_.stitching = &stitching_;
    }
    return PerfReportScript::prepare(std::move(trace), is_comparison, console);
  }

  static void warn_of_opaque_graphs(const GraphStitching& stitching, const Console& console) {
    const auto is_opaque = [](const StitchedLaunch& each) { return each.matched < each.kernels; };
    const auto count = std::ranges::count_if(stitching.launches, is_opaque);
    if (count == 0) return;
    const StitchedLaunch& first = *std::ranges::find_if(stitching.launches, is_opaque);
    console.warn(
        fmt::format("the kernels of {} of {} graph launches are not attributed to captured ops: {}",
                    count, stitching.launches.size(), first.reason));
  }

  GraphStitching stitching_;
  std::string captures_, comparison_captures_;
};

template std::unique_ptr<Verb> make_verb<InferenceReportScript>();

}  // namespace tracelens::app
