// TraceLens_split_inference_trace: its flags as our options.
#include <fmt/format.h>

#include <tracelens/split.hpp>

#include "verb.hpp"

namespace tracelens::app {

class SplitScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    flags.add("trace_path", trace_, "Trace: .json, .json.gz, .zip").required();
    flags.add("-o,--output-dir", folder_, "Folder for the parts").required();
    flags.add("-i,--iterations", range_, "all, a number, or START:END").show_default();
    flags.add("--store-single-iteration", options_.each, "A file for each iteration");
    flags.add("--find-steady-state", options_.steady_state,
              "A mixed, a decode-only and a prefill-decode window of the steady state");
    flags.add("--num-steps", options_.steps, "Steps of a window; 32 unless given")
        .check(count_from(1));
    flags.add("--CONC", options_.concurrency, "Requests the load keeps running")
        .check(count_from(1));
    flags.add("--OSL", options_.output_tokens, "Most tokens of an answer").check(number_above(0));
    flags.add("--R", options_.length_ratio, "Fewest tokens of an answer, as a part of the most")
        .check(between(-1e9, 1e9));  // what is beyond 0 and 1 counts as these
    flags.add("--divide-phases", options_.phases, "A file for each run of the same phase");
  }

  int run(Console& console) override {
    refuse_overwriting({folder_}, {trace_});
    options_.range = parse_step_range(range_);
    const SplitResult result = split_trace(trace_, folder_, options_);
    for (const std::string& sentence : result.warnings) console.warn(sentence);
    console.print(fmt::format("Found {} iterations\n", result.steps));
    for (const std::string& file : result.files) console.print(fmt::format("Wrote {}\n", file));
    return kExitOk;
  }

 private:
  std::string trace_, folder_, range_ = "all";
  SplitOptions options_;
};

template std::unique_ptr<Verb> make_verb<SplitScript>();

}  // namespace tracelens::app
