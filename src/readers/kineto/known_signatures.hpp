// known_signatures.hpp: the arguments of the trace's ops, each distinct set parsed once for all parsers.
//   KnownSignatures known;                                      // one per trace
//   const auto [signature, is_new] = known.find_or_add("aten::mm", raw);   // any thread
//   if (is_new) signature.parse();                              // any thread: nobody waits
//   SignatureId id = signature.id(builder, name);               // one thread at a time
// Lists of tensors are long: parsing them where blocks take turns would keep the other threads waiting.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <utility>

#include "readers/kineto/signatures.hpp"
#include "trace/string_table.hpp"

namespace tracelens::kineto {

class KnownSignature {
 public:
  explicit KnownSignature(const RawSignature& raw) : raw_{raw} {}
  // Once: whoever comes while another parses waits.
  void parse();
  // `name`: of the op, in the trace. Parses what nobody has parsed.
  SignatureId id(TraceBuilder& builder, StringId name);

 private:
  RawSignature raw_;
  std::once_flag is_parsed_;
  Signature parsed_;  // until it has an id
  std::string key_;   // see TraceBuilder::key_of_arguments()
  SignatureId id_;
};

class KnownSignatures {
 public:
  // `name`: as written. What it gives stays where it is.
  std::pair<KnownSignature&, bool> find_or_add(std::string_view name, RawSignature raw);

 private:
  std::mutex mutex_;
  StringTable names_;
  RawSignatures raw_;  // by names_
  std::deque<KnownSignature> all_;
};

// A JSON value as written; null when there is none, or when it is none.
[[nodiscard]] Value parse_argument(std::string_view raw);

}  // namespace tracelens::kineto
