#include "readers/perfetto/args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "io/numbers.hpp"
#include "perfetto.pb.h"
#include "readers/chrome/json_scan.hpp"
#include "trace/json_value.hpp"

namespace tracelens::perfetto {
namespace {

void append_quoted(std::string& out, std::string_view escaped) {
  out += '"';
  out += escaped;
  out += '"';
}

void append_real(std::string& out, double value) {
  if (std::isfinite(value))
    out += io::shortest_double(value);
  else
    append_quoted(out, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
  const fmt::format_int digits{value};
  out.append(digits.data(), digits.size());
}

// The older form of nested values. Recursive: protobuf refuses messages more than 100 levels deep.
void append_nested(std::string& out, const proto::DebugAnnotation::NestedValue& value,
                   Texts& texts) {
  using Nested = proto::DebugAnnotation::NestedValue;
  if (value.nested_type() == Nested::DICT) {
    const int count = std::min(value.dict_keys_size(), value.dict_values_size());
    for (int i = 0; i < count; ++i) {
      out += i == 0 ? '{' : ',';
      append_quoted(out, texts.text(texts.intern_key(value.dict_keys(i))));
      out += ':';
      append_nested(out, value.dict_values(i), texts);
    }
    out += count == 0 ? "{}" : "}";
  } else if (value.nested_type() == Nested::ARRAY) {
    out += '[';
    for (int i = 0; i < value.array_values_size(); ++i) {
      if (i > 0) out += ',';
      append_nested(out, value.array_values(i), texts);
    }
    out += ']';
  } else if (value.has_int_value()) {
    append_integer(out, value.int_value());
  } else if (value.has_double_value()) {
    append_real(out, value.double_value());
  } else if (value.has_bool_value()) {
    out += value.bool_value() ? "true" : "false";
  } else if (value.has_string_value()) {
    append_text(out, value.string_value());
  } else {
    out += "null";
  }
}

}  // namespace

std::string_view ArgsWriter::write(const Annotations& annotations, const Sequence& sequence,
                                   std::string_view track) {
  numbers_.clear();
  if (annotations.empty() && track.empty()) return {};
  out_.clear();
  members_.clear();
  open_.clear();
  open(annotations, false, sequence);
  const auto separate = [this] {
    if (out_.back() != '{' && out_.back() != '[') out_ += ',';
  };
  while (!open_.empty()) {
    Open& top = open_.back();
    if (top.next == members_.size()) {
      if (open_.size() == 1 && !track.empty()) {
        separate();
        out_ += "\"perfetto_track\":";
        append_quoted(out_, track);
      }
      close();
      continue;
    }
    const Member member = members_[top.next++];
    if (open_.size() == 1 && take_number(member)) continue;
    separate();
    if (!top.is_list) {
      append_quoted(out_, member.key);
      out_ += ':';
    }
    if (member.value->dict_entries_size() > 0)
      open(member.value->dict_entries(), false, sequence);
    else if (member.value->array_values_size() > 0)
      open(member.value->array_values(), true, sequence);
    else
      write_value(*member.value, sequence);
  }
  const std::size_t size = out_.size();
  out_.append(json::kPadding, '\0');
  return std::string_view{out_}.substr(0, size);
}

void ArgsWriter::open(const Annotations& annotations, bool is_list, const Sequence& sequence) {
  const std::size_t first = members_.size();
  for (const proto::DebugAnnotation& annotation : annotations) {
    std::uint32_t key = kNone;
    if (!is_list && annotation.has_name_iid())
      key = sequence.annotation_names.find(annotation.name_iid());
    else if (!is_list)
      key = texts_.intern_key(annotation.name());
    if ((!is_list && key == kNone) || !is_known(annotation, sequence)) {
      ++dropped_;
      continue;
    }
    members_.push_back({.id = key,
                        .key = is_list ? std::string_view{} : texts_.text(key),
                        .value = &annotation,
                        .order = members_.size()});
  }
  if (!is_list) sort_members(first);
  out_ += is_list ? '[' : '{';
  open_.push_back({.first = first, .next = first, .is_list = is_list});
}

void ArgsWriter::sort_members(std::size_t first) {
  const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(first);
  const bool is_known_shape =
      std::equal(begin, members_.end(), shape_.names.begin(), shape_.names.end(),
                 [](const Member& member, std::uint32_t name) { return member.id == name; });
  if (!is_known_shape) {
    shape_ = {};
    for (auto member = begin; member != members_.end(); ++member)
      shape_.names.push_back(member->id);
    std::vector<Member> members{begin, members_.end()};
    std::ranges::sort(members, [](const Member& a, const Member& b) {
      return a.key != b.key ? a.key < b.key : a.order > b.order;  // the last of equal names first
    });
    const auto same_key = [](const Member& a, const Member& b) { return a.key == b.key; };
    members.erase(std::unique(members.begin(), members.end(), same_key), members.end());
    for (const Member& member : members) {
      shape_.sorted.push_back(member.order - first);
      shape_.numbers.push_back(kineto::to_number_arg(member.key));
    }
    // Of two names of one column the last in order counts, whatever their values are like: that is
    // left to the reader of the JSON.
    std::vector<kineto::NumberArg> used = shape_.numbers;
    std::erase(used, kineto::NumberArg::kNone);
    std::ranges::sort(used);
    if (std::ranges::adjacent_find(used) != used.end())
      std::ranges::fill(shape_.numbers, kineto::NumberArg::kNone);
  }
  sorted_.clear();
  for (std::size_t i = 0; i < shape_.sorted.size(); ++i) {
    sorted_.push_back(members_[first + shape_.sorted[i]]);
    sorted_.back().number = shape_.numbers[i];
  }
  members_.resize(first);
  members_.insert(members_.end(), sorted_.begin(), sorted_.end());
}

bool ArgsWriter::take_number(const Member& member) {
  using Annotation = proto::DebugAnnotation;
  if (member.number == kineto::NumberArg::kNone) return false;
  if (member.value->dict_entries_size() > 0 || member.value->array_values_size() > 0) return false;
  if (member.value->value_case() == Annotation::kUintValue)
    numbers_.push_back({member.number, static_cast<std::int64_t>(member.value->uint_value())});
  else if (member.value->value_case() == Annotation::kIntValue)
    numbers_.push_back({member.number, member.value->int_value()});
  else
    return false;
  return true;
}

void ArgsWriter::close() {
  out_ += open_.back().is_list ? ']' : '}';
  members_.resize(open_.back().first);
  open_.pop_back();
}

bool ArgsWriter::is_known(const proto::DebugAnnotation& annotation,
                          const Sequence& sequence) const {
  return !annotation.has_string_value_iid() ||
         sequence.string_values.find(annotation.string_value_iid()) != kNone;
}

void ArgsWriter::write_value(const proto::DebugAnnotation& annotation, const Sequence& sequence) {
  using Annotation = proto::DebugAnnotation;
  switch (annotation.value_case()) {
    case Annotation::kBoolValue:
      out_ += annotation.bool_value() ? "true" : "false";
      break;
    case Annotation::kUintValue:
      append_integer(out_, annotation.uint_value());
      break;
    case Annotation::kIntValue:
      append_integer(out_, annotation.int_value());
      break;
    case Annotation::kDoubleValue:
      append_real(out_, annotation.double_value());
      break;
    case Annotation::kStringValue:
      append_text(out_, annotation.string_value());
      break;
    case Annotation::kStringValueIid:
      append_quoted(out_, texts_.text(sequence.string_values.find(annotation.string_value_iid())));
      break;
    case Annotation::kPointerValue:
      fmt::format_to(std::back_inserter(out_), "\"{:#x}\"", annotation.pointer_value());
      break;
    case Annotation::kNestedValue:
      append_nested(out_, annotation.nested_value(), texts_);
      break;
    case Annotation::kLegacyJsonValue:
      if (parse_json_value(annotation.legacy_json_value()))
        out_ += annotation.legacy_json_value();
      else
        append_text(out_, annotation.legacy_json_value());
      break;
    case Annotation::VALUE_NOT_SET:
      out_ += "null";
      break;
  }
}

}  // namespace tracelens::perfetto
