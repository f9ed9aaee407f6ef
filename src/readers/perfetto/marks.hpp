// marks.hpp: begins and ends as the file has them, given back in the order of time.
//   MarkLog log;
//   log.add(mark);                                   // in file order
//   MarksByTime marks{log.take()};
//   for (Mark mark; marks.next(mark);) ...
// A file may hold its events in any order (rocprofv3 writes one domain after the other, and a call
// before those it made), so that no slice can be finished before all is read. Until then a mark
// takes about ten bytes, a small part of the row it will be; they are given up as rows are made.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/perfetto/tracks.hpp"

namespace tracelens::perfetto {

// A sparse column of a block, and where the events that have it are counted.
template <class Raw>
struct SparsePart {
  std::vector<Raw> kineto::ParsedBlock::*column;
  std::size_t ArgumentCounts::*count;
};

// What an event's packet tells of its row: the first row of a block, with its sparse columns.
struct MarkRow {
  static constexpr SparsePart<kineto::RawInt> kNumbers[] = {
      {&kineto::ParsedBlock::external_ids, &ArgumentCounts::external_ids},
      {&kineto::ParsedBlock::sequences, &ArgumentCounts::sequences},
      {&kineto::ParsedBlock::forward_threads, &ArgumentCounts::forward_threads},
      {&kineto::ParsedBlock::streams, &ArgumentCounts::streams},
      {&kineto::ParsedBlock::devices, &ArgumentCounts::devices}};
  static constexpr SparsePart<kineto::RawText> kTexts[] = {
      {&kineto::ParsedBlock::call_stacks, &ArgumentCounts::call_stacks},
      {&kineto::ParsedBlock::details, &ArgumentCounts::details},
      {&kineto::ParsedBlock::category_texts, &ArgumentCounts::category_texts}};
  static constexpr std::size_t kDetails = 1;  // in kTexts

  kineto::RawRow row{};                                     // without track: that is known last
  std::array<std::int64_t, std::size(kNumbers)> numbers{};  // kAbsent: the event has none
  std::array<std::uint32_t, std::size(kTexts)> texts{};     // kNone: the event has none

  static MarkRow first_of(const kineto::ParsedBlock& block);
  void append_to(kineto::ParsedBlock& block) const;
  void count_in(ArgumentCounts& counts) const;
};

struct Mark {
  static constexpr std::int64_t kOpen = -1;
  std::int64_t ts_ns = 0;
  std::uint64_t order = 0;  // in the file: counts its marks
  std::uint32_t track = 0;
  bool is_end = false;
  std::uint32_t name = kNone, category = kNone;  // in Texts; an end rarely has them
  std::uint32_t end_args = kNone;                // of an end: whatever the caller counts in
  // --- of a begin ---
  std::uint32_t thread = kNone;  // that wrote it: a track
  std::int64_t dur_ns = kOpen;   // an instant has 0; few slices tell their length at the begin
  bool has_track_name = false;   // among its details
  MarkRow row = {};
};

// Some marks, sorted by time and file order.
struct MarkRun {
  std::int64_t first_ns = 0;
  std::size_t count = 0;
  std::string bytes;
};

// Writes marks one after the other, or reads them: each tells what differs.
class MarkCoder {
 public:
  void write(const Mark& mark, std::string& out);
  // Gives the position after the mark.
  const char* read(const char* at, Mark& mark);

 private:
  std::int64_t ts_ns_ = 0, correlation_ = 0;
  std::uint64_t order_ = 0;
  std::uint32_t track_ = 0;
};

class MarkLog {
 public:
  void add(const Mark& mark);

  [[nodiscard]] std::size_t begins() const { return begins_; }
  [[nodiscard]] std::size_t ends() const { return ends_; }
  // All marks so far; they are no longer in the log.
  [[nodiscard]] std::vector<MarkRun> take();

 private:
  void close_run();

  std::vector<MarkRun> runs_;
  std::vector<Mark> open_;  // of the run that is not full
  struct Place {
    std::int64_t ts_ns = 0;
    std::uint64_t order = 0;
    std::uint32_t index = 0;  // in open_
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places_;  // of the marks in open_
  std::string bytes_;          // scratch of close_run()
  std::size_t begins_ = 0, ends_ = 0;
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
