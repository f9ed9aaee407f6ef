// raw_events.hpp: the events of a trace as the text they stand as in its file. In src/readers/formats.
//   const std::optional<RawEvents> raw = read_raw_events(trace.source().name);
//   if (raw && split_object(raw->text(event), members)) ...           // "Ev Idx", "cbid"
// A Trace keeps what reports need. Whoever needs the rest reads the file once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

class RawEvents {
 public:
  struct Place {
    std::uint64_t begin = 0;
    std::uint32_t size = 0;
  };
  // `text` has 32 readable bytes behind it, the first of them 0.
  RawEvents(std::unique_ptr<const char[]> text, std::vector<Place> places)
      : text_{std::move(text)}, places_{std::move(places)} {}

  // As many as the trace of the same file has.
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // A JSON object as it is written; empty for an element that could not be read.
  [[nodiscard]] std::string_view text(EventId event) const {
    const Place& place = places_[event.row];
    return {text_.get() + place.begin, place.size};
  }

 private:
  std::unique_ptr<const char[]> text_;
  std::vector<Place> places_;
};

// Keeps the whole unpacked text in memory. Nothing when the file is no Chrome JSON, whose events are
// the only ones that are texts. Throws the errors of read_trace().
[[nodiscard]] std::optional<RawEvents> read_raw_events(const std::string& path,
                                                       const ReadOptions& options = {});
[[nodiscard]] std::optional<RawEvents> read_raw_events_bytes(std::string name,
                                                             std::span<const char> bytes,
                                                             const ReadOptions& options = {});

// The beginning of the unpacked text, at most so many bytes: enough to see how a file is written.
[[nodiscard]] std::string read_text_head(const std::string& path, std::size_t bytes);
[[nodiscard]] std::string read_text_head_bytes(std::string name, std::span<const char> packed,
                                               std::size_t bytes);

// The members of a JSON object, keys and values as written; false when the text is not an object.
// There must be 32 readable bytes behind the text, as there are behind that of an event.
struct RawMember {
  std::string_view key, value;
};
bool split_object(std::string_view object, std::vector<RawMember>& members);

}  // namespace tracelens
