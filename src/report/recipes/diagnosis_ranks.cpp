// The diagnosis of a job: which rank is looked at, and what the others tell about it.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

#include "analysis/ranks/clock_offsets.hpp"
#include "analysis/ranks/device_groups.hpp"
#include "diagnosis/engine/diagnose_rank.hpp"
#include "diagnosis/kit/figures.hpp"
#include "report/import/read_ranks.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kReadingBytes = std::size_t{2} << 30;
constexpr std::size_t kCausesShown = 3;          // of a late rank
constexpr double kUneven = 5, kMostlyLast = 50;  // percent
constexpr std::string_view kLateRank = "COMM-4";

std::int64_t whole_ns(const RankTrace& rank) {
  return rank.steps.empty() ? 0 : rank.steps.front().total_ns;
}

// The one that waits as long as most do. Of a job that does not communicate, the slowest.
std::size_t usual_rank(const CollectiveRun& run, std::span<const LateRank> late) {
  std::vector<LateRank> waiting;
  for (const LateRank& rank : late)
    if (rank.collectives > 0) waiting.push_back(rank);
  if (waiting.empty())
    return static_cast<std::size_t>(std::ranges::max_element(run.ranks(), {}, whole_ns) -
                                    run.ranks().begin());
  if (waiting.size() > 1 && waiting.front().percent_last >= kMostlyLast)
    waiting.erase(waiting.begin());
  const auto middle = waiting.begin() + static_cast<std::ptrdiff_t>(waiting.size() / 2);
  std::ranges::nth_element(waiting, middle, {}, [](const LateRank& rank) {
    return std::pair{rank.waited_of_mean, rank.rank};
  });
  return middle->rank;
}

void tell_lengths(const CollectiveRun& run, Diagnosis& diagnosis) {
  const auto [least, most] = std::ranges::minmax(run.ranks(), {}, whole_ns);
  if (percentage(whole_ns(most) - whole_ns(least), whole_ns(most)) > kUneven)
    diagnosis.quality.push_back(
        {"TQ-13",
         fmt::format("the GPUs of the ranks work for {} (rank {}) to {} (rank {}): look at "
                     "each",
                     ms_text(whole_ns(least)), least.rank, ms_text(whole_ns(most)), most.rank)});
}

}  // namespace

Diagnosis diagnose_ranks(const std::vector<RankFile>& files, const DiagnoseOptions& options) {
  check_options(options);
  const auto read = [&](const std::string& path) {
    return read_trace(path, {.threads = options.threads});
  };
  if (files.size() == 1) return diagnose(read(files.front().path), options);
  std::vector<RankTrace> ranks =
      read_ranks(files, {}, {.threads = options.threads, .memory_bytes = kReadingBytes});
  std::vector<std::string> warnings;
  assign_ranks(ranks, files, {}, warnings);
  if (ranks.empty())
    throw Error{"diagnose", warnings.empty() ? "no rank is left to look at"
                                             : "no trace could be read: " + warnings.front()};
  resolve_device_groups(ranks, std::nullopt);
  align_bases(ranks, Edition::kExtended, warnings);
  CollectiveRun run{std::move(ranks), {}};
  const ClockOffsets clocks = estimate_clock_offsets(run);
  run.shift_clocks(clocks.by_rank);
  const std::vector<LateRank> late = late_ranks(run);
  const JobFacts job{
      .run = run, .rank = usual_rank(run, late), .clocks_are_sure = !clocks.corrected.is_usual};
  const auto path_of = [&](std::size_t rank) { return files[run.ranks()[rank].source].path; };
  Diagnosis diagnosis = diagnose_rank(read(path_of(job.rank)), options, &job);
  diagnosis.ranks = std::ssize(run.ranks());
  for (std::size_t i = 0; i < run.ranks().size(); ++i)
    if (i != job.rank) diagnosis.files.push_back(path_of(i));
  tell_lengths(run, diagnosis);
  for (std::string& sentence : warnings)
    diagnosis.quality.push_back({"TQ-13", std::move(sentence)});
  diagnosis.verdict = fmt::format("Rank {} of {}: {}", run.ranks()[job.rank].rank, diagnosis.ranks,
                                  diagnosis.verdict);
  // What the late rank does while the others wait is what to mend.
  const auto finding = std::ranges::find(diagnosis.findings, kLateRank, &Finding::id);
  if (finding == diagnosis.findings.end()) return diagnosis;
  const Diagnosis cause = diagnose(read(path_of(late.front().rank)), options);
  std::size_t shown = 0;
  for (const Finding& one : cause.findings)
    // The rank that comes last waits for nobody: its communication is not why it is late.
    if (one.saving_ns > 0 && !one.id.starts_with("COMM-") && shown++ < kCausesShown)
      finding->where.push_back({.kind = "cause",
                                .name = fmt::format("{} {}", one.id, one.title),
                                .time_ns = one.saving_ns,
                                .count = 1});
  return diagnosis;
}

}  // namespace tracelens
