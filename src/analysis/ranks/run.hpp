// run.hpp: all ranks of a run with their collectives matched: what every table is made of.
//   const CollectiveRun run{std::move(ranks), {.gpus_per_node = 8}};
//   run.id(collective), run.node_span(message) ...
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/intervals.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ranks/matching.hpp"
#include "analysis/ranks/message.hpp"
#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

// What a rank was doing: RankActivity::busiest_in. `rank` is an index, and the window by the rank's
// own clock.
struct ActivityQuestion {
  std::uint32_t rank = 0;
  Interval window = {};
};
struct ActivityAnswer {
  std::string what;
  std::int64_t ns = 0;  // of the window
};
[[nodiscard]] std::optional<ActivityAnswer> answer(const RankActivity& activity,
                                                   const Interval& window);
using ActivityAnswers = std::vector<std::optional<ActivityAnswer>>;  // by question
// Asks whoever has the ranks' activities.
using AskActivity = std::function<ActivityAnswers(std::span<const ActivityQuestion>)>;

struct CollectiveRunOptions {
  Edition edition = Edition::kExtended;
  std::optional<std::int64_t> gpus_per_node = {};  // none: as many as the first trace lists
  AskActivity ask_activity = nullptr;              // none: the ranks themselves have them
};

class CollectiveRun {
 public:
  // `ranks` ascending by rank, all of them readable.
  CollectiveRun(std::vector<RankTrace> ranks, const CollectiveRunOptions& options);
  // The same, with the matching that others have made.
  CollectiveRun(Matching matching, std::vector<RankTrace> ranks,
                const CollectiveRunOptions& options);

  [[nodiscard]] const std::vector<RankTrace>& ranks() const { return ranks_; }
  [[nodiscard]] const Matching& matching() const { return matching_; }
  [[nodiscard]] Edition edition() const { return edition_; }
  [[nodiscard]] std::int64_t longest_trace_ns() const;  // of the ranks'
  // Takes this many ns, by rank index, off all times of a rank.
  void shift_clocks(std::span<const std::int64_t> ahead_ns);
  // What ranks were doing; windows by the clocks as they are now.
  [[nodiscard]] ActivityAnswers activities(std::vector<ActivityQuestion> questions) const;

  // --- kernels and messages ---
  [[nodiscard]] const CollectiveKernel& kernel(const CollectiveMember& member) const {
    return ranks_[member.rank].kernels[member.kernel];
  }
  [[nodiscard]] const CollectiveMessage& message(const CollectiveMember& member) const {
    return ranks_[member.rank].message(kernel(member));
  }
  [[nodiscard]] std::int64_t rank(const CollectiveMember& member) const {
    return ranks_[member.rank].rank;
  }
  [[nodiscard]] CollectiveKind kind(const CollectiveMessage& message) const {
    return kind_of(message[CollectiveField::kCollective], edition_);
  }
  [[nodiscard]] std::optional<double> mib(const CollectiveMessage& message,
                                          CollectiveField elements) const {
    return message_mib(message, elements, edition_);
  }

  // --- columns that all tables share: the narrowest kind that holds every value of the run ---
  [[nodiscard]] ColumnSpec column(CollectiveField field) const;
  [[nodiscard]] ColumnSpec stream_column() const;
  // Microseconds: whole ones when all times of the run are, as old profilers wrote them.
  [[nodiscard]] Kind time_kind() const { return has_whole_us_ ? Kind::kInteger : Kind::kReal; }
  [[nodiscard]] Cell time_cell(std::int64_t ns) const;
  // The value as a cell of that column. A group without a name has the one it was given.
  static Cell cell(const Value& value);

  // --- nodes ---
  [[nodiscard]] std::optional<std::int64_t> gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] std::int64_t node_of(std::int64_t rank) const;  // 0 when nodes are not known
  // "intra_node", "inter_node" or "unknown"; nodes must be known.
  [[nodiscard]] std::string_view node_span(const CollectiveMember& member) const {
    return node_spans_[member.rank][kernel(member).message];
  }

 private:
  void find_node_spans();
  [[nodiscard]] std::string_view span_of(const std::vector<std::int64_t>& members) const;

  Edition edition_;
  std::vector<RankTrace> ranks_;
  Matching matching_;
  std::optional<std::int64_t> gpus_per_node_;
  AskActivity ask_activity_;
  std::vector<std::int64_t> ahead_ns_;  // by rank index: taken off its times so far
  bool has_whole_us_ = true;
  std::vector<Kind> kinds_;                                // by field; the stream's last
  std::vector<std::vector<std::string_view>> node_spans_;  // by rank index, message
};

}  // namespace tracelens
