#include "readers/perfetto_events.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/json_scan.hpp"
#include "readers/time_limits.hpp"

namespace tracelens::perfetto {
namespace {

// The converter's time: whole microseconds, rounded down.
std::int64_t us_of(std::int64_t ns) { return ns >= 0 ? ns / 1000 : -((-ns + 999) / 1000); }

// The members of a JSON object as we write it: no white space between tokens.
std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  const char* p = object.data() + 1;
  const char* const end = object.data() + object.size();
  while (p < end && *p == '"') {
    const char* const key_end = json::find_quote(p + 1, end);
    const char* const after = key_end == nullptr ? nullptr : json::skip_value(key_end + 2, end);
    if (after == nullptr) break;
    members.emplace_back(std::string_view{p, static_cast<std::size_t>(key_end + 1 - p)},
                         std::string_view{p, static_cast<std::size_t>(after - p)});
    p = after + 1;
  }
  return members;
}

// One object with the members of both, by name; those of `newer` win.
std::string merged_objects(std::string_view older, std::string_view newer) {
  // Padded copies: json_scan looks past the end.
  const std::string first = std::string{older}.append(json::kPadding, '\0');
  const std::string second = std::string{newer}.append(json::kPadding, '\0');
  auto members = members_of(std::string_view{second}.substr(0, newer.size()));
  if (!older.empty())
    for (const auto& member : members_of(std::string_view{first}.substr(0, older.size())))
      if (std::ranges::find(members, member.first, [](const auto& m) { return m.first; }) ==
          members.end())
        members.push_back(member);
  std::ranges::sort(members, {}, [](const auto& member) { return member.first; });
  std::string text;
  for (const auto& [key, member] : members) {
    text += text.empty() ? '{' : ',';
    text += member;
  }
  return text + '}';
}

class Exporter {
 public:
  Exporter(PacketDecoder& decoder, TraceBuilder& builder)
      : decoder_{decoder}, slices_{decoder.slices()}, builder_{builder} {}

  void run() {
    const std::vector<std::uint32_t> by_time = slices_.finish(decoder_.tracks().merged_threads());
    scopes_ = decoder_.tracks().scopes();
    add_end_args();
    add_names();
    decoder_.flush();  // so that tracks are numbered in the order of the trace
    place_thread_slices(by_time);
    add_flows();
    place_other_slices(by_time);
    decoder_.flush();
    builder_.arrange(order_);
    for (const EventId begin : unended_) builder_.add_begin(begin);
    add_counters();
    add_warnings();
  }

 private:
  using Kind = TrackScope::Kind;

  const TrackScope& scope_of(const Slice& slice) const { return scopes_[slice.track]; }

  // The process and thread that an event is told to belong to. A track below a process has no
  // thread: there it is the one that wrote the event.
  ThreadKey thread_of(const Slice& slice) const {
    const TrackScope& scope = scope_of(slice);
    if (scope.kind == Kind::kThread) return scope.thread;
    const bool has_writer = slice.thread != kNone;
    const ThreadKey writer = has_writer ? scopes_[slice.thread].thread : ThreadKey{};
    if (scope.kind == Kind::kGlobal) return scope.is_root ? ThreadKey{} : writer;
    const std::int32_t pid = scope.thread.pid;
    // What lasts for a process is on none of its threads; an instant is where it was written.
    if (scope.is_root && slice.dur_ns != 0) return {pid, 0};
    return {pid, has_writer && writer.pid == pid ? writer.tid : pid};
  }

  static kineto::RawTrack raw_track(ThreadKey thread) {
    using PartKind = kineto::RawTrackPart::Kind;
    return {{PartKind::kInt, thread.pid}, {PartKind::kInt, thread.tid}};
  }

  void add_name(std::string_view what, ThreadKey thread, std::string_view name) {
    std::string args = R"({"name":")";
    append_escaped(args, name);
    args += "\"}";
    const std::size_t size = args.size();
    args.append(json::kPadding, '\0');
    order_.push_back(decoder_.append({.phase = 'M',
                                      .name = decoder_.texts().intern(what),
                                      .category = "__metadata",
                                      .track = raw_track(thread),
                                      .ts_ns = 0,
                                      .flow_id = kAbsent,
                                      .args = std::string_view{args}.substr(0, size)}));
  }

  void add_names() {
    for (const auto& [thread, name] : decoder_.tracks().threads())
      add_name("thread_name", thread, name);
    for (const auto& [pid, name] : decoder_.tracks().processes())
      if (!name.empty()) add_name("process_name", {pid, 0}, name);
  }

  // Arguments that came with the end join those of the begin.
  void add_end_args() {
    std::vector<std::pair<EventId, StringId>> changes;
    for (std::uint32_t index = 0; index < slices_.size(); ++index) {
      const Slice& slice = slices_.slice(index);
      if (slice.end_args == kNone) continue;
      const std::string added = decoder_.kept_args(decoder_.end_args(slice.end_args));
      if (added.empty()) continue;
      const auto known = builder_.details({slice.event});
      changes.emplace_back(EventId{slice.event}, builder_.intern(merged_objects(
                                                     known ? builder_.text(*known) : "", added)));
    }
    if (!changes.empty()) builder_.replace_details(changes);
  }

  TrackId track_of(ThreadKey thread) {
    const auto [found, added] = tracks_.try_emplace(thread);
    if (added)
      found->second = builder_.intern(Track{std::int64_t{thread.pid}, std::int64_t{thread.tid}});
    return found->second;
  }

  EventId place(const Slice& slice) {
    const EventId event{slice.event};
    builder_.set_track(event, track_of(thread_of(slice)));
    order_.push_back(event);
    return event;
  }

  // Whether its arguments have told begin and length, which then stand in its row.
  bool has_times(const Slice& slice) const { return builder_.dur_ns({slice.event}) != kAbsent; }

  void place_complete(const Slice& slice) {
    const EventId event = place(slice);
    if (has_times(slice)) return;
    if (slice.dur_ns > kLongestNs) {
      builder_.warnings().add("slice that is longer than a trace can be", 0);
      builder_.set_phase(event, Phase::kDamaged);
    } else {
      builder_.set_dur_ns(event, slice.dur_ns);
      builder_.set_phase(event, Phase::kComplete);
    }
  }

  void place_instant(const Slice& slice) {
    const EventId event = place(slice);
    if (!has_times(slice)) builder_.set_phase(event, Phase::kInstant);
  }

  // On threads, on processes and on the whole trace.
  void place_thread_slices(std::span<const std::uint32_t> by_time) {
    for (const std::uint32_t index : by_time) {
      const Slice& slice = slices_.slice(index);
      if (!scope_of(slice).is_root) continue;
      if (slice.dur_ns == 0) {
        place_instant(slice);
      } else if (slice.dur_ns != Slice::kOpen) {
        place_complete(slice);
      } else {
        if (!has_times(slice)) unended_.push_back({static_cast<std::uint32_t>(order_.size())});
        place(slice);
      }
    }
  }

  void add_flows() {
    std::int64_t number = 0;
    for (const auto& [from, to] : slices_.flows()) {
      const std::int64_t id = number++;
      const Slice& start = slices_.slice(from);
      const Slice& end = slices_.slice(to);
      if (scope_of(start).kind != Kind::kThread || scope_of(end).kind != Kind::kThread) continue;
      add_unplaced('s', start, thread_of(start), start.ts_ns, id);
      add_unplaced('f', start, thread_of(end), end.ts_ns, id);
    }
    // Older flows are such events already; their ids may be any, and must not be those from above.
    std::unordered_map<std::uint64_t, std::int64_t> ids;
    for (const auto& [phase, flow, at] : decoder_.legacy_flows()) {
      const auto [id, is_new] = ids.try_emplace(flow, number);
      if (is_new) ++number;
      add_unplaced(phase, at, thread_of(at), at.ts_ns, id->second);
    }
  }

  // An event that goes with a slice and has its name and category.
  void add_unplaced(char phase, const Slice& slice, ThreadKey thread, std::int64_t ts_ns,
                    std::int64_t flow) {
    Texts& texts = decoder_.texts();
    order_.push_back(decoder_.append(
        {.phase = phase,
         .name = slice.name != kNone ? slice.name : texts.intern({}),
         .category = slice.category != kNone ? texts.text(slice.category) : std::string_view{},
         .track = raw_track(thread),
         .ts_ns = ts_ns,
         .flow_id = flow,
         .args = {}}));
  }

  // Slices of GPU queues and other tracks below a process, a thread or nothing: their begins, ends
  // and instants as three lists that are merged by time. The converter compares microseconds, and
  // puts instants before ends before begins when those are equal.
  void place_other_slices(std::span<const std::uint32_t> by_time) {
    std::vector<std::uint32_t> begins, instants, ends;
    for (const std::uint32_t index : by_time) {
      const Slice& slice = slices_.slice(index);
      if (scope_of(slice).is_root) continue;
      (slice.dur_ns == 0 ? instants : begins).push_back(index);
      // Ends are there for the likeness with the JSON, which has no slice without a category.
      if (slice.dur_ns > 0 && slice.category != kNone) ends.push_back(index);
    }
    const auto begin_us = [this](std::uint32_t index) { return us_of(slices_.slice(index).ts_ns); };
    const auto end_us = [this](std::uint32_t index) {
      return us_of(slices_.slice(index).ts_ns + slices_.slice(index).dur_ns);
    };
    // Of ends within one microsecond, that of the slice begun last comes first.
    std::ranges::reverse(ends);
    std::ranges::stable_sort(ends, {}, end_us);

    std::size_t begin = 0, instant = 0, end = 0;
    while (begin < begins.size() || instant < instants.size() || end < ends.size()) {
      const bool has_instant = instant < instants.size(), has_end = end < ends.size();
      const std::int64_t never = std::numeric_limits<std::int64_t>::max();
      const std::int64_t instant_us = has_instant ? begin_us(instants[instant]) : never;
      const std::int64_t next_end_us = has_end ? end_us(ends[end]) : never;
      const std::int64_t next_begin_us = begin < begins.size() ? begin_us(begins[begin]) : never;
      if (has_instant && instant_us <= next_end_us && instant_us <= next_begin_us) {
        place_instant(slices_.slice(instants[instant++]));
      } else if (has_end && next_end_us <= next_begin_us) {
        const Slice& slice = slices_.slice(ends[end++]);
        add_unplaced('e', slice, thread_of(slice), slice.ts_ns + slice.dur_ns, kAbsent);
      } else {
        const Slice& slice = slices_.slice(begins[begin++]);
        if (slice.dur_ns == Slice::kOpen)
          place(slice);
        else
          place_complete(slice);
      }
    }
  }

  // Counters are no events of the JSON; a summary of each is kept with the metadata of the trace.
  void add_counters() {
    const Counters& counters = decoder_.counters();
    if (!counters.empty()) builder_.add_metadata("counters", counters.list(decoder_.tracks()));
  }

  void add_warnings() {
    if (slices_.ends_without_begin() > 0)
      builder_.warnings().add("end of a slice whose begin is not in the trace", 0,
                              slices_.ends_without_begin());
  }

  PacketDecoder& decoder_;
  SliceStack& slices_;
  TraceBuilder& builder_;
  std::vector<TrackScope> scopes_;  // by track
  std::map<ThreadKey, TrackId> tracks_;
  std::vector<EventId> order_;
  std::vector<EventId> unended_;  // as they will be numbered
};

}  // namespace

void export_events(PacketDecoder& decoder, TraceBuilder& builder) {
  Exporter{decoder, builder}.run();
}

}  // namespace tracelens::perfetto
