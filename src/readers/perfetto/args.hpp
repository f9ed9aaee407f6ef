// args.hpp: debug annotations as the JSON that Perfetto's own converter makes of them.
//   const std::string_view args = writer.write(event.debug_annotations(), sequence);
//   {"agent":"Agent-2","grid_size":1024,"list":[1,"two",{"x":3.5}]}
// Members are sorted by name and the last of equal names wins. Dots and square brackets in names
// become underscores, pointers become "0x..." texts, and numbers that JSON does not have texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/perfetto/event_packets.hpp"
#include "readers/perfetto/sequence.hpp"

namespace google::protobuf {
template <class T>
class RepeatedPtrField;
}

namespace tracelens::perfetto {

namespace proto {
class DebugAnnotation;
}

// How the members of an object are sorted. Events in a row mostly have the same names.
struct MemberOrder {
  std::vector<std::size_t> sorted;  // positions of the names, without those that lost to equal ones
  std::vector<kineto::NumberArg> numbers;  // of those: the columns they are, of integers

  [[nodiscard]] static MemberOrder of(std::span<const std::string_view> names);
};

// A value as it stands in JSON. `sequence` knows the texts that are interned.
void append_value(std::string& out, const EventArg& arg, const Sequence& sequence,
                  const Texts& texts);

class ArgsWriter {
 public:
  using Annotations = google::protobuf::RepeatedPtrField<proto::DebugAnnotation>;

  explicit ArgsWriter(Texts& texts) : texts_{texts} {}

  // `track` is the name of the track, written as one more member; empty: none. The result lives
  // until the next call and is padded as the JSON functions want it; empty when there is nothing.
  // Integers that are columns are not in the text, but in numbers().
  std::string_view write(const Annotations& annotations, const Sequence& sequence,
                         std::string_view track);

  [[nodiscard]] std::span<const kineto::GivenNumber> numbers() const { return numbers_; }

  // Annotations left out so far because their name, or their text, was never interned.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Member {
    std::uint32_t id = kNone;  // of the name, in Texts; kNone in a list
    std::string_view key;      // that text
    const proto::DebugAnnotation* value = nullptr;
    kineto::NumberArg number = kineto::NumberArg::kNone;  // the column it is, of an integer
  };
  // A list or object that is being written. Its members are the last ones of members_.
  struct Open {
    std::size_t first = 0, next = 0;
    bool is_list = false;
  };
  void open(const Annotations& annotations, bool is_list, const Sequence& sequence);
  void sort_members(std::size_t first);
  [[nodiscard]] bool take_number(const Member& member);
  void close();
  void write_value(const proto::DebugAnnotation& annotation, const Sequence& sequence);
  [[nodiscard]] bool is_known(const proto::DebugAnnotation& annotation,
                              const Sequence& sequence) const;

  Texts& texts_;
  std::string out_;
  std::vector<kineto::GivenNumber> numbers_;
  std::vector<Member> members_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> last_names_;  // of an object, as they came
  MemberOrder last_order_;                 // of those
  std::vector<Member> sorted_;             // scratch of sort_members
  std::uint64_t dropped_ = 0;
};

}  // namespace tracelens::perfetto
