#include <fmt/format.h>

#include <cmath>
#include <tracelens/error.hpp>
#include <tracelens/fuse.hpp>

#include "verb.hpp"

namespace tracelens::app {
namespace {

std::int64_t ns_of_ms(double ms) { return static_cast<std::int64_t>(std::llround(ms * 1e6)); }

}  // namespace

class FuseVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags
        .add("traces", inputs_,
             "The ranks' traces: folders, files, patterns ('run/rank*.json.gz') or zip "
             "archives")
        .required();
    flags.add("-o,--output", output_, "File to write; packed when it ends in .gz").show_default();
    flags.add("--ranks", options_.only_ranks, "Only these ranks, e.g. 0,8,16")
        .separated_by(',')
        .check(count_from(0));
    const Flag& python = flags.add("--python,!--no-python", options_.python,
                                   "Keep the Python frames; they are left out by default");
    flags
        .add("--only", options_.only,
             "Only kernels and GPU annotations whose names hold this word, e.g. nccl")
        .excludes(python);
    flags
        .add("--categories", options_.categories,
             "Only events of these categories, e.g. kernel,gpu_memcpy")
        .separated_by(',');
    flags.add("--from-ms", from_ms_, "Only events after this time from the first event on")
        .check(number_from(0));
    flags.add("--to-ms", to_ms_, "Only events before this time from the first event on")
        .check(number_from(0));
    flags.add("--align-clocks", options_.align_clocks,
              "Shift each rank by the clock difference that the ends of collectives tell");
    flags.add("--gpus-per-node", options_.gpus_per_node, "Ranks that share a clock")
        .check(count_from(1));
    flags.footer(
        "Examples:\n"
        "  tracelens fuse traces/ -o merged.json.gz           one file for Perfetto\n"
        "  tracelens fuse traces/ --ranks 0,8 --only nccl     the collectives of two ranks\n"
        "  tracelens fuse traces/ --from-ms 100 --to-ms 250");
  }

  int run(Console& console) override {
    options_.window = window();
    const std::vector<RankFile> files = find_rank_files(inputs_);
    refuse_overwriting({output_}, paths_of(files));
    const FuseResult result = fuse_traces(files, output_, options_);
    for (const std::string& sentence : result.warnings) console.warn(sentence);
    console.note(fmt::format("wrote {} events of {} rank{} to {}", result.events, result.ranks,
                             result.ranks == 1 ? "" : "s", output_));
    return kExitOk;
  }

 private:
  [[nodiscard]] std::optional<FuseOptions::Window> window() const {
    if (!from_ms_ && !to_ms_) return std::nullopt;
    constexpr double kEndOfTime = 4e12;  // ms: 126 years
    const double from = from_ms_.value_or(0), to = to_ms_.value_or(kEndOfTime);
    if (from >= kEndOfTime) throw Error{"--from-ms", "expected a time below 4e12 ms"};
    if (to > kEndOfTime) throw Error{"--to-ms", "expected a time of at most 4e12 ms"};
    if (to <= from) throw Error{"--to-ms", "expected a time after --from-ms"};
    return FuseOptions::Window{ns_of_ms(from), ns_of_ms(to)};
  }

  std::vector<std::string> inputs_;
  std::string output_ = "fused.json.gz";
  std::optional<double> from_ms_, to_ms_;
  FuseOptions options_;
};

template std::unique_ptr<Verb> make_verb<FuseVerb>();

}  // namespace tracelens::app
