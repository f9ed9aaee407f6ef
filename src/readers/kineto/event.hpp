// event.hpp: the elements of a `traceEvents` array, decoded into the columns of one block.
//   EventParser parser;                      // one per thread; remembers what it has seen
//   ParsedBlock block;
//   const auto outcome = parser.parse(text, first_byte, block);
// Ids in a block are local to its parser. Texts are kept as written (escapes and all) and mean the
// same for the life of the parser; BlockMerger (columns.hpp) turns them into the trace's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "readers/chrome/long_events.hpp"
#include "readers/chrome/stray_controls.hpp"
#include "readers/kineto/number_args.hpp"
#include "readers/kineto/signatures.hpp"
#include "trace/string_table.hpp"

namespace tracelens::kineto {

// Why an element, or part of it, was left out. The texts are in kProblemTexts, same order.
enum class Problem : std::uint8_t {
  kNotAnObject,
  kBadEvent,
  kNoPhase,
  kNoTime,
  kNoDuration,
  kNegativeDuration,
  kBadLabel,
  kUnendedEvent,
};
inline constexpr std::string_view kProblemTexts[] = {
    "element of the event list that is not an object",
    "event that is not valid JSON",
    "event without a phase (ph)",
    "event without a usable time (ts)",
    "complete event without a usable duration (dur)",
    "negative duration, taken as 0",
    "metadata event without a usable name or value",
    "event that does not end",
};

struct RawRow {
  std::int64_t ts_ns, dur_ns, correlation;
  std::uint32_t name, track, signature;
  Category category;
  Phase phase;
  char begin_end;  // 'B', 'E' or 0
};

// An argument that few events have.
struct RawInt {
  std::uint32_t row;
  std::int64_t value;
};
struct RawText {
  std::uint32_t row;
  std::uint32_t text;
};
struct RawMemory {
  std::uint32_t row;
  MemoryChange change;
};
struct RawLabel {
  std::uint32_t track, name;
  std::string value;  // JSON as written
};
struct RawProblem {
  Problem problem;
  std::uint64_t byte;
};

// Where an element stands in the whole text.
struct RawPlace {
  std::uint64_t byte;
  std::uint32_t size;  // 0: it could not be read
};

struct ParsedBlock {
  std::vector<RawRow> rows;
  std::vector<RawPlace> places;  // of the rows, if the parser notes them
  std::vector<RawInt> external_ids, sequences, forward_threads, streams, devices;
  std::vector<RawText> call_stacks, details, category_texts;
  std::vector<RawMemory> memory_changes;
  std::vector<RawLabel> labels;
  std::vector<RawProblem> problems;
  StrayControls controls;

  void clear();
};

// A pid or tid as written. Numbers by value, everything else by its text.
struct RawTrackPart {
  enum class Kind : std::uint8_t { kNone, kInt, kText, kOther } kind = Kind::kNone;
  std::int64_t value = 0;  // the integer, or the id of the text
  bool operator==(const RawTrackPart&) const = default;
};
struct RawTrack {
  RawTrackPart pid, tid;
  bool operator==(const RawTrack&) const = default;
};

// An event that another format wrote down: the members of a Chrome event. Texts are escaped as in
// JSON.
struct GivenEvent {
  char phase = 0;
  std::uint32_t name = 0;     // EventParser::intern
  std::string_view category;  // empty: none
  RawTrack track;
  std::int64_t ts_ns = kAbsent, flow_id = kAbsent;
  std::string_view args;  // a JSON object, padded like the text of parse(); empty: none
  // Arguments that need not be written as JSON only to be read again.
  std::span<const GivenNumber> numbers = {};
};

struct EventFields;  // fields.hpp
class Layouts;       // layouts.hpp

class EventParser {
 public:
  EventParser();
  // With the table that keeps whole JSON values, so that they are there once: a trace may have a
  // distinct one per event. The ids of such a value are then the same everywhere.
  explicit EventParser(StringTable& json_texts);
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  // For those who copy text: notes where each element stands, and passes over arguments that are
  // not about times and links; those of ops may be asked for.
  void index_only(bool op_arguments);
  // An element that is longer is read if it is JSON without faults up to there; else it has no end. And of more
  // text behind NUL bytes parse() ends kInHole: it is to be called for a first part of it.
  void limit_events(const EventLimits& limits) { limits_ = limits; }

  enum class End : std::uint8_t {
    kClean,       // the text ends between two elements
    kIncomplete,  // the text ends inside an element
    kListClosed,  // the ']' of the event list was found
    kInHole,      // the text ends behind NUL bytes, before an event was found again
  };
  struct Outcome {
    End end;
    // kIncomplete: start of that element; kListClosed: after the ']'; kInHole: the text from which
    // the next event is still looked for.
    std::size_t stop;
  };

  // Decodes elements from the start of `text`, which must begin between two elements, or where the
  // text before it ended kInHole. `text` must be followed by json::kPadding readable bytes, the
  // first of them '\0'. `first_byte` is its position in the whole file, for messages.
  Outcome parse(std::string_view text, std::uint64_t first_byte, ParsedBlock& block,
                bool in_hole = false);

  // One event of another format, kept as if it had been read from JSON: the same arguments become
  // columns. A begin or end is not joined to another event.
  void append(const GivenEvent& event, std::uint64_t byte, ParsedBlock& block);
  std::uint32_t intern(std::string_view escaped) { return strings_.intern(escaped).row; }
  std::uint32_t intern(const RawTrack& track);

  // An element that cannot be read keeps its place in the list.
  void append_damaged(Problem problem, std::uint64_t byte, ParsedBlock& block);

  // --- what the local ids of a block stand for ---
  [[nodiscard]] const StringTable& strings() const { return strings_; }  // between quotes, escaped
  [[nodiscard]] const StringTable& json_texts() const { return *json_texts_; }  // whole values
  [[nodiscard]] const std::vector<RawTrack>& tracks() const { return tracks_; }
  [[nodiscard]] const RawSignatures& signatures() const { return signatures_; }

 private:
  // An element with control characters in its strings, read as if they were escaped. False when it
  // is damaged beyond that.
  bool parse_mended(std::string_view element, std::uint64_t byte, ParsedBlock& block);
  // The event at `p`: one that is written like others before it, or any. The first may have read
  // part of it into `fields` and `details_` when it gives up.
  const char* parse_known(const char* p, const char* end, EventFields& fields);
  const char* parse_unknown(const char* p, const char* end, EventFields& fields);
  const char* parse_object(const char* p, const char* end, EventFields& fields);
  const char* parse_field(std::string_view key, const char* p, const char* end,
                          EventFields& fields);
  const char* skip_args(const char* p, const char* end);
  const char* parse_args(const char* p, const char* end, EventFields& fields);
  const char* parse_arg(std::string_view key, const char* p, const char* end, EventFields& fields);
  // The end of the string at `p` if it is this one of strings_, which was a string before; else
  // nullptr.
  const char* pass_text(const char* p, const char* end, std::uint32_t id) const;
  const char* parse_name(const char* p, const char* end, EventFields& fields);
  const char* parse_signature_part(std::string_view RawSignature::*part, const char* p,
                                   const char* end, EventFields& fields);
  const char* parse_call_stack(const char* p, const char* end, EventFields& fields);
  const char* parse_track_part(const char* p, const char* end, RawTrackPart& part);
  void append(const EventFields& fields, std::uint64_t byte, ParsedBlock& block);
  // The arguments of the last row; returns the id of its details.
  std::uint32_t append_args(const EventFields& fields, const RawRow& raw, ParsedBlock& block);
  std::uint32_t intern_signature(const RawSignature& signature, std::uint32_t expected);
  // The arguments the event at hand will probably have; empty ones when nothing is known.
  const RawSignature& expected_signature(const EventFields& fields) const;
  std::uint32_t intern_details(std::uint32_t expected);

  StringTable strings_, own_json_texts_;
  StringTable* json_texts_ = &own_json_texts_;
  std::vector<RawTrack> tracks_;
  RawSignatures signatures_;
  IdIndex track_index_;
  bool is_index_ = false, skips_op_args_ = false;
  EventLimits limits_;
  std::uint32_t last_track_ = 0;
  std::uint32_t last_stack_ = 0xffffffff;  // in strings_
  std::unique_ptr<Layouts> layouts_;
  Layouts* notes_ = nullptr;                    // where the values of the event at hand are noted
  std::vector<std::uint32_t> last_signatures_;  // by name
  std::vector<std::string_view> details_;  // members of the event at hand: "key": value, as written
  std::string scratch_;
};

}  // namespace tracelens::kineto
