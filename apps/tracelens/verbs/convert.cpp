#include <fmt/format.h>

#include <tracelens/convert.hpp>
#include <tracelens/error.hpp>

#include "verb.hpp"

namespace tracelens::app {

class ConvertVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags
        .add("-o,--output", output_,
             "Chrome trace JSON to write: .json, or .json.gz to have it packed")
        .required();
    flags.footer(
        "The result opens in Perfetto (ui.perfetto.dev) and chrome://tracing. Slices that overlap\n"
        "on one thread or GPU queue are drawn on lanes beside each other.\n"
        "Examples:\n"
        "  tracelens convert run.pftrace -o run.json.gz\n"
        "  tracelens convert run_results.json -o timeline.json");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, input_.paths());
    check_trace_output(output_);
    const Trace trace = input_.read(console);
    const ChromeJsonCounts counts = write_chrome_json(trace, output_);
    console.note(fmt::format("wrote {} events to {}", counts.written, output_));
    if (counts.left_out > 0)
      console.detail(
          fmt::format("left out: {} events that are neither slices, instants, flows nor "
                      "names",
                      counts.left_out));
    return kExitOk;
  }

 private:
  TraceInput input_;
  std::string output_;
};

template std::unique_ptr<Verb> make_verb<ConvertVerb>();

}  // namespace tracelens::app
