// rows.hpp: the rows of the trace, written one after the other in their final order.
//   RowWriter rows{parser, builder};
//   const std::uint32_t row = rows.append(mark.row, {pid, tid});
//   rows.set_length(row, dur_ns);                    // when its end comes
//   rows.flush();                                    // now all are in the builder
#pragma once

#include <cstdint>
#include <tracelens/trace_builder.hpp>

#include "readers/kineto/columns.hpp"
#include "readers/kineto/event.hpp"
#include "readers/perfetto/marks.hpp"

namespace tracelens::perfetto {

class RowWriter {
 public:
  RowWriter(kineto::EventParser& parser, TraceBuilder& builder)
      : parser_{parser}, builder_{builder} {}

  // Both give the row.
  std::uint32_t append(const kineto::GivenEvent& event);
  std::uint32_t append(const MarkRow& mark, ThreadKey thread);

  // --- what is known of a row later than the row itself ---
  void set_length(std::uint32_t row, std::int64_t dur_ns);
  void set_phase(std::uint32_t row, Phase phase);
  void set_thread(std::uint32_t row, ThreadKey thread);

  void flush();

 private:
  [[nodiscard]] kineto::RawRow* pending(std::uint32_t row);
  std::uint32_t next_row() const {
    return static_cast<std::uint32_t>(builder_.size() + block_.rows.size());
  }
  std::uint32_t written(std::uint32_t row);

  kineto::EventParser& parser_;
  TraceBuilder& builder_;
  kineto::KnownSignatures known_;
  kineto::BlockMerger merger_{parser_, builder_, known_};
  kineto::ParsedBlock block_;  // rows that are not in the builder yet
};

// A thread as Chrome events name it.
[[nodiscard]] kineto::RawTrack raw_track(ThreadKey thread);

}  // namespace tracelens::perfetto
