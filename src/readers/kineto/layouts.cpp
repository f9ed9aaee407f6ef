#include "readers/kineto/layouts.hpp"

#include <array>
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

// Whether the value is a number that will probably be the same again, or one of a few; `step` then
// says it.
bool Layouts::say(Step& step, const Value& value, Category category) {
  constexpr std::size_t kLongestSame = 4, kLongestTrack = 10;
  const std::string_view text = between(value.begin, value.end);
  const bool is_track = !value.in_args && (is(value.key, "pid") || is(value.key, "tid"));
  if (text.size() > (is_track ? kLongestTrack : kLongestSame) ||
      step.said_count == step.said.size())
    return false;
  for (const char c : text)
    if (c < '0' || c > '9') return false;
  const auto add = [&](Said::What what, NumberArg arg = NumberArg::kNone) {
    step.said[step.said_count++] = {what, arg, to_integer(text)};
    return true;
  };
  if (is_track) return add(is(value.key, "pid") ? Said::What::kPid : Said::What::kTid);
  if (!value.in_args) return false;
  if (!value.is_kept) return true;
  if (is_detail_key(value.key)) return false;
  const NumberArg arg = to_number_arg(value.key);
  if (arg == NumberArg::kStream || arg == NumberArg::kDevice) return add(Said::What::kNumber, arg);
  Step read;
  read.key = value.key;
  set_arg_reading(read, category);
  return read.reading == Reading::kSkip;
}

// Goes from value to value, by steps that are known and by new ones.
class Layouts::Learning {
 public:
  Learning(const std::vector<Value>& values, const char* begin, const char* end, bool keeps_details)
      : next_{values.data()},
        last_{values.data() + values.size()},
        from_{begin},
        end_{end},
        keeps_details_{keeps_details} {}

  [[nodiscard]] std::string_view rest() const { return between(from_, end_); }

  // The step from here to the next value that is read; `says_numbers`: numbers before it may be part
  // of the text. One without a text when the event cannot be told by its values.
  [[nodiscard]] Step step(bool says_numbers) const {
    Learning ahead = *this;
    Step step;
    for (; ahead.next_ != last_; ++ahead.next_) {
      const Value& value = *ahead.next_;
      const std::string_view text = between(value.begin, value.end);
      if (!value.in_args && is(value.key, "ph")) {
        if (text.size() != 3 || text[0] != '"') return {};
        step.phase = text[1];
      } else if (!value.in_args && is(value.key, "cat")) {
        if (text[0] != '"' || text.size() > kLongestCategory) return {};
        step.category_text = unquoted(value.begin, value.end);
        step.category = to_category(step.category_text);
        step.has_category = true;
        ahead.set_category(step.category_text);
      } else if (!value.in_args && is(value.key, "args")) {  // they were not noted one by one
        if (text[0] != '{') return {};
        continue;
      } else if (!says_numbers || ahead.is_range_ || !say(step, value, ahead.category_)) {
        ahead.set_reading(step, value);
        break;
      }
      step.says = true;
    }
    step.text = between(from_, ahead.next_ == last_ ? end_ : ahead.next_->begin);
    return step;
  }

  // To behind the value that `step` reads. False: there is none, or it does not begin there.
  bool follow(const Step& step) {
    const char* const at = from_ + step.text.size();
    if (step.has_category) set_category(step.category_text);
    while (next_ != last_ && next_->begin < at) ++next_;
    if (next_ == last_ || next_->begin != at) return false;
    from_ = next_++->end;
    return true;
  }

 private:
  static constexpr std::size_t kLongestCategory = 64;

  void set_category(std::string_view text) {  // which says how the rest is read
    category_ = to_category(text);
    is_range_ = text == kProfilerRange;
  }
  void set_reading(Step& step, const Value& value) const {
    step.key = value.key;
    if (!value.is_kept) {
      step.reading = Reading::kSkip;
    } else if (value.in_args) {
      set_arg_reading(step, category_);
      step.is_detail = keeps_details_ && (is_detail_key(value.key) || is_range_);
      step.may_be_counter = keeps_details_ && !step.is_detail && is_counter_name(value.key);
    } else {
      set_field_reading(step);
    }
  }

  const Value *next_, *last_;
  const char *from_, *end_;
  bool keeps_details_;
  Category category_ = Category::kNone;  // so far
  bool is_range_ = false;
};

void Layouts::learn(const char* begin, const char* end, bool keeps_details) {
  if (is_strange_) return;
  Learning learning{values_, begin, end, keeps_details};
  Step* parent = &root_;
  for (;;) {
    Step* next = find(*parent, learning.rest());
    if (next == nullptr) {
      const Step step = learning.step(says_numbers_ && choices(*parent) < kFewChoices);
      next = step.text.empty() ? nullptr : add(*parent, step);
    }
    if (next == nullptr || !learning.follow(*next)) return;
    parent = next;
  }
}

std::size_t Layouts::choices(const Step& parent) {
  if (parent.next == nullptr) return 0;
  std::size_t count = 1;
  for (const Step* step = parent.next->other; step != parent.next; step = step->other) ++count;
  return count;
}

Layouts::Step* Layouts::find(const Step& parent, std::string_view text) {
  Step* step = parent.next;
  for (std::size_t left = choices(parent); left > 0; --left, step = step->other)
    if (text.starts_with(step->text)) return step;
  return nullptr;
}

// One text must not begin with another, or a walk could go either way.
void Layouts::remove_longer(Step& parent, std::string_view text) {
  std::array<Step*, kMostChoices> kept;
  std::size_t count = 0;
  Step* step = parent.next;
  for (std::size_t left = choices(parent); left > 0; --left, step = step->other)
    if (!step->text.starts_with(text)) kept[count++] = step;
  for (std::size_t i = 0; i < count; ++i) kept[i]->other = kept[(i + 1) % count];
  parent.next = count == 0 ? nullptr : kept.front();
  if (&parent != &root_) return;
  for (Step& end : steps_)  // which may be followed by what was removed
    if (end.reading == Reading::kEnd) end.next = nullptr;
}

Layouts::Step* Layouts::add(Step& parent, const Step& step) {
  remove_longer(parent, step.text);
  const bool is_full = steps_.size() >= kMostSteps || text_size_ + step.text.size() > kMostText;
  if (is_full || choices(parent) >= kMostChoices) {
    ++refused_;
    if ((is_full && says_numbers_) || refused_ > kPatience) forget();
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
  if (const std::string_view own = category_name(step.category); step.category_text == own)
    added.category_text = own;
  added.other = parent.next == nullptr ? &added : std::exchange(parent.next->other, &added);
  return parent.next = &added;
}

void Layouts::forget() {
  root_.next = nullptr;
  last_end_ = &root_;
  steps_.clear();
  text_size_ = refused_ = 0;
  says_numbers_ = false;  // they may be what there is no room for
}

}  // namespace tracelens::kineto
