// TraceLens_generate_perf_report_pftrace_hip_activity, _hip_api and _memory_copy: their flags as
// our options.
#include <tracelens/error.hpp>
#include <tracelens/rocm.hpp>

#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {

// The flags and the course of all three.
class PftraceScript : public Verb {
 public:
  explicit PftraceScript(std::string report) : report_{std::move(report)} {}

  void declare(Flags& flags) override {
    flags.add("--trace_path", trace_, "Trace: .pftrace, or JSON of the same events").required();
    output_.declare(flags, "Folder for one CSV file per sheet instead");
    flags.add("--traceconv", traceconv_, "Accepted, without effect: no converter is needed");
    declare_own(flags);
  }

  int run(Console& console) override {
    const std::string workbook = output_.default_workbook(
        trace_base(trace_) + "_pftrace_" + report_ + "_report.xlsx", console);
    const std::string page = this->page(console);
    output_.check({trace_}, workbook);
    refuse_overwriting({page, output_.workbook(workbook)}, {trace_});
    if (!traceconv_.empty())
      console.warn("--traceconv: .pftrace files are read without a converter; ignored");
    const Trace trace = read_with_warnings(trace_, console);
    if (trace.source().recorder != Recorder::kPerfetto &&
        trace.source().recorder != Recorder::kPyTorch)
      throw Error{trace_, "expected a Perfetto trace or JSON with \"traceEvents\""};
    output_.write(tables(trace), workbook, console);
    if (!page.empty()) write_text_file(page, page_text(trace), console);
    return kExitOk;
  }

 protected:
  virtual void declare_own(Flags&) {}
  virtual std::vector<Table> tables(const Trace& trace) = 0;
  // A Markdown page to write as well; empty: none.
  [[nodiscard]] virtual std::string page(const Console&) const { return {}; }
  virtual std::string page_text(const Trace&) { return {}; }
  [[nodiscard]] const std::string& trace_path() const { return trace_; }

 private:
  std::string report_, trace_, traceconv_;
  ScriptOutput output_{ScriptOutput::Folder::kInstead};
};

class ActivityScript : public PftraceScript {
 public:
  ActivityScript() : PftraceScript{"activity"} {}

 protected:
  void declare_own(Flags& flags) override {
    flags.add("--output_md_path", page_, "Also a Markdown page of this name");
    flags.add("--write_md", has_page_, "Also a Markdown page beside the trace");
    flags.add("--merge_kernels", options_.merge_kernels, "Names without their digits");
    flags.add("--min_tid", options_.min_tid, "First thread to look at");
    flags.add("--max_tid", options_.max_tid, "Last thread to look at");
    flags.add("--min_event_ns", options_.min_event_ns, "Leave out what is shorter");
    flags.add("--no_kernel_summary", no_kernels_, "No sheet kernel_summary");
    flags.add("--no_hip_summary", no_hip_, "No sheet hip_summary");
    flags.add("--kernel_summary_include_rccl", options_.include_rccl, "RCCL kernels too");
    flags.add("--kernel_summary_baseline", baseline_, "Base of its percentages")
        .check(one_of({"total", "compute"}));
    flags.add("--kernel_summary_group", kernel_group_, "What makes a row")
        .check(one_of({"config", "name"}));
    flags.add("--hip_summary_group", hip_group_, "What makes a row")
        .check(one_of({"name", "name+stream", "name+op", "name+stream+op"}));
    flags.add("--top_xla", options_.top_xla, "Rows of xla_top");
    flags.add("--kernel_summary_top", options_.kernel_rows, "Rows of it in the page");
    flags.add("--hip_summary_top", options_.hip_rows, "Rows of it in the page");
  }

  std::vector<Table> tables(const Trace& trace) override {
    options_.percent_of_compute = baseline_ == "compute";
    options_.group_by_config = kernel_group_ == "config";
    options_.group_by_stream = hip_group_.find("stream") != std::string::npos;
    options_.group_by_operation = hip_group_.ends_with("op");
    options_.kernel_summary = !no_kernels_;
    options_.hip_summary = !no_hip_;
    return hip_activity_tables(trace, options_);
  }

  [[nodiscard]] std::string page(const Console& console) const override {
    if (!page_.empty() || !has_page_) return page_;
    return beside_or_here(trace_base(trace_path()) + "_report.md", console);
  }
  std::string page_text(const Trace& trace) override {
    return hip_activity_markdown(trace, options_);
  }

 private:
  std::string page_, baseline_ = "total", kernel_group_ = "config", hip_group_ = "name";
  bool has_page_ = false, no_kernels_ = false, no_hip_ = false;
  HipActivityOptions options_;
};

class ApiScript : public PftraceScript {
 public:
  ApiScript() : PftraceScript{"hip_api"} {}

 protected:
  void declare_own(Flags& flags) override {
    flags.add("--exclude_kernel_regex", options_.exclude_kernels,
              "Kernels to leave out; empty: none");
    flags.add("--allow_multi_kernel_per_api", options_.all_kernels,
              "All kernels of a call instead of the first");
    flags.add("--include_nonlaunch_apis", options_.other_calls, "Also calls that launch nothing");
  }
  std::vector<Table> tables(const Trace& trace) override {
    return {hip_api_table(trace, options_)};
  }

 private:
  HipApiOptions options_;
};

class MemoryCopyScript : public PftraceScript {
 public:
  MemoryCopyScript() : PftraceScript{"memory_copy"} {}

 protected:
  std::vector<Table> tables(const Trace& trace) override { return {memory_copy_table(trace)}; }
};

template std::unique_ptr<Verb> make_verb<ActivityScript>();
template std::unique_ptr<Verb> make_verb<ApiScript>();
template std::unique_ptr<Verb> make_verb<MemoryCopyScript>();

}  // namespace tracelens::app
