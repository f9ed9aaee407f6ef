#include "readers/perfetto/events.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/chrome/json_merge.hpp"
#include "readers/chrome/json_scan.hpp"
#include "readers/kit/ordered_work.hpp"
#include "readers/kit/time_limits.hpp"
#include "readers/perfetto/rows.hpp"
#include "readers/perfetto/slices.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kMostBegunKept = 4096;  // room for begins of one microsecond
constexpr std::size_t kMarksAtOnce = 2048;    // read by one thread while another makes rows
constexpr int kMostThreads = 2;               // the order of time is a matter of one

// The converter's time: whole microseconds, rounded down.
std::int64_t us_of(std::int64_t ns) { return ns >= 0 ? ns / 1000 : -((-ns + 999) / 1000); }

class Exporter {
 public:
  Exporter(PacketDecoder& decoder, TraceBuilder& builder, int threads)
      : decoder_{decoder},
        builder_{builder},
        threads_{std::min(threads, kMostThreads)},
        rows_{decoder.parser(), builder},
        scopes_{decoder.tracks().scopes()},
        slices_{decoder.tracks().merged_threads()} {}

  void run() {
    // Their points take room that rows can have afterwards.
    std::future<std::vector<Flow>> flows = std::async(
        threads_ > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
        [this] { return connected_flows(); });
    if (threads_ == 1) flows_ = flows.get();
    reserve_rows();
    add_names();
    add_root_slices();
    if (flows.valid()) {
      flows_ = flows.get();
      if (!flows_.empty()) reserve_rows();
    }
    add_flows();
    add_other_slices();
    rows_.flush();
    add_end_args();
    add_unended();
    add_counters();
    add_warnings();
  }

 private:
  using Kind = TrackScope::Kind;
  using Place = TrackTable::Place;

  // A begin of a track below a process, a thread or nothing, until its microsecond is over.
  struct Begun {
    std::uint32_t slice = 0;
    MarkRow row;
  };

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

  // Exactly, or nearly so: columns that grow are copied, and at their largest twice there. Flows
  // count once they are known.
  void reserve_rows() {
    std::size_t rows = decoder_.tracks().threads().size() + decoder_.tracks().processes().size() +
                       2 * flows_.size() + decoder_.legacy_flows().size();
    std::size_t category_texts = rows;
    for (const Place place : {Place::kUndecided, Place::kRoot, Place::kOther}) {
      const MarkLog& log = decoder_.marks(place);
      const std::size_t ends = place == Place::kRoot ? 0 : std::min(log.begins(), log.ends());
      rows += log.begins() + ends;
      category_texts += ends;
    }
    builder_.reserve(rows);
    ArgumentCounts arguments = decoder_.argument_counts();
    arguments.category_texts += category_texts;
    builder_.reserve(arguments);
  }

  void add_name(std::string_view what, ThreadKey thread, std::string_view name) {
    std::string args = R"({"name":")";
    append_escaped(args, name);
    args += "\"}";
    const std::size_t size = args.size();
    args.append(json::kPadding, '\0');
    rows_.append({.phase = 'M',
                  .name = decoder_.texts().intern(what),
                  .category = "__metadata",
                  .track = raw_track(thread),
                  .ts_ns = 0,
                  .flow_id = kAbsent,
                  .args = std::string_view{args}.substr(0, size)});
  }

  void add_names() {
    for (const auto& [thread, name] : decoder_.tracks().threads())
      add_name("thread_name", thread, name);
    for (const auto& [pid, name] : decoder_.tracks().processes())
      if (!name.empty()) add_name("process_name", {pid, 0}, name);
  }

  // Writes the row of a slice, as far as it is known now.
  void place(std::uint32_t id, const MarkRow& row) {
    slices_[id].row = rows_.append(row, thread_of(slices_[id]));
    if (slices_[id].dur_ns != Slice::kOpen) complete(slices_[id]);
  }

  // Tells the row of a slice what its end has told.
  void complete(const Slice& slice) {
    if (slice.end_args != kNone) end_args_.emplace_back(slice.row, slice.end_args);
    if (slice.has_times) return;
    if (slice.dur_ns == 0) {
      rows_.set_phase(slice.row, Phase::kInstant);
    } else if (slice.dur_ns > kLongestNs) {
      builder_.warnings().add("slice that is longer than a trace can be", 0);
      rows_.set_phase(slice.row, Phase::kDamaged);
    } else {
      rows_.set_length(slice.row, slice.dur_ns);
      rows_.set_phase(slice.row, Phase::kComplete);
    }
  }

  // Calls `visit` for all marks in the order of time. Another thread reads ahead.
  template <class Visit>
  void for_each_mark(std::vector<MarkRun> runs, Visit&& visit) {
    MarksByTime marks{std::move(runs)};
    struct Ahead {
      std::vector<Mark> marks;
      std::size_t count = 0;
    };
    OrderedWork work{[&](Ahead& ahead) {
                       ahead.marks.resize(kMarksAtOnce);
                       ahead.count = 0;
                       while (ahead.count < kMarksAtOnce && marks.next(ahead.marks[ahead.count]))
                         ++ahead.count;
                       return ahead.count > 0;
                     },
                     [](Ahead&) {},
                     [&](Ahead& ahead) {
                       for (Mark& mark : std::span{ahead.marks}.first(ahead.count)) visit(mark);
                     }};
    work.run(threads_, [] { return Ahead{}; });
  }

  // On threads, on processes and on the whole trace: by begin.
  void add_root_slices() {
    std::vector<MarkRun> runs = decoder_.marks(Place::kRoot).take();
    std::ranges::move(decoder_.marks(Place::kUndecided).take(), std::back_inserter(runs));
    for_each_mark(std::move(runs), [this](Mark& mark) { add_root_mark(mark); });
    slices_.for_each_open([&](const Slice& slice) {
      if (!slice.has_times) unended_.push_back({slice.row});
    });
    std::ranges::sort(unended_);
  }

  void add_root_mark(Mark& mark) {
    if (!scopes_[mark.track].is_root) {
      decoder_.marks(Place::kOther).add(mark);
    } else if (!mark.is_end) {
      const std::uint32_t id = slices_.begin(mark);
      name_track(mark);
      place(id, mark.row);
      slices_.release(id);
    } else if (const auto id = slices_.end(mark)) {
      const Slice& slice = slices_[*id];
      complete(slice);
      if (slice.dur_ns == 0) rows_.set_thread(slice.row, thread_of(slice));
      slices_.release(*id);
    }
  }

  // Adds the name of its track to the details of a begin that came before that name.
  void name_track(Mark& mark) {
    if (mark.has_track_name) return;
    const std::string_view name = decoder_.escaped_name(mark.track);
    if (name.empty()) return;
    std::uint32_t& details = mark.row.texts[MarkRow::kDetails];
    const auto [known, is_new] = named_details_.try_emplace({details, mark.track});
    if (is_new) {
      std::string text = details == kNone ? "{" : std::string{builder_.text({details})};
      if (details != kNone) text.back() = ',';
      text.append(R"("perfetto_track":")").append(name).append("\"}");
      known->second = builder_.intern(text).row;
    }
    details = known->second;
  }

  // Beside all else: touches nothing but the flows of the decoder.
  [[nodiscard]] std::vector<Flow> connected_flows() const {
    std::vector<bool> is_thread;
    for (const TrackScope& scope : scopes_) is_thread.push_back(scope.kind == Kind::kThread);
    return decoder_.flows().connect(is_thread);
  }

  void add_flows() {
    for (const Flow& flow : flows_) {
      add_unplaced('s', flow, scopes_[flow.from_track].thread, flow.from_ns, flow.number);
      add_unplaced('f', flow, scopes_[flow.to_track].thread, flow.to_ns, flow.number);
    }
    flows_ = {};
    // Older flows are such events already; their ids may be any, and must not be those from above.
    std::int64_t number = decoder_.flows().steps();
    std::unordered_map<std::uint64_t, std::int64_t> ids;
    for (const PacketDecoder::LegacyFlow& flow : decoder_.legacy_flows()) {
      const auto [id, is_new] = ids.try_emplace(flow.id, number);
      if (is_new) ++number;
      const Slice at{.ts_ns = flow.ts_ns, .track = flow.track, .thread = flow.thread};
      add_unplaced(flow.phase, flow, thread_of(at), flow.ts_ns, id->second);
    }
  }

  // An event that goes with a slice and has its name and category.
  template <class Named>
  void add_unplaced(char phase, const Named& slice, ThreadKey thread, std::int64_t ts_ns,
                    std::int64_t flow) {
    Texts& texts = decoder_.texts();
    rows_.append(
        {.phase = phase,
         .name = slice.name != kNone ? slice.name : texts.intern({}),
         .category = slice.category != kNone ? texts.text(slice.category) : std::string_view{},
         .track = raw_track(thread),
         .ts_ns = ts_ns,
         .flow_id = flow,
         .args = {}});
  }

  // Slices of GPU queues and other tracks below a process, a thread or nothing. The converter
  // compares microseconds, and puts instants before ends before begins when those are equal.
  void add_other_slices() {
    for_each_mark(decoder_.marks(Place::kOther).take(), [this](Mark& mark) {
      const std::int64_t us = us_of(mark.ts_ns);
      if (us_ && *us_ != us) end_microsecond();
      for (; !us_ && !due_.empty() && us_of(due_.begin()->first) < us; end_microsecond())
        us_ = us_of(due_.begin()->first);
      us_ = us;
      if (mark.is_end)
        end_other_slice(mark);
      else
        begin_other_slice(mark);
    });
    for (; us_ || !due_.empty(); end_microsecond())
      if (!us_) us_ = us_of(due_.begin()->first);
  }

  void begin_other_slice(Mark& mark) {
    const std::uint32_t id = slices_.begin(mark);
    name_track(mark);
    begun_.push_back({id, mark.row});
    if (mark.dur_ns > 0) {
      slices_.hold(id);
      due_.emplace(slices_[id].end_ns(), id);
    }
  }

  void end_other_slice(const Mark& mark) {
    const auto id = slices_.end(mark);
    if (!id) return;
    const Slice& slice = slices_[*id];
    if (slice.row != kNone) complete(slice);  // else when it is placed
    if (slice.dur_ns > 0)
      ended_.push_back(*id);
    else
      slices_.release(*id);
  }

  // What began and ended within one microsecond.
  void end_microsecond() {
    for (; !due_.empty() && us_of(due_.begin()->first) == *us_; due_.erase(due_.begin()))
      ended_.push_back(due_.begin()->second);
    const auto add_begun = [&](bool is_instant) {
      for (const auto& [id, row] : begun_) {
        if ((slices_[id].dur_ns == 0) != is_instant) continue;
        place(id, row);
      }
    };
    add_begun(true);
    // Of the ends that of the slice begun last comes first.
    std::ranges::sort(ended_, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{slices_[a].ts_ns, slices_[a].order} >
             std::pair{slices_[b].ts_ns, slices_[b].order};
    });
    for (const std::uint32_t id : ended_) {
      const Slice& slice = slices_[id];
      // Ends are there for the likeness with the JSON, which has no slice without a category.
      if (slice.category != kNone)
        add_unplaced('e', slice, thread_of(slice), slice.end_ns(), kAbsent);
    }
    add_begun(false);
    for (const std::uint32_t id : ended_) slices_.release(id);
    for (const Begun& begun : begun_) slices_.release(begun.slice);
    if (begun_.capacity() > kMostBegunKept) begun_ = {};
    begun_.clear();
    ended_.clear();
    us_.reset();
  }

  // Arguments that came with the end join those of the begin.
  void add_end_args() {
    std::ranges::sort(end_args_);
    std::vector<std::pair<EventId, StringId>> changes;
    for (const auto& [row, end_args] : end_args_) {
      const auto known = builder_.details({row});
      changes.emplace_back(EventId{row},
                           builder_.intern(json::merged_objects(known ? builder_.text(*known) : "",
                                                                decoder_.end_args(end_args))));
    }
    if (!changes.empty()) builder_.replace_details(changes);
  }

  void add_unended() {
    for (const EventId begin : unended_) builder_.add_begin(begin);
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
  TraceBuilder& builder_;
  int threads_;
  RowWriter rows_;
  std::vector<TrackScope> scopes_;  // by track
  OpenSlices slices_;
  std::vector<Flow> flows_;  // between threads
  std::vector<EventId> unended_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> end_args_;  // row, arguments

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> named_details_;

  // --- the microsecond at hand of add_other_slices() ---
  std::optional<std::int64_t> us_;
  std::vector<Begun> begun_;
  std::vector<std::uint32_t> ended_;
  std::multimap<std::int64_t, std::uint32_t> due_;  // slices that told their length, by end
};

}  // namespace

void export_events(PacketDecoder& decoder, TraceBuilder& builder, int threads) {
  Exporter{decoder, builder, threads}.run();
}

}  // namespace tracelens::perfetto
