// perfetto_marks.hpp: begins and ends as the file has them, given back in the order of time.
//   MarkLog log;
//   log.add(mark);                                   // in file order
//   MarksByTime marks{log.take(is_wanted)};
//   for (Mark mark; marks.next(mark);) ...
// A file may hold its events in any order (rocprofv3 writes one domain after the other, and a call
// before those it made), so that no slice can be finished before all is read. Until then a mark
// takes about ten bytes, a small part of the row it will be; they are given up as rows are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/kineto_event.hpp"
#include "readers/perfetto_tracks.hpp"
#include "trace/builder.hpp"

namespace tracelens::perfetto {

// What an event's packet tells of its row: the first row of a block, with its sparse columns.
struct MarkRow {
  static constexpr std::vector<kineto::RawInt> kineto::ParsedBlock::*kNumbers[] = {
      &kineto::ParsedBlock::external_ids, &kineto::ParsedBlock::sequences,
      &kineto::ParsedBlock::forward_threads, &kineto::ParsedBlock::streams,
      &kineto::ParsedBlock::devices};
  static constexpr std::vector<kineto::RawText> kineto::ParsedBlock::*kTexts[] = {
      &kineto::ParsedBlock::call_stacks, &kineto::ParsedBlock::details,
      &kineto::ParsedBlock::category_texts};

  kineto::RawRow row{};                                     // without track: that is known last
  std::array<std::int64_t, std::size(kNumbers)> numbers{};  // kAbsent: the event has none
  std::array<std::uint32_t, std::size(kTexts)> texts{};     // kNone: the event has none

  static MarkRow first_of(const kineto::ParsedBlock& block);
  void append_to(kineto::ParsedBlock& block) const;
};

struct Mark {
  static constexpr std::int64_t kOpen = -1;
  std::int64_t ts_ns = 0;
  std::uint64_t order = 0;  // counts the marks of the file
  std::uint32_t track = 0;
  bool is_end = false;
  std::uint32_t name = kNone, category = kNone;  // in Texts; an end rarely has them
  std::uint32_t end_args = kNone;                // of an end: whatever the caller counts in
  // --- of a begin ---
  std::uint32_t thread = kNone;  // that wrote it: a track
  std::int64_t dur_ns = kOpen;   // an instant has 0; few slices tell their length at the begin
  MarkRow row = {};
};

// Some marks of one track, sorted by time and file order.
struct MarkRun {
  std::uint32_t track = 0;
  std::int64_t first_ns = 0;
  std::size_t count = 0;
  std::string bytes;
};

// Writes marks of a track one after the other, or reads them: each tells what differs.
class MarkCoder {
 public:
  void write(const Mark& mark, std::string& out);
  // Gives the position after the mark. The track is the caller's.
  const char* read(const char* at, Mark& mark);

 private:
  std::int64_t ts_ns_ = 0, correlation_ = 0;
  std::uint64_t order_ = 0;
};

class MarkLog {
 public:
  // Counts the mark; its `order` is set here.
  void add(Mark& mark);

  struct Counts {
    std::size_t begins = 0, ends = 0;
  };
  [[nodiscard]] Counts counts(std::uint32_t track) const {
    return track < logs_.size() ? logs_[track].counts : Counts{};
  }
  [[nodiscard]] std::uint64_t begins() const { return begins_; }  // of all tracks
  [[nodiscard]] ArgumentCounts argument_counts() const;
  // The runs of the tracks for which `is_wanted(track)` holds; they are no longer in the log.
  template <class Wanted>
  std::vector<MarkRun> take(Wanted&& is_wanted) {
    std::vector<MarkRun> taken;
    for (std::uint32_t track = 0; track < logs_.size(); ++track)
      if (is_wanted(track)) move_runs(track, taken);
    return taken;
  }

 private:
  struct TrackLog {
    std::vector<MarkRun> runs;
    MarkRun open;
    MarkCoder coder;
    std::int64_t last_ns = 0;
    bool is_sorted = true;
    Counts counts;
  };
  void close_run(TrackLog& log);
  void sort(MarkRun& run);
  void move_runs(std::uint32_t track, std::vector<MarkRun>& to);

  std::vector<TrackLog> logs_;  // by track
  std::uint64_t count_ = 0, begins_ = 0;
  std::array<std::size_t, std::size(MarkRow::kNumbers)> numbers_{};  // how many rows have each
  std::array<std::size_t, std::size(MarkRow::kTexts)> texts_{};
  std::vector<Mark> sorting_;  // scratch of sort()
};

class MarksByTime {
 public:
  explicit MarksByTime(std::vector<MarkRun> runs);
  // The next mark by (time, order). False at the end.
  bool next(Mark& mark);
  [[nodiscard]] bool is_at_end() const { return heap_.empty(); }
  // The time of the mark that next() will give. Not at the end.
  [[nodiscard]] std::int64_t next_ns() const { return heap_.front().ts_ns; }

 private:
  struct Reading {
    MarkRun run = {};
    MarkCoder coder = {};
    std::size_t at = 0;  // in run.bytes
    Mark mark = {};
  };
  struct Head {
    std::int64_t ts_ns;
    std::uint64_t order;
    std::uint32_t reading;
    // As a heap of the standard library wants it: the earliest on top.
    bool operator<(const Head& other) const {
      return ts_ns != other.ts_ns ? ts_ns > other.ts_ns : order > other.order;
    }
  };
  void start_runs();
  void advance(std::uint32_t reading);

  std::vector<MarkRun> waiting_;  // by first_ns, the earliest last
  std::vector<Reading> readings_;
  std::vector<std::uint32_t> free_;  // readings that are done
  std::vector<Head> heap_;
  std::size_t freed_bytes_ = 0;  // since memory was last given back
};

}  // namespace tracelens::perfetto
