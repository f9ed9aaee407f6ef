#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <tracelens/split.hpp>

#include "verb.hpp"

namespace tracelens::app {

class SplitVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags.add("-o,--output", folder_, "Folder for the parts; made if need be").required();
    flags.add("--iterations", range_, "Only these steps: 7, or 100:164, counted from 0");
    flags
        .add("--steps", options_.steps,
             "Steps of a window; 32 unless given, or as many as --iterations names")
        .check(count_from(1));
    flags.add("--each", options_.each, "A part for every step");
    const Flag& phases =
        flags.add("--phases", options_.phases, "A part for every run of steps of the same phase");
    flags
        .add("--steady-state", options_.steady_state,
             "Three windows of the busiest time: typical steps, steps that only decode, steps with "
             "new requests")
        .excludes(phases);
    flags.add("--match", other_,
              "Another trace: for each phase, the windows of both that work on the most similar "
              "requests; --steps is 16 unless given");
    flags
        .add("--concurrency", options_.concurrency,
             "Requests the load keeps running; with the next two it tells how many steps of a "
             "typical window have new requests")
        .check(count_from(1));
    flags.add("--output-tokens", options_.output_tokens, "Most tokens a request asks for")
        .check(number_above(0));
    flags
        .add("--length-ratio", options_.length_ratio,
             "Fewest tokens a request asks for, as a part of the most")
        .check(between(0.0, 1.0));
    flags.footer(
        "Without a choice of parts: one window after the other. Every part is a trace of its own\n"
        "(.json.gz); parts.csv lists them. Steps are those of the serving engine's annotations,\n"
        "else those of the profiler or of the loop the trace was recorded around.\n"
        "Examples:\n"
        "  tracelens split serve.json.gz -o parts/ --steady-state --steps 32\n"
        "  tracelens split serve.json.gz -o parts/ --iterations 100:164\n"
        "  tracelens split serve.json.gz -o parts/ --phases\n"
        "  tracelens split before.json.gz --match after.json.gz -o pairs/");
  }

  int run(Console& console) override {
    refuse_overwriting({folder_}, {input_.path(), other_});
    if (!other_.empty()) return match(console);
    if (!options_.steady_state &&
        (options_.concurrency || options_.output_tokens || options_.length_ratio))
      throw UsageError{"--concurrency, --output-tokens and --length-ratio go with --steady-state"};
    if (!range_.empty()) options_.range = parse_step_range(range_);
    options_.threads = input_.threads();
    options_.on_progress = console.progress_bar();
    const SplitResult result = split_trace(input_.path(), folder_, options_);
    console.clear_progress();
    for (const std::string& sentence : result.warnings) console.warn(sentence);
    console.show(result.parts, kMaxRows);
    console.note(fmt::format("{} step{}; wrote {} part{} to {}", result.steps,
                             result.steps == 1 ? "" : "s", result.files.size(),
                             result.files.size() == 1 ? "" : "s", folder_));
    return kExitOk;
  }

 private:
  int match(Console& console) {
    if (options_.each || options_.phases || options_.steady_state || !range_.empty() ||
        options_.concurrency || options_.output_tokens || options_.length_ratio)
      throw UsageError{"--match chooses the steps itself: leave out the flags that do"};
    MatchOptions options{.threads = input_.threads(), .on_progress = console.progress_bar()};
    if (options_.steps) options.steps = *options_.steps;
    const MatchResult result = match_traces(input_.path(), other_, folder_, options);
    console.clear_progress();
    for (const std::string& note : result.notes) console.warn(note);
    if (result.files.empty())
      throw Error{input_.path(),
                  fmt::format("has no window like one of {}: nothing is written", other_)};
    console.show(result.matches, kMaxRows);
    console.note(fmt::format("wrote {} parts to {}", result.files.size(), folder_));
    return kExitOk;
  }

  static constexpr std::size_t kMaxRows = 20;
  TraceInput input_;
  std::string folder_, range_, other_;
  SplitOptions options_;
};

template std::unique_ptr<Verb> make_verb<SplitVerb>();

}  // namespace tracelens::app
