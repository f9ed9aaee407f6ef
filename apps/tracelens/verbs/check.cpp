#include <tracelens/check.hpp>

#include <fmt/format.h>

#include <span>
#include <tracelens/sinks.hpp>
#include <tracelens/tree.hpp>

#include "verb.hpp"

namespace tracelens::app {

class CheckVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags.add("-o,--output", output_, "Also write the findings to a file or folder");
    add_csv_raw(flags, csv_raw_);
    flags.add("--strict", strict_, "Warnings fail the check too");
    flags.footer(
        "Exit status 0: good enough to analyse; 1: not; 2: could not be read at all.\n"
        "Examples:\n"
        "  tracelens check trace.json.gz\n"
        "  tracelens check trace.json.gz --strict --quiet || echo 'record it again'");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, input_.paths());
    if (!output_.empty()) check_sink(output_);
    const Trace trace = input_.read(console);
    const TraceCheck check =
        check_trace(trace, build_tree(trace, {.python_frames = true, .threads = input_.threads()}));
    if (!output_.empty())
      write_tables(std::span{&check.findings, 1}, output_,
                   {.title = "Check of " + trace.source().name, .csv_raw = csv_raw_});
    console.show(check.findings, 0);
    const bool failed =
        check.verdict == Verdict::kFail || (strict_ && check.verdict == Verdict::kWarn);
    console.note(fmt::format("{}: {}", trace.source().name, sentence(check.verdict)));
    return failed ? kExitCheckFailed : kExitOk;
  }

 private:
  static std::string_view sentence(Verdict verdict) {
    switch (verdict) {
      case Verdict::kOk:
        return "everything the reports want is there";
      case Verdict::kWarn:
        return "good enough to analyse; some tables will be poorer";
      case Verdict::kFail:
        break;
    }
    return "not good enough: GPU time cannot be analysed";
  }

  TraceInput input_;
  std::string output_;
  bool strict_ = false, csv_raw_ = false;
};

template std::unique_ptr<Verb> make_verb<CheckVerb>();

}  // namespace tracelens::app
