#include "analysis/collective_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/collective_sync.hpp"
#include "table/cell_text.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kHiddenShare = 0.10;   // exposed less than this: hidden
constexpr double kWaitingShare = 0.50;  // waiting more than this: somebody is late
constexpr double kGoodOfLink = 0.60;    // bandwidth over this share of the link's peak is good
constexpr double kGoodOfBest = 0.50;    // or of the best in the run, when no peak is known
constexpr double kTinyMib = 1.0 / 16;   // 64 KiB: start-up costs more than moving the data
constexpr double kLateShare = 0.10;     // ranks last in fewer collectives are not named
constexpr std::size_t kMostLateRanks = 3;
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// All collectives of one operation in one process group.
struct Operation {
  CollectiveMember first;
  std::int64_t count = 0;
  std::int64_t latency_ns = 0;                     // true communication
  double dur_ns = 0, wait_ns = 0, exposed_ns = 0;  // per rank: means of the members, summed up
  std::optional<double> mib, bus_mib;  // of the messages; bus_mib: as the links carry them
  std::map<std::int64_t, std::int64_t> late_count;                    // by rank
  std::map<std::int64_t, std::map<std::string, std::int64_t>> doing;  // by late rank: what, ns
};

class Judge {
 public:
  Judge(const CollectiveRun& run, const VerdictOptions& options) : run_{run}, options_{options} {
    for (std::size_t i = 0; i < run.ranks().size(); ++i) index_of_[run.ranks()[i].rank] = i;
  }

  std::optional<Table> table() {
    collect();
    if (operations_.empty()) return std::nullopt;
    Table table{"comm_verdict",
                "Is it the network, or is somebody late? By process group and operation",
                columns()};
    for (const auto& [key, operation] : operations_) add_row(table, key.first, operation);
    table.sort_by("exposed (ms)", Order::kDescending);
    return table;
  }

 private:
  void collect() {
    const Matching& matching = run_.matching();
    for (std::uint32_t i = 0; i < matching.collectives.size(); ++i) {
      const auto members = matching.members(matching.collectives[i]);
      const CollectiveMessage& message = run_.message(members.front());
      const CollectiveKind kind = kind_of(message[kCollective], perf::Edition::kExtended);
      if (is_point_to_point(kind) || members.size() < 2) continue;
      Operation& operation = operations_[{matching.collectives[i].group, name_of(message)}];
      if (operation.count++ == 0) operation.first = members.front();
      add(operation, i, kind);
    }
    for (const auto& [key, operation] : operations_)
      if (const auto rate = bus_gibps(operation); rate && mean_mib(operation) >= 1)
        best_gibps_ = std::max(best_gibps_, *rate);
  }

  static std::string name_of(const CollectiveMessage& message) {
    const Value& name = message[kCollective];
    return name.is_null() ? "unknown" : name.is_text() ? name.as_text() : python_repr(name);
  }

  void add(Operation& operation, std::uint32_t number, CollectiveKind kind) {
    const auto members = run_.matching().members(run_.matching().collectives[number]);
    const SyncCollective measured = measure(run_, number, kind);
    const auto size = static_cast<double>(members.size());
    double dur = 0, exposed = 0;
    for (const CollectiveMember& member : members) {
      dur += static_cast<double>(run_.kernel(member).dur_ns);
      exposed += static_cast<double>(run_.kernel(member).exposed_ns);
    }
    operation.latency_ns = plus_ns(operation.latency_ns, measured.latency_ns);
    operation.dur_ns += dur / size;
    operation.exposed_ns += exposed / size;
    // Nobody waits in an uneven exchange: ranks leave when their own data has moved.
    if (kind != CollectiveKind::kAllToAllV)
      operation.wait_ns += static_cast<double>(measured.wait_sum_ns) / size;
    const Value& group_size = run_.message(members.front())[kGroupSize];
    if (measured.full_mib) {
      operation.mib = operation.mib.value_or(0) + *measured.full_mib;
      if (group_size.is_number())
        operation.bus_mib = operation.bus_mib.value_or(0) +
                            *measured.full_mib * bus_factor(kind, group_size.as_real());
    }
    if (measured.start_skew_ns > 0) note_late_rank(operation, measured);
  }

  void note_late_rank(Operation& operation, const SyncCollective& measured) {
    ++operation.late_count[measured.latest_rank];
    const RankTrace& rank = run_.ranks()[index_of_.at(measured.latest_rank)];
    const Interval waited{minus_ns(measured.last_start_ns, measured.start_skew_ns),
                          measured.last_start_ns};
    if (const auto share = rank.activity.busiest_in(waited))
      operation.doing[measured.latest_rank][*share->what] += share->ns;
  }

  // --- figures ---

  static double mean_mib(const Operation& operation) {
    return operation.mib.value_or(0) / static_cast<double>(operation.count);
  }
  static std::optional<double> bus_gibps(const Operation& operation) {
    if (!operation.bus_mib || operation.latency_ns <= 0) return std::nullopt;
    return *operation.bus_mib / 1024 / (static_cast<double>(operation.latency_ns) / 1e9);
  }
  [[nodiscard]] std::optional<double> share_of_link(const Operation& operation) const {
    const auto rate = bus_gibps(operation);
    if (!rate || !options_.link_gbps) return std::nullopt;
    return *rate * kGib / (*options_.link_gbps * 1e9);
  }
  [[nodiscard]] bool has_good_bandwidth(const Operation& operation) const {
    if (const auto share = share_of_link(operation)) return *share >= kGoodOfLink;
    const auto rate = bus_gibps(operation);
    return !rate || *rate >= kGoodOfBest * best_gibps_;
  }

  // "5 (85%), 2 (12%)"
  static std::vector<std::pair<std::int64_t, std::int64_t>> late_ranks(const Operation& operation) {
    std::vector<std::pair<std::int64_t, std::int64_t>> late{operation.late_count.begin(),
                                                            operation.late_count.end()};
    std::ranges::stable_sort(late, std::ranges::greater{},
                             &std::pair<std::int64_t, std::int64_t>::second);
    std::erase_if(late, [&](const auto& entry) {
      return static_cast<double>(entry.second) < kLateShare * static_cast<double>(operation.count);
    });
    if (late.size() > kMostLateRanks) late.resize(kMostLateRanks);
    return late;
  }
  static std::string late_text(const Operation& operation) {
    std::string text;
    for (const auto& [rank, count] : late_ranks(operation))
      text += fmt::format("{}{} ({:.0f}%)", text.empty() ? "" : ", ", rank,
                          100 * static_cast<double>(count) / static_cast<double>(operation.count));
    return text;
  }
  // What the rank that is late most often was doing while the others waited.
  static std::string doing_text(const Operation& operation) {
    const auto late = late_ranks(operation);
    if (late.empty()) return {};
    const auto found = operation.doing.find(late.front().first);
    if (found == operation.doing.end()) return {};
    const auto most =
        std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; });
    return most->first;
  }

  struct Verdict {
    const char* word;
    std::string advice;
  };
  [[nodiscard]] Verdict verdict_of(const Operation& operation) const {
    const bool is_good = has_good_bandwidth(operation);
    if (operation.exposed_ns < kHiddenShare * operation.dur_ns)
      return {"fine", "hidden behind computation"};
    if (operation.wait_ns > kWaitingShare * operation.dur_ns) {
      const std::string late = late_text(operation);
      std::string advice = "most of the time is waiting";
      if (!late.empty()) advice += " for rank " + late;
      if (!is_good) advice += "; bandwidth is low as well";
      return {is_good ? "imbalance" : "imbalance, network", std::move(advice)};
    }
    if (operation.mib && mean_mib(operation) < kTinyMib)
      return {"latency", "small messages: start-up dominates; fewer and larger ones help"};
    if (!is_good)
      return {"network", options_.link_gbps
                             ? "ranks arrive together, bandwidth is far from the link's"
                             : "ranks arrive together, bandwidth is far from the best "
                               "of this run"};
    return {"overlap", "ranks arrive together at good bandwidth, but little computes meanwhile"};
  }

  // --- table ---

  [[nodiscard]] std::vector<ColumnSpec> columns() const {
    std::vector<ColumnSpec> columns{
        {"process group", Kind::kText, "id", "group"},
        {"collective", Kind::kText, "", "operation"},
        {"count", Kind::kInteger, "", "collectives"},
        {"exposed (ms)", Kind::kReal, "ms",
         "time per rank in which it computes nothing: what the operation costs"},
        {"waiting (%)", Kind::kReal, "%", "share of the kernel time: waiting for the last rank"},
        {"verdict", Kind::kText, "", "fine, imbalance, latency, network or overlap"},
        {"late ranks", Kind::kText, "", "who came last, and in which share of the collectives"},
        {"late rank was in", Kind::kText, "",
         "what the first of them was doing while the others waited"},
        {"why", Kind::kText, "", "what the verdict rests on"},
        run_.column(kGroupSize),
        {"message (MB)", Kind::kReal, "MiB", "mean size of the message"},
        {"time (ms)", Kind::kReal, "ms",
         "kernel time per rank, all collectives, mean of the ranks"},
        {"communication (ms)", Kind::kReal, "ms", "of this, what the rank that came last needs"},
        {"waiting (ms)", Kind::kReal, "ms", "waiting for the last rank, mean of the ranks"},
        {"exposed (%)", Kind::kReal, "%", "share of the kernel time"},
        {"bus bw (GB/s)", Kind::kReal, "GiB/s", "what each link carries while communicating"}};
    if (options_.link_gbps)
      columns.push_back({"of link peak (%)", Kind::kReal, "%", "share of the link's peak"});
    run_.add_node_columns(columns, false, true);
    return columns;
  }

  void add_row(Table& table, std::uint32_t group, const Operation& operation) const {
    const CollectiveMessage& message = run_.message(operation.first);
    const auto share = share_of_link(operation);
    const Verdict verdict = verdict_of(operation);
    RowCells cells;
    cells.add(run_.matching().groups[group].id);
    cells.add(name_of(message));
    cells.add(operation.count);
    cells.add(operation.exposed_ns / 1e6);
    cells.add(percent_of(operation.wait_ns, operation.dur_ns));
    cells.add(verdict.word);
    cells.add(late_text(operation));
    cells.add(doing_text(operation));
    cells.add(verdict.advice);
    cells.add(run_.cell(message, kGroupSize));
    cells.add(operation.mib ? std::optional{mean_mib(operation)} : std::nullopt);
    cells.add(operation.dur_ns / 1e6);
    cells.add(static_cast<double>(operation.latency_ns) / 1e6);
    cells.add(operation.wait_ns / 1e6);
    cells.add(percent_of(operation.exposed_ns, operation.dur_ns));
    cells.add(bus_gibps(operation));
    if (options_.link_gbps) cells.add(share ? std::optional{*share * 100} : std::nullopt);
    run_.add_node_span(cells, operation.first);
    table.append(cells.cells());
  }

  const CollectiveRun& run_;
  const VerdictOptions& options_;
  std::map<std::int64_t, std::size_t> index_of_;  // by rank
  std::map<std::pair<std::uint32_t, std::string>, Operation> operations_;
  double best_gibps_ = 0;
};

}  // namespace

std::optional<Table> comm_verdict(const CollectiveRun& run, const VerdictOptions& options) {
  return Judge{run, options}.table();
}

}  // namespace tracelens
