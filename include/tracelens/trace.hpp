// trace.hpp: all that enters TraceLens, as columns. Implemented in src/trace.
//   const Trace trace = read_trace("rank0.json.gz");
//   for (const EventId event : trace.all_events())
//     if (trace.category(event) == Category::kKernel) total += trace.dur_ns()[event.row];
// One row per element of the profiler's event list, in file order: EventId{7} is the eighth element
// of `traceEvents`, whatever it is. Every format becomes these columns, so no analysis knows JSON,
// protobuf or gzip. The Trace owns its text: views and spans live as long as the Trace does and
// stay valid because a finished Trace never changes.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/column.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

namespace tracelens {

// One id type per table. kNone marks "no such row" inside a column (an optional would double it).
template <class Tag>
struct Id {
  std::uint32_t row = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] bool valid() const { return row != std::numeric_limits<std::uint32_t>::max(); }
  auto operator<=>(const Id&) const = default;
};
using EventId = Id<struct EventTag>;
using StringId = Id<struct StringTag>;
using SignatureId = Id<struct SignatureTag>;
using TrackId = Id<struct TrackTag>;

// A time or an integer argument that the event does not have.
inline constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

enum class Phase : std::uint8_t {
  kComplete,   // X, b with its length, or a B/E pair joined by the reader
  kFlowStart,  // s
  kFlowEnd,    // f
  kInstant,    // i, I, R, n
  kMetadata,   // M
  kOther,      // C, P, t, b of unknown length, e, an unpaired B or E
  kDamaged,    // the element could not be read; it keeps its place so that ids stay file positions
};

// The categories Kineto writes. A category that is not here is kOtherCategory; its text is kept.
enum class Category : std::uint8_t {
  kNone,
  kCpuOp,
  kPythonFunction,
  kCudaRuntime,
  kCudaDriver,
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kAsyncCpuToGpu,  // "ac2g" flows: launch -> GPU event
  kForwardBackward,
  kUserAnnotation,
  kGpuUserAnnotation,
  kCpuInstant,
  kOverhead,
  kTraceSpan,
  kOtherCategory,
};
inline constexpr std::size_t kCategoryCount = 16;
[[nodiscard]] std::string_view category_name(Category category);  // as written in the file
[[nodiscard]] constexpr bool is_gpu(Category category) {
  return category == Category::kKernel || category == Category::kGpuMemcpy ||
         category == Category::kGpuMemset;
}
[[nodiscard]] constexpr bool is_runtime(Category category) {
  return category == Category::kCudaRuntime || category == Category::kCudaDriver;
}

// A pid/tid pair. On the host: process and thread; on the GPU: device and stream.
// Either may be a number or a word ("Spans"); identity is by kind and value.
struct Track {
  Value pid, tid;
  bool operator==(const Track&) const = default;
};

// The arguments of an op, once per distinct (name, Input Dims, Input type, Input Strides,
// Concrete Inputs). JSON arrays are tuples; an argument the event does not have is null.
struct Signature {
  StringId name;
  Value dims, types, strides, concrete;
};

// What an event "[memory]" says: the framework's allocator handed out a block or took one back.
struct MemoryChange {
  std::int64_t address = 0;
  std::int64_t bytes = 0;        // negative: taken back
  std::int64_t allocated = 0;    // in use on the device afterwards
  std::int64_t reserved = 0;     // what the allocator then holds of the device
  std::int32_t order = 0;        // among events of the same time ("Ev Idx")
  std::int16_t device_type = 0;  // 0: CPU, 1: CUDA, 6: HIP
  std::int16_t device = -1;
  bool operator==(const MemoryChange&) const = default;
};
// More than any machine has: sums of such numbers stay far from the limits of 64 bits.
inline constexpr std::int64_t kMostMemory = std::int64_t{1} << 46;

// A column that few events have: rows ascending, one value each. Lookup is a binary search;
// passes over a category walk it with their own cursor instead.
template <class T>
class SparseColumn {
 public:
  void append(EventId event, T value) {
    rows_.push_back(event.row);
    values_.push_back(value);
  }
  void reserve(std::size_t count) {
    rows_.reserve(count);
    values_.reserve(count);
  }
  // Gives up room that is not used, unless there is so little that copying is not worth it.
  void shrink() {
    if (rows_.capacity() - rows_.size() <= rows_.size() / 64) return;
    rows_.shrink_to_fit();
    values_.shrink_to_fit();
  }
  void trim() {  // see Column
    rows_.trim();
    values_.trim();
  }
  [[nodiscard]] std::optional<T> at(EventId event) const {
    const auto found = std::ranges::lower_bound(rows_, event.row);
    if (found == rows_.end() || *found != event.row) return std::nullopt;
    return values_[static_cast<std::size_t>(found - rows_.begin())];
  }
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }
  [[nodiscard]] std::span<const T> values() const { return values_; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  // --- for threads that each write a part: see Column ---
  struct Slots {
    std::span<std::uint32_t> rows;
    std::span<T> values;
  };
  [[nodiscard]] bool has_room(std::size_t count) const {
    return rows_.capacity() - rows_.size() >= count && values_.capacity() - values_.size() >= count;
  }
  void add_unwritten(std::size_t count) {
    rows_.add_unwritten(count);
    values_.add_unwritten(count);
  }
  [[nodiscard]] Slots slots(std::size_t first, std::size_t count) {
    return {{rows_.data() + first, count}, {values_.data() + first, count}};
  }

 private:
  Column<std::uint32_t> rows_;
  Column<T> values_;
};

// What was wrong with the input without ending the run. Kept as counts with the first place seen.
class Warnings {
 public:
  struct Entry {
    std::string what;  // "event without a phase"
    std::uint64_t count = 0;
    std::uint64_t first_byte = 0;  // in the unpacked text
  };
  void add(std::string_view what, std::uint64_t byte, std::uint64_t count = 1);
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] std::uint64_t count(std::string_view what) const;

 private:
  std::vector<Entry> entries_;
};

// One top-level member of the trace file besides the events, in file order.
struct MetadataEntry {
  std::string key;
  Value value;
};

// Who wrote the file, as the reader found out.
enum class Recorder : std::uint8_t {
  kUnknown,   // a trace put together by hand
  kPyTorch,   // Kineto, or other JSON of Chrome's kind
  kJax,       // XPlane
  kRocprof,   // rocprofv3's results
  kPerfetto,  // a .pftrace
  kRocpd,     // rocprofv3's database, since ROCm 7
  kRpd,       // rpd_tracer's database
  kNsight,    // Nsight Systems, as an SQLite export
};

// How the bytes arrived; for `info` and `check`.
struct Source {
  std::string name;    // path, or "-" for standard input
  std::string format;  // "kineto": for people; code asks for the recorder
  Recorder recorder = Recorder::kUnknown;
  std::string packing;             // "", "gzip", "zip", "zstd", "zip+gzip"
  std::uint64_t text_bytes = 0;    // unpacked
  std::uint64_t packed_bytes = 0;  // as stored
  bool cut_short = false;          // the file ends inside an event or before the list is closed
};

// The ids of all events, in file order, for a range-based for or a standard algorithm. Written out
// because Clang 14 cannot compile the views of libstdc++ 12.
class EventRange {
 public:
  class Iterator {
   public:
    using value_type = EventId;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::uint32_t row) : row_{row} {}
    EventId operator*() const { return EventId{row_}; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    Iterator operator++(int) { return Iterator{row_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    std::uint32_t row_ = 0;
  };
  explicit EventRange(std::uint32_t size) : size_{size} {}
  [[nodiscard]] Iterator begin() const { return Iterator{0}; }
  [[nodiscard]] Iterator end() const { return Iterator{size_}; }

 private:
  std::uint32_t size_;
};

class Trace {
 public:
  // --- events: dense columns, indexed by EventId::row ---
  [[nodiscard]] std::size_t size() const { return ts_ns_.size(); }
  [[nodiscard]] EventRange all_events() const {
    return EventRange{static_cast<std::uint32_t>(size())};
  }
  [[nodiscard]] std::span<const std::int64_t> ts_ns() const { return ts_ns_; }    // kAbsent: none
  [[nodiscard]] std::span<const std::int64_t> dur_ns() const { return dur_ns_; }  // kAbsent: none
  [[nodiscard]] std::span<const StringId> names() const { return names_; }
  [[nodiscard]] std::span<const TrackId> tracks() const { return tracks_; }
  [[nodiscard]] std::span<const Category> categories() const { return categories_; }
  [[nodiscard]] std::span<const Phase> phases() const { return phases_; }
  [[nodiscard]] std::span<const SignatureId> signatures() const { return signatures_; }
  // args.correlation; on flow events the flow's id. kAbsent: none.
  [[nodiscard]] std::span<const std::int64_t> correlations() const { return correlations_; }

  // --- one event, for code that is not in a hot loop ---
  [[nodiscard]] Category category(EventId event) const { return categories_[event.row]; }
  [[nodiscard]] Phase phase(EventId event) const { return phases_[event.row]; }
  [[nodiscard]] std::string_view name(EventId event) const { return text(names_[event.row]); }
  [[nodiscard]] const Track& track(EventId event) const { return track(tracks_[event.row]); }
  [[nodiscard]] std::int64_t end_ns(EventId event) const {  // ts and dur must be present
    return ts_ns_[event.row] + dur_ns_[event.row];
  }
  // The text of the category as written, also for kOtherCategory.
  [[nodiscard]] std::string_view category_text(EventId event) const;

  // --- arguments that only some events have ---
  [[nodiscard]] const SparseColumn<std::int64_t>& external_ids() const { return external_ids_; }
  [[nodiscard]] const SparseColumn<std::int64_t>& sequence_numbers() const { return sequences_; }
  [[nodiscard]] const SparseColumn<std::int64_t>& forward_threads() const { return fwd_threads_; }
  [[nodiscard]] const SparseColumn<std::int64_t>& streams() const { return streams_; }
  [[nodiscard]] const SparseColumn<std::int64_t>& devices() const { return devices_; }
  // Of events "[memory]"; values beyond kMostMemory are not kept.
  [[nodiscard]] const SparseColumn<MemoryChange>& memory_changes() const { return memory_; }
  // "Call stack" of ops recorded with_stack: frames separated by ';', innermost first.
  [[nodiscard]] const SparseColumn<StringId>& call_stacks() const { return call_stacks_; }
  // Everything else a report needs (collective metadata, grid, block, bytes, Triton provenance), as
  // the text of one JSON object. Equal texts are stored once. Read it with details(event).
  [[nodiscard]] const SparseColumn<StringId>& detail_texts() const { return details_; }
  [[nodiscard]] Value details(EventId event) const;  // a dict; null when there is nothing

  // --- what times cannot tell: the ops of a captured graph below its replay, pseudo-ops ---
  // Events from this row on were added to the finished trace (see TraceBuilder): no clock measured
  // them, so they take part in no call stack by their time and own no launch by their ids.
  [[nodiscard]] std::uint32_t recorded() const {
    return std::min(recorded_, static_cast<std::uint32_t>(size()));
  }
  [[nodiscard]] EventRange recorded_events() const { return EventRange{recorded()}; }
  // The caller of an event in the tree, whatever the times say.
  [[nodiscard]] const SparseColumn<EventId>& given_parents() const { return given_parents_; }
  // Events that the search for the op above a call passes over, ascending.
  [[nodiscard]] std::span<const EventId> passed_over() const { return passed_over_; }

  // --- tables the columns point into ---
  [[nodiscard]] std::string_view text(StringId id) const { return strings_[id.row]; }
  [[nodiscard]] std::size_t string_count() const { return strings_.size(); }
  [[nodiscard]] const Track& track(TrackId id) const { return track_table_[id.row]; }
  [[nodiscard]] std::span<const Track> track_table() const { return track_table_; }
  [[nodiscard]] const Signature& signature(SignatureId id) const {
    return signature_table_[id.row];
  }
  [[nodiscard]] std::span<const Signature> signature_table() const { return signature_table_; }

  // --- names of processes and threads, from the metadata events (last one wins) ---
  // The value written for (pid, tid), e.g. label(track, "thread_name"); process-level values
  // ("process_name", "process_labels") stand at tid 0.
  [[nodiscard]] std::optional<Value> label(const Track& track, std::string_view what) const;

  // --- the rest of the file ---
  [[nodiscard]] std::span<const MetadataEntry> metadata() const { return metadata_; }
  [[nodiscard]] const Value* metadata(std::string_view key) const;  // nullptr: none
  [[nodiscard]] const Source& source() const { return source_; }
  [[nodiscard]] const Warnings& warnings() const { return warnings_; }

 private:
  friend class TraceBuilder;  // trace_builder.hpp: the only way to fill a Trace

  Column<std::int64_t> ts_ns_, dur_ns_, correlations_;
  Column<StringId> names_;
  Column<TrackId> tracks_;
  Column<SignatureId> signatures_;
  Column<Category> categories_;
  Column<Phase> phases_;
  SparseColumn<std::int64_t> external_ids_, sequences_, fwd_threads_, streams_, devices_;
  SparseColumn<StringId> call_stacks_, details_, other_categories_;
  SparseColumn<MemoryChange> memory_;
  SparseColumn<EventId> given_parents_;
  std::vector<EventId> passed_over_;
  std::uint32_t recorded_ = std::numeric_limits<std::uint32_t>::max();  // more than size(): all
  std::vector<std::string_view> strings_;                               // into text_blocks_
  std::vector<std::unique_ptr<char[]>> text_blocks_;
  std::vector<Track> track_table_;
  std::vector<Signature> signature_table_;
  std::unordered_map<std::string, Value> labels_;  // by track and what it is
  std::vector<MetadataEntry> metadata_;
  Source source_;
  Warnings warnings_;
};

}  // namespace tracelens
