// event_texts.hpp: the events of a Chrome trace as the text they stand as in the file, one by one.
//   EventTexts events{stream};
//   while (const auto text = events.next()) ...             // {"ph": "X", "name": ...}
//   events.head("distributedInfo")                          // after the last: the file's members
// For commands that rewrite traces: nothing is kept but the block at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/raw_events.hpp>
#include <tracelens/trace_builder.hpp>
#include <tracelens/value.hpp>
#include <vector>

#include "io/stream.hpp"
#include "readers/chrome/long_events.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/chrome/stray_controls.hpp"
#include "readers/chrome/top_level.hpp"

namespace tracelens {

class EventTexts {
 public:
  // Reads up to the event list. Throws Error when the file is no trace.
  explicit EventTexts(io::Stream& in);

  // The next object of the list, valid until the next call; followed by json::kPadding readable
  // bytes. Elements that are no objects, or have lost a part to NUL bytes, are passed over and
  // counted.
  std::optional<std::string_view> next();

  // A member of the file besides its events; nullptr when there is none. After the last event.
  [[nodiscard]] const Value* head(std::string_view key) const;
  // What was wrong with the text, other than the elements that were passed over.
  [[nodiscard]] std::span<const Warnings::Entry> warnings() const;
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] bool is_cut() const { return is_cut_; }  // the file ends before its list is closed

 private:
  bool read_more();
  void count_controls(const char* from, const char* to);
  bool leave_hole();
  void finish(bool has_tail);
  [[nodiscard]] std::uint64_t first_byte() const { return read_bytes_ - text_.size(); }

  io::Stream& in_;
  TraceBuilder builder_;
  kineto::TopLevel top_;
  PaddedText text_;
  std::size_t at_ = 0;  // what is read of text_
  std::size_t patience_ = kLongEvent;
  StrayControls controls_;
  std::uint64_t read_bytes_ = 0, skipped_ = 0;
  bool at_end_ = false, in_hole_ = false, is_closed_ = false, is_cut_ = false;
  std::optional<Trace> head_;  // made when the file is read: holds its members
};

}  // namespace tracelens
