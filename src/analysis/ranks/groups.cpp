#include "analysis/ranks/groups.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/rank_lists.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

bool names_no_group(const Value& name) {
  return name.is_null() || (name.is_text() && name.as_text() == kUnknownGroup);
}

bool uses_one_stream(const RankTrace& rank) {
  Value stream;
  for (const CollectiveMessage& message : rank.messages) {
    if (message.stream.is_null()) continue;
    if (!stream.is_null() && stream != message.stream) return false;
    stream = message.stream;
  }
  return true;
}

bool is_simplified(std::span<const RankTrace> ranks) {
  return std::ranges::all_of(ranks, [](const RankTrace& rank) {
    return uses_one_stream(rank) &&
           std::ranges::all_of(rank.messages, [](const CollectiveMessage& message) {
             return names_no_group(message[CollectiveField::kGroupName]);
           });
  });
}

class GroupFinder {
 public:
  explicit GroupFinder(std::span<const RankTrace> ranks) : ranks_{ranks} {}

  GroupIndex find() {
    out_.is_simplified = is_simplified(ranks_);
    out_.group_of.resize(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      listed_.clear();
      for (const GroupMembers& group : ranks_[i].groups) listed_.try_emplace(group.name, &group);
      for (const CollectiveMessage& message : ranks_[i].messages)
        out_.group_of[i].push_back(group_of(message));
    }
    join_kernels_without_members();
    give_ids();
    return std::move(out_);
  }

 private:
  std::uint32_t group_of(const CollectiveMessage& message) {
    if (out_.is_simplified) return group(kOnlyGroup, {});
    const Value& name = message[CollectiveField::kGroupName];
    if (name.is_null()) return group(kUnknownGroup, {});
    const std::string text = name.is_text() ? name.as_text() : python_repr(name);
    return group(text, members_of(text, message));
  }

  const std::vector<std::int64_t>& members_of(const std::string& name,
                                              const CollectiveMessage& message) {
    const Value &ranks = message[CollectiveField::kGroupRanks],
                &size = message[CollectiveField::kGroupSize];
    const auto [known, is_new] =
        members_.try_emplace(canonical_text(ranks) + '\0' + canonical_text(size));
    if (is_new) known->second = rank_list(ranks, size);
    if (!known->second.empty() || !ranks.is_text()) return known->second;
    const auto listed = listed_.find(name);
    return listed == listed_.end() ? known->second : listed->second->ranks;
  }

  std::uint32_t group(const std::string& name, const std::vector<std::int64_t>& members) {
    const auto [known, is_new] =
        ids_.try_emplace(std::pair{name, members}, static_cast<std::uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back({.name = name, .id = name, .members = members});
    return known->second;
  }

  // A kernel that names its group but not the members belongs to the only group of that name.
  void join_kernels_without_members() {
    const NameCounts counts = count_names();
    const auto joins = [&](const ProcessGroup& group) {
      return group.members.empty() && counts.at(group.name) == 2;
    };
    std::vector<std::uint32_t> now(out_.groups.size());
    std::vector<ProcessGroup> kept;
    std::unordered_map<std::string, std::uint32_t> first_of;  // by name: in `kept`
    for (std::size_t i = 0; i < out_.groups.size(); ++i) {
      if (joins(out_.groups[i])) continue;
      now[i] = static_cast<std::uint32_t>(kept.size());
      first_of.try_emplace(out_.groups[i].name, now[i]);
      kept.push_back(out_.groups[i]);
    }
    for (std::size_t i = 0; i < out_.groups.size(); ++i)
      if (joins(out_.groups[i])) now[i] = first_of.at(out_.groups[i].name);
    out_.groups = std::move(kept);
    for (auto& of_rank : out_.group_of)
      for (std::uint32_t& group : of_rank) group = now[group];
  }
  using NameCounts = std::unordered_map<std::string, std::size_t>;
  [[nodiscard]] NameCounts count_names() const {
    NameCounts counts;
    for (const ProcessGroup& group : out_.groups) ++counts[group.name];
    return counts;
  }

  void give_ids() {
    const NameCounts counts = count_names();
    std::unordered_map<std::string, int> used;
    for (ProcessGroup& group : out_.groups) {
      if (counts.at(group.name) > 1 && !group.members.empty())
        group.id = group.name + "@" + std::to_string(group.members.front());
      const int before = used[group.id]++;
      if (before > 0) group.id.append(1, '.').append(std::to_string(before + 1));
    }
  }

  std::span<const RankTrace> ranks_;
  std::unordered_map<std::string, const GroupMembers*> listed_;  // in the head of the rank's trace
  std::unordered_map<std::string, std::vector<std::int64_t>> members_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::uint32_t> ids_;
  GroupIndex out_;
};

}  // namespace

GroupIndex find_groups(std::span<const RankTrace> ranks) { return GroupFinder{ranks}.find(); }

}  // namespace tracelens
