// arguments.hpp: how a model reads the call it is asked about. For the family files only.
//   const Shape a = in.shape(0);                      // throws Reason: "argument 0: not a tensor"
//   const double m = a.at(0), k = a.at(1);            // throws Reason when the rank is too small
//   return in.work(flops, bytes, Unit::kMatrix, in.type(0), {{"M", count(m)}});
// Every getter either gives a sound value or throws a Reason, which op_work() hands to the caller:
// no model can run on a shape with negative, fractional or absurdly large sizes. Sizes are doubles,
// exact for every real tensor, so that products never wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/model.hpp>
#include <vector>

#include "perf/core/dtype.hpp"

namespace tracelens::perf {

class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<double> sizes) : sizes_{std::move(sizes)} {}

  [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
  [[nodiscard]] bool empty() const { return sizes_.empty(); }
  [[nodiscard]] double at(std::size_t dim) const;                 // throws Reason
  [[nodiscard]] double last(std::size_t back = 0) const;          // last(1): the one before it
  [[nodiscard]] double elements(std::size_t from_dim = 0) const;  // product; 1 when none are left
  [[nodiscard]] const std::vector<double>& sizes() const { return sizes_; }
  [[nodiscard]] Value tuple() const;  // (8, 4)
  [[nodiscard]] Value list() const;   // [8, 4]
  bool operator==(const Shape&) const = default;

 private:
  std::vector<double> sizes_;
};

// A size or count as a parameter: an integer, unless it is fractional or beyond 64 bits.
[[nodiscard]] Value count(double value);

class Arguments {
 public:
  Arguments(const OpCall& call, Pass pass, Edition edition)
      : call_{call}, pass_{pass}, edition_{edition} {}

  [[nodiscard]] const OpCall& call() const { return call_; }
  [[nodiscard]] bool backward() const { return pass_ == Pass::kBackward; }
  // kReference: the numbers of the Python TraceLens are wanted, warts and all; each place that asks
  // names the oddity it repeats.
  [[nodiscard]] Edition edition() const { return edition_; }

  // --- Input Dims ---
  [[nodiscard]] std::size_t size() const;  // number of arguments; throws when none were recorded
  [[nodiscard]] bool has_dims() const;
  [[nodiscard]] const Value& dims(std::size_t slot) const;  // as recorded; throws when too short
  [[nodiscard]] Shape shape(std::size_t slot) const;
  [[nodiscard]] Shape shape(std::size_t slot, std::size_t rank) const;  // of exactly this rank
  [[nodiscard]] bool has_tensor(std::size_t slot) const;  // the slot exists and is not empty
  [[nodiscard]] std::optional<Shape> tensor_if(std::size_t slot) const;  // nullopt: !has_tensor

  // --- Input type ---
  [[nodiscard]] const std::string& type(std::size_t slot) const;  // throws when too short
  [[nodiscard]] std::string type_or(std::size_t slot, std::string_view otherwise) const;
  [[nodiscard]] Value type_or_null(std::size_t slot) const;
  // types[first], types[first + 1], ... as far as they exist, at most `n`.
  [[nodiscard]] Value types(std::size_t first, std::size_t n) const;
  [[nodiscard]] bool has_types() const;
  [[nodiscard]] std::optional<double> bytes(std::string_view type) const;
  [[nodiscard]] double known_bytes(std::string_view type) const;  // throws when unknown
  [[nodiscard]] double bytes_or(std::string_view type, double otherwise) const;

  // --- Input Strides, as recorded ---
  [[nodiscard]] Value stride(std::size_t slot) const;          // must be there
  [[nodiscard]] Value stride_if_any(std::size_t slot) const;   // null when none were recorded
  [[nodiscard]] Value stride_or_null(std::size_t slot) const;  // null when none, or too few

  // --- Concrete Inputs: printed values; a JSON true or false reads as if it were printed ---
  [[nodiscard]] bool has_concrete() const;
  [[nodiscard]] std::size_t concrete_size() const;                  // 0 when none were recorded
  [[nodiscard]] const Value& concrete(std::size_t slot) const;      // throws when too short
  [[nodiscard]] const std::string& text(std::size_t slot) const;    // throws when not text
  [[nodiscard]] std::string text_or_empty(std::size_t slot) const;  // never throws
  [[nodiscard]] double real(std::size_t slot) const;                // throws unless a number
  [[nodiscard]] std::int64_t integer(std::size_t slot) const;
  [[nodiscard]] std::optional<std::int64_t> integer_if_any(std::size_t slot) const;
  [[nodiscard]] bool boolean(std::size_t slot) const;  // throws unless True or False
  [[nodiscard]] std::vector<std::int64_t> ints(std::size_t slot) const;
  [[nodiscard]] std::vector<double> reals(std::size_t slot) const;
  [[nodiscard]] std::vector<bool> booleans(std::size_t slot) const;

  // --- the answer ---
  [[nodiscard]] std::string_view precision(std::string_view type) const {
    return perf::precision(type, edition_);
  }
  [[nodiscard]] Work work(double flops, std::optional<double> bytes, Unit unit,
                          std::string_view type, std::vector<Param> params) const;
  // For a model that has no backward cost: throws when that is what is asked for.
  void forward_only() const;

 private:
  const OpCall& call_;
  Pass pass_;
  Edition edition_;
};

[[noreturn]] void fail(std::string text);             // Reason::Kind::kFailed
[[noreturn]] void not_implemented(std::string text);  // Reason::Kind::kNotImplemented

}  // namespace tracelens::perf
