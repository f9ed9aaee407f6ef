// TraceLens_generate_perf_report_pytorch_inference: its flags as our options.
#include <tracelens/error.hpp>

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

  std::string captures_, comparison_captures_;
};

template std::unique_ptr<Verb> make_verb<InferenceReportScript>();

}  // namespace tracelens::app
