#include "analysis/ranks/rank_timeline.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

struct TimeKind {
  const char* name;
  const char* description;
  std::int64_t RankStep::*ns;
};
constexpr TimeKind kTimes[] = {
    {"total_time", "from the first GPU event to the last, or the marked step", &RankStep::total_ns},
    {"computation_time", "something computes", &RankStep::computation_ns},
    {"exposed_comm_time", "communication while nothing computes", &RankStep::exposed_comm_ns},
    {"exposed_memcpy_time", "copies while nothing computes or communicates",
     &RankStep::exposed_copy_ns},
    {"idle_time", "the GPU does nothing", &RankStep::idle_ns},
    {"total_comm_time", "communication, hidden or not", &RankStep::comm_ns},
};

struct RankTime {
  std::int64_t rank;
  const RankStep* step;
};
struct Step {
  std::string name;
  std::vector<RankTime> times;  // of the ranks that have it
};
// The steps of all ranks by name, in the order of the first rank that has them.
std::vector<Step> steps_of(const CollectiveRun& run) {
  std::vector<Step> steps;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const RankTrace& rank : run.ranks())
    for (const RankStep& step : rank.steps) {
      const auto [entry, is_new] = known.try_emplace(step.name, steps.size());
      if (is_new) steps.push_back({step.name, {}});
      std::vector<RankTime>& times = steps[entry->second].times;
      if (times.empty() || times.back().rank != rank.rank) times.push_back({rank.rank, &step});
    }
  return steps;
}

}  // namespace

std::optional<Table> rank_timeline(const CollectiveRun& run) {
  const std::vector<Step> steps = steps_of(run);
  if (steps.empty()) return std::nullopt;
  ColumnSet<const RankTime> columns{{{"step", Kind::kText, "", "marked step; all: the whole trace"},
                                     [](const RankTime& time) { return time.step->name; }},
                                    {{"rank", Kind::kInteger, "id", "rank"}, &RankTime::rank}};
  for (const TimeKind& kind : kTimes)
    columns.add({std::string{kind.name} + " (ms)", Kind::kReal, "ms", kind.description},
                [ns = kind.ns](const RankTime& time) { return ms(time.step->*ns); });
  columns.add({{{"exposed_comm (%)", Kind::kReal, "%", "share of total_time"},
                [](const RankTime& time) {
                  return percent_of(ms(time.step->exposed_comm_ns), ms(time.step->total_ns));
                }},
               {{"idle (%)", Kind::kReal, "%", "share of total_time"}, [](const RankTime& time) {
                  return percent_of(ms(time.step->idle_ns), ms(time.step->total_ns));
                }}});
  add_node_id_column(columns, run);
  Table table = columns.make_table("rank_timeline", "What the GPU of every rank did, per step");
  for (const Step& step : steps)
    for (const RankTime& time : step.times) columns.append(table, time);
  return table;
}

std::optional<Table> rank_timeline_spread(const CollectiveRun& run) {
  const std::vector<Step> steps = steps_of(run);
  if (steps.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"step", Kind::kText, "", "marked step; all: the whole trace"},
      {"type", Kind::kText, "", "kind of time, as in rank_timeline"},
      {"ranks", Kind::kInteger, "", "ranks that have the step"},
      {"mean (ms)", Kind::kReal, "ms", "mean of the ranks"},
      {"std (ms)", Kind::kReal, "ms", "standard deviation"},
      {"min (ms)", Kind::kReal, "ms", "least"},
      {"min rank", Kind::kInteger, "id", "rank that has it"},
      {"max (ms)", Kind::kReal, "ms", "most"},
      {"max rank", Kind::kInteger, "id", "rank that has it"},
      {"mean of total (%)", Kind::kReal, "%", "share of the mean total_time"},
  };
  Table table{"rank_timeline_spread", "How far the ranks' GPU times are apart, per step", columns};
  for (const auto& [name, times] : steps) {
    std::optional<double> mean_total;
    for (const TimeKind& kind : kTimes) {
      const auto of = [&](const RankTime& time) { return time.step->*kind.ns; };
      const auto [least, most] = std::ranges::minmax_element(times, {}, of);
      std::vector<std::int64_t> values;
      for (const RankTime& time : times) values.push_back(of(time));
      const GroupStats stats = stats_of_ns(values);
      const auto in_ms = [](std::optional<double> in_us) {
        return in_us ? std::optional{*in_us / 1e3} : std::nullopt;
      };
      if (!mean_total) mean_total = stats.mean;
      table.add_row(name, kind.name, stats.count, in_ms(stats.mean), in_ms(stats.std),
                    ms(of(*least)), least->rank, ms(of(*most)), most->rank,
                    percent_of(*stats.mean, *mean_total));
    }
  }
  return table;
}

}  // namespace tracelens
