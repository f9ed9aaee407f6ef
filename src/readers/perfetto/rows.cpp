#include "readers/perfetto/rows.hpp"

#include "io/check.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kRowsPerBlock = 4096;

}  // namespace

kineto::RawTrack raw_track(ThreadKey thread) {
  using Kind = kineto::RawTrackPart::Kind;
  return {{Kind::kInt, thread.pid}, {Kind::kInt, thread.tid}};
}

std::uint32_t RowWriter::append(const kineto::GivenEvent& event) {
  const std::uint32_t row = next_row();
  parser_.append(event, 0, block_);
  return written(row);
}

std::uint32_t RowWriter::append(const MarkRow& mark, ThreadKey thread) {
  const std::uint32_t row = next_row();
  mark.append_to(block_);
  block_.rows.back().track = parser_.intern(raw_track(thread));
  return written(row);
}

std::uint32_t RowWriter::written(std::uint32_t row) {
  TL_CHECK(row < kNone);
  if (block_.rows.size() >= kRowsPerBlock) flush();
  return row;
}

kineto::RawRow* RowWriter::pending(std::uint32_t row) {
  return row < builder_.size() ? nullptr : &block_.rows[row - builder_.size()];
}

void RowWriter::set_length(std::uint32_t row, std::int64_t dur_ns) {
  if (kineto::RawRow* const raw = pending(row))
    raw->dur_ns = dur_ns;
  else
    builder_.set_dur_ns({row}, dur_ns);
}

void RowWriter::set_phase(std::uint32_t row, Phase phase) {
  if (kineto::RawRow* const raw = pending(row))
    raw->phase = phase;
  else
    builder_.set_phase({row}, phase);
}

void RowWriter::set_thread(std::uint32_t row, ThreadKey thread) {
  if (kineto::RawRow* const raw = pending(row))
    raw->track = parser_.intern(raw_track(thread));
  else
    builder_.set_track({row},
                       builder_.intern(Track{std::int64_t{thread.pid}, std::int64_t{thread.tid}}));
}

void RowWriter::flush() {
  merger_.append(block_);
  block_.clear();
}

}  // namespace tracelens::perfetto
