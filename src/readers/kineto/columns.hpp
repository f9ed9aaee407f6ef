// columns.hpp: blocks decoded by one parser, appended to the trace in file order.
//   KnownSignatures known;                         // one per trace
//   BlockMerger merger{parser, builder, known};    // one per parser
//   merger.prepare(block);                  // if there are threads: does not touch the builder
//   merger.append(block);
// Texts are unescaped and arguments parsed here, once per distinct one. The caller sees to it that
// blocks arrive in file order and that only one merger works on the builder at a time.
#pragma once

#include <cstdint>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "readers/kineto/event.hpp"

namespace tracelens::kineto {

// The signatures of the trace by how they are written: what one parser has found need not be parsed
// again for the next.
struct KnownSignatures {
  RawSignatures raw;             // by the trace's names
  std::vector<SignatureId> ids;  // of each
};

class BlockMerger {
 public:
  BlockMerger(const EventParser& parser, TraceBuilder& builder, KnownSignatures& known)
      : parser_{parser}, builder_{builder}, known_{known} {}
  // Turns the rows of a block into columns, as far as the trace knows all that they name. They stay as
  // they are from here on.
  void prepare(ParsedBlock& block) const;
  void append(ParsedBlock& block);

 private:
  [[nodiscard]] bool is_known(const RawRow& row) const;
  StringId string(std::uint32_t local);
  StringId json_text(std::uint32_t local);
  TrackId track(std::uint32_t local);
  SignatureId signature(std::uint32_t local);

  const EventParser& parser_;
  TraceBuilder& builder_;
  KnownSignatures& known_;
  // Local id -> id in the trace, filled on first use.
  std::vector<StringId> strings_, json_texts_;
  std::vector<TrackId> tracks_;
  std::vector<SignatureId> signatures_;
};

}  // namespace tracelens::kineto
