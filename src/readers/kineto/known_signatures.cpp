#include "readers/kineto/known_signatures.hpp"

namespace tracelens::kineto {

std::pair<KnownSignature&, bool> KnownSignatures::find_or_add(std::string_view name,
                                                              RawSignature raw) {
  raw.name = 0;  // a number of the parser's own
  std::uint64_t hash = hash_text(name);
  for (const auto part : {raw.dims, raw.types, raw.strides, raw.concrete})
    hash = mix_hash(hash, hash_text(part));
  constexpr int kBitsOfIndex = 24;  // an index begins with these
  Part& part = parts_[(hash >> kBitsOfIndex) % kParts];
  const std::lock_guard lock{part.mutex};
  const auto fresh = static_cast<std::uint32_t>(part.all.size());
  const std::uint32_t id = part.index.find_or_add(
      hash, [&](std::uint32_t other) { return part.all[other].is(name, raw); },
      [&] {
        part.all.emplace_back(name, raw);
        return fresh;
      });
  return {part.all[id], id == fresh};
}

}  // namespace tracelens::kineto
