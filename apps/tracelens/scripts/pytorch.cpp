// TraceLens_generate_perf_report_pytorch: its flags as our options.
#include "scripts/perf_report.hpp"

namespace tracelens::app {

class PytorchReportScript : public PerfReportScript {
 public:
  void declare(Flags& flags) override {
    declare_common(flags);
    flags.add("--inductor_cache_dir", ignored_, "Accepted, without effect");
    flags.add("--detect_recompute", options_.recompute, "Tell recomputed work apart");
    flags.add("--include_first_occurrence_time", options_.first_occurrence, "Extra column");
  }
};

template std::unique_ptr<Verb> make_verb<PytorchReportScript>();

}  // namespace tracelens::app
