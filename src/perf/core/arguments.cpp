// arguments.cpp: checked access to a signature.
#include "perf/core/arguments.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

constexpr double kLargestSize = 281474976710656.0;  // 2^48 elements: beyond any memory

const std::vector<Value>& items_of(const Value& list, std::string_view what) {
  if (!list.is_sequence()) fail(fmt::format("the trace has no {} for this op", what));
  return list.items();
}

const Value& item_of(const Value& list, std::size_t slot, std::string_view what) {
  const auto& items = items_of(list, what);
  if (slot >= items.size())
    fail(fmt::format("argument {}: {} has only {} entries", slot, what, items.size()));
  return items[slot];
}

const std::string& printed(const Value& value) {
  static const std::string kTrue = "True", kFalse = "False";
  if (value.kind() != Value::Kind::kBool) return value.as_text();
  return value.as_bool() ? kTrue : kFalse;
}

Shape shape_of(const Value& dims, std::size_t slot) {
  if (!dims.is_sequence()) fail(fmt::format("argument {}: not a tensor", slot));
  std::vector<double> sizes;
  sizes.reserve(dims.items().size());
  for (const Value& size : dims.items()) {
    if (!size.is_int()) fail(fmt::format("argument {}: not the shape of one tensor", slot));
    const auto value = static_cast<double>(size.as_int());
    if (value < 0 || value > kLargestSize)
      fail(fmt::format("argument {}: impossible size {}", slot, size.as_int()));
    sizes.push_back(value);
  }
  return Shape{std::move(sizes)};
}

template <class T>
T parsed(std::optional<T> value, std::size_t slot, const std::string& text,
         std::string_view expected) {
  if (!value) fail(fmt::format("argument {}: expected {}, found '{}'", slot, expected, text));
  return *std::move(value);
}

}  // namespace

void fail(std::string text) { throw Reason{Reason::Kind::kFailed, std::move(text)}; }

void not_implemented(std::string text) {
  throw Reason{Reason::Kind::kNotImplemented, std::move(text)};
}

double Shape::at(std::size_t dim) const {
  if (dim >= sizes_.size())
    fail(fmt::format("a tensor has {} dimensions, need at least {}", sizes_.size(), dim + 1));
  return sizes_[dim];
}

double Shape::last(std::size_t back) const {
  if (back >= sizes_.size())
    fail(fmt::format("a tensor has {} dimensions, need at least {}", sizes_.size(), back + 1));
  return sizes_[sizes_.size() - 1 - back];
}

double Shape::elements(std::size_t from_dim) const {
  double product = 1;
  for (std::size_t dim = from_dim; dim < sizes_.size(); ++dim) product *= sizes_[dim];
  return product;
}

Value Shape::tuple() const {
  std::vector<Value> items;
  for (const double size : sizes_) items.push_back(count(size));
  return Value::tuple(std::move(items));
}

Value Shape::list() const {
  std::vector<Value> items;
  for (const double size : sizes_) items.push_back(count(size));
  return Value::list(std::move(items));
}

Value count(double value) {
  constexpr double kInt64 = 9223372036854775808.0;
  if (std::floor(value) != value || value >= kInt64 || value < -kInt64) return value;
  return static_cast<std::int64_t>(value);
}

std::size_t Arguments::size() const { return items_of(call_.args.dims, "Input Dims").size(); }

bool Arguments::has_dims() const { return call_.args.dims.is_sequence(); }

const Value& Arguments::dims(std::size_t slot) const {
  return item_of(call_.args.dims, slot, "Input Dims");
}

Shape Arguments::shape(std::size_t slot) const { return shape_of(dims(slot), slot); }

Shape Arguments::shape(std::size_t slot, std::size_t rank) const {
  Shape found = shape(slot);
  if (found.rank() != rank)
    fail(fmt::format("argument {}: expected {} dimensions, found {}", slot, rank, found.rank()));
  return found;
}

bool Arguments::has_tensor(std::size_t slot) const {
  if (slot >= size()) return false;
  const Value& entry = dims(slot);
  return entry.is_sequence() && !entry.items().empty();
}

std::optional<Shape> Arguments::tensor_if(std::size_t slot) const {
  if (!has_tensor(slot)) return std::nullopt;
  return shape(slot);
}

bool Arguments::has_types() const { return call_.args.types.is_sequence(); }

const std::string& Arguments::type(std::size_t slot) const {
  return item_of(call_.args.types, slot, "Input type").as_text();
}

std::string Arguments::type_or(std::size_t slot, std::string_view otherwise) const {
  const Value found = type_or_null(slot);
  return found.is_text() ? found.as_text() : std::string{otherwise};
}

Value Arguments::type_or_null(std::size_t slot) const {
  if (!has_types() || slot >= call_.args.types.items().size()) return {};
  return call_.args.types.items()[slot];
}

Value Arguments::types(std::size_t first, std::size_t n) const {
  const auto& all = items_of(call_.args.types, "Input type");
  std::vector<Value> items;
  for (std::size_t slot = first; slot < all.size() && items.size() < n; ++slot)
    items.push_back(all[slot]);
  return Value::tuple(std::move(items));
}

std::optional<double> Arguments::bytes(std::string_view type) const {
  return element_bytes(type, edition_);
}

double Arguments::known_bytes(std::string_view type) const {
  const auto size = bytes(type);
  if (!size) fail(fmt::format("element size of '{}' is unknown", type));
  return *size;
}

double Arguments::bytes_or(std::string_view type, double otherwise) const {
  return bytes(type).value_or(otherwise);
}

Value Arguments::stride(std::size_t slot) const {
  // Models tell strides and do not count with them. The reference gives up without them.
  if (edition_ == Edition::kExtended && !call_.args.strides.is_sequence()) return {};
  return item_of(call_.args.strides, slot, "Input Strides");
}

Value Arguments::stride_if_any(std::size_t slot) const {
  return call_.args.strides.is_sequence() ? stride(slot) : Value{};
}

Value Arguments::stride_or_null(std::size_t slot) const {
  if (!call_.args.strides.is_sequence() || slot >= call_.args.strides.items().size()) return {};
  return call_.args.strides.items()[slot];
}

bool Arguments::has_concrete() const { return call_.args.concrete.is_sequence(); }

std::size_t Arguments::concrete_size() const { return call_.args.concrete.items().size(); }

const Value& Arguments::concrete(std::size_t slot) const {
  return item_of(call_.args.concrete, slot, "Concrete Inputs");
}

const std::string& Arguments::text(std::size_t slot) const {
  const Value& value = concrete(slot);
  if (!value.is_text() && value.kind() != Value::Kind::kBool)
    fail(fmt::format("argument {}: its value is not text", slot));
  return printed(value);
}

std::string Arguments::text_or_empty(std::size_t slot) const {
  return slot < concrete_size() ? printed(call_.args.concrete.items()[slot]) : std::string{};
}

double Arguments::real(std::size_t slot) const {
  return parsed(parse_real(text(slot)), slot, text(slot), "a number");
}

std::int64_t Arguments::integer(std::size_t slot) const {
  return parsed(parse_int(text(slot)), slot, text(slot), "an integer");
}

std::optional<std::int64_t> Arguments::integer_if_any(std::size_t slot) const {
  return parse_int(text_or_empty(slot));
}

bool Arguments::boolean(std::size_t slot) const {
  return parsed(parse_bool(text(slot)), slot, text(slot), "True or False");
}

std::vector<std::int64_t> Arguments::ints(std::size_t slot) const {
  return parsed(parse_ints(text(slot)), slot, text(slot), "a list of integers");
}

std::vector<double> Arguments::reals(std::size_t slot) const {
  return parsed(parse_reals(text(slot)), slot, text(slot), "a list of numbers");
}

std::vector<bool> Arguments::booleans(std::size_t slot) const {
  return parsed(parse_bools(text(slot)), slot, text(slot), "a list of True and False");
}

Work Arguments::work(double flops, std::optional<double> bytes, Unit unit, std::string_view type,
                     std::vector<Param> params) const {
  return {.flops = flops,
          .bytes = bytes,
          .compute_spec = compute_spec(unit, precision(type)),
          .params = std::move(params)};
}

void Arguments::forward_only() const {
  if (backward()) not_implemented("no model of its backward work");
}

}  // namespace tracelens::perf
