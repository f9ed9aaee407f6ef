// signatures.hpp: the arguments of ops as they are written, each distinct set once.
//   RawSignatures signatures;
//   const std::uint32_t id = signatures.intern(raw);      // 0, 1, 2, ... in order of appearance
//   signatures.all()[id]                                  // texts of its own: equal ones are the same
//   signatures.parts(id)                                  // numbers of these texts
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/string_table.hpp"

namespace tracelens::kineto {

// Four JSON values as written; empty when the event does not have the argument.
struct RawSignature {
  std::uint32_t name = 0;
  std::string_view dims = {}, types = {}, strides = {}, concrete = {};
  bool operator==(const RawSignature&) const = default;
};

class RawSignatures {
 public:
  using Parts = std::array<std::uint32_t, 4>;  // dims, types, strides, concrete

  std::uint32_t intern(const RawSignature& signature);
  [[nodiscard]] const std::vector<RawSignature>& all() const { return all_; }
  [[nodiscard]] const Parts& parts(std::uint32_t id) const { return parts_[id]; }
  [[nodiscard]] std::string_view text(std::uint32_t part) const { return texts_.text({part}); }

 private:
  StringTable texts_;  // many sets differ in their dims alone
  std::vector<RawSignature> all_;
  std::vector<Parts> parts_;
  IdIndex index_;
};

}  // namespace tracelens::kineto
