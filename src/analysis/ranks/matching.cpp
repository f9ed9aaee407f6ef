#include "analysis/ranks/matching.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/align.hpp"
#include "analysis/ranks/groups.hpp"
#include "trace/json_value.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// The kernels of one rank in one group, by start; of equal starts in file order.
struct RankList {
  std::uint32_t rank;
  std::vector<std::uint32_t> kernels;
};
using GroupLists = std::vector<RankList>;  // ranks ascending

// Where a kernel stands in its group.
struct Place {
  std::uint32_t group = 0, index = 0;
  bool is_apart = false;
};
constexpr std::uint32_t kUnplaced = 0xffffffff;

// Messages of different ranks that may belong to one collective, as equal numbers.
struct MessageKinds {
  std::uint32_t message = 0;    // operation, type, and sizes where all ranks have the same
  std::uint32_t operation = 0;  // operation and type alone
  CollectiveKind collective = CollectiveKind::kUnknown;
};

class Matcher {
 public:
  explicit Matcher(std::span<const RankTrace> ranks) : ranks_{ranks} {
    GroupIndex index = find_groups(ranks);
    out_.is_simplified = index.is_simplified;
    out_.groups = std::move(index.groups);
    group_of_ = std::move(index.group_of);
  }

  Matching match() {
    find_kinds();
    places_.resize(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) places_[i].resize(ranks_[i].kernels.size());
    const std::vector<GroupLists> lists = lists_by_group();
    for (std::uint32_t group = 0; group < lists.size(); ++group) match_group(group, lists[group]);
    collect();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const CollectiveKernel& kernel_of(std::uint32_t rank, std::uint32_t kernel) const {
    return ranks_[rank].kernels[kernel];
  }
  [[nodiscard]] const MessageKinds& kinds_of(std::uint32_t rank, std::uint32_t kernel) const {
    return kinds_[rank][kernel_of(rank, kernel).message];
  }

  void find_kinds() {
    std::unordered_map<std::string, std::uint32_t> ids;
    const auto id_of = [&](const std::string& text) {
      return ids.try_emplace(text, static_cast<std::uint32_t>(ids.size())).first->second;
    };
    kinds_.resize(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      for (const CollectiveMessage& message : ranks_[i].messages) {
        const CollectiveKind kind =
            kind_of(message[CollectiveField::kCollective], Edition::kExtended);
        const bool is_transfer = is_point_to_point(kind);
        const std::string operation =
            (is_transfer ? "transfer" : canonical_text(message[CollectiveField::kCollective])) +
            canonical_text(message[CollectiveField::kDtype]);
        std::string whole = operation + canonical_text(message[CollectiveField::kGroupSize]);
        if (is_synchronizing(kind) || is_transfer)
          whole += canonical_text(message[CollectiveField::kInElements]) +
                   canonical_text(message[CollectiveField::kOutElements]);
        kinds_[i].push_back({id_of(whole), id_of(operation), kind});
      }
  }

  std::vector<GroupLists> lists_by_group() const {
    std::vector<GroupLists> lists(out_.groups.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto& kernels = ranks_[rank].kernels;
      std::vector<std::uint32_t> by_start(kernels.size());
      for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
      std::ranges::stable_sort(by_start, {}, [&](std::uint32_t i) { return kernels[i].ts_ns; });
      for (const std::uint32_t kernel : by_start) {
        GroupLists& group = lists[group_of_[rank][kernels[kernel].message]];
        if (group.empty() || group.back().rank != rank) group.push_back({rank, {}});
        group.back().kernels.push_back(kernel);
      }
    }
    return lists;
  }

  // --- one group ---

  void match_group(std::uint32_t group, const GroupLists& lists) {
    GroupLists collectives = lists, transfers = lists;
    const auto is_transfer = [&](std::uint32_t rank, std::uint32_t kernel) {
      return is_point_to_point(kinds_of(rank, kernel).collective);
    };
    for (RankList& list : collectives)
      std::erase_if(list.kernels, [&](auto kernel) { return is_transfer(list.rank, kernel); });
    for (RankList& list : transfers)
      std::erase_if(list.kernels, [&](auto kernel) { return !is_transfer(list.rank, kernel); });
    const std::size_t first_transfer = out_.transfers.size();
    pair_transfers(group, transfers);

    if (agree(lists, &MessageKinds::message)) return place_in_order(group, lists);
    for (std::size_t i = first_transfer; i < out_.transfers.size(); ++i)
      for (const auto& side : {out_.transfers[i].send, out_.transfers[i].receive})
        if (side)
          places_[side->rank][side->kernel] = {
              group, static_cast<std::uint32_t>(i - first_transfer), true};

    if (agree(collectives, &MessageKinds::message)) return place_in_order(group, collectives);
    if (has_sequences(collectives)) return place_by_sequence(group, collectives);
    // Ranks may well send different amounts: then only the operations have to agree.
    if (agree(collectives, &MessageKinds::operation)) return place_in_order(group, collectives);
    place_by_message(group, collectives);
  }

  // Whether the k-th entries of all ranks look like one collective. Without sequence numbers lists
  // of different lengths agree in nothing: the missing entry may be any.
  bool agree(const GroupLists& lists, std::uint32_t MessageKinds::*what) const {
    const auto longest = std::ranges::max_element(
        lists, {}, [](const RankList& list) { return list.kernels.size(); });
    if (longest == lists.end()) return true;
    const bool same_length = std::ranges::all_of(lists, [&](const RankList& list) {
      return list.kernels.size() == longest->kernels.size();
    });
    for (const RankList& list : lists)
      for (std::size_t k = 0; k < list.kernels.size(); ++k) {
        const MessageKinds& kinds = kinds_of(list.rank, list.kernels[k]);
        if (kinds.*what != kinds_of(longest->rank, longest->kernels[k]).*what) return false;
        if (is_point_to_point(kinds.collective)) {
          if (!same_length) return false;
          continue;  // both sides of a transfer count for themselves
        }
        const std::int64_t number = kernel_of(list.rank, list.kernels[k]).sequence;
        if (number != kernel_of(longest->rank, longest->kernels[k]).sequence) return false;
        if (number == kAbsent && !same_length) return false;
      }
    return true;
  }

  bool has_sequences(const GroupLists& lists) const {
    return std::ranges::all_of(lists, [&](const RankList& list) {
      return std::ranges::all_of(list.kernels, [&](std::uint32_t kernel) {
        return kernel_of(list.rank, kernel).sequence != kAbsent;
      });
    });
  }

  void place_in_order(std::uint32_t group, const GroupLists& lists) {
    for (const RankList& list : lists)
      for (std::uint32_t k = 0; k < list.kernels.size(); ++k)
        places_[list.rank][list.kernels[k]] = {group, k};
  }

  // A collective may launch several kernels: they have one number, and differ by their order.
  void place_by_sequence(std::uint32_t group, const GroupLists& lists) {
    out_.groups[group].matched_by = MatchedBy::kSequence;
    using Key = std::pair<std::int64_t, std::uint32_t>;
    std::set<Key> keys;
    std::vector<std::vector<Key>> keys_of(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      std::unordered_map<std::int64_t, std::uint32_t> seen;
      for (const std::uint32_t kernel : lists[i].kernels) {
        const std::int64_t number = kernel_of(lists[i].rank, kernel).sequence;
        keys_of[i].push_back({number, seen[number]++});
        keys.insert(keys_of[i].back());
      }
    }
    const std::vector<Key> sorted{keys.begin(), keys.end()};
    for (std::size_t i = 0; i < lists.size(); ++i)
      for (std::size_t k = 0; k < keys_of[i].size(); ++k) {
        const auto at = std::ranges::lower_bound(sorted, keys_of[i][k]) - sorted.begin();
        places_[lists[i].rank][lists[i].kernels[k]] = {group, static_cast<std::uint32_t>(at)};
      }
  }

  [[nodiscard]] std::vector<AlignEntry> entries_of(const RankList& list) const {
    std::vector<AlignEntry> entries;
    for (const std::uint32_t kernel : list.kernels) {
      const CollectiveKernel& event = kernel_of(list.rank, kernel);
      entries.push_back({kinds_of(list.rank, kernel).message, end_of(event.ts_ns, event.dur_ns)});
    }
    return entries;
  }

  // All ranks are aligned with the one that has most. What that one lacks comes after the entry it
  // follows: (entry, n-th extra of this kind after it).
  void place_by_message(std::uint32_t group, const GroupLists& lists) {
    out_.groups[group].matched_by = MatchedBy::kMessages;
    const auto longest = std::ranges::max_element(
        lists, {}, [](const RankList& list) { return list.kernels.size(); });
    const std::vector<AlignEntry> pivot = entries_of(*longest);
    using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // after, kind, n-th
    std::map<Key, std::uint32_t> keys;
    std::vector<std::vector<Key>> keys_of(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::vector<AlignEntry> entries = entries_of(lists[i]);
      const std::vector<std::uint32_t> partners = align(pivot, entries);
      std::int64_t after = -1;
      std::unordered_map<std::uint32_t, std::uint32_t> extra;  // by kind
      for (std::size_t k = 0; k < entries.size(); ++k) {
        if (partners[k] != kUnpaired) {
          after = partners[k];
          extra.clear();
          keys_of[i].push_back({after, 0, 0});
        } else {
          keys_of[i].push_back({after, entries[k].kind + 1, ++extra[entries[k].kind]});
        }
        keys.try_emplace(keys_of[i].back());
      }
    }
    std::uint32_t index = 0;
    for (auto& [key, number] : keys) number = index++;
    for (std::size_t i = 0; i < lists.size(); ++i)
      for (std::size_t k = 0; k < keys_of[i].size(); ++k)
        places_[lists[i].rank][lists[i].kernels[k]] = {group, keys.at(keys_of[i][k])};
  }

  // --- sends and receives ---

  // The k-th send from one rank to another is the k-th receive there: neither library nor network
  // reorders them.
  void pair_transfers(std::uint32_t group, const GroupLists& lists) {
    struct Sides {
      RankList sends, receives;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Sides> pairs;  // (from, to)
    for (const RankList& list : lists)
      for (const std::uint32_t kernel : list.kernels) {
        const bool is_send = kinds_of(list.rank, kernel).collective == CollectiveKind::kSend;
        const std::int64_t own = ranks_[list.rank].rank;
        const std::int64_t other = peer_of(group, list.rank, kernel);
        if (other == kAbsent) {
          Transfer lonely{.group = group, .from = kAbsent, .to = kAbsent};
          (is_send ? lonely.send : lonely.receive) = CollectiveMember{list.rank, kernel};
          (is_send ? lonely.from : lonely.to) = own;
          out_.transfers.push_back(lonely);
          continue;
        }
        Sides& sides = pairs[is_send ? std::pair{own, other} : std::pair{other, own}];
        RankList& side = is_send ? sides.sends : sides.receives;
        side.rank = list.rank;
        side.kernels.push_back(kernel);
      }
    for (const auto& [ends, sides] : pairs)
      pair_sides(group, ends.first, ends.second, sides.sends, sides.receives);
  }

  void pair_sides(std::uint32_t group, std::int64_t from, std::int64_t to, const RankList& sends,
                  const RankList& receives) {
    std::vector<std::uint32_t> partners;
    if (sends.kernels.size() == receives.kernels.size())
      for (std::uint32_t k = 0; k < receives.kernels.size(); ++k) partners.push_back(k);
    else
      partners = align(entries_of(sends), entries_of(receives));
    std::uint32_t next = 0;  // sends before this one are listed
    const auto list_sends = [&](std::uint32_t up_to) {
      for (; next < up_to; ++next)
        out_.transfers.push_back(
            {group, CollectiveMember{sends.rank, sends.kernels[next]}, {}, from, to});
    };
    for (std::size_t k = 0; k < receives.kernels.size(); ++k) {
      Transfer transfer{group, {}, CollectiveMember{receives.rank, receives.kernels[k]}, from, to};
      if (partners[k] != kUnpaired) {
        list_sends(partners[k]);
        transfer.send = CollectiveMember{sends.rank, sends.kernels[next++]};
      }
      out_.transfers.push_back(transfer);
    }
    list_sends(static_cast<std::uint32_t>(sends.kernels.size()));
  }

  // As traced; in a group of two it is the other one.
  [[nodiscard]] std::int64_t peer_of(std::uint32_t group, std::uint32_t rank,
                                     std::uint32_t kernel) const {
    if (kernel_of(rank, kernel).peer != kAbsent) return kernel_of(rank, kernel).peer;
    const auto& members = out_.groups[group].members;
    if (members.size() != 2) return kAbsent;
    return members[members[0] == ranks_[rank].rank ? 1 : 0];
  }

  // --- all groups ---

  void collect() {
    // By group and place: the number of the collective. Places of a group are dense.
    std::vector<std::array<std::vector<std::uint32_t>, 2>> numbers(out_.groups.size());
    out_.collective_of.resize(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const Place& place : places_[rank]) {
        auto& of_group = numbers[place.group][place.is_apart ? 1 : 0];
        if (of_group.size() <= place.index) of_group.resize(place.index + 1, kUnplaced);
        std::uint32_t& number = of_group[place.index];
        if (number == kUnplaced) {
          number = static_cast<std::uint32_t>(out_.collectives.size());
          out_.collectives.push_back(
              {.group = place.group, .index = place.index, .is_apart = place.is_apart});
        }
        out_.collective_of[rank].push_back(number);
        ++out_.collectives[number].member_count;
      }
    std::uint32_t first = 0;
    for (Collective& collective : out_.collectives) {
      collective.first_member = first;
      first += collective.member_count;
      collective.member_count = 0;
    }
    out_.all_members.resize(first);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::uint32_t kernel = 0; kernel < out_.collective_of[rank].size(); ++kernel) {
        Collective& collective = out_.collectives[out_.collective_of[rank][kernel]];
        out_.all_members[collective.first_member + collective.member_count++] = {rank, kernel};
      }
  }

  std::span<const RankTrace> ranks_;
  std::vector<std::vector<std::uint32_t>> group_of_;  // by rank, message
  std::vector<std::vector<MessageKinds>> kinds_;      // by rank, message
  std::vector<std::vector<Place>> places_;            // by rank, kernel
  Matching out_;
};

}  // namespace

std::string Matching::id(const Collective& collective) const {
  const std::string index = (collective.is_apart ? "p2p" : "") + std::to_string(collective.index);
  return is_simplified ? index : groups[collective.group].id + "_" + index;
}

Matching match_collectives(std::span<const RankTrace> ranks) { return Matcher{ranks}.match(); }

}  // namespace tracelens
