// shapes.hpp: what a rule reads from the recorded arguments of an op.
//   elements_of(signature, 0)       // of the first argument; 0: no tensor
//   type_of(signature, 1)           // "c10::BFloat16"; empty: none
#pragma once

#include <cstddef>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

[[nodiscard]] double elements_of(const Value& shape);  // 0: it is none of a tensor
[[nodiscard]] double elements_of(const Signature& signature, std::size_t argument);
// Of the last dimension 0, of the one before it 1; 0: there is none.
[[nodiscard]] double size_from_last(const Signature& signature, std::size_t argument,
                                    std::size_t from_last);
[[nodiscard]] std::string_view type_of(const Signature& signature, std::size_t argument);

}  // namespace tracelens
