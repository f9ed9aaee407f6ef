// TraceLens_generate_perf_report_jax: its flags as our options.
#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>

#include "huge_pages.hpp"
#include "scripts/origami.hpp"
#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

// runs/vm.xplane.pb -> runs/vm_perf_report.xlsx
std::string workbook_beside_profile(const std::string& profile) {
  return profile.substr(0, profile.rfind(".xplane.pb")) + "_perf_report.xlsx";
}

}  // namespace

class JaxReportScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    options_.gpu_from_trace = false;
    options_.without = {"warnings"};
    flags.add("--profile_path", profile_, "Profile to report on: *.xplane.pb, or its folder")
        .required();
    output_.declare(flags, "Folder for one CSV file per sheet, no workbook");
    flags.add("--kernel_metadata_keyword_filters", options_.op_keywords,
              "Only kernels whose HLO op's metadata has one of these words");
    const Flag& file = flags.add("--gpu_arch_json_path", options_.gpu_file, "GPU figures");
    flags.add("--gpu_arch_platform", options_.gpu, "Known GPU").excludes(file);
    origami_.declare(flags);
  }

  int run(Console& console) override {
    origami_.warn(console);
    const std::string workbook =
        output_.default_workbook(workbook_beside_profile(profile_), console);
    output_.check({profile_, options_.gpu_file}, workbook);

    prepare_memory_for({profile_});
    const Trace trace = read_trace(profile_, {.threads = 0, .on_progress = console.progress_bar()});
    console.clear_progress();
    if (trace.source().recorder != Recorder::kJax)
      throw Error{profile_, "not a JAX profile; expected *.xplane.pb"};
    for (const auto& warning : trace.warnings().entries())
      console.warn(fmt::format("{}: {} ({}x)", profile_, warning.what, warning.count));
    if (output_.folder().empty()) options_.most_rows = SheetLimits{}.rows;
    const Report report = make_report(trace, options_);
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    output_.write(report, workbook, console);
    return kExitOk;
  }

 private:
  std::string profile_;
  ScriptOutput output_{ScriptOutput::Folder::kInstead};
  OrigamiFlags origami_;
  ReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<JaxReportScript>();

}  // namespace tracelens::app
