// layouts.hpp: how the events of a file are written, learned from the events themselves.
//   Layouts::Step* step = layouts.last_end().next;   // how the next event begins, probably
//   layouts.start();
//   layouts.note({value, after, "ts", false, true}); // of an event that is written in a new way
//   layouts.learn(begin, end, true);
// Profilers write events of one kind with the same bytes between their values: braces, names of
// members, white space. Whoever knows these bytes compares them, 16 at a time, and need not look for
// names and white space one by one. What is learned is a tree. A step is the text in front of a value
// and what to do with the value; the steps that may follow it are those that have followed it before.
// No two of them can match the same text.
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
#include "readers/kineto/recall.hpp"
#include "readers/kineto/values.hpp"

namespace tracelens::kineto {

// What is done with a value.
enum class Reading : std::uint8_t {
  kTime,     // ts and dur: EventFields::*number
  kInteger,  // id, the same
  kPid,
  kTid,
  kName,
  kNumber,     // an argument that is a column
  kMemory,     // one of RawMemoryArgs
  kSignature,  // one of RawSignature
  kCallStack,
  kSkip,
  kArg,  // whatever EventParser::parse_arg does with it
  kEnd,  // there is none: the event has ended
};

class Layouts {
 public:
  // What the text of a step itself says: a number that few others take the place of.
  struct Said {
    enum class What : std::uint8_t { kPid, kTid, kNumber } what = What::kPid;
    NumberArg arg = NumberArg::kNone;
    std::int64_t value = 0;
  };
  struct Step {
    std::string_view text;  // from the end of the value before, or the '{' of the event
    Step* next = nullptr;   // of the steps that may follow, the one that did last
    Step* other = nullptr;  // ring of the steps that may follow the same one
    Reading reading = Reading::kEnd;
    bool is_detail = false, may_be_counter = false;
    bool says = false;  // phase, category or `said` is something
    union {
      std::int64_t EventFields::*number;
      std::int64_t RawMemoryArgs::*memory;
      std::string_view RawSignature::*part;
      NumberArg arg;
    };
    Recall::Trail trail;                  // of a name: the events of this kind
    TimeHead head;                        // of a time
    std::string_view key, category_text;  // in `text`
    bool has_category = false;
    Category category = Category::kNone;
    char phase = 0;  // 0: nothing
    std::uint8_t said_count = 0;
    std::array<Said, 4> said;
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
  // The end of the last event that was walked; at first the root.
  [[nodiscard]] Step& last_end() { return *last_end_; }
  void set_last_end(Step& end) { last_end_ = &end; }
  [[nodiscard]] Recall& recall() { return recall_; }

 private:
  static constexpr std::size_t kMostSteps = 1024, kMostText = std::size_t{64} << 10;
  static constexpr std::size_t kMostValues = 64, kMostChoices = 32;
  // Numbers are part of the text while there are no more ways than this to go on.
  static constexpr std::size_t kFewChoices = 4;
  // After this many events that there was no room for, all is learned afresh.
  static constexpr std::size_t kPatience = 4096;

  static bool say(Step& step, const Value& value, Category category);
  class Learning;
  static Step* find(const Step& parent, std::string_view text);
  Step* add(Step& parent, const Step& step);
  void remove_longer(Step& parent, std::string_view text);
  [[nodiscard]] static std::size_t choices(const Step& parent);
  void forget();

  Step root_;
  Step* last_end_ = &root_;
  std::vector<Step> steps_;  // never moved: room for all is made at once
  std::unique_ptr<char[]> text_;
  std::size_t text_size_ = 0;
  std::size_t refused_ = 0;
  std::vector<Value> values_;
  Recall recall_;
  bool is_strange_ = false, says_numbers_ = true;
};

}  // namespace tracelens::kineto
