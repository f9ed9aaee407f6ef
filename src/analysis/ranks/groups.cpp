#include "analysis/ranks/groups.hpp"

#include <algorithm>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/rank_lists.hpp"
#include "trace/json_value.hpp"
#include "trace/string_table.hpp"

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

class NameFinder {
 public:
  NameFinder(std::span<const RankTrace> ranks, bool is_simplified)
      : ranks_{ranks}, is_simplified_{is_simplified} {}

  GroupNames find() {
    out_.name_of.resize(ranks_.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      listed_.clear();
      cut_.clear();
      for (const GroupMembers& group : ranks_[rank].groups) listed_.try_emplace(group.name, &group);
      const auto& messages = ranks_[rank].messages;
      for (std::uint32_t i = 0; i < messages.size(); ++i) {
        at_ = {rank, i};
        out_.name_of[rank].push_back(name_of(messages[i]));
      }
    }
    return std::move(out_);
  }

 private:
  std::uint32_t name_of(const CollectiveMessage& message) {
    if (is_simplified_) return number_of({kOnlyGroup, {}});
    const Value& name = message[CollectiveField::kGroupName];
    if (name.is_null()) return number_of({kUnknownGroup, {}});
    const Value &ranks = message[CollectiveField::kGroupRanks],
                &size = message[CollectiveField::kGroupSize];
    const std::string text = name.is_text() ? name.as_text() : python_repr(name);
    // A list may have as many members as there are ranks: each text is read once.
    const std::string key = text + '\0' + canonical_text(ranks) + '\0' + canonical_text(size);
    auto known = told_.find(key);
    if (known == told_.end()) {
      std::vector<std::int64_t> members = rank_list(ranks, size);
      const bool is_cut = members.empty() && ranks.is_text();
      known = told_.emplace(key, is_cut ? kCut : number_of({text, std::move(members)})).first;
    }
    if (known->second != kCut) return known->second;
    const auto [cut, is_new] = cut_.try_emplace(text);
    if (is_new) {
      const auto listed = listed_.find(text);
      std::vector<std::int64_t> members;
      if (listed != listed_.end()) members = listed->second->ranks.expand();
      cut->second = number_of({text, std::move(members)});
    }
    return cut->second;
  }

  std::uint32_t number_of(GroupName name) {
    std::vector<std::uint32_t>& alike = numbers_[hash_of_group(name.name, name.members)];
    for (const std::uint32_t number : alike)
      if (out_.names[number] == name) return number;
    alike.push_back(static_cast<std::uint32_t>(out_.names.size()));
    out_.names.push_back(std::move(name));
    out_.firsts.push_back(at_);
    return alike.back();
  }

  static constexpr std::uint32_t kCut = 0xffffffff;  // the head of the trace may know the members

  std::span<const RankTrace> ranks_;
  bool is_simplified_;
  GroupNames::First at_;
  std::unordered_map<std::string, const GroupMembers*> listed_;  // in the head of the rank's trace
  std::unordered_map<std::string, std::uint32_t> cut_;  // of the rank: by name, where a list is cut
  std::unordered_map<std::string, std::uint32_t> told_;                    // by what a message says
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> numbers_;  // by hash
  GroupNames out_;
};

using NameCounts = std::unordered_map<std::string_view, std::size_t>;
template <class Group>
NameCounts count_names(const std::vector<Group>& groups) {
  NameCounts counts;
  for (const Group& group : groups) ++counts[group.name];
  return counts;
}

void give_ids(std::vector<ProcessGroup>& groups) {
  const NameCounts counts = count_names(groups);
  std::unordered_map<std::string, int> used;
  for (ProcessGroup& group : groups) {
    if (counts.at(group.name) > 1 && !group.members.empty())
      group.id = group.name + "@" + std::to_string(group.members.front());
    const int before = used[group.id]++;
    if (before > 0) group.id.append(1, '.').append(std::to_string(before + 1));
  }
}

}  // namespace

std::uint64_t hash_of_group(std::string_view name, std::span<const std::int64_t> members) {
  const auto* const bytes = reinterpret_cast<const char*>(members.data());
  return mix_hash(hash_text(name), hash_text({bytes, members.size_bytes()}));
}

bool names_no_groups(std::span<const RankTrace> ranks) {
  return std::ranges::all_of(ranks, [](const RankTrace& rank) {
    return uses_one_stream(rank) &&
           std::ranges::all_of(rank.messages, [](const CollectiveMessage& message) {
             return names_no_group(message[CollectiveField::kGroupName]);
           });
  });
}

GroupNames find_group_names(std::span<const RankTrace> ranks, bool is_simplified) {
  return NameFinder{ranks, is_simplified}.find();
}

NumberedGroups number_groups(std::vector<GroupName> names) {
  NumberedGroups out;
  out.group_of.resize(names.size());
  std::vector<bool> joins(names.size());
  {
    const NameCounts counts = count_names(names);
    for (std::size_t i = 0; i < names.size(); ++i)
      joins[i] = names[i].members.empty() && counts.at(names[i].name) == 2;
  }
  std::unordered_map<std::string, std::uint32_t> first_of;  // by name: the group
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (joins[i]) continue;
    out.group_of[i] = static_cast<std::uint32_t>(out.groups.size());
    first_of.try_emplace(names[i].name, out.group_of[i]);
    out.groups.push_back(
        {.name = names[i].name, .id = names[i].name, .members = std::move(names[i].members)});
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (joins[i]) out.group_of[i] = first_of.at(names[i].name);
  give_ids(out.groups);
  return out;
}

GroupIndex find_groups(std::span<const RankTrace> ranks) {
  const bool is_simplified = names_no_groups(ranks);
  GroupNames found = find_group_names(ranks, is_simplified);
  NumberedGroups numbered = number_groups(std::move(found.names));
  for (auto& of_rank : found.name_of)
    for (std::uint32_t& name : of_rank) name = numbered.group_of[name];
  return {is_simplified, std::move(numbered.groups), std::move(found.name_of)};
}

}  // namespace tracelens
