// perf_report.hpp: what the two scripts that report on a PyTorch trace have in common: of training,
// and of serving.
//   class PytorchReportScript : public PerfReportScript { ... declare_common(flags); ... };
#pragma once

#include <string>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "scripts/origami.hpp"
#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {

class PerfReportScript : public Verb {
 public:
  int run(Console& console) override;

 protected:
  void declare_common(Flags& flags);
  // Throws Error when the flags do not go together; asked before anything is read.
  virtual void check() {}
  // Files and folders that are read beside the traces.
  [[nodiscard]] virtual std::vector<std::string> other_inputs() const { return {}; }
  // The trace, or with `is_comparison` the one it is compared with, as the report is about it.
  [[nodiscard]] virtual Trace prepare(Trace trace, bool is_comparison, Console& console);

  ReportOptions options_;
  std::string comparison_;
  bool no_collectives_ = false, pseudo_ops_ = false;
  std::string ignored_;  // the values of flags without effect

 private:
  std::string trace_, extension_;
  bool kernel_summary_ = false, short_kernels_ = false, overlap_ = false;
  OrigamiFlags origami_;
  ScriptOutput output_{ScriptOutput::Folder::kToo};
};

}  // namespace tracelens::app
