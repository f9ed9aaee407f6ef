// row_memo.hpp: the rows of begins. What an event keeps of its arguments, besides numbers that are
// columns, is the same for all events with the same arguments: it is found out once.
//   RowMemo rows{texts, parser};
//   const ArgShape* shape = rows.shape(packet.shape, args, sequence);
//   if (shape != nullptr) mark.row = rows.row(*shape, {.args = args, .name = name, ...});
// Finding out is left to the parser of Chrome events, which is given the arguments as JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/perfetto/event_packets.hpp"
#include "readers/perfetto/marks.hpp"
#include "readers/perfetto/sequence.hpp"

namespace tracelens::perfetto {

// The names of an event's arguments with the kinds of their values, and what that tells about them.
class ArgShape {
 public:
  // False when a name is not known in the sequence.
  static bool make(std::span<const EventArg> args, const Sequence& sequence, Texts& texts,
                   ArgShape& shape);
  // Whether arguments of the sequence have this shape.
  [[nodiscard]] bool fits(std::span<const EventArg> args, const Sequence& sequence);

 private:
  friend class RowMemo;
  struct Part {
    std::uint32_t name_iid = 0;
    EventArg::Kind kind = EventArg::Kind::kBool;
    kineto::NumberArg number = kineto::NumberArg::kNone;  // the column it is
    bool is_kept = false;                                 // in another one, perhaps
    std::uint32_t key = kNone;                            // its name, in Texts
    std::string name = {};                                // as the packet has it, if it has
  };
  std::uint32_t id_ = 0;
  const Sequence* sequence_ = nullptr;
  std::uint64_t version_ = 0;  // of the names of the sequence
  std::vector<Part> parts_;
  std::vector<std::size_t> sorted_;  // as they stand in JSON
  bool has_interned_texts_ = false;
  bool has_texts_of_columns_ = false;  // which the parser has to see along with the numbers
};

class RowMemo {
 public:
  RowMemo(Texts& texts, kineto::EventParser& parser);

  // `hash` is that of EventPacket. No value when a name, or a text, is not known in the sequence, or
  // there are very many.
  // Valid until the next call.
  const ArgShape* shape(std::uint64_t hash, std::span<const EventArg> args,
                        const Sequence& sequence);

  struct Begin {
    std::span<const EventArg> args;
    const Sequence& sequence;
    std::uint32_t name = 0, category = kNone;  // in Texts
    std::uint32_t track_name = kNone;          // one more argument; kNone: none
    std::int64_t ts_ns = 0;
  };
  // `shape` is that of the arguments.
  MarkRow row(const ArgShape& shape, const Begin& begin);
  // Forgets all, after the last one.
  void clear();

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::uint64_t> key;
    MarkRow row;
  };
  // Writes down what is kept of the arguments but for `numbers`, which are columns.
  void collect(const ArgShape& shape, const Begin& begin, kineto::NumberArgs& numbers);
  MarkRow parse(const ArgShape& shape, const Begin& begin, std::span<const kineto::GivenNumber>);

  Texts& texts_;
  kineto::EventParser& parser_;
  kineto::ParsedBlock block_;  // the event at hand
  std::unordered_map<std::uint64_t, ArgShape> shapes_;
  ArgShape* last_ = nullptr;
  std::uint64_t last_hash_ = 0;
  std::uint32_t shape_count_ = 0;
  std::vector<Entry> entries_;      // by hash; the newest stays
  std::vector<std::uint64_t> key_;  // of the event at hand
  std::size_t key_size_ = 0;
  std::string json_;
};

}  // namespace tracelens::perfetto
