#include "analysis/ranks/cost.hpp"

#include <algorithm>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/ranks/sync.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kMib = 1024.0 * 1024.0;

std::string name_of(const CollectiveMessage& message) {
  const Value& name = message[kCollective];
  return name.is_null() ? "unknown" : name.is_text() ? name.as_text() : python_repr(name);
}

class Costs {
 public:
  explicit Costs(const CollectiveRun& run) : run_{run} {
    for (std::uint32_t i = 0; i < run.ranks().size(); ++i) index_of_[run.ranks()[i].rank] = i;
  }

  std::vector<OperationCost> collect() {
    const Matching& matching = run_.matching();
    for (std::uint32_t i = 0; i < matching.collectives.size(); ++i) {
      const std::uint32_t group = matching.collectives[i].group;
      const auto members = matching.members(matching.collectives[i]);
      const CollectiveMessage& message = run_.message(members.front());
      const CollectiveKind kind = kind_of(message[kCollective], Edition::kExtended);
      if (is_point_to_point(kind) || members.size() < 2) continue;
      std::string name = name_of(message);
      OperationCost& operation = operations_[{group, name}];
      if (operation.count++ == 0) {
        operation.group = group;
        operation.name = std::move(name);
        operation.kind = kind;
        operation.first = members.front();
      }
      add(operation, i);
    }
    note_doings();
    std::vector<OperationCost> costs;
    for (auto& [key, operation] : operations_) costs.push_back(std::move(operation));
    return costs;
  }

 private:
  void add(OperationCost& operation, std::uint32_t number) {
    const auto members = run_.matching().members(run_.matching().collectives[number]);
    const SyncCollective measured = measure(run_, number, operation.kind);
    const auto size = static_cast<double>(members.size());
    double dur = 0, exposed = 0, wait = 0;
    bool has_left = false;
    for (const CollectiveMember& member : members) {
      const CollectiveKernel& kernel = run_.kernel(member);
      dur += static_cast<double>(kernel.dur_ns);
      exposed += static_cast<double>(kernel.exposed_ns);
      wait += static_cast<double>(waited_ns(kernel, measured, operation.kind));
      has_left |= end_of(kernel.ts_ns, kernel.dur_ns) < measured.last_start_ns;
    }
    operation.communication_ns = plus_ns(operation.communication_ns, measured.latency_ns);
    operation.dur_ns += dur / size;
    operation.exposed_ns += exposed / size;
    operation.wait_ns += wait / size;
    operation.left_before_last += has_left ? 1 : 0;
    operation.largest_skew_ns = std::max(operation.largest_skew_ns, measured.start_skew_ns);
    // In an uneven exchange the shortest kernel is the one with the least to move.
    const bool is_uneven = operation.kind == CollectiveKind::kAllToAllV;
    operation.moving_ns +=
        is_uneven ? (dur - wait) / size : static_cast<double>(measured.latency_ns);
    const auto mib = is_uneven ? mean_sent_mib(members) : measured.full_mib;
    if (mib) add_bytes(operation, *mib * kMib, run_.message(members.front())[kGroupSize]);
    if (measured.start_skew_ns > 0) note_late_rank(operation, measured);
  }

  // The part of a kernel before the last rank came. Where ranks need not wait for each other, one
  // that had left by then did not.
  static std::int64_t waited_ns(const CollectiveKernel& kernel, const SyncCollective& collective,
                                CollectiveKind kind) {
    const bool has_left = end_of(kernel.ts_ns, kernel.dur_ns) < collective.last_start_ns;
    if (has_left && !is_synchronizing(kind)) return 0;
    const std::int64_t alone = minus_ns(collective.last_start_ns, kernel.ts_ns);
    return std::clamp<std::int64_t>(alone, 0, kernel.dur_ns - collective.latency_ns);
  }

  [[nodiscard]] std::optional<double> mean_sent_mib(
      std::span<const CollectiveMember> members) const {
    double sum = 0;
    for (const CollectiveMember& member : members) {
      const auto mib = run_.mib(run_.message(member), kInElements);
      if (!mib) return std::nullopt;
      sum += *mib;
    }
    return sum / static_cast<double>(members.size());
  }

  static void add_bytes(OperationCost& operation, double bytes, const Value& group_size) {
    operation.bytes = operation.bytes.value_or(0) + bytes;
    if (group_size.is_number())
      operation.bus_bytes = operation.bus_bytes.value_or(0) +
                            bytes * bus_factor(operation.kind, group_size.as_real());
  }

  void note_late_rank(OperationCost& operation, const SyncCollective& measured) {
    ++operation.late_count[measured.latest_rank];
    late_.push_back({&operation, measured.latest_rank});
    questions_.push_back({.rank = index_of_.at(measured.latest_rank),
                          .window = {minus_ns(measured.last_start_ns, measured.start_skew_ns),
                                     measured.last_start_ns}});
  }

  // All at once: the answers may be with other processes.
  void note_doings() {
    const ActivityAnswers answers = run_.activities(std::move(questions_));
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i]) {
        std::int64_t& ns = late_[i].operation->doing[late_[i].rank][answers[i]->what];
        ns = plus_ns(ns, answers[i]->ns);
      }
  }

  struct Late {
    OperationCost* operation;
    std::int64_t rank;
  };

  const CollectiveRun& run_;
  std::map<std::int64_t, std::uint32_t> index_of_;  // by rank
  std::map<std::pair<std::uint32_t, std::string>, OperationCost> operations_;
  std::vector<Late> late_;                   // a collective with a late rank each
  std::vector<ActivityQuestion> questions_;  // likewise: what that rank was doing
};

}  // namespace

std::optional<double> OperationCost::bus_gbps() const {
  if (!bus_bytes || moving_ns <= 0) return std::nullopt;
  return *bus_bytes / moving_ns;  // bytes per ns are GB/s
}

std::vector<OperationCost> operation_costs(const CollectiveRun& run) {
  return Costs{run}.collect();
}

}  // namespace tracelens
