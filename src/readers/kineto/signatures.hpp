// signatures.hpp: the arguments of ops as they are written, each distinct set once.
//   RawSignatures signatures;
//   const std::uint32_t id = signatures.intern(raw);      // 0, 1, 2, ... in order of appearance
//   signatures[id]                                        // texts of its own: equal ones are the same
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
  [[nodiscard]] const RawSignature& operator[](std::uint32_t id) const { return sets_[id].raw; }
  [[nodiscard]] const Parts& parts(std::uint32_t id) const { return sets_[id].parts; }
  [[nodiscard]] std::string_view text(std::uint32_t part) const { return texts_.text({part}); }

 private:
  struct Set {
    RawSignature raw;
    Parts parts;
  };

  StringTable texts_;  // many sets differ in their dims alone
  std::vector<Set> sets_;
  IdIndex index_;
};

}  // namespace tracelens::kineto
