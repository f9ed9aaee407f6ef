// TraceLens_generate_multi_rank_collective_report_pytorch: its flags as our options.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>

#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {

class CollectiveReportScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    options_.rank_by_position = true;
    options_.heatmap = false;

    Flags& source = flags.add_choice("source", "Exactly one of these");
    source.add("--trace_dir", folder_, "Folder with rank<i>_trace.json or .json.gz");
    source.add("--trace_pattern", pattern_, "Path with one * in the place of the rank");
    source.add("--trace_glob", glob_, "Pattern of paths; ranks by --rank_regex");
    flags.add("--rank_regex", rank_regex_, "How --trace_glob finds the rank in a path");
    flags.add("--world_size", world_size_, "Number of ranks; must be given");
    output_.declare(flags, "Folder for one CSV file per sheet");
    const Flag& detailed = flags.add("--detailed_analysis", accepted_,
                                     "Sheets with a row per event; they are the default");
    flags.add("--no_detailed_analysis", no_details_, "Leave those sheets out").excludes(detailed);
    flags.add("--agg_metrics", options_.aggregates, "How to sum up, e.g. mean std p99");
    flags.add("--use_multiprocessing", accepted_, "Accepted: traces are read in parallel anyway");
    flags.add("--max_workers", options_.threads, "Threads to read with");
    flags.add("--gpus_per_node", options_.gpus_per_node, "For the node columns");
    flags.add("--all2allv_heatmap", options_.heatmap, "Sheet of who sends how much to whom");
  }

  int run(Console& console) override {
    // In the words of the Python TraceLens: scripts look for them.
    if (!world_size_) throw Error{"collective report", "world_size must be provided"};
    if (*world_size_ <= 0) throw Error{"--world_size", "expected a positive number"};
    if (options_.gpus_per_node && *options_.gpus_per_node <= 0)
      throw Error{"collective report",
                  fmt::format("--gpus_per_node must be a positive integer, got {}",
                              *options_.gpus_per_node)};
    static_cast<void>(output_.workbook(""));  // a wrong name is told before anything is read
    options_.world_size = world_size_;
    options_.detailed = !no_details_;
    const std::vector<RankFile> files = rank_files();
    const std::filesystem::path beside = folder_.empty() ? common_folder(files) : folder_;
    const std::string workbook =
        output_.workbook(output_.default_workbook(beside / "nccl_analysis_report.xlsx", console));
    refuse_overwriting({workbook, output_.folder()}, paths_of(files));
    const Report report = make_collective_report(files, options_).value();
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    if (!output_.folder().empty()) write_report(report, as_folder(output_.folder()));
    if (!workbook.empty()) write_report(report, workbook);
    console.print(fmt::format("wrote {} sheets to {}\n", report.tables.size(),
                              workbook.empty() ? output_.folder() : workbook));
    return kExitOk;
  }

 private:
  [[nodiscard]] std::vector<RankFile> rank_files() const {
    if (!glob_.empty()) return ranks_by_glob(glob_, rank_regex_, *world_size_);
    if (!folder_.empty()) return ranks_in_folder(folder_, *world_size_);
    return ranks_by_pattern(pattern_, *world_size_);
  }

  std::string folder_, pattern_, glob_, rank_regex_ = kRankRegex;
  ScriptOutput output_{ScriptOutput::Folder::kToo};
  std::optional<std::int64_t> world_size_;
  bool no_details_ = false, accepted_ = false;
  CollectiveReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<CollectiveReportScript>();

}  // namespace tracelens::app
