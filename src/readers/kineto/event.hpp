// event.hpp: the elements of a `traceEvents` array, decoded into the columns of one block.
//   EventParser parser;                      // one per thread; remembers what it has seen
//   ParsedBlock block;
//   const auto outcome = parser.parse(text, first_byte, block);
// Ids in a block are local to its parser. Texts are kept as written (escapes and all) and mean the
// same for the life of the parser; BlockMerger (kineto_columns.hpp) turns them into the trace's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "readers/chrome/stray_controls.hpp"
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

// Integer arguments that are columns, by whichever name they are written.
enum class NumberArg : std::uint8_t {
  kNone,
  kStream,
  kDevice,
  kCorrelation,
  kExternalId,
  kSequence,
  kForwardThread,
  kBeginNs,
  kEndNs,
  kDeltaNs,
  kCorrId,
  kCorrelationId,
  kCorrelationIdCamel,
  kCorrIdCamel,
};
// kNone for all other names.
[[nodiscard]] NumberArg to_number_arg(std::string_view name);

struct GivenNumber {
  NumberArg arg = NumberArg::kNone;
  std::int64_t value = 0;
};

// The integer arguments of one event; kAbsent: it has none of this kind.
class NumberArgs {
 public:
  NumberArgs() { values_.fill(kAbsent); }
  [[nodiscard]] std::int64_t& operator[](NumberArg arg) {
    return values_[static_cast<std::size_t>(arg)];
  }
  [[nodiscard]] std::int64_t operator[](NumberArg arg) const {
    return values_[static_cast<std::size_t>(arg)];
  }
  // Whether they tell when a slice began and how long it took. rocprofv3 writes that to the
  // nanosecond.
  [[nodiscard]] bool has_times() const;
  // The id a launch shares with its GPU work, by whichever name it is written; in order of trust.
  [[nodiscard]] std::int64_t correlation() const;

 private:
  std::array<std::int64_t, static_cast<std::size_t>(NumberArg::kCorrIdCamel) + 1> values_;
};

// Whether an argument of a slice can end up in any column. `is_real`: it is a number that is no
// integer. The others need not be written as JSON only to be passed over; but those of
// kProfilerRange, which are all kept.
[[nodiscard]] bool is_slice_arg(std::string_view name, bool is_real);

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
  [[nodiscard]] const std::vector<RawSignature>& signatures() const { return signatures_.all(); }

 private:
  struct Fields;
  struct Pattern;
  // An element with control characters in its strings, read as if they were escaped. False when it
  // is damaged beyond that.
  bool parse_mended(std::string_view element, std::uint64_t byte, ParsedBlock& block);
  const char* parse_object(const char* p, const char* end, Fields& fields);
  const char* parse_indexed(const char* p, const char* end, Fields& fields);
  const char* parse_like(const Pattern& pattern, const char* p, const char* end, Fields& fields);
  const char* parse_field(std::string_view key, const char* p, const char* end, Fields& fields);
  const char* skip_op_args(const char* p, const char* end);
  const char* parse_args(const char* p, const char* end, Fields& fields);
  const char* parse_arg(std::string_view key, const char* p, const char* end, Fields& fields);
  const char* parse_call_stack(const char* p, const char* end, Fields& fields);
  const char* parse_track_part(const char* p, const char* end, RawTrackPart& part);
  void append(const Fields& fields, std::uint64_t byte, ParsedBlock& block);
  std::uint32_t intern_signature(const RawSignature& signature);
  // The arguments the op of this name was last called with; empty ones when never.
  const RawSignature& last_signature(std::uint32_t name) const;
  std::uint32_t intern_details();

  StringTable strings_, own_json_texts_;
  StringTable* json_texts_ = &own_json_texts_;
  std::vector<RawTrack> tracks_;
  RawSignatures signatures_;
  IdIndex track_index_;
  bool is_index_ = false, skips_op_args_ = false;
  std::uint32_t last_track_ = 0;
  std::uint32_t last_stack_ = 0xffffffff;  // in strings_
  std::vector<Pattern> patterns_;          // by the hash of how events of the text at hand begin
  Pattern* noted_ = nullptr;               // where the values of the event at hand are noted
  std::array<std::string_view, 4> skipped_args_;  // of ops of the text at hand, newest first
  std::vector<std::uint32_t> last_signatures_;    // by name
  std::vector<std::string_view> details_;  // members of the event at hand: "key": value, as written
  std::string scratch_;
};

}  // namespace tracelens::kineto
