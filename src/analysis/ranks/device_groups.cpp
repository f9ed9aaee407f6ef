#include "analysis/ranks/device_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tracelens {
namespace {

using enum CollectiveField;

// A made-up size must not become a list of a billion devices.
constexpr std::int64_t kMostDevices = 1 << 20;

constexpr std::string_view kGroups = "replica_groups=", kPairs = "source_target_pairs=";

// "[4,2]" at the front of `text`, which then goes on behind it; nothing when it is no such list.
std::optional<std::vector<std::int64_t>> take_list(std::string_view& text, char open, char close) {
  if (!text.starts_with(open)) return std::nullopt;
  const std::size_t end = text.find(close);
  if (end == text.npos) return std::nullopt;
  std::vector<std::int64_t> numbers;
  const char *at = text.data() + 1, *const last = text.data() + end;
  while (at < last) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, last, number);
    if (error != std::errc{} || number < 0 || (next < last && *next != ',')) return std::nullopt;
    numbers.push_back(number);
    at = next < last ? next + 1 : last;
  }
  text.remove_prefix(end + 1);
  return numbers;
}

// The product, or nothing above the limit.
std::optional<std::int64_t> devices_in(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (dim <= 0 || dim > kMostDevices) return std::nullopt;
    product *= dim;
    if (product > kMostDevices) return std::nullopt;
  }
  return product;
}

DeviceGroups listed_groups(std::string_view text) {
  DeviceGroups groups;
  text.remove_prefix(1);
  while (auto group = take_list(text, '{', '}')) {
    groups.push_back(*std::move(group));
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return text == "}" ? groups : DeviceGroups{};
}

// [groups, size]<=[dims]T(axes): the numbers from 0 in an array of these dims, its axes exchanged,
// read row by row.
DeviceGroups counted_groups(std::string_view text) {
  const auto shape = take_list(text, '[', ']');
  if (!shape || shape->empty() || !text.starts_with("<=")) return {};
  text.remove_prefix(2);
  const auto dims = take_list(text, '[', ']');
  if (!dims || dims->empty()) return {};
  std::vector<std::int64_t> axes(dims->size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (text.starts_with('T')) {
    text.remove_prefix(1);
    const auto given = take_list(text, '(', ')');
    if (!given || !std::ranges::is_permutation(*given, axes)) return {};
    axes = *given;
  }
  const auto count = devices_in(*dims);
  if (!text.empty() || !count || devices_in(*shape) != count) return {};

  std::vector<std::int64_t> strides(dims->size(), 1);
  for (std::size_t i = dims->size() - 1; i > 0; --i) strides[i - 1] = strides[i] * (*dims)[i];
  const std::int64_t rows = shape->size() > 1 ? shape->front() : 1;
  DeviceGroups groups(static_cast<std::size_t>(rows));
  for (std::int64_t position = 0; position < *count; ++position) {
    std::int64_t rest = position, device = 0;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const auto i = static_cast<std::size_t>(*axis);
      device += rest % (*dims)[i] * strides[i];
      rest /= (*dims)[i];
    }
    groups[static_cast<std::size_t>(position / (*count / rows))].push_back(device);
  }
  return groups;
}

// "ranks 0-7", "ranks 0-24 by 8", "ranks 0, 3, 4", "ranks 0, 3, 4, ... (12)"
std::string name_of(const std::vector<std::int64_t>& members) {
  if (members.size() < 2) return fmt::format("ranks {}", fmt::join(members, ", "));
  const std::int64_t step = members[1] - members[0];
  bool is_even = step > 0;
  for (std::size_t i = 1; i < members.size(); ++i)
    is_even = is_even && members[i] - members[i - 1] == step;
  if (is_even && (step == 1 || members.size() > 2))
    return fmt::format("ranks {}-{}{}", members.front(), members.back(),
                       step == 1 ? "" : fmt::format(" by {}", step));
  constexpr std::ptrdiff_t kShown = 8;
  if (std::ssize(members) <= kShown) return fmt::format("ranks {}", fmt::join(members, ", "));
  return fmt::format("ranks {}, ... ({})",
                     fmt::join(members.begin(), members.begin() + kShown, ", "), members.size());
}

// A group as the messages of its ranks have it.
struct NamedGroup {
  std::string name, members;
  std::int64_t size = 0;
};
class GroupsOfRanks {
 public:
  explicit GroupsOfRanks(const DeviceGroups& groups) {
    for (const std::vector<std::int64_t>& group : groups) {
      for (const std::int64_t rank : group) of_rank_.try_emplace(rank, groups_.size());
      groups_.push_back({name_of(group), fmt::format("[{}]", fmt::join(group, ", ")),
                         static_cast<std::int64_t>(group.size())});
    }
  }
  [[nodiscard]] const NamedGroup* of(std::int64_t rank) const {
    const auto found = of_rank_.find(rank);
    return found == of_rank_.end() ? nullptr : &groups_[found->second];
  }

 private:
  std::vector<NamedGroup> groups_;
  std::unordered_map<std::int64_t, std::size_t> of_rank_;
};

void set_group(CollectiveMessage& message, const NamedGroup* group) {
  message[kGroupRanks] = {};
  if (group == nullptr) return;
  message[kGroupName] = group->name;
  message[kGroupRanks] = group->members;
  message[kGroupSize] = group->size;
  if (!message[kInElements].is_int()) return;
  const std::int64_t sent = message[kInElements].as_int();
  const CollectiveKind kind = kind_of(message[kCollective], Edition::kExtended);
  std::int64_t received = sent;
  if (kind == CollectiveKind::kReduceScatter) received = sent / group->size;
  if (kind == CollectiveKind::kAllGather && __builtin_mul_overflow(sent, group->size, &received))
    return;
  message[kOutElements] = received;
}

}  // namespace

DeviceGroups device_groups(std::string_view text) {
  return text.starts_with('{') ? listed_groups(text) : counted_groups(text);
}

DeviceGroups rings_of_pairs(std::string_view text) {
  std::map<std::int64_t, std::int64_t> leaders;  // a chain from each device to that of its ring
  const auto leader_of = [&](std::int64_t device) {
    std::int64_t leader = leaders.try_emplace(device, device).first->second;
    while (leaders.at(leader) != leader) leader = leaders[device] = leaders.at(leader);
    return leader;
  };
  for (const std::vector<std::int64_t>& pair : device_groups(text)) {
    if (pair.size() != 2) return {};
    const std::int64_t one = leader_of(pair[0]), other = leader_of(pair[1]);
    leaders[std::max(one, other)] = std::min(one, other);
  }
  std::map<std::int64_t, std::vector<std::int64_t>> rings;
  for (const auto& [device, leader] : leaders) rings[leader_of(device)].push_back(device);
  DeviceGroups groups;
  for (auto& [leader, ring] : rings) groups.push_back(std::move(ring));
  return groups;
}

std::string device_groups_text(const hlo::Instruction& collective) {
  return collective.source_target_pairs.empty()
             ? std::string{kGroups} + collective.replica_groups
             : std::string{kPairs} + collective.source_target_pairs;
}

void resolve_device_groups(std::span<RankTrace> ranks, std::optional<std::int64_t> world_size) {
  std::vector<std::int64_t> all;
  for (const RankTrace& rank : ranks) all.push_back(rank.rank);
  resolve_device_groups(ranks, std::move(all), world_size);
}

void resolve_device_groups(std::span<RankTrace> ranks, std::vector<std::int64_t> all,
                           std::optional<std::int64_t> world_size) {
  if (world_size && *world_size <= kMostDevices) {
    all.resize(static_cast<std::size_t>(std::max<std::int64_t>(*world_size, 0)));
    std::iota(all.begin(), all.end(), std::int64_t{0});
  }
  std::unordered_map<std::string, GroupsOfRanks> known;
  for (RankTrace& rank : ranks)
    for (CollectiveMessage& message : rank.messages) {
      if (!message[kGroupRanks].is_text()) continue;
      const std::string text = message[kGroupRanks].as_text();
      const bool is_pairs = text.starts_with(kPairs);
      if (!is_pairs && !text.starts_with(kGroups)) continue;
      auto found = known.find(text);
      if (found == known.end()) {
        const auto own = std::string_view{text}.substr((is_pairs ? kPairs : kGroups).size());
        DeviceGroups groups = is_pairs      ? rings_of_pairs(own)
                              : own.empty() ? DeviceGroups{all}
                                            : device_groups(own);
        found = known.emplace(text, std::move(groups)).first;
      }
      set_group(message, found->second.of(rank.rank));
    }
}

}  // namespace tracelens
