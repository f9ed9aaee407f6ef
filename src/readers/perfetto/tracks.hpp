// tracks.hpp: which process and thread a Perfetto track belongs to.
//   TrackTable tracks;
//   tracks.describe(packet.track_descriptor());       // wherever it stands in the file
//   const std::uint32_t track = tracks.index(uuid);   // of an event; also of a track unknown so
//   far
//   ...
//   const TrackScope scope = tracks.scopes()[track];  // once the whole file has been read
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracelens::perfetto {

namespace proto {
class TrackDescriptor;
}

inline constexpr std::uint32_t kNone = 0xffffffff;

struct ThreadKey {
  std::int32_t pid = 0, tid = 0;
  auto operator<=>(const ThreadKey&) const = default;
};

// Where a track stands. A root is the track of the thread or process itself (or the one of the
// whole trace, which has the uuid 0); the others hang below one.
struct TrackScope {
  enum class Kind : std::uint8_t { kThread, kProcess, kGlobal } kind = Kind::kGlobal;
  bool is_root = false;
  ThreadKey thread = {};  // kProcess: only its pid counts; kGlobal: nothing
};

class TrackTable {
 public:
  // Of several descriptors of one track the first says where it belongs, the first with a name how
  // it is called.
  void describe(const proto::TrackDescriptor& descriptor);
  // A thread that a packet tells about without a track of its own.
  void name_thread(ThreadKey thread, std::string_view name);

  [[nodiscard]] std::uint32_t index(std::uint64_t uuid) {
    const Recent& recent = recent_[slot_of(uuid)];
    return recent.uuid == uuid && recent.track != kNone ? recent.track : find_or_add(uuid);
  }
  // The track of a thread, for events that name no track.
  [[nodiscard]] std::uint32_t thread_track(ThreadKey thread);
  // A track for the asynchronous events of a process that share an id.
  [[nodiscard]] std::uint32_t async_track(std::int32_t pid, std::string_view scope,
                                          std::uint64_t id);

  [[nodiscard]] std::size_t size() const { return tracks_.size(); }
  [[nodiscard]] std::string_view name(std::uint32_t track) const { return tracks_[track].name; }
  // Of a thread's own track.
  [[nodiscard]] ThreadKey thread(std::uint32_t track) const { return tracks_[track].thread; }
  // Whether a track will be a root, as far as the descriptors so far tell.
  enum class Place : std::uint8_t { kUndecided, kRoot, kOther };
  [[nodiscard]] Place place(std::uint32_t track) const {
    switch (const Entry& entry = tracks_[track]; entry.owner) {
      case Owner::kThread:
      case Owner::kProcess:
        return Place::kRoot;
      case Owner::kParent:
        return entry.uuid == 0 ? Place::kRoot : Place::kOther;
      case Owner::kAsync:
        return Place::kOther;
      case Owner::kUnknown:
        break;
    }
    return Place::kUndecided;
  }
  // By track. Tracks whose parents form a circle belong to nobody.
  [[nodiscard]] std::vector<TrackScope> scopes() const;
  // By track: the first of the tracks that stand for the same thread, else the track itself.
  [[nodiscard]] std::vector<std::uint32_t> merged_threads() const;

  // In order of first appearance.
  struct NamedThread {
    ThreadKey thread;
    std::string name;
  };
  struct NamedProcess {
    std::int32_t pid = 0;
    std::string name;  // may be empty
  };
  [[nodiscard]] const std::vector<NamedThread>& threads() const { return threads_; }
  [[nodiscard]] const std::vector<NamedProcess>& processes() const { return processes_; }

  struct Counter {
    bool is_counter = false, is_incremental = false;
    std::int64_t unit_multiplier = 1;
  };
  [[nodiscard]] const Counter& counter(std::uint32_t track) const { return tracks_[track].counter; }

 private:
  enum class Owner : std::uint8_t { kUnknown, kParent, kProcess, kThread, kAsync };
  struct Entry {
    std::uint64_t uuid = 0, parent = 0;
    Owner owner = Owner::kUnknown;
    ThreadKey thread = {};
    Counter counter = {};
    std::string name = {};
  };
  // A track asked for lately: events come from a few.
  struct Recent {
    std::uint64_t uuid = 0;
    std::uint32_t track = kNone;
  };
  static constexpr int kRecentBits = 6;
  static std::size_t slot_of(std::uint64_t uuid) {  // by its bits mixed: producers mix in a few
    return uuid * 0x9E3779B97F4A7C15U >> (64 - kRecentBits);
  }
  std::uint32_t find_or_add(std::uint64_t uuid);
  NamedProcess& process(std::int32_t pid);
  std::uint32_t add(Entry entry);
  // The track it hangs below, or kNone.
  [[nodiscard]] std::uint32_t parent(std::uint32_t track) const;

  std::vector<Entry> tracks_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_uuid_;
  std::array<Recent, std::size_t{1} << kRecentBits> recent_;
  std::map<ThreadKey, std::uint32_t> by_thread_;
  std::map<std::pair<std::pair<std::int32_t, std::uint64_t>, std::string>, std::uint32_t> by_async_;
  std::vector<NamedThread> threads_;
  std::map<ThreadKey, std::size_t> thread_names_;
  std::vector<NamedProcess> processes_;
  std::unordered_map<std::int32_t, std::size_t> process_names_;
};

}  // namespace tracelens::perfetto
