// signatures.hpp: the arguments of ops as they are written, each distinct set once.
//   RawSignatures signatures;
//   const std::uint32_t id = signatures.intern(raw);      // 0, 1, 2, ... in order of appearance
//   signatures.all()[id]                                  // texts of its own
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/string_table.hpp"

namespace tracelens::kineto {

// Four JSON values as written; empty when the event does not have the argument.
struct RawSignature {
  std::uint32_t name = 0;
  std::string_view dims, types, strides, concrete;
  bool operator==(const RawSignature&) const = default;
};

class RawSignatures {
 public:
  std::uint32_t intern(const RawSignature& signature);
  [[nodiscard]] const std::vector<RawSignature>& all() const { return all_; }

 private:
  std::vector<RawSignature> all_;
  TextArena texts_;
  IdIndex index_;
};

}  // namespace tracelens::kineto
