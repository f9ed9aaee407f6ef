#include "analysis/ranks/match_together.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/ranks/byte_stream.hpp"
#include "analysis/ranks/group_parts.hpp"
#include "analysis/ranks/groups.hpp"
#include "analysis/ranks/rank_runs.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// --- names of groups ---

void write(ByteWriter& out, const GroupName& group) {
  out.text(group.name);
  const RankRuns members{group.members};
  out.count(members.runs.size());
  for (const RankRuns::Run& run : members.runs) {
    out.number(run.first);
    out.number(run.step);
    out.count(run.count);
  }
}

GroupName read_group(ByteReader& in) {
  GroupName group{.name = std::string{in.text()}, .members = {}};
  RankRuns members;
  members.runs.resize(in.length(3));
  for (RankRuns::Run& run : members.runs) {
    run.first = in.number();
    run.step = in.number();
    run.count = in.count();
  }
  group.members = members.expand();
  return group;
}

// Names by number, found by name.
class NameNumbers {
 public:
  // The place of the name, or where it is put when it is new.
  std::uint32_t number_of(const GroupName& name) {
    std::vector<std::uint32_t>& alike = numbers_[hash_of_group(name.name, name.members)];
    for (const std::uint32_t number : alike)
      if (names_[number] == name) return number;
    alike.push_back(static_cast<std::uint32_t>(names_.size()));
    names_.push_back(name);
    return alike.back();
  }
  [[nodiscard]] const std::vector<GroupName>& names() const { return names_; }

 private:
  std::vector<GroupName> names_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> numbers_;  // by hash
};

std::string names_to_bytes(const RankShare& share) {
  ByteWriter out;
  out.count(names_no_groups(share.ranks) ? 1 : 0);
  const GroupNames found = find_group_names(share.ranks, false);
  out.count(found.names.size());
  for (std::size_t i = 0; i < found.names.size(); ++i) {
    write(out, found.names[i]);
    out.count(share.indices[found.firsts[i].rank]);
    out.count(found.firsts[i].message);
  }
  return out.take();
}

// What the first process tells all: whether the run is simplified, and the names of its groups in
// the order in which they first appear, rank by rank.
std::string merged_names(std::span<const std::string> parts) {
  bool is_simplified = true;
  NameNumbers known;
  using First = std::pair<std::uint64_t, std::uint64_t>;  // rank, message
  std::vector<First> firsts;
  for (const std::string& part : parts) {
    ByteReader in{part};
    is_simplified &= in.count() == 1;
    for (std::size_t left = in.length(); left > 0; --left) {
      const std::uint32_t number = known.number_of(read_group(in));
      const std::uint64_t rank = in.count();
      const First first{rank, in.count()};
      if (number == firsts.size())
        firsts.push_back(first);
      else
        firsts[number] = std::min(firsts[number], first);
    }
    in.end();
  }
  std::vector<std::uint32_t> order(firsts.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return firsts[i]; });
  ByteWriter out;
  out.count(is_simplified ? 1 : 0);
  out.count(order.size());
  for (const std::uint32_t i : order) write(out, known.names()[i]);
  return out.take();
}

// --- kernels of a group ---

void write(ByteWriter& out, const RankPart& part) {
  out.count(part.rank);
  out.number(part.number);
  out.count(part.kernels.size());
  RankPart::Kernel before{.sequence = 0, .peer = kAbsent};
  for (const RankPart::Kernel& kernel : part.kernels) {
    out.number(minus_ns(kernel.ts_ns, before.ts_ns));
    out.number(kernel.dur_ns);
    out.number(minus_ns(kernel.sequence, before.sequence));
    out.number(minus_ns(kernel.peer, before.peer));
    out.number(std::int64_t{kernel.kernel} - before.kernel);
    out.count(kernel.kind);
    before = kernel;
  }
}

RankPart read_part(ByteReader& in, std::span<const std::uint32_t> kinds) {
  RankPart part{.rank = in.small_count(), .number = in.number()};
  part.kernels.resize(in.length(6));
  RankPart::Kernel before{.sequence = 0, .peer = kAbsent};
  for (RankPart::Kernel& kernel : part.kernels) {
    kernel.ts_ns = plus_ns(before.ts_ns, in.number());
    kernel.dur_ns = in.number();
    kernel.sequence = plus_ns(before.sequence, in.number());
    kernel.peer = plus_ns(before.peer, in.number());
    kernel.kernel = static_cast<std::uint32_t>(before.kernel + in.number());
    kernel.kind = in.small_count();
    before = kernel;
    kernel.kind = kinds[kernel.kind];
  }
  return part;
}

// Bytes in which groups ascend, each with the number of bytes to skip to the next.
class GroupCursor {
 public:
  explicit GroupCursor(ByteReader in) : in_{in} { step(); }
  // The bytes of the group, when it comes next.
  [[nodiscard]] std::optional<std::string_view> take(std::uint32_t group) {
    if (!has_next_ || next_ != group) return std::nullopt;
    const std::string_view bytes = in_.text();
    step();
    return bytes;
  }

 private:
  void step() {
    has_next_ = !in_.is_done();
    if (has_next_) next_ = in_.small_count();
  }
  ByteReader in_;
  bool has_next_ = false;
  std::uint32_t next_ = 0;
};

// --- matched groups ---

void write(ByteWriter& out, const std::optional<CollectiveMember>& member) {
  out.count(member ? member->rank + std::uint64_t{1} : 0);
  if (member) out.count(member->kernel);
}

std::optional<CollectiveMember> read_member(ByteReader& in) {
  const std::uint64_t rank = in.count();
  if (rank == 0) return std::nullopt;
  return CollectiveMember{static_cast<std::uint32_t>(rank - 1), in.small_count()};
}

// Of the parts, whose kernels they are.
void write(ByteWriter& out, const GroupMatch& match, std::span<const RankPart> parts) {
  out.count(static_cast<std::uint64_t>(match.matched_by));
  out.count(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.count(parts[i].rank);
    out.count(parts[i].kernels.size());
    std::int64_t kernel = 0, index = 0;
    for (std::size_t k = 0; k < parts[i].kernels.size(); ++k) {
      const GroupMatch::Place& place = match.places[i][k];
      out.number(parts[i].kernels[k].kernel - std::exchange(kernel, parts[i].kernels[k].kernel));
      const std::int64_t step = place.index - std::exchange(index, place.index);
      out.number(2 * step + (place.is_apart ? 1 : 0));
    }
  }
  out.count(match.transfers.size());
  for (const Transfer& transfer : match.transfers) {
    write(out, transfer.send);
    write(out, transfer.receive);
    out.number(transfer.from);
    out.number(transfer.to);
  }
}

void collect(std::string_view bytes, std::uint32_t group, MatchCollector& collector) {
  ByteReader in{bytes};
  GroupMatch match{.matched_by = static_cast<MatchedBy>(in.count())};
  std::vector<RankPart> parts(in.length(2));
  for (RankPart& part : parts) {
    part.rank = in.small_count();
    part.kernels.resize(in.length(2));
    auto& places = match.places.emplace_back();
    std::int64_t kernel = 0, index = 0;
    for (RankPart::Kernel& each : part.kernels) {
      each.kernel = static_cast<std::uint32_t>(kernel += in.number());
      const std::int64_t step = in.number();
      index += step >> 1;
      places.push_back({static_cast<std::uint32_t>(index), (step & 1) != 0});
    }
  }
  match.transfers.resize(in.length(4));
  for (Transfer& transfer : match.transfers) {
    transfer.send = read_member(in);
    transfer.receive = read_member(in);
    transfer.from = in.number();
    transfer.to = in.number();
  }
  in.end();
  collector.add(group, parts, std::move(match));
}

class MatchingTogether {
 public:
  MatchingTogether(const RankShare& share, Peers& peers)
      : share_{share}, peers_{peers}, count_{static_cast<std::size_t>(peers.count())} {}

  Matching match() {
    number_groups_together();
    const std::vector<std::string> matched = peers_.gather(match_own(peers_.exchange(dealt_out())));
    if (peers_.index() != 0) return {};
    std::vector<GroupCursor> owners;
    for (const std::string& part : matched) owners.emplace_back(ByteReader{part});
    const auto groups = static_cast<std::uint32_t>(groups_.size());
    const std::vector<std::size_t> owner_of = owner_of_;
    MatchCollector collector{is_simplified_, std::move(groups_), share_.all};
    for (std::uint32_t group = 0; group < groups; ++group)
      if (const auto bytes = owners[owner_of[group]].take(group)) collect(*bytes, group, collector);
    return std::move(collector).take();
  }

 private:
  void number_groups_together() {
    const std::vector<std::string> parts = peers_.gather(names_to_bytes(share_));
    const std::string bytes = peers_.broadcast(peers_.index() == 0 ? merged_names(parts) : "");
    ByteReader in{bytes};
    is_simplified_ = in.count() == 1;
    NameNumbers all;
    for (std::size_t left = in.length(); left > 0; --left)
      static_cast<void>(all.number_of(read_group(in)));
    in.end();
    // One group for all, also where this process has no kernel of it.
    if (is_simplified_ && !all.names().empty()) {
      all = {};
      static_cast<void>(all.number_of({kOnlyGroup, {}}));
    }
    const GroupNames own = find_group_names(share_.ranks, is_simplified_);
    std::vector<std::uint32_t> number_of;
    for (const GroupName& name : own.names) number_of.push_back(all.number_of(name));
    NumberedGroups numbered = number_groups(all.names());
    groups_ = std::move(numbered.groups);
    group_of_ = own.name_of;
    for (auto& of_rank : group_of_)
      for (std::uint32_t& name : of_rank) name = numbered.group_of[number_of[name]];
    for (const ProcessGroup& group : groups_)
      owner_of_.push_back(hash_of_group(group.name, group.members) % count_);
  }

  // By process: the kinds of messages, and the kernels of its groups.
  [[nodiscard]] std::vector<std::string> dealt_out() const {
    MessageKinds kinds;
    const GroupParts parts{share_.ranks, group_of_, groups_.size(), kinds, share_.indices};
    std::vector<ByteWriter> out(count_);
    for (ByteWriter& to : out) {
      to.count(kinds.all().size());
      for (const MessageKind& kind : kinds.all()) {
        to.text(kind.message);
        to.text(kind.operation);
        to.count(static_cast<std::uint64_t>(kind.collective));
      }
    }
    for (std::uint32_t group = 0; group < parts.groups(); ++group) {
      const std::vector<RankPart> of_group = parts.of(group);
      if (of_group.empty()) continue;
      ByteWriter bytes;
      bytes.count(of_group.size());
      for (const RankPart& part : of_group) write(bytes, part);
      out[owner_of_[group]].count(group);
      out[owner_of_[group]].text(bytes.take());
    }
    std::vector<std::string> dealt;
    for (ByteWriter& to : out) dealt.push_back(to.take());
    return dealt;
  }

  // What the processes dealt to this one, matched.
  [[nodiscard]] std::string match_own(const std::vector<std::string>& dealt) const {
    MessageKinds kinds;
    std::vector<std::vector<std::uint32_t>> kind_of;  // by process: its numbers as ours
    std::vector<GroupCursor> cursors;
    for (const std::string& part : dealt) {
      ByteReader in{part};
      auto& numbers = kind_of.emplace_back();
      for (std::size_t left = in.length(3); left > 0; --left) {
        MessageKind kind{.message = std::string{in.text()}, .operation = std::string{in.text()}};
        kind.collective = static_cast<CollectiveKind>(in.count());
        numbers.push_back(kinds.number_of(std::move(kind)));
      }
      cursors.emplace_back(in);
    }
    ByteWriter out;
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      std::vector<RankPart> parts;
      for (std::size_t process = 0; process < cursors.size(); ++process)
        if (const auto bytes = cursors[process].take(group)) {
          ByteReader in{*bytes};
          for (std::size_t left = in.length(3); left > 0; --left)
            parts.push_back(read_part(in, kind_of[process]));
        }
      if (parts.empty()) continue;
      std::ranges::sort(parts, {}, &RankPart::rank);
      ByteWriter bytes;
      write(bytes, match_group(groups_[group].members, kinds.all(), parts), parts);
      out.count(group);
      out.text(bytes.take());
    }
    return out.take();
  }

  const RankShare& share_;
  Peers& peers_;
  std::size_t count_;
  bool is_simplified_ = false;
  std::vector<ProcessGroup> groups_;
  std::vector<std::vector<std::uint32_t>> group_of_;  // by own rank, message
  std::vector<std::size_t> owner_of_;                 // by group: the process
};

}  // namespace

Matching match_together(const RankShare& share, Peers& peers) {
  return MatchingTogether{share, peers}.match();
}

}  // namespace tracelens
