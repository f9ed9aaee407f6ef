#include "readers/kineto/layouts.hpp"

#include <cstring>
#include <utility>

#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/values.hpp"
#include "readers/kineto/words.hpp"

namespace tracelens::kineto {
namespace {

using json::is;
using Step = Layouts::Step;

// As EventParser::parse_field.
void set_field_reading(Step& step) {
  const std::string_view key = step.key;
  const auto read = [&](Reading reading, std::int64_t EventFields::*number = nullptr) {
    step.reading = reading;
    step.number = number;
  };
  if (is(key, "ts")) return read(Reading::kTime, &EventFields::ts_ns);
  if (is(key, "dur")) return read(Reading::kTime, &EventFields::dur_ns);
  if (is(key, "id")) return read(Reading::kInteger, &EventFields::flow_id);
  if (is(key, "pid")) return read(Reading::kPid);
  if (is(key, "tid")) return read(Reading::kTid);
  if (is(key, "name")) return read(Reading::kName);
  if (is(key, "ph") || is(key, "args")) return read(Reading::kField);
  read(Reading::kSkip);
}

// As EventParser::parse_arg.
void set_arg_reading(Step& step, Category category) {
  const std::string_view key = step.key;
  const auto read_part = [&](std::string_view RawSignature::*part) {
    step.reading = Reading::kSignature;
    step.part = part;
  };
  if (const NumberArg arg = to_number_arg(key); arg != NumberArg::kNone) {
    step.reading = Reading::kNumber;
    step.arg = arg;
    return;
  }
  if (category == Category::kCpuInstant || category == Category::kNone)
    if (std::int64_t RawMemoryArgs::*const number = RawMemoryArgs::find(key)) {
      step.reading = Reading::kMemory;
      step.memory = number;
      return;
    }
  if (is(key, "Input Dims")) return read_part(&RawSignature::dims);
  if (is(key, "Input type")) return read_part(&RawSignature::types);
  if (is(key, "Input Strides")) return read_part(&RawSignature::strides);
  if (is(key, "Concrete Inputs")) return read_part(&RawSignature::concrete);
  step.reading = is(key, "Call stack") ? Reading::kCallStack
                 : is_read_arg(key)    ? Reading::kArg
                                       : Reading::kSkip;
}

}  // namespace

void Layouts::note(const Value& value) {
  if (values_.size() < kMostValues)
    values_.push_back(value);
  else
    is_strange_ = true;
}

void Layouts::learn(const char* begin, const char* end, bool keeps_details) {
  constexpr std::size_t kLongestCategory = 64;
  if (is_strange_) return;
  Step* parent = &root_;
  Step step;
  Category category = Category::kNone;  // so far
  bool is_range = false;
  const char* from = begin;
  const auto add = [&](const char* to) {
    step.text = between(from, to);
    parent = find_or_add(*parent, step);
    step = Step{};
    return parent != nullptr;
  };
  for (const Value& value : values_) {
    const std::string_view text = between(value.begin, value.end);
    if (!value.in_args && is(value.key, "ph") && text.size() == 3 && text[0] == '"') {
      step.phase = text[1];
      continue;
    }
    if (!value.in_args && is(value.key, "cat")) {
      // It says how the rest is read.
      if (text[0] != '"' || text.size() > kLongestCategory) return;
      step.category_text = unquoted(value.begin, value.end);
      step.category = category = to_category(step.category_text);
      step.has_category = true;
      is_range = step.category_text == kProfilerRange;
      continue;
    }
    step.key = value.key;
    if (!value.is_kept) {
      step.reading = Reading::kSkip;
    } else if (value.in_args) {
      set_arg_reading(step, category);
      step.is_detail = keeps_details && (is_detail_key(value.key) || is_range);
      step.may_be_counter = keeps_details && !step.is_detail && is_counter_name(value.key);
    } else {
      set_field_reading(step);
    }
    if (!add(value.begin)) return;
    from = value.end;
  }
  add(end);
}

Layouts::Step* Layouts::find_or_add(Step& parent, const Step& step) {
  std::size_t choices = 0;
  if (Step* known = parent.next) {
    do {
      if (known->text == step.text && known->reading == step.reading) return parent.next = known;
      known = known->other;
      ++choices;
    } while (known != parent.next);
  }
  if (choices >= kMostChoices || steps_.size() >= kMostSteps ||
      text_size_ + step.text.size() > kMostText) {
    if (++refused_ > kPatience) forget();
    return nullptr;
  }
  if (text_ == nullptr) {
    text_ = std::make_unique_for_overwrite<char[]>(kMostText);
    steps_.reserve(kMostSteps);
  }
  char* const copy = text_.get() + text_size_;
  std::memcpy(copy, step.text.data(), step.text.size());
  text_size_ += step.text.size();
  const auto in_copy = [&](std::string_view part) {
    if (part.data() == nullptr) return part;
    return std::string_view{copy + (part.data() - step.text.data()), part.size()};
  };
  Step& added = steps_.emplace_back(step);
  added.text = in_copy(step.text);
  added.key = in_copy(step.key);
  added.category_text = in_copy(step.category_text);
  added.other = parent.next == nullptr ? &added : std::exchange(parent.next->other, &added);
  return parent.next = &added;
}

void Layouts::forget() {
  root_.next = nullptr;
  steps_.clear();
  text_size_ = refused_ = 0;
}

}  // namespace tracelens::kineto
