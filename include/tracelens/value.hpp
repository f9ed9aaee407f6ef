// value.hpp: a small tree of plain data, as found in an op's arguments or in a nested table cell.
// Implemented in src/table (text forms) and src/trace (parsing, json.hpp).
//   const Value dims = Value::tuple({Value::tuple({8, 4}), Value::tuple({})});   // ((8, 4), ())
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracelens {

class Value {
 public:
  // kTuple and kList differ only in how they print: (8, 4) and [8, 4].
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kReal, kText, kTuple, kList, kDict };

  Value() = default;
  Value(bool value) : kind_{Kind::kBool}, int_{value ? 1 : 0} {}             // NOLINT(*-explicit-*)
  Value(int value) : kind_{Kind::kInt}, int_{value} {}                       // NOLINT(*-explicit-*)
  Value(std::int64_t value) : kind_{Kind::kInt}, int_{value} {}              // NOLINT(*-explicit-*)
  Value(double value) : kind_{Kind::kReal}, real_{value} {}                  // NOLINT(*-explicit-*)
  Value(std::string value) : kind_{Kind::kText}, text_{std::move(value)} {}  // NOLINT
  Value(const char* value) : kind_{Kind::kText}, text_{value} {}             // NOLINT

  static Value tuple(std::vector<Value> items) { return {Kind::kTuple, std::move(items), {}}; }
  static Value list(std::vector<Value> items) { return {Kind::kList, std::move(items), {}}; }
  // Keys keep their order; keys[i] belongs to items[i].
  static Value dict(std::vector<std::string> keys, std::vector<Value> items) {
    return {Kind::kDict, std::move(items), std::move(keys)};
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] bool is_text() const { return kind_ == Kind::kText; }
  [[nodiscard]] bool is_int() const { return kind_ == Kind::kInt; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kInt || kind_ == Kind::kReal; }
  [[nodiscard]] bool is_sequence() const { return kind_ == Kind::kTuple || kind_ == Kind::kList; }

  // Each getter is meaningful for its own kind only and returns an empty value for the others.
  [[nodiscard]] bool as_bool() const { return kind_ == Kind::kBool && int_ != 0; }
  [[nodiscard]] std::int64_t as_int() const { return kind_ == Kind::kInt ? int_ : 0; }
  [[nodiscard]] double as_real() const {
    return kind_ == Kind::kInt ? static_cast<double>(int_) : real_;
  }
  [[nodiscard]] const std::string& as_text() const { return text_; }
  [[nodiscard]] const std::vector<Value>& items() const { return items_; }
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

  // The member of a dict with this key, or nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] == key) return &items_[i];
    return nullptr;
  }

  bool operator==(const Value&) const = default;

 private:
  Value(Kind kind, std::vector<Value> items, std::vector<std::string> keys)
      : kind_{kind}, items_{std::move(items)}, keys_{std::move(keys)} {}

  Kind kind_ = Kind::kNull;
  std::int64_t int_ = 0;
  double real_ = 0;
  std::string text_;
  std::vector<Value> items_;
  std::vector<std::string> keys_;
};

}  // namespace tracelens
