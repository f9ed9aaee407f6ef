#include "readers/kineto/signatures.hpp"

namespace tracelens::kineto {

std::uint32_t RawSignatures::intern(const RawSignature& signature) {
  const Parts parts{texts_.intern(signature.dims).row, texts_.intern(signature.types).row,
                    texts_.intern(signature.strides).row, texts_.intern(signature.concrete).row};
  std::uint64_t hash = signature.name;
  for (const std::uint32_t part : parts) hash = mix_hash(hash, part);
  return index_.find_or_add(
      hash,
      [&](std::uint32_t id) { return all_[id].name == signature.name && parts_[id] == parts; },
      [&] {
        all_.push_back({.name = signature.name,
                        .dims = text(parts[0]),
                        .types = text(parts[1]),
                        .strides = text(parts[2]),
                        .concrete = text(parts[3])});
        parts_.push_back(parts);
        return static_cast<std::uint32_t>(all_.size() - 1);
      });
}

}  // namespace tracelens::kineto
