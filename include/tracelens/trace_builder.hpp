// trace_builder.hpp: a trace put together by hand: rows in file order, then finish(). In src/trace.
//   TraceBuilder builder;
//   const TrackId host = builder.intern(Track{1, 1}), gpu = builder.intern(Track{0, 7});
//   const EventId call = builder.append({.phase = Phase::kComplete,
//       .category = Category::kCudaRuntime, .name = builder.intern("cudaLaunchKernel"),
//       .track = host, .ts_ns = 10, .dur_ns = 5});
//   const EventId kernel = builder.append({.phase = Phase::kComplete,
//       .category = Category::kKernel, .name = builder.intern("gemm"), .track = gpu,
//       .ts_ns = 20, .dur_ns = 50});
//   builder.add_launch(call, kernel);
//   const Trace trace = std::move(builder).finish();
// A finished trace can be gone on with. What is then appended is placed in the tree by set_parent()
// alone, below an event of any time and thread:
//   TraceBuilder more{std::move(trace)};
//   const EventId op = more.append({.category = Category::kCpuOp, .name = more.intern("mm"), ...});
//   more.set_parent(op, graph_launch);
//   more.set_parent(kernel, op);
//   const Trace stitched = std::move(more).finish();
// The only way to fill a Trace: readers use it too. Ids are those this builder gave, or those of the
// trace it goes on with; any other is undefined behaviour. Nothing here fails. Not thread-safe, but for
// slots().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracelens {

class IdIndex;
class StringTable;

// The dense columns of one event.
struct EventRow {
  Phase phase = Phase::kOther;
  Category category = Category::kNone;
  StringId name{};
  TrackId track{};
  SignatureId signature{};
  std::int64_t ts_ns = kAbsent, dur_ns = kAbsent, correlation = kAbsent;
};

// How many events have each of the sparse arguments.
struct ArgumentCounts {
  std::size_t external_ids = 0, sequences = 0, forward_threads = 0, streams = 0, devices = 0;
  std::size_t call_stacks = 0, details = 0, category_texts = 0, memory_changes = 0;
};

// Events that have their rows, but are not written yet: see TraceBuilder::set_aside().
struct EventPlace {
  EventId first;
  std::size_t events = 0;
  ArgumentCounts arguments, before;  // theirs, and those of all earlier events
};
struct EventSlots {
  // No column moves as long as this lives.
  std::shared_lock<std::shared_mutex> stay;
  std::span<std::int64_t> ts_ns, dur_ns, correlations;
  std::span<StringId> names;
  std::span<TrackId> tracks;
  std::span<SignatureId> signatures;
  std::span<Category> categories;
  std::span<Phase> phases;
  SparseColumn<std::int64_t>::Slots external_ids, sequences, forward_threads, streams, devices;
  SparseColumn<StringId>::Slots call_stacks, details, category_texts;
  SparseColumn<MemoryChange>::Slots memory_changes;
};

class TraceBuilder {
 public:
  TraceBuilder();
  explicit TraceBuilder(Trace&& finished);
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;
  ~TraceBuilder();

  // Equal texts, tracks and signatures get one id.
  StringId intern(std::string_view text);
  TrackId intern(const Track& track);
  SignatureId intern(Signature signature);
  // With the hash of its arguments, which another thread may have made.
  static std::uint64_t hash_of_arguments(const Signature& signature);
  SignatureId intern(Signature signature, std::uint64_t hash_of_arguments);

  // Room for about this many events in all; memory is only touched when used.
  void reserve(std::size_t events);
  void reserve(const ArgumentCounts& counts);
  // So many times what there is, of every column; all of it, or std::bad_alloc and no room at all.
  void reserve_scaled(double factor);
  EventId append(const EventRow& row);
  // Appends so many events at once for several threads to write: every one of the slots, before anything
  // is asked of these events. slots() may be called by any thread while others call set_aside(), intern() and
  // the like; but nothing that appends or changes single events.
  [[nodiscard]] EventPlace set_aside(std::size_t events, const ArgumentCounts& arguments);
  [[nodiscard]] EventSlots slots(const EventPlace& place);
  // Says that a runtime call started a GPU event: gives both the same correlation id (that of the
  // call, if it has one) and appends the two flow events that profilers write.
  void add_launch(EventId call, EventId gpu_event);

  // Sparse arguments; call in ascending event order per column.
  void set_external_id(EventId event, std::int64_t id) { trace_.external_ids_.append(event, id); }
  void set_sequence(EventId event, std::int64_t id) { trace_.sequences_.append(event, id); }
  void set_forward_thread(EventId event, std::int64_t id) { trace_.fwd_threads_.append(event, id); }
  void set_stream(EventId event, std::int64_t id) { trace_.streams_.append(event, id); }
  void set_device(EventId event, std::int64_t id) { trace_.devices_.append(event, id); }
  void set_memory_change(EventId event, const MemoryChange& change) {
    trace_.memory_.append(event, change);
  }
  void set_call_stack(EventId event, StringId text) { trace_.call_stacks_.append(event, text); }
  void set_details(EventId event, StringId json) { trace_.details_.append(event, json); }
  void set_category_text(EventId event, StringId text) {
    trace_.other_categories_.append(event, text);
  }

  // The caller of an event in the tree, for any event at any time; the last word counts. Without a
  // parent it is a root. One that is a GPU event, is not in the tree or lies below the event itself is
  // ignored.
  void set_parent(EventId event, EventId parent) { given_parents_.push_back({event, parent}); }
  // Tree::nearest_op() and the launchers of kernels pass over this op.
  void pass_over(EventId event) { trace_.passed_over_.push_back(event); }

  // What is known of an appended event only later: when its end is read, its thread, its true name.
  void set_phase(EventId event, Phase phase) { trace_.phases_[event.row] = phase; }
  void set_name(EventId event, StringId name) { trace_.names_[event.row] = name; }
  void set_signature(EventId event, SignatureId id) { trace_.signatures_[event.row] = id; }
  void set_track(EventId event, TrackId track) { trace_.tracks_[event.row] = track; }
  void set_dur_ns(EventId event, std::int64_t ns) { trace_.dur_ns_[event.row] = ns; }
  [[nodiscard]] std::int64_t dur_ns(EventId event) const { return trace_.dur_ns_[event.row]; }
  [[nodiscard]] std::optional<StringId> details(EventId event) const {
    return trace_.details_.at(event);
  }
  // New details for some events, which need not have had any; in ascending event order.
  void replace_details(std::span<const std::pair<EventId, StringId>> changes);

  // Begin and end events are joined per track when the trace is finished: the begin becomes a
  // complete event, the end stays as kOther.
  void add_begin(EventId event) { begin_end_.push_back({event, true}); }
  void add_end(EventId event) { begin_end_.push_back({event, false}); }

  void add_label(const Track& track, std::string_view what, Value value);
  void add_metadata(std::string key, Value value);
  Warnings& warnings() { return trace_.warnings_; }
  Source& source() { return trace_.source_; }
  [[nodiscard]] std::size_t size() const { return trace_.size(); }
  [[nodiscard]] std::string_view text(StringId id) const;
  [[nodiscard]] const Track& track(TrackId id) const { return trace_.track(id); }
  [[nodiscard]] const Signature& signature(SignatureId id) const { return trace_.signature(id); }

  // For TraceLens's own readers, which keep texts nowhere else.
  StringTable& strings() { return *strings_; }

  [[nodiscard]] Trace finish() &&;

  // These events of a trace alone, given in ascending order. Its texts are those of `trace`, which
  // must outlive it.
  [[nodiscard]] static Trace excerpt(const Trace& trace, std::span<const EventId> kept);

 private:
  struct BeginEnd {
    EventId event;
    bool is_begin;
  };
  void join_begin_end();
  void write_given_parents();
  void give_back_room();
  template <class Add>
  std::uint32_t find_or_add(const Signature& signature, std::uint64_t hash_of_arguments, Add&& add);

  template <class Use>
  void for_each_dense(Use&& use);
  template <class Use>
  void for_each_argument(Use&& use);

  Trace trace_;
  std::unique_ptr<std::shared_mutex> growing_ = std::make_unique<std::shared_mutex>();
  std::unique_ptr<StringTable> strings_;
  std::unordered_map<std::string, std::uint32_t> track_ids_;
  std::unique_ptr<IdIndex> signature_index_;
  std::vector<BeginEnd> begin_end_;
  std::vector<std::pair<EventId, EventId>> given_parents_;  // (event, parent), as they were given
  std::int64_t last_launch_ = 0;
};

}  // namespace tracelens
