#include "analysis/ranks/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tracelens/gpu.hpp>
#include <utility>
#include <vector>

#include "analysis/ranks/cost.hpp"
#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kHiddenShare = 0.10;    // exposed less than this: hidden
constexpr double kTogetherShare = 0.05;  // waiting less than this: ranks arrive together
constexpr double kNotableShare = 0.20;   // waiting more than this: imbalance as well
constexpr double kWaitingShare = 0.50;   // waiting more than this: imbalance first of all
constexpr double kGoodOfLink = 0.60;     // bandwidth over this share of the link's peak is good
constexpr double kGoodOfBest = 0.50;     // or of the best in the run, when no peak is known
constexpr double kTinyBytes = 65536;     // start-up costs more than moving the data
constexpr double kLargeBytes = 1 << 20;  // moving the data costs more: its rate is a measure
constexpr double kLateShare = 0.10;      // ranks last in fewer collectives are not named
constexpr std::size_t kMostLateRanks = 3;

// A rank, and the collectives it was last in; the one most often late first.
using LateRank = std::pair<std::int64_t, std::int64_t>;
std::vector<LateRank> late_ranks(const OperationCost& operation) {
  std::vector<LateRank> late{operation.late_count.begin(), operation.late_count.end()};
  std::ranges::stable_sort(late, std::ranges::greater{}, &LateRank::second);
  std::erase_if(late, [&](const LateRank& entry) {
    return static_cast<double>(entry.second) < kLateShare * static_cast<double>(operation.count);
  });
  if (late.size() > kMostLateRanks) late.resize(kMostLateRanks);
  return late;
}

// "5 (85%), 2 (12%)"
std::string late_text(const OperationCost& operation) {
  std::string text;
  for (const auto& [rank, count] : late_ranks(operation))
    text += fmt::format("{}{} ({:.0f}%)", text.empty() ? "" : ", ", rank,
                        100 * static_cast<double>(count) / static_cast<double>(operation.count));
  return text;
}

// What the rank that is late most often was doing while the others waited.
std::string doing_text(const OperationCost& operation) {
  const auto late = late_ranks(operation);
  if (late.empty()) return {};
  const auto found = operation.doing.find(late.front().first);
  if (found == operation.doing.end()) return {};
  const auto most =
      std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; });
  return most->first;
}

// How the ranks come and go, in figures.
std::string arrival_text(const OperationCost& operation) {
  std::string text;
  if (operation.waiting_share() >= kTogetherShare) {
    const std::string late = late_text(operation);
    text = fmt::format("{:.0f}% of the time is waiting for {}", 100 * operation.waiting_share(),
                       late.empty() ? "the last rank" : "rank " + late);
  } else if (operation.left_before_last == 0) {
    return "ranks arrive together";
  } else {
    text = "ranks do not wait for each other";
  }
  if (operation.left_before_last == 0) return text;
  text += fmt::format(
      "; starts are up to {:.0f} us apart, and in {} of {} collectives a rank leaves before the "
      "last comes",
      static_cast<double>(operation.largest_skew_ns) / 1e3, operation.left_before_last,
      operation.count);
  if (is_synchronizing(operation.kind))
    text += ", so either these are several groups or clocks are wrong";
  return text;
}

// How good the bandwidth is, and against what.
struct Bandwidth {
  enum class Grade : unsigned char { kUnknown, kTiny, kLow, kGood };
  Grade grade = Grade::kUnknown;
  std::string text;
};

struct Verdict {
  std::string words, reason;
};

class Judge {
 public:
  Judge(const CollectiveRun& run, const VerdictOptions& options)
      : run_{run}, options_{options}, operations_{operation_costs(run)} {
    has_one_kind_of_gpu_ = std::ranges::all_of(run.ranks(), [&](const RankTrace& rank) {
      return rank.device_name == run.ranks().front().device_name;
    });
    for (const OperationCost& operation : operations_) {
      peaks_.push_back(link_peak(operation));
      has_peaks_ |= peaks_.back().has_value();
      if (const auto rate = operation.bus_gbps(); rate && operation.mean_bytes() >= kLargeBytes)
        best_gbps_ = std::max(best_gbps_, *rate);
    }
  }

  [[nodiscard]] std::optional<Table> table() const {
    if (operations_.empty()) return std::nullopt;
    ColumnSet<Row> columns = make_columns();
    Table table = columns.make_table(
        "comm_verdict",
        "Is it the network, or is somebody late? By process group and operation; times by "
        "corrected clocks");
    for (std::size_t i = 0; i < operations_.size(); ++i)
      columns.append(table, row_of(operations_[i], peaks_[i]));
    table.sort_by("exposed (ms)", Order::kDescending);
    return table;
  }

 private:
  // What is asked for, else the figure of the GPUs when the group stays inside one machine.
  [[nodiscard]] std::optional<double> link_peak(const OperationCost& operation) const {
    if (options_.link_gbps) return options_.link_gbps;
    if (!run_.gpus_per_node() || run_.node_span(operation.first) != "intra_node")
      return std::nullopt;
    const Value& size = run_.message(operation.first)[kGroupSize];
    if (!has_one_kind_of_gpu_ || !size.is_int()) return std::nullopt;
    return link_gbps(run_.ranks().front().device_name, size.as_int());
  }

  [[nodiscard]] Bandwidth bandwidth_of(const OperationCost& operation,
                                       std::optional<double> peak) const {
    using enum Bandwidth::Grade;
    if (operation.bytes && operation.mean_bytes() < kTinyBytes) return {kTiny, "messages are tiny"};
    const auto rate = operation.bus_gbps();
    if (!rate) return {kUnknown, "the sizes of the messages are not known"};
    if (peak)
      return {*rate >= kGoodOfLink * *peak ? kGood : kLow,
              fmt::format("bandwidth is {:.0f}% of the link's peak", 100 * *rate / *peak)};
    if (best_gbps_ <= 0) return {kUnknown, "there is nothing to compare the bandwidth with"};
    return {*rate >= kGoodOfBest * best_gbps_ ? kGood : kLow,
            fmt::format("bandwidth is {:.0f}% of the best of this run", 100 * *rate / best_gbps_)};
  }

  [[nodiscard]] Verdict verdict_of(const OperationCost& operation,
                                   std::optional<double> peak) const {
    using enum Bandwidth::Grade;
    if (operation.exposed_ns < kHiddenShare * operation.dur_ns)
      return {"fine", "hidden behind computation"};
    const std::string arrival = arrival_text(operation);
    if (operation.kind == CollectiveKind::kUnknown && operation.left_before_last > 0)
      return {"unknown", "several operations, which the traces do not name: " + arrival};
    const Bandwidth bandwidth = bandwidth_of(operation, peak);
    std::string reason = arrival + "; " + bandwidth.text;
    if (operation.waiting_share() > kWaitingShare)
      return {bandwidth.grade == kLow ? "imbalance, network" : "imbalance", std::move(reason)};
    const char* const second = operation.waiting_share() > kNotableShare ? ", imbalance" : "";
    if (bandwidth.grade == kTiny)
      return {fmt::format("latency{}", second),
              std::move(reason) + ": start-up dominates, fewer and larger ones help"};
    if (bandwidth.grade == kLow) return {fmt::format("network{}", second), std::move(reason)};
    return {fmt::format("overlap{}", second), std::move(reason) + "; little computes meanwhile"};
  }

  // --- table ---

  struct Row {
    const OperationCost* operation;
    const CollectiveMessage* message;
    CollectiveMember member;
    Verdict verdict;
    std::optional<double> peak, rate;
  };

  [[nodiscard]] ColumnSet<Row> make_columns() const {
    ColumnSet<Row> columns{
        {{"process group", Kind::kText, "id", "group"},
         [this](const Row& row) { return run_.matching().groups[row.operation->group].id; }},
        {{"collective", Kind::kText, "", "operation"},
         [](const Row& row) { return row.operation->name; }},
        {{"count", Kind::kInteger, "", "collectives"},
         [](const Row& row) { return row.operation->count; }},
        {{"exposed (ms)", Kind::kReal, "ms",
          "time per rank in which it computes nothing: what the operation costs"},
         [](const Row& row) { return row.operation->exposed_ns / 1e6; }},
        {{"waiting (%)", Kind::kReal, "%", "share of the kernel time: waiting for the last rank"},
         [](const Row& row) { return percent_of(row.operation->wait_ns, row.operation->dur_ns); }},
        {{"verdict", Kind::kText, "", "fine, imbalance, latency, network, overlap or unknown"},
         [](const Row& row) { return row.verdict.words; }},
        {{"late ranks", Kind::kText, "", "who came last, and in which share of the collectives"},
         [](const Row& row) { return late_text(*row.operation); }},
        {{"late rank was in", Kind::kText, "",
          "what the first of them was doing while the others waited"},
         [](const Row& row) { return doing_text(*row.operation); }},
        {{"why", Kind::kText, "text", "what the verdict rests on"},
         [](const Row& row) { return row.verdict.reason; }}};
    add_field_columns(columns, run_, {kGroupSize});
    columns.add(
        {{{"message (MB)", Kind::kReal, "MB", "mean size of the message, 10^6 bytes"},
          [](const Row& row) {
            return row.operation->bytes ? std::optional{row.operation->mean_bytes() / 1e6}
                                        : std::nullopt;
          }},
         {{"time (ms)", Kind::kReal, "ms",
           "kernel time per rank, all collectives, mean of the ranks"},
          [](const Row& row) { return row.operation->dur_ns / 1e6; }},
         {{"communication (ms)", Kind::kReal, "ms",
           "of this, the shortest kernel of each collective: what the rank that came last needs"},
          [](const Row& row) { return ms(row.operation->communication_ns); }},
         {{"waiting (ms)", Kind::kReal, "ms",
           "of the rest, what passed before the last rank came, mean of the ranks"},
          [](const Row& row) { return row.operation->wait_ns / 1e6; }},
         {{"exposed (%)", Kind::kReal, "%", "share of the kernel time"},
          [](const Row& row) {
            return percent_of(row.operation->exposed_ns, row.operation->dur_ns);
          }},
         {{"bus bw (GB/s)", Kind::kReal, "GB/s",
           "what each link carries while communicating, 10^9 bytes per second"},
          &Row::rate},
         {{"link peak (GB/s)", Kind::kReal, "GB/s",
           "peak of a rank's link in one direction: --link-gbps, else the GPU's"},
          &Row::peak,
          has_peaks_},
         {{"of link peak (%)", Kind::kReal, "%", "share of the link's peak"},
          [](const Row& row) {
            return row.peak && row.rate ? std::optional{100 * *row.rate / *row.peak} : std::nullopt;
          },
          has_peaks_}});
    add_node_span_column(columns, run_);
    return columns;
  }

  [[nodiscard]] Row row_of(const OperationCost& operation, std::optional<double> peak) const {
    return {&operation,
            &run_.message(operation.first),
            operation.first,
            verdict_of(operation, peak),
            peak,
            operation.bus_gbps()};
  }

  const CollectiveRun& run_;
  const VerdictOptions& options_;
  std::vector<OperationCost> operations_;
  std::vector<std::optional<double>> peaks_;  // of their links
  bool has_one_kind_of_gpu_ = false, has_peaks_ = false;
  double best_gbps_ = 0;
};

}  // namespace

std::optional<Table> comm_verdict(const CollectiveRun& run, const VerdictOptions& options) {
  return Judge{run, options}.table();
}

}  // namespace tracelens
