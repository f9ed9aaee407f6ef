// collectives: many ranks: who waits for whom.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tracelens/collectives.hpp>
#include <tracelens/rank_reader.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kCollectivesArguments[] = {
    {.name = "folder"},
    {.name = "traces",

     .is_list = true,
     .least = 1,
     .most = 1024},
    {.name = "group", .description = "process group"},
    {.name = "op", .description = "part of a name"},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 200, .otherwise = 15},
};

constexpr std::size_t kSectionRowsOfRanks = 6;

Section sorted_section(const Table& table, std::string_view by, std::string name, std::string title,
                       std::vector<std::string_view> columns) {
  Table sorted = table;
  if (sorted.has_column(by)) sorted.sort_by(by, Order::kDescending);
  std::string whole = fmt::format("tracelens collectives writes all of {}", table.name());
  return {std::move(name), std::move(title), std::move(whole),
          grid_of(sorted, columns, kSectionRowsOfRanks)};
}

Answer answer_of_ranks(const Report& report, const Call& call) {
  Answer answer;
  if (report.overview) {
    const std::string verdict = clean_sentence(report.overview->verdict);
    answer.lead = verdict + "\n\n";
    answer.more.emplace_back("verdict", verdict);
  }
  if (const Table* const table = report.find("comm_verdict")) {
    answer.title = "Collectives by what they cost, and why";
    answer.grid = grid_of(*table, excerpt_of(*table, "collectives").columns);
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(
          std::ranges::find(answer.grid.columns, name, &AnswerColumn::name) -
          answer.grid.columns.begin());
    };
    const std::size_t group = column("process_group"), name = column("collective");
    std::erase_if(answer.grid.rows, [&](const std::vector<Value>& row) {
      const bool other_group = !call.text("group").empty() && group < row.size() &&
                               row[group].as_text() != call.text("group");
      const bool other_op = !call.text("op").empty() && name < row.size() &&
                            row[name].as_text().find(call.text("op")) == std::string::npos;
      return other_group || other_op;
    });
  }
  if (const Table* const table = report.find("straggler_summary"))
    answer.sections.push_back(sorted_section(*table, "times_arrived_last", "stragglers",
                                             "Who arrives last",
                                             {"rank", "times_arrived_last", "pct_arrived_last",
                                              "num_collectives", "total_wait_time_us"}));
  if (const Table* const table = report.find("nccl_summary_implicit_sync"))
    answer.sections.push_back(
        sorted_section(*table, "Total comm latency (ms)", "costliest", "Costliest collectives",
                       {"Collective name", "Process Group Name", "count", "Total comm latency (ms)",
                        "Full msg size (MB)", "bus bw (GB/s)_mean", "skew in start time_mean"}));
  if (const Table* const table = report.find("rank_timeline_spread"))
    answer.sections.push_back(
        {"spread", "How far ranks differ (ms)", "tracelens collectives writes rank_timeline",
         grid_of(*table,
                 {"step", "type", "mean (ms)", "min (ms)", "min rank", "max (ms)", "max rank"},
                 kSectionRowsOfRanks)});
  // The reference's edition has no verdicts.
  if (answer.grid.columns.empty() && !answer.sections.empty()) {
    answer.title = answer.sections.back().title;
    answer.grid = answer.sections.back().grid;
  }
  for (const std::string& sentence : report.warnings)  // about clocks among others
    answer.notes.push_back(quoted_note(call.workshop().folders.without_paths(sentence)));
  return answer;
}

// The file that a rank is read from: the archive where its path leads on into one. Throws ToolError
// when it is not allowed.
OpenFile open_rank(const AllowedFolders& folders, std::filesystem::path path) {
  std::error_code error;
  while (!std::filesystem::exists(path, error) && path.has_relative_path())
    path = path.parent_path();
  return folders.open_path(path.string());
}

Value run_collectives(Call& call) {
  std::vector<std::string> names = call.texts("traces");
  if (const std::string& folder = call.text("folder"); !folder.empty()) names.push_back(folder);
  if (names.empty() || (names.size() > 1 && !call.text("folder").empty()))
    throw ToolError{"give folder, or the list traces"};
  std::vector<OpenFile> held;
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    held.push_back(call.open_file(name));
    paths.push_back(held.back().path());
  }
  return call.paged_result([&] {
    CollectiveReportOptions options;
    options.edition = call.options().edition;
    options.memory_bytes = std::size_t{1} << 30;
    options.on_progress = [&](std::size_t done, std::size_t of) {
      call.control().check();
      const double fraction =
          static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(of, 1));
      call.control().progress(fraction, fmt::format("reading: {} of {} ranks", done, of));
    };
    const RankReader read = [&](const std::string& path, int threads) {
      const OpenFile file = open_rank(call.workshop().folders, path);
      return call.workshop().store.read_path(path, call.control(), {.threads = threads});
    };
    return answer_of_ranks(make_collective_report(find_rank_files(paths), options, read), call);
  });
}

Members collectives_output() {
  return {{"verdict", type_schema("string")},
          {"stragglers", grid_schema()},
          {"costliest", grid_schema()},
          {"spread", grid_schema()}};
}

}  // namespace

const Tool kCollectivesTool{
    .name = "collectives",
    .title = "Many ranks",
    .description =
        "All ranks of a job: which collectives cost most and why, who arrives last. Use it "
        "when communication is exposed; give folder or traces.",
    .arguments = {kCollectivesArguments, several_traces_arguments()},
    .more_output = collectives_output,
    .run = run_collectives};

}  // namespace tracelens::mcp
