// columns.hpp: blocks decoded by one parser, put into the trace in file order.
//   KnownSignatures known;                         // one per trace
//   BlockMerger merger{parser, builder, known};    // one per parser
//   merger.prepare(block);                  // any thread: what the trace may not know yet
//   merger.number(block);                   // in file order, one at a time: its rows, ids of new names
//   merger.write(block);                    // any thread: the rows
// Only number() must wait for its turn, and it looks at what is new. Texts are unescaped and arguments
// parsed here, once per distinct one. Whoever needs no threads calls append().
#pragma once

#include <cstdint>
#include <optional>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/kineto/known_signatures.hpp"

namespace tracelens::kineto {

class BlockMerger {
 public:
  BlockMerger(const EventParser& parser, TraceBuilder& builder, KnownSignatures& known)
      : parser_{parser}, builder_{builder}, known_{known} {}
  void prepare(const ParsedBlock& block);
  void number(const ParsedBlock& block);
  void write(const ParsedBlock& block) const;
  void append(const ParsedBlock& block) {
    prepare(block);
    number(block);
    write(block);
  }

 private:
  [[nodiscard]] bool is_known(const RawRow& row) const;
  void list_new_texts(const std::vector<RawText>& texts, const std::vector<StringId>& known,
                      std::vector<std::uint32_t>& fresh) const;
  [[nodiscard]] bool has_own_json_texts() const;
  StringId string(std::uint32_t local);
  StringId json_text(std::uint32_t local);
  TrackId track(std::uint32_t local);
  SignatureId signature(std::uint32_t local);
  KnownSignature& known_signature(std::uint32_t local);
  Signature parsed_signature(std::uint32_t local);

  const EventParser& parser_;
  TraceBuilder& builder_;
  KnownSignatures& known_;
  // Local id -> id in the trace, filled on first use.
  std::vector<StringId> strings_, json_texts_;
  std::vector<TrackId> tracks_;
  std::vector<SignatureId> signatures_;
  std::vector<KnownSignature*> known_signatures_;  // by local id
  std::vector<std::optional<Value>> arguments_;    // by part of a local signature

  // --- of the block at hand ---
  std::vector<std::uint32_t> new_rows_;  // those that name something for the first time
  std::vector<std::uint32_t> new_call_stacks_, new_details_, new_category_texts_;  // local ids
  std::vector<std::uint32_t> begin_ends_;                                          // rows
  EventPlace place_;
};

}  // namespace tracelens::kineto
