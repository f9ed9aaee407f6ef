#include "trace/hlo.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

namespace tracelens::hlo {
namespace {

struct TypeInfo {
  std::string_view name;
  int bits;  // 0: no size
};

// In the order of XLA's PrimitiveType.
constexpr std::array<TypeInfo, 37> kTypes = {{
    {"invalid", 0},    {"pred", 8},     {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},       {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},     {"f64", 64},     {"tuple", 0},         {"opaque", 0},
    {"c64", 64},       {"bf16", 16},    {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},       {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},       {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},       {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"buffer", 0},
    {"f6e3m2fn", 6},   {"f6e2m3fn", 6},
}};

const TypeInfo& info(ElementType type) {
  const auto at = static_cast<std::size_t>(type.number);
  return kTypes[at < kTypes.size() ? at : 0];
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

}  // namespace

std::string_view ElementType::name() const { return info(*this).name; }

std::optional<int> ElementType::bits() const {
  const int bits = info(*this).bits;
  return bits == 0 ? std::nullopt : std::optional{bits};
}

double Shape::elements() const {
  double product = 1;
  for (const std::int64_t dim : dims) product *= static_cast<double>(dim);
  return product;
}

std::optional<double> Shape::bytes() const {
  if (!is_tuple()) {
    if (const auto bits = type.bits()) return elements() * *bits / 8;
    return std::nullopt;
  }
  double sum = 0;
  for (const Shape& part : parts) {
    const auto bytes = part.bytes();
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

std::string Shape::text() const {
  if (!is_tuple())
    return minor_to_major.empty() ? fmt::format("{}[{}]", type.name(), fmt::join(dims, ","))
                                  : fmt::format("{}[{}]{{{}}}", type.name(), fmt::join(dims, ","),
                                                fmt::join(minor_to_major, ","));
  std::string text = "(";
  for (const Shape& part : parts) text.append(text.size() > 1 ? ", " : "").append(part.text());
  return text + ")";
}

const Shape& Shape::first_array() const {
  const Shape* shape = this;
  while (shape->is_tuple() && !shape->parts.empty()) shape = &shape->parts.front();
  return *shape;
}

std::optional<Place> Module::place_of(std::string_view instruction) const {
  const auto found = places_.find(instruction);
  return found == places_.end() ? std::nullopt : std::optional{found->second};
}

const Instruction* Module::find(std::string_view instruction) const {
  const auto place = place_of(instruction);
  return place ? &at(*place) : nullptr;
}

std::string origin_text(const Instruction& instruction) {
  std::string text = instruction.op_name;
  if (instruction.source_file.empty()) return text;
  text += text.empty() ? "" : ", ";
  return text + fmt::format("{}:{}", base_name(instruction.source_file), instruction.source_line);
}

std::map<std::string, Module, std::less<>> modules_of(const Trace& trace) {
  std::map<std::string, Module, std::less<>> modules;
  const Value* const packed = trace.metadata(kModulesKey);
  if (packed == nullptr) return modules;
  for (std::size_t i = 0; i < packed->keys().size(); ++i)
    if (auto module = decode(packed->items()[i].as_text()))
      modules.emplace(packed->keys()[i], *std::move(module));
  return modules;
}

std::string program_of(const Signature& signature) {
  const auto& parts = signature.concrete.items();
  return parts.size() == 2 && parts[1].is_text() ? parts[1].as_text() : std::string{};
}

}  // namespace tracelens::hlo
