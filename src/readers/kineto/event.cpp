#include "readers/kineto/event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "io/numbers.hpp"
#include "readers/chrome/holes.hpp"
#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/words.hpp"
#include "readers/kit/time_limits.hpp"

namespace tracelens::kineto {
namespace {

// Control characters where JSON has none are found on the way; parse() then looks closer.
constexpr bool kStrict = true;
inline const char* skip_space(const char* p, const char* end) {
  return json::skip_space<kStrict>(p, end);
}
inline const char* find_quote(const char* p, const char* end) {
  return json::find_quote<kStrict>(p, end);
}
inline const char* find_name_end(const char* p, const char* end) {
  return json::find_name_end<kStrict>(p, end);
}
inline const char* skip_value(const char* p, const char* end) {
  return json::skip_value<kStrict>(p, end);
}
const char* skip_container(const char* p, const char* end) {
  return json::skip_container<kStrict>(p, end);
}

constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The text of a string value without its quotes, or of any other value as it stands.
std::string_view unquoted(const char* begin, const char* end) {
  if (*begin == '"') return between(begin + 1, end - 1);
  return between(begin, end);
}

// An integer however it is written: 7, "7", 7.0, 1.8e19. kAbsent for anything else.
std::int64_t to_integer(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  if (const auto r = std::from_chars(text.data(), end, value); r.ec == std::errc{} && r.ptr == end)
    return value;
  std::uint64_t wide = 0;  // an unsigned id keeps its bits, which is all an identity needs
  if (const auto r = std::from_chars(text.data(), end, wide); r.ec == std::errc{} && r.ptr == end)
    return static_cast<std::int64_t>(wide);
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real);
      r.ec == std::errc{} && r.ptr == end && std::abs(real) < 9e18 && real == std::trunc(real))
    return static_cast<std::int64_t>(real);
  return kAbsent;
}

const char* parse_integer(const char* p, const char* end, std::int64_t& value) {
  // Nearly always: up to 18 digits and then a delimiter.
  std::int64_t digits = 0;
  const char* q = p;
  while (static_cast<unsigned char>(*q - '0') < 10 && q - p < 18)
    digits = digits * 10 + (*q++ - '0');
  if (q != p && (*q == ',' || *q == '}' || static_cast<unsigned char>(*q) <= ' ')) [[likely]] {
    value = digits;
    return q;
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr) value = to_integer(unquoted(p, after));
  return after;
}

// The number of an agent: 2, "Agent-2" or "GPU-2". Left alone when the text ends in no number.
const char* parse_agent(const char* p, const char* end, std::int64_t& value) {
  const char* const after = skip_value(p, end);
  if (after == nullptr) return nullptr;
  std::string_view text = unquoted(p, after);
  if (*p == '"') text.remove_prefix(text.rfind('-') + 1);
  if (const std::int64_t number = to_integer(text); number != kAbsent) value = number;
  return after;
}

// Microseconds to integer nanoseconds; kAbsent when it is no time at all (null, NaN, a word).
const char* parse_time(const char* p, const char* end, std::int64_t& ns) {
  if (const char* const after = io::parse_us_fast(p, end, ns)) [[likely]]
    return after;
  const char* const after = skip_value(p, end);
  if (after != nullptr) ns = io::parse_us_as_ns(unquoted(p, after)).value_or(kAbsent);
  return after;
}

// Whether the text at `p` begins with `list`, a whole JSON list: then that is the value at `p`.
bool starts_with_list(const char* p, const char* end, std::string_view list) {
  return list.starts_with('[') && static_cast<std::size_t>(end - p) >= list.size() &&
         std::memcmp(p, list.data(), list.size()) == 0;
}

// Whether two texts are the same; mostly between two values, and short.
bool is_same(const char* a, const char* b, std::size_t size) {
  if (size < 8 || size > 16) return std::memcmp(a, b, size) == 0;
  const auto differ = [&](std::size_t from) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a + from, sizeof x);
    std::memcpy(&y, b + from, sizeof y);
    return x ^ y;
  };
  return (differ(0) | differ(size - 8)) == 0;
}

// Whether the parts of two signatures are the very same bytes in memory.
bool is_same_text(const RawSignature& a, const RawSignature& b) {
  return a.dims.data() == b.dims.data() && a.types.data() == b.types.data() &&
         a.strides.data() == b.strides.data() && a.concrete.data() == b.concrete.data();
}

bool has_time(Phase phase) { return phase != Phase::kMetadata && phase != Phase::kDamaged; }

}  // namespace

NumberArg to_number_arg(std::string_view name) {
  using json::is;
  switch (name.size()) {
    case 6:
      if (is(name, "stream")) return NumberArg::kStream;
      if (is(name, "device")) return NumberArg::kDevice;
      if (is(name, "end_ns")) return NumberArg::kEndNs;
      if (is(name, "CorrId")) return NumberArg::kCorrIdCamel;
      break;
    case 7:
      if (is(name, "corr_id")) return NumberArg::kCorrId;
      break;
    case 8:
      if (is(name, "begin_ns")) return NumberArg::kBeginNs;
      if (is(name, "delta_ns")) return NumberArg::kDeltaNs;
      break;
    case 9:
      if (is(name, "stream_ID")) return NumberArg::kStream;
      break;
    case 11:
      if (is(name, "correlation")) return NumberArg::kCorrelation;
      if (is(name, "External id")) return NumberArg::kExternalId;
      break;
    case 13:
      if (is(name, "Fwd thread id")) return NumberArg::kForwardThread;
      if (is(name, "correlationId")) return NumberArg::kCorrelationIdCamel;
      break;
    case 14:
      if (is(name, "correlation_id")) return NumberArg::kCorrelationId;
      break;
    case 15:
      if (is(name, "Sequence number")) return NumberArg::kSequence;
      break;
    default:
      break;
  }
  return NumberArg::kNone;
}

bool NumberArgs::has_times() const {
  const NumberArgs& numbers = *this;
  const std::int64_t begin_ns = numbers[NumberArg::kBeginNs], end_ns = numbers[NumberArg::kEndNs],
                     delta_ns = numbers[NumberArg::kDeltaNs];
  return begin_ns >= 0 && begin_ns <= kLatestNs && delta_ns >= 0 && delta_ns <= kLongestNs &&
         (end_ns == kAbsent || end_ns == begin_ns + delta_ns);
}

std::int64_t NumberArgs::correlation() const {
  for (const NumberArg arg :
       {NumberArg::kCorrelation, NumberArg::kCorrId, NumberArg::kCorrelationId,
        NumberArg::kCorrelationIdCamel, NumberArg::kCorrIdCamel})
    if ((*this)[arg] != kAbsent) return (*this)[arg];
  return kAbsent;
}

bool is_slice_arg(std::string_view name, bool is_real) {
  constexpr std::string_view kOfOps[] = {"Input Dims", "Input type", "Input Strides",
                                         "Concrete Inputs", "Call stack"};
  return to_number_arg(name) != NumberArg::kNone || is_detail_key(name) ||
         (is_real && is_counter_name(name)) || std::ranges::find(kOfOps, name) != std::end(kOfOps);
}

// What a "[memory]" event says, as it is written.
struct RawMemoryArgs {
  std::int64_t address = kAbsent, bytes = kAbsent, allocated = kAbsent, reserved = kAbsent;
  std::int64_t order = kAbsent, device_type = kAbsent, device = kAbsent;

  // The number of this name; nullptr for all other names.
  [[nodiscard]] std::int64_t* find(std::string_view name) {
    using json::is;
    switch (name.size()) {
      case 4:
        return is(name, "Addr") ? &address : nullptr;
      case 5:
        return is(name, "Bytes") ? &bytes : nullptr;
      case 6:
        return is(name, "Ev Idx") ? &order : nullptr;
      case 9:
        return is(name, "Device Id") ? &device : nullptr;
      case 11:
        return is(name, "Device Type") ? &device_type : nullptr;
      case 14:
        return is(name, "Total Reserved") ? &reserved : nullptr;
      case 15:
        return is(name, "Total Allocated") ? &allocated : nullptr;
      default:
        return nullptr;
    }
  }

  [[nodiscard]] bool is_usable() const {
    const auto is_total = [](std::int64_t total) { return total >= 0 && total <= kMostMemory; };
    return bytes >= -kMostMemory && bytes <= kMostMemory && is_total(allocated) &&
           (reserved == kAbsent || is_total(reserved));
  }
  [[nodiscard]] MemoryChange change() const {
    const auto fit = []<class T>(std::int64_t value, T other) {
      return std::in_range<T>(value) ? static_cast<T>(value) : other;
    };
    return {.address = address == kAbsent ? 0 : address,
            .bytes = bytes,
            .allocated = allocated,
            .reserved = reserved == kAbsent ? 0 : reserved,
            .order = fit(order, std::int32_t{0}),
            .device_type = fit(device_type, std::int16_t{0}),
            .device = fit(device, std::int16_t{-1})};
  }
};

// What has been read of the event at hand. Views point into the block's text.
struct EventParser::Fields {
  char phase = 0;
  Category category = Category::kNone;
  std::string_view category_text, name, label;
  std::uint32_t name_id = kNoId, call_stack = kNoId;
  std::int64_t ts_ns = kAbsent, dur_ns = kAbsent, flow_id = kAbsent;
  std::int64_t src_agent = kAbsent, dst_agent = kAbsent;
  NumberArgs numbers;
  RawTrack track;
  RawSignature signature;
  RawMemoryArgs memory;

  // The JSON that Perfetto makes of rocprofv3's traces has only whole microseconds in ts and dur, and
  // no dur at all on the slices ('b') of GPU queues, on empty ones ('n', 'I') and unended ones ('B').
  [[nodiscard]] bool has_exact_times() const {
    constexpr std::string_view kPhases = "XbnIB";
    return numbers.has_times() && kPhases.find(phase) != std::string_view::npos;
  }

  // A copy of rocprofv3 names no GPU of its own: it is the one the data goes to, or comes from.
  [[nodiscard]] std::int64_t any_device() const {
    const std::int64_t device = numbers[NumberArg::kDevice];
    if (device != kAbsent || category != Category::kGpuMemcpy) return device;
    if (name.ends_with("_TO_DEVICE")) return dst_agent;
    return name.ends_with("_DEVICE_TO_HOST") ? src_agent : kAbsent;
  }
};

// An event of the text at hand by where its values stand. One with the same keys in the same order,
// which most have, is read without looking for them, and only where it differs.
struct EventParser::Pattern {
  struct Value {
    const char *begin, *end;
    std::string_view key;
    bool in_args;
    [[nodiscard]] bool is_closed() const { return *begin == '"' || *begin == '{' || *begin == '['; }
  };
  static constexpr std::size_t kMostValues = 64;
  const char *begin = nullptr, *end = nullptr;
  std::vector<Value> values;
  Fields fields;

  void note(const Value& value) {
    if (values.size() <= kMostValues) values.push_back(value);
  }
  // Of two values of one key the later counts, whether or not it differs.
  [[nodiscard]] bool has_doubled_keys() const {
    for (auto value = values.begin(); value != values.end(); ++value)
      for (auto other = values.begin(); other != value; ++other)
        if (other->key == value->key && other->in_args == value->in_args) return true;
    return false;
  }
};

EventParser::EventParser() = default;
EventParser::EventParser(StringTable& json_texts) : json_texts_{&json_texts} {}
EventParser::~EventParser() = default;

void EventParser::index_only(bool op_arguments) {
  constexpr std::size_t kPatterns = 64;
  is_index_ = true;
  skips_op_args_ = !op_arguments;
  patterns_.resize(kPatterns);
}

void ParsedBlock::clear() {
  rows.clear();
  places.clear();
  for (auto* column : {&external_ids, &sequences, &forward_threads, &streams, &devices})
    column->clear();
  for (auto* column : {&call_stacks, &details, &category_texts}) column->clear();
  memory_changes.clear();
  labels.clear();
  problems.clear();
  controls = {};
}

EventParser::Outcome EventParser::parse(std::string_view text, std::uint64_t first_byte,
                                        ParsedBlock& block, bool in_hole) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto offset = [begin](const char* p) { return static_cast<std::size_t>(p - begin); };
  const auto damaged = [&](Problem problem, const char* at) {
    append_damaged(problem, first_byte + offset(at), block);
  };
  const auto note_place = [&](const char* from, const char* to) {
    block.places.push_back({first_byte + offset(from), static_cast<std::uint32_t>(to - from)});
  };
  const auto count_controls = [&](const char* from, const char* to, StrayControls::Which which) {
    block.controls.count(between(from, to), first_byte + offset(from), which);
  };
  const char* p = begin;
  skipped_args_ = {};
  for (Pattern& pattern : patterns_) pattern.values.clear();
  // From an element, or a gap, with a NUL byte at `nul` to the next event. False: not in this text.
  const auto leave_hole = [&](const char* from, const char* nul) {
    const auto [at, found] = find_event_after_hole(text, offset(nul));
    p = begin + at;
    count_controls(from, p, StrayControls::kNoWhiteSpace);
    return found;
  };
  if (in_hole && !leave_hole(begin, begin)) return {End::kInHole, offset(p)};
  for (;;) {
    const char* const from = p;
    do p = skip_space(p, end);
    while (*p == ',' && p++ < end);  // a doubled or trailing comma is harmless
    if (json::is_control(*p) && p < end) [[unlikely]] {
      do p = json::skip_space(p, end);
      while (*p == ',' && p++ < end);
      if (const char* const nul = find_nul(from, p); nul != nullptr) {
        if (!leave_hole(from, nul)) return {End::kInHole, offset(p)};
        continue;
      }
      // Looked at by itself, so that the count does not depend on where blocks end.
      count_controls(from, p, StrayControls::kNoWhiteSpace);
    }
    if (p >= end) return {End::kClean, text.size()};
    if (*p == ']') return {End::kListClosed, offset(p) + 1};
    const char* const start = p;
    if (*p == '{') {
      Fields fields;
      details_.clear();
      p = is_index_ ? parse_indexed(p, end, fields) : parse_object(p, end, fields);
      if (p != nullptr) [[likely]] {
        append(fields, first_byte + offset(start), block);
        if (is_index_) note_place(start, p);
        continue;
      }
      p = json::skip_container(start, end);
      if (const char* const nul = find_nul(start, p == nullptr ? end : p); nul != nullptr) {
        damaged(Problem::kBadEvent, start);
        if (!leave_hole(start, nul)) return {End::kInHole, offset(p)};
        continue;
      }
      if (p == nullptr) return {End::kIncomplete, offset(start)};
      const bool is_mended = parse_mended(between(start, p), first_byte + offset(start), block);
      if (!is_mended) damaged(Problem::kBadEvent, start);
      if (is_mended && is_index_) note_place(start, p);
      count_controls(start, p,
                     is_mended ? StrayControls::kInStringsToo : StrayControls::kNoWhiteSpace);
    } else {
      p = json::skip_value(start, end);
      const bool opens = *start == '"' || *start == '[';
      if (const char* const nul = opens ? find_nul(start, p == nullptr ? end : p) : nullptr;
          nul != nullptr) {
        damaged(Problem::kNotAnObject, start);
        if (!leave_hole(start, nul)) return {End::kInHole, offset(p)};
        continue;
      }
      if (p == nullptr && !opens) p = start + 1;  // a stray byte such as ':' or '}'
      // Text that ends here may still go on with the same number or word.
      if (p == nullptr || p == end) return {End::kIncomplete, offset(start)};
      damaged(Problem::kNotAnObject, start);
      count_controls(start, p, StrayControls::kNoWhiteSpace);
    }
  }
}

// Beside a number, a control character may have been its last digit.
bool EventParser::parse_mended(std::string_view element, std::uint64_t byte, ParsedBlock& block) {
  if (cuts_a_value(element)) return false;
  std::string mended = with_escaped_controls(element);
  const std::size_t size = mended.size();
  mended.append(json::kPadding, '\0');
  Fields fields;
  details_.clear();
  if (parse_object(mended.data(), mended.data() + size, fields) != mended.data() + size)
    return false;
  append(fields, byte, block);
  skipped_args_ = {};  // they stand in the mended text
  return true;
}

// Both object walks return nullptr for text that ends or is malformed; parse() tells them apart.
const char* EventParser::parse_object(const char* p, const char* end, Fields& fields) {
  p = skip_space(p + 1, end);
  while (*p == '"') {
    const char* const key_end = find_name_end(p + 1, end);
    if (key_end == nullptr) return nullptr;
    const std::string_view key = between(p + 1, key_end);
    p = skip_space(key_end + 1, end);
    if (*p != ':') return nullptr;
    const char* const value = skip_space(p + 1, end);
    const std::size_t noted = noted_ == nullptr ? 0 : noted_->values.size();
    p = parse_field(key, value, end, fields);
    if (p == nullptr) return nullptr;
    if (noted_ != nullptr && noted_->values.size() == noted)  // else it was the arguments
      noted_->note({value, p, key, false});
    p = skip_space(p, end);
    if (*p != ',') break;
    p = skip_space(p + 1, end);
  }
  return *p == '}' && p < end ? p + 1 : nullptr;
}

const char* EventParser::parse_indexed(const char* p, const char* end, Fields& fields) {
  constexpr std::ptrdiff_t kLooksAt = 32;
  if (end - p < kLooksAt) return parse_object(p, end, fields);
  const std::uint64_t hash = json::alike_hash(p) ^ json::alike_hash(p + 16) >> 7;
  Pattern& pattern = patterns_[hash % patterns_.size()];
  if (!pattern.values.empty())
    if (const char* const after = parse_like(pattern, p, end, fields)) return after;
  fields = {};
  pattern.begin = p;
  pattern.values.clear();
  noted_ = &pattern;
  pattern.end = parse_object(p, end, fields);
  noted_ = nullptr;
  pattern.fields = fields;
  if (pattern.end == nullptr || pattern.values.size() > Pattern::kMostValues ||
      pattern.has_doubled_keys())
    pattern.values.clear();
  return pattern.end;
}

const char* EventParser::parse_like(const Pattern& pattern, const char* p, const char* end,
                                    Fields& fields) {
  fields = pattern.fields;
  const auto pass = [&](const char* from, const char* to) {
    const auto size = static_cast<std::size_t>(to - from);
    if (static_cast<std::size_t>(end - p) < size || !is_same(p, from, size)) return false;
    p += size;
    return true;
  };
  const char* before = pattern.begin;
  for (const Pattern::Value& value : pattern.values) {
    if (!pass(before, value.begin)) return nullptr;
    before = value.end;
    if (value.is_closed() && pass(value.begin, value.end)) continue;
    if (!value.in_args && value.key == "cat") return nullptr;  // it says how the rest is read
    p = value.in_args ? parse_arg(value.key, p, end, fields)
                      : parse_field(value.key, p, end, fields);
    if (p == nullptr) return nullptr;
  }
  return pass(before, pattern.end) ? p : nullptr;
}

const char* EventParser::parse_field(std::string_view key, const char* p, const char* end,
                                     Fields& fields) {
  switch (key.size()) {
    case 2:
      if (json::is(key, "ts")) return parse_time(p, end, fields.ts_ns);
      if (json::is(key, "id")) return parse_integer(p, end, fields.flow_id);
      if (json::is(key, "ph")) {
        if (*p == '"' && json::is_letter(p[1]) && p[2] == '"') [[likely]] {
          fields.phase = p[1];
          return p + 3;
        }
        const char* const after = skip_value(p, end);
        if (after != nullptr && *p == '"' && after - p == 3) fields.phase = p[1];
        return after;
      }
      break;
    case 3:
      if (json::is(key, "dur")) return parse_time(p, end, fields.dur_ns);
      if (json::is(key, "pid")) return parse_track_part(p, end, fields.track.pid);
      if (json::is(key, "tid")) return parse_track_part(p, end, fields.track.tid);
      if (json::is(key, "cat")) {
        const char* const after = skip_value(p, end);
        if (after != nullptr && *p == '"') {
          fields.category_text = unquoted(p, after);
          fields.category = to_category(fields.category_text);
        }
        return after;
      }
      break;
    case 4:
      if (json::is(key, "name")) {
        const char* const after = skip_value(p, end);
        if (after != nullptr && !between(p, after).starts_with("null")) {
          fields.name = unquoted(p, after);
          fields.name_id = strings_.intern(fields.name).row;
        }
        return after;
      }
      if (json::is(key, "args") && *p == '{') {
        // Python frames, most of a trace recorded with stacks, have no argument that is kept.
        if (fields.category == Category::kPythonFunction) return skip_container(p, end);
        if (skips_op_args_ && fields.category == Category::kCpuOp) return skip_op_args(p, end);
        return parse_args(p, end, fields);
      }
      break;
    default:
      break;
  }
  return skip_value(p, end);
}

// Mostly like those of the op before, or of the one before that.
const char* EventParser::skip_op_args(const char* p, const char* end) {
  const auto room = static_cast<std::size_t>(end - p);
  for (const std::string_view args : skipped_args_)
    if (args.size() <= room && json::is_alike({p, args.size()}, args)) return p + args.size();
  const char* const after = skip_container(p, end);
  if (after != nullptr) {
    std::rotate(skipped_args_.begin(), skipped_args_.end() - 1, skipped_args_.end());
    skipped_args_.front() = between(p, after);
  }
  return after;
}

const char* EventParser::parse_args(const char* p, const char* end, Fields& fields) {
  p = skip_space(p + 1, end);
  while (*p == '"') {
    const char* const key_start = p;
    const char* const key_end = find_quote(p + 1, end);
    if (key_end == nullptr) return nullptr;
    const std::string_view key = between(p + 1, key_end);
    p = skip_space(key_end + 1, end);
    if (*p != ':') return nullptr;
    const char* const value = skip_space(p + 1, end);
    p = parse_arg(key, value, end, fields);
    if (p == nullptr) return nullptr;
    if (noted_ != nullptr) noted_->note({value, p, key, true});
    if (!is_index_ &&
        (is_detail_key(key) || is_counter(key, between(value, p)) ||
         (fields.category == Category::kOtherCategory && fields.category_text == kProfilerRange)))
      details_.push_back(between(key_start, p));
    p = skip_space(p, end);
    if (*p != ',') break;
    p = skip_space(p + 1, end);
  }
  return *p == '}' && p < end ? p + 1 : nullptr;
}

const char* EventParser::parse_arg(std::string_view key, const char* p, const char* end,
                                   Fields& fields) {
  const auto raw_value = [&](std::string_view& text) {
    const char* const after = skip_value(p, end);
    if (after != nullptr) text = between(p, after);
    return after;
  };
  // An op is mostly called with the arguments of the call before: comparing with them is much
  // cheaper than finding the end of the value and its hash.
  const auto signature_part = [&](std::string_view RawSignature::*part) {
    const std::string_view last = last_signature(fields.name_id).*part;
    if (!starts_with_list(p, end, last)) return raw_value(fields.signature.*part);
    fields.signature.*part = last;
    return p + last.size();
  };
  if (const NumberArg arg = to_number_arg(key); arg != NumberArg::kNone)
    return parse_integer(p, end, fields.numbers[arg]);
  // The category may stand behind the arguments.
  if (fields.category == Category::kCpuInstant || fields.category == Category::kNone)
    if (std::int64_t* const number = fields.memory.find(key)) return parse_integer(p, end, *number);
  switch (key.size()) {
    case 4:
      if (json::is(key, "name")) return raw_value(fields.label);
      break;
    case 5:
      if (json::is(key, "agent")) return parse_agent(p, end, fields.numbers[NumberArg::kDevice]);
      break;
    case 6:
      if (json::is(key, "labels")) return raw_value(fields.label);
      break;
    case 9:
      if (json::is(key, "src_agent")) return parse_agent(p, end, fields.src_agent);
      if (json::is(key, "dst_agent")) return parse_agent(p, end, fields.dst_agent);
      break;
    case 10:
      if (json::is(key, "Input Dims")) return signature_part(&RawSignature::dims);
      if (json::is(key, "Input type")) return signature_part(&RawSignature::types);
      if (json::is(key, "Call stack")) return parse_call_stack(p, end, fields);
      if (json::is(key, "sort_index")) return raw_value(fields.label);
      break;
    case 13:
      if (json::is(key, "Input Strides")) return signature_part(&RawSignature::strides);
      break;
    case 15:
      if (json::is(key, "Concrete Inputs")) return signature_part(&RawSignature::concrete);
      break;
    default:
      break;
  }
  return skip_value(p, end);
}

const char* EventParser::parse_call_stack(const char* p, const char* end, Fields& fields) {
  if (*p != '"') return skip_value(p, end);
  // Ops in a row mostly come from one place: compare with the last stack, its closing quote
  // included.
  if (last_stack_ < strings_.size()) {
    const std::string_view last = strings_.text({last_stack_});
    const char* const quote = p + 1 + last.size();
    if (quote < end && *quote == '"' && between(p + 1, quote) == last) {
      fields.call_stack = last_stack_;
      return quote + 1;
    }
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr) fields.call_stack = last_stack_ = strings_.intern(unquoted(p, after)).row;
  return after;
}

const char* EventParser::parse_track_part(const char* p, const char* end, RawTrackPart& part) {
  using Kind = RawTrackPart::Kind;
  if (*p != '"') {
    std::int64_t value = kAbsent;
    const char* const after = parse_integer(p, end, value);
    if (after == nullptr) return nullptr;
    if (value != kAbsent)
      part = {Kind::kInt, value};
    else if (between(p, after) == "null")
      part = {};
    else
      part = {Kind::kOther, strings_.intern(between(p, after)).row};
    return after;
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr) part = {Kind::kText, strings_.intern(unquoted(p, after)).row};
  return after;
}

void EventParser::append(const Fields& fields, std::uint64_t byte, ParsedBlock& block) {
  const auto row = static_cast<std::uint32_t>(block.rows.size());
  const auto problem = [&](Problem kind) { block.problems.push_back({kind, byte}); };
  RawRow& raw = block.rows.emplace_back(
      RawRow{.ts_ns = fields.ts_ns,
             .dur_ns = fields.dur_ns,
             .correlation = fields.numbers.correlation(),
             .name = fields.name_id != kNoId ? fields.name_id : strings_.intern({}).row,
             .track = intern(fields.track),
             .signature = kNoId,
             .category = fields.category,
             .phase = fields.phase == 0 ? Phase::kDamaged : to_phase(fields.phase),
             .begin_end = 0});
  if (fields.phase == 'B' || fields.phase == 'E') raw.begin_end = fields.phase;
  // The end of an asynchronous slice is no work of its own, and must not be counted as a kernel.
  if (fields.phase == 'e') raw.category = Category::kOtherCategory;
  if (fields.has_exact_times()) {
    raw.ts_ns = fields.numbers[NumberArg::kBeginNs];
    raw.dur_ns = fields.numbers[NumberArg::kDeltaNs];
    raw.phase = Phase::kComplete;
    raw.begin_end = 0;
  }
  if (raw.phase == Phase::kFlowStart || raw.phase == Phase::kFlowEnd)
    raw.correlation = fields.flow_id;

  if (fields.category == Category::kCpuOp || !fields.signature.dims.empty() ||
      !fields.signature.types.empty() || !fields.signature.concrete.empty()) {
    RawSignature signature = fields.signature;
    signature.name = raw.name;
    raw.signature = intern_signature(signature);
  }
  if (raw.phase == Phase::kMetadata) {
    if (is_label_name(fields.name) && !fields.label.empty())
      block.labels.push_back({raw.track, raw.name, std::string{fields.label}});
    else
      problem(Problem::kBadLabel);
  } else if (fields.phase == 0) {
    problem(Problem::kNoPhase);
  }
  if (raw.ts_ns > kLatestNs || raw.ts_ns < -kLatestNs) raw.ts_ns = kAbsent;
  if (raw.dur_ns > kLongestNs) raw.dur_ns = kAbsent;
  if (has_time(raw.phase) && raw.ts_ns == kAbsent) {
    problem(Problem::kNoTime);
    raw.phase = Phase::kDamaged;
  } else if (raw.phase == Phase::kComplete && raw.dur_ns == kAbsent) {
    problem(Problem::kNoDuration);
    raw.phase = Phase::kDamaged;
  } else if (raw.dur_ns != kAbsent && raw.dur_ns < 0) {
    problem(Problem::kNegativeDuration);
    raw.dur_ns = 0;
  }
  if (raw.category == Category::kPythonFunction) return;  // see parse_field: nothing else is kept

  const auto keep = [row](std::vector<RawInt>& column, std::int64_t value) {
    if (value != kAbsent) column.push_back({row, value});
  };
  if (fields.category_text != category_name(raw.category))
    block.category_texts.push_back({row, strings_.intern(fields.category_text).row});
  if (!is_index_ || raw.category == Category::kUserAnnotation ||
      raw.category == Category::kGpuUserAnnotation)
    keep(block.external_ids, fields.numbers[NumberArg::kExternalId]);
  if (is_index_) return;
  keep(block.sequences, fields.numbers[NumberArg::kSequence]);
  keep(block.forward_threads, fields.numbers[NumberArg::kForwardThread]);
  keep(block.streams, fields.numbers[NumberArg::kStream]);
  keep(block.devices, fields.any_device());
  if (raw.category == Category::kCpuInstant && raw.phase == Phase::kInstant &&
      fields.memory.is_usable())
    block.memory_changes.push_back({row, fields.memory.change()});
  if (fields.call_stack != kNoId) block.call_stacks.push_back({row, fields.call_stack});
  if (!details_.empty()) block.details.push_back({row, intern_details()});
}

void EventParser::append(const GivenEvent& event, std::uint64_t byte, ParsedBlock& block) {
  Fields fields;
  fields.phase = event.phase;
  fields.track = event.track;
  fields.ts_ns = event.ts_ns;
  fields.flow_id = event.flow_id;
  fields.name_id = event.name;
  fields.name = strings_.text({event.name});
  fields.category_text = event.category;
  if (!event.category.empty()) fields.category = to_category(event.category);
  details_.clear();
  if (!event.args.empty())
    parse_args(event.args.data(), event.args.data() + event.args.size(), fields);
  for (const auto& [arg, value] : event.numbers) fields.numbers[arg] = value;
  append(fields, byte, block);
}

void EventParser::append_damaged(Problem problem, std::uint64_t byte, ParsedBlock& block) {
  block.problems.push_back({problem, byte});
  if (is_index_) block.places.push_back({byte, 0});
  block.rows.push_back({.ts_ns = kAbsent,
                        .dur_ns = kAbsent,
                        .correlation = kAbsent,
                        .name = strings_.intern({}).row,
                        .track = intern(RawTrack{}),
                        .signature = kNoId,
                        .category = Category::kNone,
                        .phase = Phase::kDamaged,
                        .begin_end = 0});
}

std::uint32_t EventParser::intern(const RawTrack& track) {
  if (last_track_ < tracks_.size() && tracks_[last_track_] == track) [[likely]]
    return last_track_;
  const std::uint64_t words[] = {
      static_cast<std::uint64_t>(track.pid.kind), static_cast<std::uint64_t>(track.pid.value),
      static_cast<std::uint64_t>(track.tid.kind), static_cast<std::uint64_t>(track.tid.value)};
  last_track_ = track_index_.find_or_add(
      hash_text({reinterpret_cast<const char*>(words), sizeof words}),
      [&](std::uint32_t id) { return tracks_[id] == track; },
      [&] {
        tracks_.push_back(track);
        return static_cast<std::uint32_t>(tracks_.size() - 1);
      });
  return last_track_;
}

const RawSignature& EventParser::last_signature(std::uint32_t name) const {
  static const RawSignature kNothing;
  if (name >= last_signatures_.size() || last_signatures_[name] == kNoId) return kNothing;
  return signatures_.all()[last_signatures_[name]];
}

std::uint32_t EventParser::intern_signature(const RawSignature& signature) {
  if (last_signatures_.size() <= signature.name) last_signatures_.resize(strings_.size(), kNoId);
  std::uint32_t& last = last_signatures_[signature.name];
  if (last != kNoId && is_same_text(signatures_.all()[last], signature)) return last;
  return last = signatures_.intern(signature);
}

std::uint32_t EventParser::intern_details() {
  scratch_.clear();
  for (const std::string_view member : details_) {
    scratch_ += scratch_.empty() ? '{' : ',';
    scratch_ += member;
  }
  scratch_ += '}';
  return json_texts_->intern(scratch_).row;
}

}  // namespace tracelens::kineto
