// Events member by member.
#include <algorithm>
#include <iterator>

#include "readers/kineto/event.hpp"
#include "readers/kineto/fields.hpp"
#include "readers/kineto/layouts.hpp"
#include "readers/kineto/values.hpp"
#include "readers/kineto/words.hpp"

namespace tracelens::kineto {
namespace {

// `p` is at a '{'. `read(key, value)` returns the end of the value; `key` is without its quotes.
// nullptr for text that ends or is malformed; EventParser::parse() tells them apart.
template <class Read>
const char* walk_members(const char* p, const char* end, Read&& read) {
  p = skip_space(p + 1, end);
  while (*p == '"') {
    const char* const key_end = find_name_end(p + 1, end);
    if (key_end == nullptr) return nullptr;
    const std::string_view key = between(p + 1, key_end);
    p = skip_space(key_end + 1, end);
    if (*p != ':') return nullptr;
    p = read(key, skip_space(p + 1, end));
    if (p == nullptr) return nullptr;
    p = skip_space(p, end);
    if (*p != ',') break;
    p = skip_space(p + 1, end);
  }
  return *p == '}' && p < end ? p + 1 : nullptr;
}

}  // namespace

const char* EventParser::parse_unknown(const char* p, const char* end, EventFields& fields) {
  layouts_->start();
  notes_ = layouts_.get();
  const char* const after = parse_object(p, end, fields);
  notes_ = nullptr;
  if (after != nullptr) layouts_->learn(p, after, !is_index_);
  return after;
}

const char* EventParser::parse_object(const char* p, const char* end, EventFields& fields) {
  return walk_members(p, end, [&](std::string_view key, const char* value) {
    const std::size_t noted = notes_ == nullptr ? 0 : notes_->noted();
    const char* const after = parse_field(key, value, end, fields);
    // Arguments have been noted one by one.
    if (after != nullptr && notes_ != nullptr && notes_->noted() == noted)
      notes_->note({value, after, key, false, true});
    return after;
  });
}

const char* EventParser::parse_field(std::string_view key, const char* p, const char* end,
                                     EventFields& fields) {
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
      if (json::is(key, "name")) return parse_name(p, end, fields);
      if (json::is(key, "args") && *p == '{') {
        // Python frames, most of a trace recorded with stacks, have no argument that is kept.
        if (fields.category == Category::kPythonFunction ||
            (skips_op_args_ && fields.category == Category::kCpuOp))
          return skip_args(p, end);
        return parse_args(p, end, fields);
      }
      break;
    default:
      break;
  }
  return skip_value(p, end);
}

// A list of them that is not even JSON is passed over, too.
const char* EventParser::skip_args(const char* p, const char* end) {
  const char* const after = skip_container(p, end);
  if (after == nullptr || notes_ == nullptr) return after;
  const char* const walked = walk_members(p, end, [&](std::string_view key, const char* value) {
    const char* const value_end = skip_value(value, end);
    if (value_end != nullptr) notes_->note({value, value_end, key, true, false});
    return value_end;
  });
  if (walked != after) notes_->note_strange();
  return after;
}

const char* EventParser::parse_args(const char* p, const char* end, EventFields& fields) {
  return walk_members(p, end, [&](std::string_view key, const char* value) {
    const char* const after = parse_arg(key, value, end, fields);
    if (after == nullptr) return after;
    if (notes_ != nullptr) notes_->note({value, after, key, true, true});
    if (!is_index_ &&
        (is_detail_key(key) || is_counter(key, between(value, after)) ||
         (fields.category == Category::kOtherCategory && fields.category_text == kProfilerRange)))
      details_.push_back(between(key.data() - 1, after));
    return after;
  });
}

const char* EventParser::parse_arg(std::string_view key, const char* p, const char* end,
                                   EventFields& fields) {
  const auto raw_value = [&](std::string_view& text) {
    const char* const after = skip_value(p, end);
    if (after != nullptr) text = between(p, after);
    return after;
  };
  const auto signature_part = [&](std::string_view RawSignature::*part) {
    return parse_signature_part(part, p, end, fields);
  };
  if (const NumberArg arg = to_number_arg(key); arg != NumberArg::kNone)
    return parse_integer(p, end, fields.numbers[arg]);
  // The category may stand behind the arguments.
  if (fields.category == Category::kCpuInstant || fields.category == Category::kNone)
    if (std::int64_t RawMemoryArgs::*const number = RawMemoryArgs::find(key))
      return parse_integer(p, end, fields.memory.*number);
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

const char* EventParser::pass_text(const char* p, const char* end, std::uint32_t id) const {
  if (id == kNoId || *p != '"') return nullptr;
  const std::string_view text = strings_.text({id});
  if (!begins_with(p + 1, end, text)) return nullptr;
  const char* const quote = p + 1 + text.size();
  return *quote == '"' ? quote + 1 : nullptr;
}

const char* EventParser::parse_name(const char* p, const char* end, EventFields& fields) {
  if (const char* const after = pass_text(p, end, fields.expected.name)) {
    fields.name = between(p + 1, after - 1);
    fields.name_id = fields.expected.name;
    fields.has_text_name = true;
    return after;
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr && !between(p, after).starts_with("null")) {
    fields.name = unquoted(p, after);
    fields.name_id = strings_.intern(fields.name).row;
    fields.has_text_name = *p == '"';
  }
  return after;
}

// An op is mostly called with the arguments of the call before: comparing with them is much cheaper
// than finding the end of the value and its hash.
const char* EventParser::parse_signature_part(std::string_view RawSignature::*part, const char* p,
                                              const char* end, EventFields& fields) {
  const std::string_view last = expected_signature(fields).*part;
  if (last.starts_with('[') && begins_with(p, end, last)) {  // a whole list: it ends there
    fields.signature.*part = last;
    return p + last.size();
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr) fields.signature.*part = between(p, after);
  return after;
}

const char* EventParser::parse_call_stack(const char* p, const char* end, EventFields& fields) {
  if (*p != '"') return skip_value(p, end);
  // Ops in a row mostly come from one place.
  for (const std::uint32_t likely : {fields.expected.call_stack, last_stack_})
    if (const char* const after = pass_text(p, end, likely)) {
      fields.call_stack = last_stack_ = likely;
      return after;
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

}  // namespace tracelens::kineto
