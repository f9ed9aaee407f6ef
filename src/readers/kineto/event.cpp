#include "readers/kineto/event.hpp"

#include <cstring>
#include <utility>

#include "readers/chrome/holes.hpp"
#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/fields.hpp"
#include "readers/kineto/layouts.hpp"
#include "readers/kineto/values.hpp"
#include "readers/kineto/words.hpp"
#include "readers/kit/time_limits.hpp"

namespace tracelens::kineto {
namespace {

// Whether the parts of two signatures are the very same bytes in memory.
bool is_same_text(const RawSignature& a, const RawSignature& b) {
  return a.name == b.name && a.dims.data() == b.dims.data() && a.types.data() == b.types.data() &&
         a.strides.data() == b.strides.data() && a.concrete.data() == b.concrete.data();
}

// Whether `text` is the object with these members.
bool is_joined(std::string_view text, const std::vector<std::string_view>& members) {
  const char* p = text.data();
  const char* const end = p + text.size();
  char before = '{';
  for (const std::string_view member : members) {
    if (p == end || *p != before || !begins_with(p + 1, end, member)) return false;
    p += 1 + member.size();
    before = ',';
  }
  return p + 1 == end && *p == '}';
}

bool has_time(Phase phase) { return phase != Phase::kMetadata && phase != Phase::kDamaged; }

}  // namespace

EventParser::EventParser() : layouts_{std::make_unique<Layouts>()} {}
EventParser::EventParser(StringTable& json_texts) : EventParser{} { json_texts_ = &json_texts; }
EventParser::~EventParser() = default;

void EventParser::index_only(bool op_arguments) {
  is_index_ = true;
  skips_op_args_ = !op_arguments;
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
  const auto is_endless = [&](const char* from, const char* to) {
    return static_cast<std::size_t>(to - from) > limits_.is_long &&
           !was_waited_for(between(from, to), limits_);
  };
  const char* p = begin;
  // From an element, or a gap, with a NUL byte at `nul` to the next event. False: not in this text.
  const auto leave_hole = [&](const char* from, const char* nul) {
    const bool is_much = static_cast<std::size_t>(end - nul) > limits_.is_long;
    const auto [at, found] =
        is_much ? AfterHole{offset(nul), false} : find_event_after_hole(text, offset(nul));
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
      EventFields fields;
      details_.clear();
      p = parse_known(p, end, fields);
      if (p == nullptr) [[unlikely]] {
        fields = {};
        details_.clear();
        p = parse_unknown(start, end, fields);
      }
      if (p != nullptr) [[likely]] {
        if (is_endless(start, p)) [[unlikely]]
          return {End::kIncomplete, offset(start)};
        append(fields, first_byte + offset(start), block);
        if (is_index_) note_place(start, p);
        continue;
      }
      p = json::skip_container(start, end);
      if (const char* const nul = find_nul(start, p == nullptr ? end : p); nul != nullptr) {
        if (is_endless(start, nul)) return {End::kIncomplete, offset(start)};
        damaged(Problem::kBadEvent, start);
        if (!leave_hole(start, nul)) return {End::kInHole, offset(p)};
        continue;
      }
      if (p == nullptr || is_endless(start, p)) return {End::kIncomplete, offset(start)};
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
        if (is_endless(start, nul)) return {End::kIncomplete, offset(start)};
        damaged(Problem::kNotAnObject, start);
        if (!leave_hole(start, nul)) return {End::kInHole, offset(p)};
        continue;
      }
      if (p == nullptr && !opens) p = start + 1;  // a stray byte such as ':' or '}'
      // Text that ends here may still go on with the same number or word.
      if (p == nullptr || p == end || is_endless(start, p))
        return {End::kIncomplete, offset(start)};
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
  EventFields fields;
  details_.clear();
  if (parse_object(mended.data(), mended.data() + size, fields) != mended.data() + size)
    return false;
  append(fields, byte, block);
  return true;
}

void EventParser::append(const EventFields& fields, std::uint64_t byte, ParsedBlock& block) {
  const auto problem = [&](Problem kind) { block.problems.push_back({kind, byte}); };
  const bool is_expected_track =
      fields.expected.track < tracks_.size() && tracks_[fields.expected.track] == fields.track;
  RawRow& raw = block.rows.emplace_back(
      RawRow{.ts_ns = fields.ts_ns,
             .dur_ns = fields.dur_ns,
             .correlation = fields.numbers.correlation(),
             .name = fields.name_id != kNoId ? fields.name_id : strings_.intern({}).row,
             .track = is_expected_track ? fields.expected.track : intern(fields.track),
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
    raw.signature = intern_signature(signature, fields.expected.signature);
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
  // What is expected is compared as a text between quotes: ["a"] between quotes would be none.
  Recall::Seen seen{.name = fields.has_text_name ? raw.name : kNoId,
                    .signature = raw.signature,
                    .call_stack = fields.call_stack,
                    .track = raw.track};
  if (raw.category != Category::kPythonFunction)  // see parse_field: nothing else is kept
    seen.details = append_args(fields, raw, block);
  if (fields.trail != nullptr) layouts_->recall().remember(*fields.trail, seen);
}

std::uint32_t EventParser::append_args(const EventFields& fields, const RawRow& raw,
                                       ParsedBlock& block) {
  const auto row = static_cast<std::uint32_t>(block.rows.size() - 1);
  const auto keep = [row](std::vector<RawInt>& column, std::int64_t value) {
    if (value != kAbsent) column.push_back({row, value});
  };
  if (const std::string_view own = category_name(raw.category);
      fields.category_text.data() != own.data() && fields.category_text != own)
    block.category_texts.push_back({row, strings_.intern(fields.category_text).row});
  if (!is_index_ || raw.category == Category::kUserAnnotation ||
      raw.category == Category::kGpuUserAnnotation)
    keep(block.external_ids, fields.numbers[NumberArg::kExternalId]);
  if (is_index_) return kNoId;
  keep(block.sequences, fields.numbers[NumberArg::kSequence]);
  keep(block.forward_threads, fields.numbers[NumberArg::kForwardThread]);
  keep(block.streams, fields.numbers[NumberArg::kStream]);
  keep(block.devices, fields.any_device());
  if (raw.category == Category::kCpuInstant && raw.phase == Phase::kInstant &&
      fields.memory.is_usable())
    block.memory_changes.push_back({row, fields.memory.change()});
  if (fields.call_stack != kNoId) block.call_stacks.push_back({row, fields.call_stack});
  if (details_.empty()) return kNoId;
  const std::uint32_t details = intern_details(fields.expected.details);
  block.details.push_back({row, details});
  return details;
}

void EventParser::append(const GivenEvent& event, std::uint64_t byte, ParsedBlock& block) {
  EventFields fields;
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

const RawSignature& EventParser::expected_signature(const EventFields& fields) const {
  static const RawSignature kNothing;
  const std::uint32_t name = fields.name_id;
  if (fields.expected.signature != kNoId && fields.expected.name == name)
    return signatures_[fields.expected.signature];
  if (name >= last_signatures_.size() || last_signatures_[name] == kNoId) return kNothing;
  return signatures_[last_signatures_[name]];
}

std::uint32_t EventParser::intern_signature(const RawSignature& signature, std::uint32_t expected) {
  if (last_signatures_.size() <= signature.name) last_signatures_.resize(strings_.size(), kNoId);
  std::uint32_t& last = last_signatures_[signature.name];
  for (const std::uint32_t likely : {expected, last})
    if (likely != kNoId && is_same_text(signatures_[likely], signature)) return last = likely;
  return last = signatures_.intern(signature);
}

std::uint32_t EventParser::intern_details(std::uint32_t expected) {
  if (expected != kNoId && is_joined(json_texts_->text({expected}), details_)) return expected;
  scratch_.clear();
  for (const std::string_view member : details_) {
    scratch_ += scratch_.empty() ? '{' : ',';
    scratch_ += member;
  }
  scratch_ += '}';
  return json_texts_->intern(scratch_).row;
}

}  // namespace tracelens::kineto
