#include "analysis/ranks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tracelens/table_text.hpp>

#include "analysis/ranks/rank_columns.hpp"
#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr std::size_t kMostSentences = 20;

const char* text_of(MatchedBy how) {
  switch (how) {
    case MatchedBy::kOrder:
      return "order";
    case MatchedBy::kSequence:
      return "sequence number";
    case MatchedBy::kMessages:
      return "messages and times";
  }
  return "";
}

// The first rank that says something else than the first one; nothing when all agree.
std::optional<std::string> disagreement(const CollectiveRun& run, const Collective& collective) {
  const auto members = run.matching().members(collective);
  const CollectiveMessage& first = run.message(members.front());
  const bool is_even = is_synchronizing(run.kind(first));
  for (const auto field :
       {kGroupRanks, kCollective, kGroupSize, kDtype, kInElements, kOutElements}) {
    if ((field == kInElements || field == kOutElements) && !is_even) continue;
    for (const CollectiveMember& member : members)
      if (const CollectiveMessage& other = run.message(member); other[field] != first[field])
        return fmt::format(
            "Metadata mismatch in '{}' for collective {}: {} on rank {}, {} on rank {}",
            tracelens::text_of(field).name, run.matching().id(collective),
            python_repr(first[field]), run.rank(members.front()), python_repr(other[field]),
            run.rank(member));
  }
  return std::nullopt;
}

bool is_transfer(const CollectiveRun& run, const Collective& collective) {
  const auto members = run.matching().members(collective);
  const Value& name = run.message(members.front())[kCollective];
  return is_point_to_point(kind_of(name, Edition::kExtended));
}

struct RankCounts {
  std::int64_t kernels = 0, collectives = 0;
};
struct GroupCounts {
  std::int64_t collectives = 0, incomplete = 0, transfers = 0, unmatched_transfers = 0;
  std::map<std::uint32_t, RankCounts> ranks;  // those with kernels of the group, by rank index
};

std::vector<GroupCounts> count_groups(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  std::vector<GroupCounts> counts(matching.groups.size());
  for (const Collective& collective : matching.collectives) {
    GroupCounts& group = counts[collective.group];
    const bool is_collective = !is_transfer(run, collective);
    for (const CollectiveMember& member : matching.members(collective)) {
      RankCounts& rank = group.ranks[member.rank];
      ++rank.kernels;
      rank.collectives += is_collective ? 1 : 0;
    }
    group.collectives += is_collective ? 1 : 0;
  }
  for (const Collective& collective : matching.collectives) {
    GroupCounts& group = counts[collective.group];
    const std::size_t listed = matching.groups[collective.group].members.size();
    const std::size_t wanted = listed > 0 ? listed : group.ranks.size();
    if (collective.member_count < wanted && !is_transfer(run, collective)) ++group.incomplete;
  }
  for (const Transfer& transfer : matching.transfers) {
    ++counts[transfer.group].transfers;
    if (!transfer.send || !transfer.receive) ++counts[transfer.group].unmatched_transfers;
  }
  return counts;
}

}  // namespace

std::vector<std::string> metadata_mismatches(const CollectiveRun& run) {
  std::vector<std::string> sentences;
  std::size_t more = 0;
  for (const Collective& collective : run.matching().collectives) {
    if (is_transfer(run, collective)) continue;  // a send is no receive
    auto sentence = disagreement(run, collective);
    if (!sentence) continue;
    if (sentences.size() < kMostSentences)
      sentences.push_back(std::move(*sentence));
    else
      ++more;
  }
  if (more > 0)
    sentences.push_back(fmt::format("ranks disagree on the messages of {} more collectives", more));
  return sentences;
}

std::vector<std::string> missing_kernels(const CollectiveRun& run) {
  constexpr std::size_t kMostRanks = 4;
  std::map<std::int64_t, std::uint32_t> index_of;
  for (std::uint32_t i = 0; i < run.ranks().size(); ++i) index_of[run.ranks()[i].rank] = i;
  std::vector<std::string> sentences;
  std::vector<GroupCounts> counts = count_groups(run);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    GroupCounts& group = counts[i];
    if (group.collectives == 0) continue;
    // A member that was read but has no kernel of the group lacks them all.
    for (const std::int64_t member : run.matching().groups[i].members)
      if (const auto found = index_of.find(member); found != index_of.end())
        group.ranks.try_emplace(found->second);
    std::string text;
    std::size_t ranks = 0;
    for (const auto& [rank, count] : group.ranks) {
      const std::int64_t lacking = group.collectives - count.collectives;
      if (lacking == 0) continue;
      if (++ranks <= kMostRanks)
        text += fmt::format("{}rank {} lacks {}", text.empty() ? "" : ", ", run.ranks()[rank].rank,
                            lacking);
    }
    if (ranks == 0) continue;
    if (ranks > kMostRanks) text += fmt::format(" and {} more ranks lack some", ranks - kMostRanks);
    sentences.push_back(fmt::format("process group {}: of {} collectives {}",
                                    run.matching().groups[i].id, group.collectives, text));
  }
  if (sentences.size() > kMostSentences) {
    const std::size_t more = sentences.size() - kMostSentences;
    sentences.resize(kMostSentences);
    sentences.push_back(fmt::format("ranks lack collectives of {} more process groups", more));
  }
  return sentences;
}

std::vector<std::string> long_waits(const CollectiveRun& run,
                                    std::span<const SyncCollective> rows) {
  const std::int64_t longest_trace = run.longest_trace_ns();
  SyncCollective longest;
  std::size_t more = 0;
  for (const SyncCollective& row : rows) {
    if (row.start_skew_ns <= longest_trace) continue;
    ++more;
    if (row.start_skew_ns > longest.start_skew_ns) longest = row;
  }
  if (more == 0) return {};
  return {fmt::format(
      "in {} collectives a rank seems to wait longer than its trace lasts ({:.3f} s); in {} rank "
      "{} waits {:.3f} s for rank {}: clocks are apart, or these kernels are not one collective",
      more, static_cast<double>(longest_trace) / 1e9,
      run.matching().id(run.matching().collectives[longest.collective]), longest.earliest_rank,
      static_cast<double>(longest.start_skew_ns) / 1e9, longest.latest_rank)};
}

std::vector<std::string> left_out_rank_columns(const CollectiveRun& run,
                                               std::span<const SyncCollective> sync,
                                               std::span<const UnevenExchange> uneven) {
  std::vector<std::string> sentences;
  const auto look_at = [&](const char* table, const auto& rows) {
    if (has_sparse_ranks(run, rows))
      sentences.push_back(fmt::format(
          "{} is without columns for each rank: {} collectives by {} ranks are mostly empty cells; "
          "nccl_long has a row for each kernel",
          table, rows.size(), run.ranks().size()));
  };
  look_at("nccl_implicit_sync", sync);
  look_at("nccl_all2allv", uneven);
  return sentences;
}

std::vector<std::string> unlinked_kernels(const CollectiveRun& run) {
  std::uint64_t kernels = 0;
  std::size_t ranks = 0;
  for (const RankTrace& rank : run.ranks()) {
    kernels += rank.unlinked_kernels;
    ranks += rank.unlinked_kernels > 0 ? 1 : 0;
  }
  if (kernels == 0) return {};
  return {fmt::format(
      "communication kernels without correlation and external id are left out: {} on {} ranks",
      kernels, ranks)};
}

Table process_groups(const CollectiveRun& run) {
  std::vector<ColumnSpec> columns{
      {"process group", Kind::kText, "id", "name, with its first rank where groups share a name"},
      {"group size", Kind::kInteger, "", "ranks in the group; empty: not told"},
      {"ranks seen", Kind::kInteger, "", "ranks with kernels of the group"},
      {"collectives", Kind::kInteger, "", "collectives that were matched across ranks"},
      {"incomplete", Kind::kInteger, "",
       "of these, without the kernel of some rank of the group, read or not"},
      {"transfers", Kind::kInteger, "", "sends and receives"},
      {"unmatched transfers", Kind::kInteger, "", "of these, with one side only"},
      {"matched by", Kind::kText, "",
       "how kernels of different ranks were told to be one collective"},
      {"fewest kernels", Kind::kInteger, "", "kernels of the rank that has fewest"},
      {"its rank", Kind::kInteger, "id", "that rank"},
      {"most kernels", Kind::kInteger, "", "kernels of the rank that has most"}};
  Table table{"process_groups", "The process groups, and what is missing of their collectives",
              columns};
  const std::vector<GroupCounts> counts = count_groups(run);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ProcessGroup& group = run.matching().groups[i];
    std::int64_t seen = 0, fewest = 0, fewest_rank = 0, most = 0;
    for (const auto& [rank, count] : counts[i].ranks) {
      if (seen++ == 0 || count.kernels < fewest) {
        fewest = count.kernels;
        fewest_rank = run.ranks()[rank].rank;
      }
      most = std::max(most, count.kernels);
    }
    if (seen == 0) continue;
    table.add_row(
        group.id, group.members.empty() ? std::nullopt : std::optional{group.members.size()}, seen,
        counts[i].collectives, counts[i].incomplete, counts[i].transfers,
        counts[i].unmatched_transfers, text_of(group.matched_by), fewest, fewest_rank, most);
  }
  return table;
}

Table rank_files(const CollectiveRun& run) {
  ColumnSet<const RankTrace> columns{
      {{"rank", Kind::kInteger, "id", "rank"}, &RankTrace::rank},
      {{"file", Kind::kText, "", "its trace"}, &RankTrace::file},
      {{"events", Kind::kInteger, "", "events in the trace"},
       [](const RankTrace& rank) { return static_cast<std::int64_t>(rank.events); }},
      {{"text (MB)", Kind::kReal, "MB", "size of the unpacked text"},
       [](const RankTrace& rank) { return static_cast<double>(rank.text_bytes) / 1e6; }},
      {{"communication kernels", Kind::kInteger, "", "kernels that take part in this report"},
       [](const RankTrace& rank) { return std::ssize(rank.kernels); }}};
  add_node_id_column(columns, run);
  Table table = columns.make_table("ranks", "The traces that were read");
  for (const RankTrace& rank : run.ranks()) columns.append(table, rank);
  return table;
}

}  // namespace tracelens
