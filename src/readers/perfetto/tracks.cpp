#include "readers/perfetto/tracks.hpp"

#include <utility>

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

const std::string& name_of(const proto::TrackDescriptor& descriptor) {
  if (!descriptor.name().empty()) return descriptor.name();
  return descriptor.static_name().empty() ? descriptor.atrace_name() : descriptor.static_name();
}

const std::string& name_of(const proto::ProcessDescriptor& process) {
  if (process.process_name().empty() && process.cmdline_size() > 0) return process.cmdline(0);
  return process.process_name();
}

}  // namespace

std::uint32_t TrackTable::add(Entry entry) {
  tracks_.push_back(std::move(entry));
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

std::uint32_t TrackTable::find_or_add(std::uint64_t uuid) {
  const auto [found, added] =
      by_uuid_.try_emplace(uuid, static_cast<std::uint32_t>(tracks_.size()));
  if (added) add({.uuid = uuid});
  recent_[slot_of(uuid)] = {uuid, found->second};
  return found->second;
}

std::uint32_t TrackTable::thread_track(ThreadKey thread) {
  const auto [found, added] =
      by_thread_.try_emplace(thread, static_cast<std::uint32_t>(tracks_.size()));
  if (added) add({.owner = Owner::kThread, .thread = thread});
  return found->second;
}

std::uint32_t TrackTable::async_track(std::int32_t pid, std::string_view scope, std::uint64_t id) {
  const auto [found, added] = by_async_.try_emplace({{pid, id}, std::string{scope}},
                                                    static_cast<std::uint32_t>(tracks_.size()));
  if (added) add({.owner = Owner::kAsync, .thread = {pid, 0}});
  return found->second;
}

TrackTable::NamedProcess& TrackTable::process(std::int32_t pid) {
  const auto [found, added] = process_names_.try_emplace(pid, processes_.size());
  if (added) processes_.push_back({pid, {}});
  return processes_[found->second];
}

void TrackTable::name_thread(ThreadKey thread, std::string_view name) {
  process(thread.pid);
  if (name.empty()) return;
  const auto [found, added] = thread_names_.try_emplace(thread, threads_.size());
  if (added) threads_.push_back({thread, {}});
  threads_[found->second].name = name;
}

void TrackTable::describe(const proto::TrackDescriptor& descriptor) {
  if (descriptor.has_process()) {
    NamedProcess& named = process(descriptor.process().pid());
    if (const std::string& name = name_of(descriptor.process()); !name.empty()) named.name = name;
  }
  const bool has_thread = descriptor.has_thread();
  const ThreadKey thread{descriptor.thread().pid(), descriptor.thread().tid()};
  if (has_thread) name_thread(thread, descriptor.thread().thread_name());

  const std::uint32_t at = index(descriptor.uuid());
  Entry& entry = tracks_[at];
  if (entry.name.empty()) entry.name = name_of(descriptor);
  if (descriptor.has_counter() && !entry.counter.is_counter)
    entry.counter = {.is_counter = true,
                     .is_incremental = descriptor.counter().is_incremental(),
                     .unit_multiplier = descriptor.counter().has_unit_multiplier()
                                            ? descriptor.counter().unit_multiplier()
                                            : 1};
  if (entry.owner != Owner::kUnknown) return;
  entry.parent = descriptor.parent_uuid();
  entry.owner = has_thread                 ? Owner::kThread
                : descriptor.has_process() ? Owner::kProcess
                                           : Owner::kParent;
  if (has_thread) {
    entry.thread = thread;
    by_thread_.try_emplace(thread, at);
  } else if (descriptor.has_process()) {
    entry.thread.pid = descriptor.process().pid();
  }
}

std::uint32_t TrackTable::parent(std::uint32_t track) const {
  const Entry& entry = tracks_[track];
  if (entry.owner != Owner::kParent || entry.parent == 0) return kNone;
  const auto found = by_uuid_.find(entry.parent);
  return found == by_uuid_.end() ? kNone : found->second;
}

std::vector<TrackScope> TrackTable::scopes() const {
  // Walks up from each track until a track whose owner is known, and leaves that owner on the way:
  // every track is passed once. A walk that meets its own way goes in a circle and knows no owner.
  enum class Seen : std::uint8_t { kNo, kOnTheWay, kDone };
  std::vector<Seen> seen(size(), Seen::kNo);
  std::vector<std::uint32_t> owners(size(), kNone), way;
  for (std::uint32_t track = 0; track < size(); ++track) {
    std::uint32_t at = track;
    way.clear();
    while (at != kNone && seen[at] == Seen::kNo) {
      seen[at] = Seen::kOnTheWay;
      way.push_back(at);
      const Owner owner = tracks_[at].owner;
      if (owner == Owner::kThread || owner == Owner::kProcess || owner == Owner::kAsync)
        owners[at] = at;
      at = parent(at);
    }
    const std::uint32_t met = at == kNone ? kNone : owners[at];
    for (const std::uint32_t passed : way) {
      if (owners[passed] == kNone) owners[passed] = owners[way.back()] != kNone ? way.back() : met;
      seen[passed] = Seen::kDone;
    }
  }

  using Kind = TrackScope::Kind;
  std::vector<TrackScope> scopes(size());
  for (std::uint32_t track = 0; track < size(); ++track) {
    TrackScope& scope = scopes[track];
    if (owners[track] == kNone) {
      const auto whole_trace = by_uuid_.find(0);
      scope.is_root = whole_trace != by_uuid_.end() && whole_trace->second == track;
      continue;
    }
    const Entry& owner = tracks_[owners[track]];
    scope = {.kind = owner.owner == Owner::kThread ? Kind::kThread : Kind::kProcess,
             .is_root = owners[track] == track && owner.owner != Owner::kAsync,
             .thread = owner.thread};
  }
  return scopes;
}

std::vector<std::uint32_t> TrackTable::merged_threads() const {
  std::vector<std::uint32_t> merged(tracks_.size());
  for (std::uint32_t track = 0; track < merged.size(); ++track) {
    const Entry& entry = tracks_[track];
    merged[track] = entry.owner == Owner::kThread ? by_thread_.at(entry.thread) : track;
  }
  return merged;
}

}  // namespace tracelens::perfetto
