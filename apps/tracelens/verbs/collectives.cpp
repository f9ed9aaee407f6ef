#include <fmt/format.h>

#include <algorithm>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/redact.hpp>
#include <tracelens/report.hpp>
#include <tracelens/sinks.hpp>

#include "memory_limit.hpp"
#include "page_flags.hpp"
#include "peers.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

// "my_all_reduce.*=allreduce"
CollectiveReportOptions::Pattern parse_pattern(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error{text, "expected a pattern of kernel names and a collective: regex=allreduce"};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

class CollectivesVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags
        .add("traces", inputs_,
             "The ranks' traces: folders, files, patterns ('run/rank*.json.gz') or zip "
             "archives")
        .required();
    flags
        .add("-o,--output", output_,
             "Where to write: a file (.xlsx, .html, .md, .json) or a folder for CSV files (out/)")
        .show_default();
    add_csv_raw(flags, csv_raw_);
    page_.declare(flags);
    page_.declare_redact(flags);
    flags
        .add("--world-size", options_.world_size,
             "Ranks of the job; by default what the traces say")
        .check(count_from(1));
    flags.add("--ranks", options_.only_ranks, "Only these ranks, e.g. 0,8,16")
        .separated_by(',')
        .check(count_from(0));
    flags
        .add("--gpus-per-node", options_.gpus_per_node,
             "Ranks per machine; by default the number of GPUs the first trace lists")
        .check(count_from(1));
    flags
        .add("--link-gbps", options_.link_gbps,
             "Peak of a rank's link in GB/s (10^9 bytes), one direction, for the verdicts; by "
             "default that of the GPU, inside one machine")
        .check(number_above(0));
    const Flag& corrects = flags.add_action(
        "--correct-clocks", [this] { options_.correct_clocks = true; },
        "Take the estimated clock offsets out of all times; by default when those recorded cannot "
        "be true: a rank leaves a collective before another comes");
    flags
        .add_action(
            "--keep-clocks", [this] { options_.correct_clocks = false; },
            "Leave the times of the nccl_ tables and straggler_summary as recorded")
        .excludes(corrects);
    flags
        .add("--collective", patterns_,
             "A kernel that is a collective, may be given several times: regex=name, e.g. "
             "my_all_reduce=allreduce")
        .repeatable();
    flags
        .add("--aggregates", options_.aggregates,
             "How summaries sum up: mean median min max std sum first last p99 ...")
        .separated_by(',')
        .show_default();
    flags.add("!--no-detail", options_.detailed,
              "Leave out the tables with a row per kernel or per collective");
    flags
        .add("--threads", options_.threads,
             "Threads to read with; 0 is one per core. Changes the speed, never the result")
        .check(between(0, 1024))
        .show_default();
    flags
        .add("--memory-mb", memory_mb_,
             "About as much memory for traces that are read at the same time")
        .check(count_from(1))
        .show_default();
    flags.footer(
        "Examples:\n"
        "  tracelens collectives traces/                       finds the ranks; tables in "
        "collectives.xlsx\n"
        "  tracelens collectives traces/ -o ranks.html         a page: who waits for whom\n"
        "  tracelens collectives 'run/rank*.json.gz' --gpus-per-node 8 -o out/\n"
        "  mpirun -n 64 tracelens collectives /shared/traces/  the same over many machines");
  }

  int run(Console& console) override {
    const std::unique_ptr<Peers> peers = find_peers();
    return end_together(peers.get(), console, [&] { return make(peers.get(), console); });
  }

 private:
  int make(Peers* peers, const Console& console) {
    check_sink_for_several(output_);
    for (const std::string& pattern : patterns_)
      options_.patterns.push_back(parse_pattern(pattern));
    options_.page = page_.options(output_);
    if (page_.redacts()) options_.shown = redacted;
    options_.memory_bytes = memory_mb_ << 20;
    if (const auto limit = memory_limit())  // the rest is for what has been read
      options_.memory_bytes = std::min<std::size_t>(options_.memory_bytes, *limit / 2);
    const std::vector<RankFile> files = same_everywhere(peers, [this] { return files_to_read(); });
    std::optional<Report> report = make_collective_report(files, options_, peers);
    if (!report) return kExitOk;  // the first process has it
    report->csv_raw = csv_raw_;
    page_.set_title(report->title);
    if (output_.ends_with(".xlsx")) leave_out_what_excel_cannot_hold(*report);
    for (const std::string& sentence : report->warnings) console.warn(sentence);
    write_report(*report, output_, "collectives");
    console.show(*report, "collectives");
    console.note_written(*report, output_);
    return kExitOk;
  }

  std::vector<RankFile> files_to_read() const {
    std::vector<RankFile> files = find_rank_files(inputs_);
    refuse_overwriting({output_}, paths_of(files));
    return files;
  }

  std::vector<std::string> inputs_, patterns_;
  std::string output_ = "collectives.xlsx";
  bool csv_raw_ = false;
  PageFlags page_;
  std::size_t memory_mb_ = 2048;
  CollectiveReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<CollectivesVerb>();

}  // namespace tracelens::app
