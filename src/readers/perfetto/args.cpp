#include "readers/perfetto/args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

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
    io::append_integer(out, value.int_value());
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

EventArg to_arg(const proto::DebugAnnotation& annotation) {
  using Annotation = proto::DebugAnnotation;
  using Kind = EventArg::Kind;
  switch (annotation.value_case()) {
    case Annotation::kBoolValue:
      return {.kind = Kind::kBool, .number = annotation.bool_value() ? 1U : 0U};
    case Annotation::kUintValue:
      return {.kind = Kind::kUint, .number = annotation.uint_value()};
    case Annotation::kIntValue:
      return {.kind = Kind::kInt, .number = static_cast<std::uint64_t>(annotation.int_value())};
    case Annotation::kDoubleValue:
      return {.kind = Kind::kReal,
              .number = std::bit_cast<std::uint64_t>(annotation.double_value())};
    case Annotation::kStringValueIid:
      return {.kind = Kind::kInternedText, .number = annotation.string_value_iid()};
    case Annotation::kPointerValue:
      return {.kind = Kind::kPointer, .number = annotation.pointer_value()};
    default:
      return {.kind = Kind::kText, .text = annotation.string_value()};
  }
}

}  // namespace

MemberOrder MemberOrder::of(std::span<const std::string_view> names) {
  MemberOrder order;
  order.sorted.resize(names.size());
  std::iota(order.sorted.begin(), order.sorted.end(), std::size_t{0});
  std::ranges::sort(order.sorted, [&](std::size_t a, std::size_t b) {
    return names[a] != names[b] ? names[a] < names[b] : a > b;  // the last of equal names first
  });
  const auto is_same = [&](std::size_t a, std::size_t b) { return names[a] == names[b]; };
  order.sorted.erase(std::unique(order.sorted.begin(), order.sorted.end(), is_same),
                     order.sorted.end());
  for (const std::size_t position : order.sorted)
    order.numbers.push_back(kineto::to_number_arg(names[position]));
  // Of two names of one column the last in order counts, whatever their values are like: that is
  // left to the reader of the JSON.
  std::vector<kineto::NumberArg> used = order.numbers;
  std::erase(used, kineto::NumberArg::kNone);
  std::ranges::sort(used);
  if (std::ranges::adjacent_find(used) != used.end())
    std::ranges::fill(order.numbers, kineto::NumberArg::kNone);
  return order;
}

void append_value(std::string& out, const EventArg& arg, const Sequence& sequence,
                  const Texts& texts) {
  using Kind = EventArg::Kind;
  switch (arg.kind) {
    case Kind::kBool:
      out += arg.number != 0 ? "true" : "false";
      break;
    case Kind::kUint:
      io::append_integer(out, arg.number);
      break;
    case Kind::kInt:
      io::append_integer(out, arg.as_signed());
      break;
    case Kind::kReal:
      append_real(out, arg.as_real());
      break;
    case Kind::kText:
      append_text(out, arg.text);
      break;
    case Kind::kPointer:
      fmt::format_to(std::back_inserter(out), "\"{:#x}\"", arg.number);
      break;
    case Kind::kInternedText:
      append_quoted(out, texts.text(sequence.string_values.find(arg.number)));
      break;
  }
}

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
    members_.push_back(
        {.id = key, .key = is_list ? std::string_view{} : texts_.text(key), .value = &annotation});
  }
  if (!is_list) sort_members(first);
  out_ += is_list ? '[' : '{';
  open_.push_back({.first = first, .next = first, .is_list = is_list});
}

void ArgsWriter::sort_members(std::size_t first) {
  const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(first);
  const bool is_known =
      std::equal(begin, members_.end(), last_names_.begin(), last_names_.end(),
                 [](const Member& member, std::uint32_t name) { return member.id == name; });
  if (!is_known) {
    last_names_.clear();
    std::vector<std::string_view> names;
    for (auto member = begin; member != members_.end(); ++member) {
      last_names_.push_back(member->id);
      names.push_back(member->key);
    }
    last_order_ = MemberOrder::of(names);
  }
  sorted_.clear();
  for (std::size_t i = 0; i < last_order_.sorted.size(); ++i) {
    sorted_.push_back(members_[first + last_order_.sorted[i]]);
    sorted_.back().number = last_order_.numbers[i];
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
    default:
      append_value(out_, to_arg(annotation), sequence, texts_);
      break;
  }
}

}  // namespace tracelens::perfetto
