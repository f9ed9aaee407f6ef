#include <fmt/format.h>

#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>

#include "verb.hpp"

namespace tracelens::app {

class CritpathVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags.add(
        "-o,--output", output_,
        "Write the trace with its critical path marked and with arrows along it, for a trace viewer "
        "(.json, .json.gz)");
    flags.add("--only-critical", overlay_.only_critical,
              "Of that, only the events of the path, annotations and Python frames");
    flags.add("--counters", overlay_.counters,
              "Into that, launches that wait per stream and the rates of copies, as counters");
    flags.add("--critical-path", mode_, "native, or as Holistic Trace Analysis finds it: hta")
        .check(one_of({"native", "hta"}))
        .show_default();
    flags
        .add("--annotation", hta_.annotation,
             "hta: the path of the events in the annotation whose name holds this text")
        .show_default();
    flags.add("--instance", hta_.first, "hta: which of these annotations, from 0").show_default();
    flags
        .add("--steps", overlay_.steps,
             "Which steps count: steady (without warm-up), all, or their numbers: 3-5")
        .show_default();
    flags.add("--top", top_, "Rows of each table to show").check(between(1, 1000)).show_default();
    flags.footer(
        "Examples:\n"
        "  tracelens critpath trace.json.gz                             what the run is bound by\n"
        "  tracelens critpath trace.json.gz -o overlay.json.gz          and a trace to look at\n"
        "  tracelens critpath trace.json.gz --critical-path hta");
  }

  int run(Console& console) override {
    if (output_.empty() && (overlay_.only_critical || overlay_.counters))
      throw Error{"critpath", "--only-critical and --counters are about the trace that -o writes"};
    if (!output_.empty()) check_trace_output(output_);
    check_step_choice(overlay_.steps);
    refuse_overwriting({output_}, input_.paths());
    const Trace trace = input_.read(console);
    hta_.last = hta_.first;
    const CriticalPathAnswer answer =
        mode_ == "hta" ? find_hta_path(trace, hta_) : find_critical_path(trace, overlay_.steps);
    for (const Table& table : answer.tables)
      console.show(table, top_, excerpt_of(table, "report").columns);
    if (!console.quiet)
      for (const std::string& sentence : answer.sentences) console.say(sentence);
    if (output_.empty()) return kExitOk;
    const OverlayCounts counts = write_path_overlay(trace, output_, overlay_);
    console.note(fmt::format("wrote {} events to {}: {} are on the path, {} arrows", counts.events,
                             output_, counts.critical, counts.arrows));
    return kExitOk;
  }

 private:
  TraceInput input_;
  HtaPathOptions hta_;
  OverlayOptions overlay_;
  std::string output_, mode_ = "native";
  std::size_t top_ = 20;
};

template std::unique_ptr<Verb> make_verb<CritpathVerb>();

}  // namespace tracelens::app
