// TraceLens_generate_multi_rank_collective_report_pytorch: its flags as our options.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <utility>

#include "verb.hpp"

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The first of the names that is there, in the order given.
std::string first_existing(const std::vector<std::string>& paths) {
  const auto found = std::ranges::find_if(paths, exists);
  if (found == paths.end()) throw Error{paths.front(), "expected trace file not found"};
  return *found;
}

// The folder that all paths are in.
fs::path common_folder(const std::vector<RankFile>& files) {
  fs::path common = fs::absolute(files.front().path).parent_path();
  for (const RankFile& file : files) {
    const fs::path folder = fs::absolute(file.path).parent_path();
    const auto [end, unused] =
        std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
    fs::path shared;
    for (auto part = common.begin(); part != end; ++part) shared /= *part;
    common = shared;
  }
  return common;
}

}  // namespace

class CollectiveReportScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    options_.rank_by_position = true;
    options_.heatmap = options_.diagnosis = false;

    Flags& source = flags.add_choice("source", "Exactly one of these");
    source.add("--trace_dir", folder_, "Folder with rank<i>_trace.json or .json.gz");
    source.add("--trace_pattern", pattern_, "Path with one * in the place of the rank");
    source.add("--trace_glob", glob_, "Pattern of paths; ranks by --rank_regex");
    flags.add("--rank_regex", rank_regex_, "How --trace_glob finds the rank in a path");
    flags.add("--world_size", world_size_, "Number of ranks").required();
    flags.add("--output_xlsx_path", workbook_, "Workbook to write");
    flags.add("--output_csvs_dir", csv_folder_, "Folder for one CSV file per sheet");
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
    if (world_size_ <= 0) throw Error{"--world_size", "expected a positive number"};
    if (!workbook_.empty() && !workbook_.ends_with(".xlsx"))
      throw Error{workbook_, "expected a name that ends in .xlsx"};
    options_.world_size = world_size_;
    options_.detailed = !no_details_;
    const std::vector<RankFile> files = rank_files();
    const std::string workbook =
        workbook_.empty() && csv_folder_.empty()
            ? ((folder_.empty() ? common_folder(files) : fs::path{folder_}) /
               "nccl_analysis_report.xlsx")
                  .string()
            : workbook_;
    const Report report = make_collective_report(files, options_).value();
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    if (!csv_folder_.empty())
      write_report(report, csv_folder_.ends_with('/') ? csv_folder_ : csv_folder_ + '/');
    if (!workbook.empty()) write_report(report, workbook);
    console.print(fmt::format("wrote {} sheets to {}\n", report.tables.size(),
                              workbook.empty() ? csv_folder_ : workbook));
    return kExitOk;
  }

 private:
  [[nodiscard]] std::vector<RankFile> rank_files() const {
    if (!glob_.empty()) return files_by_glob();
    std::vector<RankFile> files;
    for (std::int64_t rank = 0; rank < world_size_; ++rank)
      files.push_back(
          {folder_.empty() ? first_existing({of_pattern(rank)}) : of_folder(rank), rank});
    return files;
  }

  [[nodiscard]] std::string of_pattern(std::int64_t rank) const {
    const std::size_t star = pattern_.find('*');
    if (star == std::string::npos || pattern_.find('*', star + 1) != std::string::npos)
      throw Error{pattern_, "expected exactly one * in the place of the rank"};
    return pattern_.substr(0, star) + std::to_string(rank) + pattern_.substr(star + 1);
  }

  [[nodiscard]] std::string of_folder(std::int64_t rank) const {
    const std::string stem = folder_ + "/rank" + std::to_string(rank) + "_trace.json";
    return first_existing({stem, stem + ".gz"});
  }

  [[nodiscard]] std::vector<RankFile> files_by_glob() const {
    std::map<std::int64_t, std::string> by_rank;
    std::vector<std::string> paths;
    for (RankFile& file : find_rank_files({glob_})) paths.push_back(std::move(file.path));
    std::ranges::sort(paths);
    for (const std::string& path : paths)
      if (const auto rank = rank_in_path(path, rank_regex_)) by_rank.try_emplace(*rank, path);
    if (by_rank.empty())
      throw Error{glob_, fmt::format("{} files, but --rank_regex '{}' finds a rank in none",
                                     paths.size(), rank_regex_)};
    std::vector<RankFile> files;
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < world_size_; ++rank) {
      const auto found = by_rank.find(rank);
      if (found == by_rank.end())
        missing.push_back(rank);
      else
        files.push_back({found->second, rank});
    }
    if (!missing.empty())
      throw Error{glob_, fmt::format("no file for the ranks {}", fmt::join(missing, ", "))};
    return files;
  }

  std::string folder_, pattern_, glob_, rank_regex_ = kRankRegex, workbook_, csv_folder_;
  std::int64_t world_size_ = 0;
  bool no_details_ = false, accepted_ = false;
  CollectiveReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<CollectiveReportScript>();

}  // namespace tracelens::app
