// Which tables make the report of many ranks, and in which order.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/collective_rows.hpp>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/rank_reader.hpp>
#include <utility>

#include "analysis/page/rank_lanes.hpp"
#include "analysis/ranks/aggregates.hpp"
#include "analysis/ranks/alltoallv.hpp"
#include "analysis/ranks/check.hpp"
#include "analysis/ranks/clock_offsets.hpp"
#include "analysis/ranks/device_groups.hpp"
#include "analysis/ranks/long.hpp"
#include "analysis/ranks/p2p.hpp"
#include "analysis/ranks/rank_timeline.hpp"
#include "analysis/ranks/remote_activities.hpp"
#include "analysis/ranks/run.hpp"
#include "analysis/ranks/sync.hpp"
#include "analysis/ranks/verdict.hpp"
#include "analysis/ranks/xla_bandwidth.hpp"
#include "analysis/tables/warnings.hpp"
#include "report/import/ranks_together.hpp"
#include "report/import/read_ranks.hpp"
#include "report/recipes/overview.hpp"
#include "report/recipes/overview_parts.hpp"
#include "report/recipes/rank_report.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

void check(const CollectiveReportOptions& options) {
  if (options.gpus_per_node && *options.gpus_per_node <= 0)
    throw Error{"GPUs per node",
                fmt::format("expected a positive number, got {}", *options.gpus_per_node)};
  if (options.world_size && *options.world_size <= 0)
    throw Error{"world size",
                fmt::format("expected a positive number, got {}", *options.world_size)};
  static_cast<void>(parse_aggregates(options.aggregates));
}

constexpr std::size_t kLeastSlices = 200;  // of a rank's lane

std::vector<CollectivePattern> own_patterns(
    std::span<const CollectiveReportOptions::Pattern> patterns) {
  std::vector<CollectivePattern> own;
  for (const CollectiveReportOptions::Pattern& pattern : patterns)
    own.push_back({pattern.kernel_regex, pattern.collective});
  return own;
}

RankSummaryOptions summary_options(const CollectiveReportOptions& options, std::size_t files) {
  RankSummaryOptions summary{.edition = options.edition,
                             .patterns = own_patterns(options.patterns),
                             .activity = options.edition == Edition::kExtended};
  if (options.page && options.edition == Edition::kExtended)
    summary.lane_slices = std::max<std::size_t>(kLeastSlices, options.page->gpu_slices / files);
  return summary;
}

SummarizeFiles reading_of(const std::vector<RankFile>& files,
                          const CollectiveReportOptions& options, const RankReader& read) {
  const RankSummaryOptions summary =
      summary_options(options, std::max<std::size_t>(1, files.size()));
  static_cast<void>(summarize_rank(Trace{}, summary));  // a wrong pattern ends the run, not a file
  const RankReading reading{.threads = options.threads,
                            .memory_bytes = options.memory_bytes,
                            .on_progress = options.on_progress,
                            .read = read,
                            .shown = options.shown,
                            .on_rank = [slices = summary.lane_slices](RankTrace& rank) {
                              if (slices > 0) finish_lane(rank.lane, slices);
                            }};
  return [summary, reading](std::span<const RankFile> share) {
    return read_ranks(share, summary, reading);
  };
}

class ReportMaker {
 public:
  ReportMaker(CollectiveRun& run, const CollectiveReportOptions& options,
              std::vector<std::string> warnings)
      : run_{run}, options_{options}, aggregates_{parse_aggregates(options.aggregates)} {
    report_.title = "Communication of all ranks";
    report_.edition = options.edition;
    report_.warnings = std::move(warnings);
    report_.trace_name = run.ranks().front().file;
    if (run.ranks().size() > 1)
      report_.trace_name += fmt::format(" and {} more", run.ranks().size() - 1);
  }

  Report make() {
    if (run_.matching().collectives.empty())
      report_.warnings.emplace_back("no rank has communication kernels");
    for (auto* const check : {metadata_mismatches, missing_kernels, unlinked_kernels})
      for (std::string& sentence : check(run_)) report_.warnings.push_back(std::move(sentence));
    if (options_.edition == Edition::kReference) {
      add_reference_tables();
      return std::move(report_);
    }
    const ClockOffsets clocks = estimate_clock_offsets(run_);
    const bool corrects = options_.correct_clocks.value_or(clocks.are_needed());
    if (corrects) run_.shift_clocks(clocks.by_rank);
    tell_of_clocks(clocks, corrects);
    add_reference_tables();
    std::vector<Table> reference = std::exchange(report_.tables, {});
    if (!corrects) run_.shift_clocks(clocks.by_rank);
    add_diagnosis(clocks);
    for (Table& table : reference) add(std::move(table));
    add(rank_files(run_));
    add(warnings_table(Trace{}, report_.warnings));
    report_.overview = ranks_overview(report_);
    if (options_.page) report_.page = std::make_shared<const Page>(ranks_page(run_.ranks()));
    return std::move(report_);
  }

 private:
  void add(Table table) { report_.tables.push_back(std::move(table)); }
  void add(std::optional<Table> table) {
    if (table) add(std::move(*table));
  }

  // The sheets of the Python TraceLens, in its order.
  void add_reference_tables() {
    const std::vector<SyncCollective> sync = sync_collectives(run_);
    const std::vector<UnevenExchange> uneven = uneven_exchanges(run_);
    if (options_.edition == Edition::kExtended)
      for (std::string& sentence : long_waits(run_, sync))
        report_.warnings.push_back(std::move(sentence));
    std::size_t left_out = 0;
    add(nccl_summary_implicit_sync(run_, sync, aggregates_));
    add(nccl_summary_long(run_, {}, &left_out));
    if (left_out > 0)
      report_.warnings.push_back(fmt::format(
          "nccl_summary_long is without {} kernels that lack a field it groups by", left_out));
    add(nccl_summary_all2allv(run_, uneven, aggregates_));
    if (options_.heatmap) add(nccl_all2allv_heatmap(run_, report_.warnings));
    if (options_.detailed) {
      for (std::string& sentence : left_out_rank_columns(run_, sync, uneven))
        report_.warnings.push_back(std::move(sentence));
      add(nccl_long(run_));
      add(nccl_implicit_sync(run_, sync));
      add(nccl_all2allv(run_, uneven));
    }
    add(straggler_summary(run_, sync));
  }

  // By how much, how sure, and which tables show what: two of one report may name different ranks
  // as late.
  void tell_of_clocks(const ClockOffsets& clocks, bool corrects) {
    constexpr std::int64_t kNotableNs = 1000;
    const ClockFit &recorded = clocks.recorded, &corrected = clocks.corrected;
    const auto [least, most] = std::ranges::minmax(clocks.by_rank);
    const std::int64_t apart = minus_ns(most, least);
    const std::string far = fmt::format("clocks are up to {} apart", time_text(apart));
    if (corrects && apart == 0)
      report_.warnings.emplace_back(
          "--correct-clocks: the collectives tell no difference between clocks; nothing is "
          "corrected");
    else if (corrects)
      report_.warnings.push_back(fmt::format(
          "{}: all times are corrected. Before, a rank left before another came in {} of {} "
          "collectives, now in {}; in half of them the ends of all ranks now agree within {}",
          far, recorded.impossible, recorded.collectives, corrected.impossible,
          time_text(corrected.usual_end_skew_ns)));
    else if (apart >= kNotableNs)
      report_.warnings.push_back(
          far +
          ": comm_verdict and p2p use corrected times, the nccl_ tables and straggler_summary "
          "those recorded, and may name other ranks as late; --correct-clocks corrects all");
    if (corrects && corrected.is_usual)
      report_.warnings.push_back(fmt::format(
          "by corrected clocks, too, a rank leaves before another comes in {} of {} collectives: "
          "clocks drift, or these kernels are not one collective; who is late is not certain",
          corrected.impossible, corrected.collectives));
  }

  // Who is late is told by corrected clocks, whatever the other tables show.
  void add_diagnosis(const ClockOffsets& clocks) {
    add(comm_verdict(run_, {.link_gbps = options_.link_gbps}));
    add(xla_collectives(run_));
    add(xla_collectives_by_type(run_));
    add(rank_timeline_spread(run_));
    add(rank_timeline(run_));
    add(p2p_summary(run_));
    if (options_.detailed) add(p2p(run_));
    add(process_groups(run_));
    add(clock_offset_table(clocks));
  }

  CollectiveRun& run_;
  const CollectiveReportOptions& options_;
  std::vector<Aggregate> aggregates_;
  Report report_;
};

Report report_alone(const std::vector<RankFile>& files, const CollectiveReportOptions& options,
                    const RankJob& job) {
  std::vector<RankTrace> ranks = job.summarize(files);
  std::vector<std::string> warnings;
  assign_ranks(ranks, files, job.assignment, warnings);
  refuse_no_ranks(ranks, warnings);
  if (job.hides_files) forget_files(files, ranks, warnings);
  resolve_device_groups(ranks, options.world_size);
  align_bases(ranks, options.edition, warnings);
  CollectiveRun run{std::move(ranks),
                    {.edition = options.edition, .gpus_per_node = options.gpus_per_node}};
  return ReportMaker{run, options, std::move(warnings)}.make();
}

// On the first process; nothing on the others.
std::optional<Report> report_together(const std::vector<RankFile>& files,
                                      const CollectiveReportOptions& options, const RankJob& job,
                                      Peers& peers) {
  RanksTogether ranks = read_ranks_together(files, job, peers);
  const RankShare share = ranks.share();
  if (peers.index() != 0) {
    serve_activities(share, peers);
    return std::nullopt;
  }
  RemoteActivities activities{share, ranks.process_of, peers};
  CollectiveRun run{std::move(ranks.matching),
                    std::move(ranks.all),
                    {.edition = options.edition,
                     .gpus_per_node = options.gpus_per_node,
                     .ask_activity = activities.asking()}};
  return ReportMaker{run, options, std::move(ranks.warnings)}.make();
}

}  // namespace

std::optional<Report> report_of_summaries(const std::vector<RankFile>& files,
                                          const CollectiveReportOptions& options, Peers* peers,
                                          const SummarizeFiles& summarize) {
  const RankJob job{.summarize = summarize,
                    .edition = options.edition,
                    .assignment = {.by_position = options.rank_by_position,
                                   .world_size = options.world_size,
                                   .only_ranks = options.only_ranks},
                    .hides_files = options.shown != nullptr};
  if (peers == nullptr || peers->count() == 1) return report_alone(files, options, job);
  return report_together(files, options, job, *peers);
}

std::optional<Report> make_collective_report(const std::vector<RankFile>& files,
                                             const CollectiveReportOptions& options, Peers* peers) {
  check(options);
  return report_of_summaries(files, options, peers, reading_of(files, options, nullptr));
}

Report make_collective_report(const std::vector<RankFile>& files,
                              const CollectiveReportOptions& options, const RankReader& read) {
  check(options);
  return *report_of_summaries(files, options, nullptr, reading_of(files, options, read));
}

Table collective_rows(const std::vector<RankFile>& files, const CollectiveRowOptions& options) {
  std::vector<RankTrace> ranks = read_ranks(
      files,
      {.edition = options.edition, .patterns = own_patterns(options.patterns), .activity = false},
      {.threads = options.threads, .memory_bytes = options.memory_bytes});
  for (const RankTrace& rank : ranks) {
    const std::string where = rank.file + ": ";  // problems name the file, as errors do
    std::string_view problem = rank.problem;
    if (problem.starts_with(where)) problem.remove_prefix(where.size());
    if (!problem.empty()) throw Error{rank.file, problem};
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = static_cast<std::int64_t>(i);
  resolve_device_groups(ranks, std::nullopt);
  const bool reference = options.edition == Edition::kReference;
  return nccl_long(CollectiveRun{std::move(ranks), {.edition = options.edition}},
                   {.ids_by_position = reference, .nodes = !reference, .nanoseconds = true});
}

}  // namespace tracelens
