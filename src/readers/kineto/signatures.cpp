#include "readers/kineto/signatures.hpp"

namespace tracelens::kineto {

std::uint32_t RawSignatures::intern(const RawSignature& signature) {
  const Parts parts{texts_.intern(signature.dims).row, texts_.intern(signature.types).row,
                    texts_.intern(signature.strides).row, texts_.intern(signature.concrete).row};
  // The numbers grow together, as ops with a name and dims of their own do: only a hash of all tells them apart.
  const std::uint32_t numbers[] = {signature.name, parts[0], parts[1], parts[2], parts[3]};
  return index_.find_or_add(
      hash_text({reinterpret_cast<const char*>(numbers), sizeof numbers}),
      [&](std::uint32_t id) {
        return sets_[id].raw.name == signature.name && sets_[id].parts == parts;
      },
      [&] {
        sets_.push_back({{.name = signature.name,
                          .dims = text(parts[0]),
                          .types = text(parts[1]),
                          .strides = text(parts[2]),
                          .concrete = text(parts[3])},
                         parts});
        return static_cast<std::uint32_t>(sets_.size() - 1);
      });
}

}  // namespace tracelens::kineto
