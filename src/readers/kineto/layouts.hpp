// layouts.hpp: how the events of a file are written, learned from the events themselves.
//   if (const char* after = walk(layouts.root(), ...)) ...     // EventParser::parse_known
//   layouts.note(...);  layouts.learn(begin, end);             // an event of a new kind
// Profilers write events of one kind with the same bytes between their values: braces, names of
// members, white space. Whoever knows these bytes compares them, 16 at a time, and need not look for
// names and white space one by one. What is learned is a tree. A step is the text in front of a value
// and what to do with the value; the steps that may follow it are those that have followed it before.
// A step means what reading member by member means, whichever value stands there: so any event that
// can be walked is read right, and one that cannot is read member by member.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "readers/kineto/fields.hpp"

namespace tracelens::kineto {

// What is done with a value.
enum class Reading : std::uint8_t {
  kTime,     // ts, dur and id: EventFields::*number
  kInteger,  //
  kPid,
  kTid,
  kName,
  kNumber,     // an argument that is a column
  kMemory,     // one of RawMemoryArgs
  kSignature,  // one of RawSignature
  kCallStack,
  kSkip,
  kField,  // whatever EventParser::parse_field does with it, or parse_arg
  kArg,
  kEnd,  // there is none: the event has ended
};

class Layouts {
 public:
  struct Step {
    std::string_view text;  // from the end of the value before, or the '{' of the event
    Step* next = nullptr;   // of the steps that may follow, the one that did last
    Step* other = nullptr;  // ring of the steps that may follow the same one
    std::string_view key, category_text;  // in `text`
    union {
      std::int64_t EventFields::*number;
      std::int64_t RawMemoryArgs::*memory;
      std::string_view RawSignature::*part;
      NumberArg arg;
    };
    Reading reading = Reading::kEnd;
    // What `text` itself says.
    bool has_category = false;
    Category category = Category::kNone;
    char phase = 0;  // 0: nothing
    bool is_detail = false, may_be_counter = false;
    // Where the member begins, seen from its value.
    [[nodiscard]] std::ptrdiff_t key_distance() const {
      return text.data() + text.size() - key.data() + 1;
    }
    Step() : number{nullptr} {}
  };

  // A value of the event at hand, in order. `is_kept`: it was read, and not only passed over.
  struct Value {
    const char *begin, *end;
    std::string_view key;
    bool in_args, is_kept;
  };
  void start() { values_.clear(), is_strange_ = false; }
  void note(const Value& value);
  void note_strange() { is_strange_ = true; }  // the event cannot be told by its values
  [[nodiscard]] std::size_t noted() const { return values_.size(); }
  // The event [begin, end) has been read, and its values noted since start(). `keeps_details`: as
  // EventParser does.
  void learn(const char* begin, const char* end, bool keeps_details);

  [[nodiscard]] Step& root() { return root_; }

 private:
  static constexpr std::size_t kMostSteps = 1024, kMostText = std::size_t{64} << 10;
  static constexpr std::size_t kMostValues = 64, kMostChoices = 32;
  // After this many events of unknown layout while there is no room, all is learned afresh.
  static constexpr std::size_t kPatience = 4096;

  Step* find_or_add(Step& parent, const Step& step);
  void forget();

  Step root_;
  std::vector<Step> steps_;  // never moved: room for all is made at once
  std::unique_ptr<char[]> text_;
  std::size_t text_size_ = 0;
  std::size_t refused_ = 0;
  std::vector<Value> values_;
  bool is_strange_ = false;
};

}  // namespace tracelens::kineto
