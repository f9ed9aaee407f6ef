#include "readers/kineto/signatures.hpp"

namespace tracelens::kineto {

std::uint32_t RawSignatures::intern(const RawSignature& signature) {
  std::uint64_t hash = signature.name;
  for (const auto part : {signature.dims, signature.types, signature.strides, signature.concrete})
    hash = mix_hash(hash, hash_text(part));
  return index_.find_or_add(
      hash, [&](std::uint32_t id) { return all_[id] == signature; },
      [&] {
        all_.push_back({.name = signature.name,
                        .dims = texts_.copy(signature.dims),
                        .types = texts_.copy(signature.types),
                        .strides = texts_.copy(signature.strides),
                        .concrete = texts_.copy(signature.concrete)});
        return static_cast<std::uint32_t>(all_.size() - 1);
      });
}

}  // namespace tracelens::kineto
