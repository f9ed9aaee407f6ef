#include "readers/perfetto/marks.hpp"

#include <algorithm>
#include <utility>

#include "io/memory.hpp"
#include "readers/kit/packed_bytes.hpp"

namespace tracelens::perfetto {
namespace {

// Marks that are sorted and packed together, and given back together: some KiB.
constexpr std::size_t kRunMarks = 512;

// Bytes of marks that are done before the system gets them back.
constexpr std::size_t kFreedBytes = std::size_t{4} << 20;

// Which parts a begin has. Those of numbers and texts follow.
enum BeginPart : std::uint32_t {
  kExactTimes = 1,
  kCorrelation = 2,
  kSignature = 4,
  kName = 8,
  kCategory = 16,
  kThread = 32,
  kDuration = 64,
  kTrackName = 128,
  kFirstNumber = 256,
};
constexpr std::uint32_t kFirstText = kFirstNumber << std::size(MarkRow::kNumbers);

enum EndPart : std::uint32_t { kEndName = 1, kEndCategory = 2, kEndArgs = 4 };

// Order, time, track, parts, kind, name, category, thread, duration, two times, correlation and
// signature of a begin, then numbers and texts.
static_assert(13 + std::size(MarkRow::kNumbers) + std::size(MarkRow::kTexts) <=
              PackedWriter::kMostNumbers);

constexpr std::uint32_t kCategoryBits = 5;
static_assert(kCategoryCount <= 1U << kCategoryBits);

std::uint32_t parts_of(const Mark& mark) {
  const MarkRow& row = mark.row;
  std::uint32_t parts = 0;
  const auto add = [&parts](bool has, std::uint32_t part) { parts |= has ? part : 0; };
  add(row.row.ts_ns != mark.ts_ns || row.row.dur_ns != kAbsent, kExactTimes);
  add(row.row.correlation != kAbsent, kCorrelation);
  add(row.row.signature != kNone, kSignature);
  add(mark.name != kNone, kName);
  add(mark.category != kNone, kCategory);
  add(mark.thread != kNone, kThread);
  add(mark.dur_ns != Mark::kOpen, kDuration);
  add(mark.has_track_name, kTrackName);
  for (std::size_t i = 0; i < row.numbers.size(); ++i)
    add(row.numbers[i] != kAbsent, kFirstNumber << i);
  for (std::size_t i = 0; i < row.texts.size(); ++i) add(row.texts[i] != kNone, kFirstText << i);
  return parts;
}

}  // namespace

MarkRow MarkRow::first_of(const kineto::ParsedBlock& block) {
  MarkRow row{.row = block.rows.front()};
  for (std::size_t i = 0; i < row.numbers.size(); ++i) {
    const auto& column = block.*kNumbers[i].column;
    row.numbers[i] = column.empty() ? kAbsent : column.front().value;
  }
  for (std::size_t i = 0; i < row.texts.size(); ++i) {
    const auto& column = block.*kTexts[i].column;
    row.texts[i] = column.empty() ? kNone : column.front().text;
  }
  return row;
}

void MarkRow::append_to(kineto::ParsedBlock& block) const {
  const auto at = static_cast<std::uint32_t>(block.rows.size());
  block.rows.push_back(row);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != kAbsent) (block.*kNumbers[i].column).push_back({at, numbers[i]});
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i] != kNone) (block.*kTexts[i].column).push_back({at, texts[i]});
}

void MarkRow::count_in(ArgumentCounts& counts) const {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    counts.*kNumbers[i].count += numbers[i] != kAbsent ? 1 : 0;
  for (std::size_t i = 0; i < texts.size(); ++i)
    counts.*kTexts[i].count += texts[i] != kNone ? 1 : 0;
}

void MarkCoder::write(const Mark& mark, std::string& out) {
  PackedWriter packed;
  const auto order = static_cast<std::int64_t>(mark.order - order_);
  packed.signed_number(order * 2 + (mark.is_end ? 1 : 0));
  packed.signed_number(wrapping_difference(mark.ts_ns, ts_ns_));
  packed.signed_number(std::int64_t{mark.track} - track_);
  order_ = mark.order;
  ts_ns_ = mark.ts_ns;
  track_ = mark.track;
  if (mark.is_end) {
    packed.number((mark.name != kNone ? kEndName : 0U) |
                  (mark.category != kNone ? kEndCategory : 0U) |
                  (mark.end_args != kNone ? kEndArgs : 0U));
    for (const std::uint32_t part : {mark.name, mark.category, mark.end_args})
      if (part != kNone) packed.number(part);
    out += packed.bytes();
    return;
  }
  const kineto::RawRow& row = mark.row.row;
  const std::uint32_t parts = parts_of(mark);
  packed.number(parts);
  packed.number(static_cast<std::uint32_t>(row.phase) << kCategoryBits |
                static_cast<std::uint32_t>(row.category));
  packed.number(row.name);
  if ((parts & kCategory) != 0) packed.number(mark.category);
  if ((parts & kThread) != 0) packed.number(mark.thread);
  if ((parts & kDuration) != 0) packed.signed_number(mark.dur_ns);
  if ((parts & kExactTimes) != 0)
    packed.signed_number(wrapping_difference(row.ts_ns, mark.ts_ns)).signed_number(row.dur_ns);
  if ((parts & kCorrelation) != 0) {
    packed.signed_number(wrapping_difference(row.correlation, correlation_));
    correlation_ = row.correlation;
  }
  if ((parts & kSignature) != 0) packed.number(row.signature);
  for (const std::int64_t number : mark.row.numbers)
    if (number != kAbsent) packed.signed_number(number);
  for (const std::uint32_t text : mark.row.texts)
    if (text != kNone) packed.number(text);
  out += packed.bytes();
}

const char* MarkCoder::read(const char* at, Mark& mark) {
  PackedReader packed{at};
  const std::int64_t head = packed.signed_number();
  order_ += static_cast<std::uint64_t>(head >> 1);
  ts_ns_ = wrapping_sum(ts_ns_, packed.signed_number());
  track_ = static_cast<std::uint32_t>(track_ + packed.signed_number());
  mark = {.ts_ns = ts_ns_, .order = order_, .track = track_, .is_end = (head & 1) != 0};
  const std::uint32_t parts = packed.id();
  const auto id_if = [&](std::uint32_t part) { return (parts & part) != 0 ? packed.id() : kNone; };
  if (mark.is_end) {
    mark.name = id_if(kEndName);
    mark.category = id_if(kEndCategory);
    mark.end_args = id_if(kEndArgs);
    return packed.at();
  }
  kineto::RawRow& row = mark.row.row;
  const std::uint32_t kind = packed.id();
  row.phase = static_cast<Phase>(kind >> kCategoryBits);
  row.category = static_cast<Category>(kind & ((1U << kCategoryBits) - 1));
  row.name = packed.id();
  if ((parts & kName) != 0) mark.name = row.name;
  mark.category = id_if(kCategory);
  mark.thread = id_if(kThread);
  if ((parts & kDuration) != 0) mark.dur_ns = packed.signed_number();
  mark.has_track_name = (parts & kTrackName) != 0;
  row.ts_ns = mark.ts_ns;
  row.dur_ns = kAbsent;
  if ((parts & kExactTimes) != 0) {
    row.ts_ns = wrapping_sum(mark.ts_ns, packed.signed_number());
    row.dur_ns = packed.signed_number();
  }
  row.correlation = kAbsent;
  if ((parts & kCorrelation) != 0)
    row.correlation = correlation_ = wrapping_sum(correlation_, packed.signed_number());
  row.signature = id_if(kSignature);
  for (std::size_t i = 0; i < mark.row.numbers.size(); ++i)
    mark.row.numbers[i] = (parts & kFirstNumber << i) != 0 ? packed.signed_number() : kAbsent;
  for (std::size_t i = 0; i < mark.row.texts.size(); ++i)
    mark.row.texts[i] = id_if(kFirstText << i);
  return packed.at();
}

void MarkLog::add(const Mark& mark) {
  ++(mark.is_end ? ends_ : begins_);
  places_.push_back({mark.ts_ns, mark.order, static_cast<std::uint32_t>(open_.size())});
  open_.push_back(mark);
  if (open_.size() == kRunMarks) close_run();
}

void MarkLog::close_run() {
  if (open_.empty()) return;
  if (!std::ranges::is_sorted(places_)) std::ranges::sort(places_);
  bytes_.clear();
  MarkCoder coder;
  for (const Place& place : places_) coder.write(open_[place.index], bytes_);
  runs_.push_back({places_.front().ts_ns, open_.size(), bytes_});  // a copy has no room to spare
  open_.clear();
  places_.clear();
}

std::vector<MarkRun> MarkLog::take() {
  close_run();
  return std::exchange(runs_, {});
}

MarksByTime::MarksByTime(std::vector<MarkRun> runs) : waiting_{std::move(runs)} {
  std::ranges::sort(waiting_,
                    [](const MarkRun& a, const MarkRun& b) { return a.first_ns > b.first_ns; });
  start_runs();
}

void MarksByTime::start_runs() {
  while (!waiting_.empty() && (heap_.empty() || waiting_.back().first_ns <= heap_.front().ts_ns)) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(readings_.size()));
      readings_.emplace_back();
    }
    const std::uint32_t reading = free_.back();
    free_.pop_back();
    readings_[reading].run = std::move(waiting_.back());
    waiting_.pop_back();
    advance(reading);
  }
}

void MarksByTime::advance(std::uint32_t index) {
  Reading& reading = readings_[index];
  if (reading.run.count-- == 0) {
    freed_bytes_ += reading.run.bytes.size();
    reading = {};
    reading.run.bytes.shrink_to_fit();  // an empty string keeps its room otherwise
    free_.push_back(index);
    if (freed_bytes_ > kFreedBytes) {
      io::return_freed_memory();
      freed_bytes_ = 0;
    }
    return;
  }
  const char* const bytes = reading.run.bytes.data();
  reading.at =
      static_cast<std::size_t>(reading.coder.read(bytes + reading.at, reading.mark) - bytes);
  heap_.push_back({reading.mark.ts_ns, reading.mark.order, index});
  std::push_heap(heap_.begin(), heap_.end());
}

bool MarksByTime::next(Mark& mark) {
  if (heap_.empty()) return false;
  const std::uint32_t reading = heap_.front().reading;
  mark = readings_[reading].mark;
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.pop_back();
  advance(reading);
  start_runs();
  return true;
}

}  // namespace tracelens::perfetto
