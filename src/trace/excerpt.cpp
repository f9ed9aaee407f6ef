// A part of a trace as a trace of its own.
#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/trace_builder.hpp>
#include <vector>

namespace tracelens {
namespace {

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

template <class T>
Column<T> rows_of(const Column<T>& column, std::span<const EventId> kept) {
  Column<T> rows;
  rows.reserve(kept.size());
  for (const EventId event : kept) rows.push_back(column[event.row]);
  return rows;
}

// `place`: the new row of each old one.
template <class T>
SparseColumn<T> rows_of(const SparseColumn<T>& column, std::span<const std::uint32_t> place) {
  SparseColumn<T> rows;
  for (std::size_t i = 0; i < column.rows().size(); ++i)
    if (const std::uint32_t row = place[column.rows()[i]]; row != kGone)
      rows.append(EventId{row}, column.values()[i]);
  return rows;
}

}  // namespace

Trace TraceBuilder::excerpt(const Trace& trace, std::span<const EventId> kept) {
  std::vector<std::uint32_t> place(trace.size(), kGone);
  for (std::uint32_t row = 0; row < kept.size(); ++row) place[kept[row].row] = row;
  Trace part;
  part.ts_ns_ = rows_of(trace.ts_ns_, kept);
  part.dur_ns_ = rows_of(trace.dur_ns_, kept);
  part.correlations_ = rows_of(trace.correlations_, kept);
  part.names_ = rows_of(trace.names_, kept);
  part.tracks_ = rows_of(trace.tracks_, kept);
  part.signatures_ = rows_of(trace.signatures_, kept);
  part.categories_ = rows_of(trace.categories_, kept);
  part.phases_ = rows_of(trace.phases_, kept);
  part.external_ids_ = rows_of(trace.external_ids_, place);
  part.sequences_ = rows_of(trace.sequences_, place);
  part.fwd_threads_ = rows_of(trace.fwd_threads_, place);
  part.streams_ = rows_of(trace.streams_, place);
  part.devices_ = rows_of(trace.devices_, place);
  part.call_stacks_ = rows_of(trace.call_stacks_, place);
  part.details_ = rows_of(trace.details_, place);
  part.other_categories_ = rows_of(trace.other_categories_, place);
  part.memory_ = rows_of(trace.memory_, place);
  for (std::size_t i = 0; i < trace.given_parents_.rows().size(); ++i) {
    const EventId given = trace.given_parents_.values()[i];
    const std::uint32_t event = place[trace.given_parents_.rows()[i]],
                        parent = given.valid() ? place[given.row] : kGone;
    if (event != kGone && (parent != kGone || !given.valid()))
      part.given_parents_.append(EventId{event}, EventId{parent});
  }
  for (const EventId event : trace.passed_over_)
    if (place[event.row] != kGone) part.passed_over_.push_back({place[event.row]});
  part.recorded_ = 0;
  for (const EventId event : kept) part.recorded_ += event.row < trace.recorded();
  part.strings_ = trace.strings_;
  part.track_table_ = trace.track_table_;
  part.signature_table_ = trace.signature_table_;
  part.labels_ = trace.labels_;
  part.metadata_ = trace.metadata_;
  part.source_ = trace.source_;
  part.warnings_ = trace.warnings_;
  return part;
}

}  // namespace tracelens
