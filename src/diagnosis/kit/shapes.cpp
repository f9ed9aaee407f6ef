#include "diagnosis/kit/shapes.hpp"

namespace tracelens {

double elements_of(const Value& shape) {
  if (!shape.is_sequence() || shape.items().empty()) return 0;
  double elements = 1;
  for (const Value& size : shape.items()) {
    if (!size.is_number() || size.as_real() < 0) return 0;
    elements *= size.as_real();
  }
  return elements;
}

double elements_of(const Signature& signature, std::size_t argument) {
  if (argument >= signature.dims.items().size()) return 0;
  return elements_of(signature.dims.items()[argument]);
}

double size_from_last(const Signature& signature, std::size_t argument, std::size_t from_last) {
  if (argument >= signature.dims.items().size()) return 0;
  const Value& shape = signature.dims.items()[argument];
  if (!shape.is_sequence() || from_last >= shape.items().size()) return 0;
  const Value& size = shape.items()[shape.items().size() - 1 - from_last];
  return size.is_number() ? size.as_real() : 0;
}

std::string_view type_of(const Signature& signature, std::size_t argument) {
  if (argument >= signature.types.items().size()) return {};
  return signature.types.items()[argument].as_text();
}

}  // namespace tracelens
