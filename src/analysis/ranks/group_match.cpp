#include "analysis/ranks/group_match.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/align.hpp"
#include "trace/json_value.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// The kernels of a part that count, as places in it.
struct RankList {
  std::uint32_t part = 0;
  std::vector<std::uint32_t> kernels = {};
};
using RankLists = std::vector<RankList>;

// A kernel's kind in numbers that ascend in the order in which kernels first have it, rank by rank.
struct KindNumbers {
  std::uint32_t message = 0, operation = 0;
  CollectiveKind collective = CollectiveKind::kUnknown;
};

class GroupMatcher {
 public:
  GroupMatcher(std::span<const std::int64_t> members, std::span<const MessageKind> kinds,
               std::span<const RankPart> parts)
      : members_{members}, parts_{parts} {
    number_kinds(kinds);
    for (const RankPart& part : parts) out_.places.emplace_back(part.kernels.size());
  }

  GroupMatch match() {
    RankLists all = lists_of([](CollectiveKind) { return true; });
    const RankLists transfers = lists_of(is_point_to_point);
    pair_transfers(transfers);
    if (agree(all, &KindNumbers::message)) {
      place_in_order(all);
      return finished();
    }
    all.clear();
    for (std::size_t i = 0; i < out_.transfers.size(); ++i)
      for (const auto& side : {out_.transfers[i].send, out_.transfers[i].receive})
        if (side) place(side->rank, side->kernel) = {static_cast<std::uint32_t>(i), true};
    place_collectives(lists_of([](CollectiveKind kind) { return !is_point_to_point(kind); }));
    return finished();
  }

 private:
  void place_collectives(const RankLists& lists) {
    if (agree(lists, &KindNumbers::message)) return place_in_order(lists);
    if (has_sequences(lists)) return place_by_sequence(lists);
    // Ranks may well send different amounts: then only the operations have to agree.
    if (agree(lists, &KindNumbers::operation)) return place_in_order(lists);
    place_by_message(lists);
  }

  // While matching, sides of transfers are places in parts.
  GroupMatch finished() {
    for (Transfer& transfer : out_.transfers)
      for (auto* const side : {&transfer.send, &transfer.receive})
        if (*side) {
          const RankPart& part = parts_[(*side)->rank];
          *side = CollectiveMember{part.rank, part.kernels[(*side)->kernel].kernel};
        }
    return std::move(out_);
  }

  void number_kinds(std::span<const MessageKind> kinds) {
    std::unordered_map<std::string_view, std::uint32_t> ids;
    const auto id_of = [&](const std::string& text) {
      return ids.try_emplace(text, static_cast<std::uint32_t>(ids.size())).first->second;
    };
    // Only those of this group: there may be many more.
    std::unordered_map<std::uint32_t, std::uint32_t> places;
    for (const RankPart& part : parts_) {
      std::vector<std::uint32_t>& of_part = kind_of_.emplace_back();
      for (const RankPart::Kernel& kernel : part.kernels) {
        const auto [known, is_new] =
            places.try_emplace(kernel.kind, static_cast<std::uint32_t>(kinds_.size()));
        if (is_new) {
          const MessageKind& kind = kinds[kernel.kind];
          const std::uint32_t message = id_of(kind.message);
          kinds_.push_back({message, id_of(kind.operation), kind.collective});
        }
        of_part.push_back(known->second);
      }
    }
  }

  [[nodiscard]] const RankPart::Kernel& kernel_of(std::uint32_t part, std::uint32_t kernel) const {
    return parts_[part].kernels[kernel];
  }
  [[nodiscard]] const KindNumbers& kinds_of(std::uint32_t part, std::uint32_t kernel) const {
    return kinds_[kind_of_[part][kernel]];
  }
  [[nodiscard]] GroupMatch::Place& place(std::uint32_t part, std::uint32_t kernel) {
    return out_.places[part][kernel];
  }

  template <class Counts>
  [[nodiscard]] RankLists lists_of(Counts counts) const {
    RankLists lists;
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
      RankList& list = lists.emplace_back(RankList{.part = part});
      for (std::uint32_t k = 0; k < parts_[part].kernels.size(); ++k)
        if (counts(kinds_of(part, k).collective)) list.kernels.push_back(k);
    }
    return lists;
  }

  // Whether the k-th entries of all ranks look like one collective. Without sequence numbers lists
  // of different lengths agree in nothing: the missing entry may be any.
  bool agree(const RankLists& lists, std::uint32_t KindNumbers::*what) const {
    const auto longest = std::ranges::max_element(
        lists, {}, [](const RankList& list) { return list.kernels.size(); });
    if (longest == lists.end()) return true;
    const bool same_length = std::ranges::all_of(lists, [&](const RankList& list) {
      return list.kernels.size() == longest->kernels.size();
    });
    for (const RankList& list : lists)
      for (std::size_t k = 0; k < list.kernels.size(); ++k) {
        const KindNumbers& kinds = kinds_of(list.part, list.kernels[k]);
        if (kinds.*what != kinds_of(longest->part, longest->kernels[k]).*what) return false;
        if (is_point_to_point(kinds.collective)) {
          if (!same_length) return false;
          continue;  // both sides of a transfer count for themselves
        }
        const std::int64_t number = kernel_of(list.part, list.kernels[k]).sequence;
        if (number != kernel_of(longest->part, longest->kernels[k]).sequence) return false;
        if (number == kAbsent && !same_length) return false;
      }
    return true;
  }

  bool has_sequences(const RankLists& lists) const {
    return std::ranges::all_of(lists, [&](const RankList& list) {
      return std::ranges::all_of(list.kernels, [&](std::uint32_t kernel) {
        return kernel_of(list.part, kernel).sequence != kAbsent;
      });
    });
  }

  void place_in_order(const RankLists& lists) {
    for (const RankList& list : lists)
      for (std::uint32_t k = 0; k < list.kernels.size(); ++k)
        place(list.part, list.kernels[k]) = {.index = k};
  }

  // A collective may launch several kernels: they have one number, and differ by their order.
  void place_by_sequence(const RankLists& lists) {
    out_.matched_by = MatchedBy::kSequence;
    using Key = std::pair<std::int64_t, std::uint32_t>;
    std::set<Key> keys;
    std::vector<std::vector<Key>> keys_of(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      std::unordered_map<std::int64_t, std::uint32_t> seen;
      for (const std::uint32_t kernel : lists[i].kernels) {
        const std::int64_t number = kernel_of(lists[i].part, kernel).sequence;
        keys_of[i].push_back({number, seen[number]++});
        keys.insert(keys_of[i].back());
      }
    }
    const std::vector<Key> sorted{keys.begin(), keys.end()};
    for (std::size_t i = 0; i < lists.size(); ++i)
      for (std::size_t k = 0; k < keys_of[i].size(); ++k) {
        const auto at = std::ranges::lower_bound(sorted, keys_of[i][k]) - sorted.begin();
        place(lists[i].part, lists[i].kernels[k]) = {.index = static_cast<std::uint32_t>(at)};
      }
  }

  [[nodiscard]] std::vector<AlignEntry> entries_of(const RankList& list) const {
    std::vector<AlignEntry> entries;
    for (const std::uint32_t kernel : list.kernels) {
      const RankPart::Kernel& event = kernel_of(list.part, kernel);
      entries.push_back({kinds_of(list.part, kernel).message, end_of(event.ts_ns, event.dur_ns)});
    }
    return entries;
  }

  // All ranks are aligned with the one that has most. What that one lacks comes after the entry it
  // follows: (entry, n-th extra of this kind after it).
  void place_by_message(const RankLists& lists) {
    out_.matched_by = MatchedBy::kMessages;
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
        place(lists[i].part, lists[i].kernels[k]) = {.index = keys.at(keys_of[i][k])};
  }

  // --- sends and receives ---

  // The k-th send from one rank to another is the k-th receive there: neither library nor network
  // reorders them.
  void pair_transfers(const RankLists& lists) {
    struct Sides {
      RankList sends, receives;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Sides> pairs;  // (from, to)
    for (const RankList& list : lists)
      for (const std::uint32_t kernel : list.kernels) {
        const bool is_send = kinds_of(list.part, kernel).collective == CollectiveKind::kSend;
        const std::int64_t own = parts_[list.part].number;
        const std::int64_t other = peer_of(list.part, kernel);
        if (other == kAbsent) {
          Transfer lonely;
          (is_send ? lonely.send : lonely.receive) = CollectiveMember{list.part, kernel};
          (is_send ? lonely.from : lonely.to) = own;
          out_.transfers.push_back(lonely);
          continue;
        }
        Sides& sides = pairs[is_send ? std::pair{own, other} : std::pair{other, own}];
        RankList& side = is_send ? sides.sends : sides.receives;
        side.part = list.part;
        side.kernels.push_back(kernel);
      }
    for (const auto& [ends, sides] : pairs)
      pair_sides(ends.first, ends.second, sides.sends, sides.receives);
  }

  void pair_sides(std::int64_t from, std::int64_t to, const RankList& sends,
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
            {0, CollectiveMember{sends.part, sends.kernels[next]}, {}, from, to});
    };
    for (std::size_t k = 0; k < receives.kernels.size(); ++k) {
      Transfer transfer{0, {}, CollectiveMember{receives.part, receives.kernels[k]}, from, to};
      if (partners[k] != kUnpaired) {
        list_sends(partners[k]);
        transfer.send = CollectiveMember{sends.part, sends.kernels[next++]};
      }
      out_.transfers.push_back(transfer);
    }
    list_sends(static_cast<std::uint32_t>(sends.kernels.size()));
  }

  // As traced; in a group of two it is the other one.
  [[nodiscard]] std::int64_t peer_of(std::uint32_t part, std::uint32_t kernel) const {
    if (kernel_of(part, kernel).peer != kAbsent) return kernel_of(part, kernel).peer;
    if (members_.size() != 2) return kAbsent;
    return members_[members_[0] == parts_[part].number ? 1 : 0];
  }

  std::span<const std::int64_t> members_;
  std::span<const RankPart> parts_;
  std::vector<KindNumbers> kinds_;
  std::vector<std::vector<std::uint32_t>> kind_of_;  // by part, kernel
  GroupMatch out_;
};

}  // namespace

MessageKind message_kind(const CollectiveMessage& message) {
  MessageKind kind{.collective =
                       kind_of(message[CollectiveField::kCollective], Edition::kExtended)};
  const bool is_transfer = is_point_to_point(kind.collective);
  kind.operation =
      (is_transfer ? "transfer" : canonical_text(message[CollectiveField::kCollective])) +
      canonical_text(message[CollectiveField::kDtype]);
  kind.message = kind.operation + canonical_text(message[CollectiveField::kGroupSize]);
  if (is_synchronizing(kind.collective) || is_transfer)
    kind.message += canonical_text(message[CollectiveField::kInElements]) +
                    canonical_text(message[CollectiveField::kOutElements]);
  return kind;
}

std::uint32_t MessageKinds::number_of(MessageKind kind) {
  std::string key = kind.message + '\0' + kind.operation + '\0' +
                    std::to_string(static_cast<int>(kind.collective));
  const auto [known, is_new] =
      numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back(std::move(kind));
  return known->second;
}

GroupMatch match_group(std::span<const std::int64_t> members, std::span<const MessageKind> kinds,
                       std::span<const RankPart> parts) {
  return GroupMatcher{members, kinds, parts}.match();
}

}  // namespace tracelens
