// known_signatures.hpp: the arguments of the trace's ops, each distinct set parsed once for all parsers.
//   KnownSignatures known;                                                // one per trace
//   const auto [signature, is_new] = known.find_or_add("aten::mm", raw);  // any thread
//   if (is_new) signature.put(parsed(raw));                               // the thread that added it
//   SignatureId id = signature.id(builder, name, [&] { return parsed(raw); });   // one thread at a time
// Lists of tensors are long: parsing them where blocks take turns would keep the other threads waiting. And nobody
// waits here, since threads that read the same steps ask for the same signatures at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <utility>

#include "readers/kineto/signatures.hpp"
#include "trace/string_table.hpp"

namespace tracelens::kineto {

class KnownSignature {
 public:
  KnownSignature(std::string_view name, const RawSignature& raw) : name_{name}, raw_{raw} {}
  [[nodiscard]] bool is(std::string_view name, const RawSignature& raw) const {
    return name_ == name && raw_ == raw;
  }

  void put(Signature parsed) {
    parsed_ = hashed(std::move(parsed));
    has_parsed_.store(true, std::memory_order_release);
  }
  // `name`: of the op, in the trace. `parse` is asked where put() was not called yet.
  template <class Parse>
  SignatureId id(TraceBuilder& builder, StringId name, Parse&& parse) {
    if (id_.valid()) return id_;
    const bool has_parsed = has_parsed_.load(std::memory_order_acquire);
    Parsed own = has_parsed ? std::exchange(parsed_, {}) : hashed(parse());
    own.signature.name = name;
    return id_ = builder.intern(std::move(own.signature), own.hash);
  }

 private:
  struct Parsed {
    Signature signature;
    std::uint64_t hash = 0;
  };
  static Parsed hashed(Signature signature) {
    const std::uint64_t hash = TraceBuilder::hash_of_arguments(signature);
    return {std::move(signature), hash};
  }

  std::string_view name_;
  RawSignature raw_;
  Parsed parsed_;  // for its id
  std::atomic<bool> has_parsed_ = false;
  SignatureId id_;
};

class KnownSignatures {
 public:
  // `name`: as written. The texts must stay until all are found; what it gives stays where it is.
  std::pair<KnownSignature&, bool> find_or_add(std::string_view name, RawSignature raw);

 private:
  // Which one a signature belongs to, its hash tells.
  struct Part {
    std::mutex mutex;
    IdIndex index;
    std::deque<KnownSignature> all;
  };
  static constexpr std::size_t kParts = 32;

  std::array<Part, kParts> parts_;
};

}  // namespace tracelens::kineto
