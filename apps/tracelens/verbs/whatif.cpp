#include <fmt/format.h>

#include <charconv>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/version.hpp>

#include "verb.hpp"

namespace tracelens::app {

class WhatifVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags
        .add("--scale", scales_,
             "NAME=F: an op, module, annotation or part of a kernel's name takes F times its GPU "
             "time, a call F times its host time; host=F, gpu=F: all of it")
        .repeatable();
    flags
        .add("--zero", zeros_,
             "sync: no call waits for the GPU; comm: collectives take no time; launch: launches "
             "cost nothing; or a NAME as above, which is gone with its host time")
        .repeatable();
    flags.add("--gpu", what_.gpu.name,
              "Kernels as fast as on this GPU, by their roofs; the host stays as it is");
    flags.add("--gpu-arch", what_.gpu.file, "Its figures from a JSON file instead");
    flags
        .add("--steps", what_.steps,
             "Which steps count: steady (without warm-up), all, or their numbers: 3-5")
        .show_default();
    flags.add("--no-overhead-correction", keep_overhead_,
              "Leave the profiler's own cost in the times");
    flags.add("-o,--output", output_, "Also write the table: .csv, .xlsx, .html, .md, .json");
    flags.footer(
        "Examples:\n"
        "  tracelens whatif trace.json.gz --scale aten::mm=0.5          twice as fast\n"
        "  tracelens whatif trace.json.gz --zero sync                   no waits for the GPU\n"
        "  tracelens whatif trace.json.gz --scale host=0.5 --gpu MI300X");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, {input_.path(), what_.gpu.file});
    if (!output_.empty()) check_sink(output_);
    check_step_choice(what_.steps);
    read_flags();
    const Trace trace = input_.read(console);
    const WhatIfAnswer answer = what_if(trace, what_);
    console.show(answer.edits, answer.edits.rows());
    console.say(fmt::format("{}: {:.3f} ms recorded, {:.3f} ms {}, {:.3f} ms predicted",
                            answer.steps == 0  ? "all of it"
                            : answer.steps > 1 ? fmt::format("a step of {}", answer.steps)
                                               : "the step",
                            answer.recorded_ms, answer.now_ms,
                            keep_overhead_ ? "in the model" : "without the profiler",
                            answer.then_ms));
    for (const std::string& sentence : answer.assumptions)
      console.say(fmt::format("  assumed: {}", sentence), 4);
    if (!output_.empty()) {
      write_tables({&answer.edits, 1}, output_,
                   {.title = "What if", .source = {trace.source().name}, .version = kVersion});
      console.note(fmt::format("wrote {}", output_));
    }
    return kExitOk;
  }

 private:
  void read_flags() {
    if (scales_.empty() && zeros_.empty() && what_.gpu.name.empty() && what_.gpu.file.empty())
      throw Error{"whatif", "nothing to change: give --scale, --zero or --gpu"};
    for (const std::string& scale : scales_) {
      const std::size_t sign = scale.find_last_of('=');
      double factor = -1;
      if (sign != std::string::npos) {
        const char* const end = scale.data() + scale.size();
        const auto [stop, error] = std::from_chars(scale.data() + sign + 1, end, factor);
        if (error != std::errc{} || stop != end) factor = -1;
      }
      if (!(factor >= 0 && factor <= 1000) || sign == 0)
        throw Error{"--scale",
                    fmt::format("\"{}\" is not NAME=F with a number from 0 to 1000", scale)};
      what_.scales.push_back({scale.substr(0, sign), factor});
    }
    for (const std::string& zero : zeros_) {
      if (zero == "sync")
        what_.no_sync = true;
      else if (zero == "comm")
        what_.no_communication = true;
      else if (zero == "launch")
        what_.no_launch_cost = true;
      else
        what_.scales.push_back({zero, 0, true});
    }
    what_.correct_overhead = !keep_overhead_;
  }

  TraceInput input_;
  WhatIfOptions what_;
  std::vector<std::string> scales_, zeros_;
  std::string output_;
  bool keep_overhead_ = false;
};

template std::unique_ptr<Verb> make_verb<WhatifVerb>();

}  // namespace tracelens::app
