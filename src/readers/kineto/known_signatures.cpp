#include "readers/kineto/known_signatures.hpp"

#include "trace/json_value.hpp"

namespace tracelens::kineto {

Value parse_argument(std::string_view raw) {
  if (raw.empty()) return {};
  return parse_json_value(raw).value_or(Value{});
}

void KnownSignature::parse() {
  std::call_once(is_parsed_, [this] {
    parsed_ = {.name = {},
               .dims = parse_argument(raw_.dims),
               .types = parse_argument(raw_.types),
               .strides = parse_argument(raw_.strides),
               .concrete = parse_argument(raw_.concrete)};
    key_ = TraceBuilder::key_of_arguments(parsed_);
  });
}

SignatureId KnownSignature::id(TraceBuilder& builder, StringId name) {
  if (id_.valid()) return id_;
  parse();
  parsed_.name = name;
  id_ = builder.intern(std::exchange(parsed_, {}), std::exchange(key_, {}));
  return id_;
}

std::pair<KnownSignature&, bool> KnownSignatures::find_or_add(std::string_view name,
                                                              RawSignature raw) {
  const std::lock_guard lock{mutex_};
  raw.name = names_.intern(name).row;
  const std::uint32_t id = raw_.intern(raw);
  if (id < all_.size()) return {all_[id], false};
  return {all_.emplace_back(raw_.all()[id]), true};
}

}  // namespace tracelens::kineto
