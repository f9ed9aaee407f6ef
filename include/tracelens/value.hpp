// value.hpp: a small tree of plain data, as found in an op's arguments or in a nested table cell.
// Implemented in src/table (text forms) and src/trace (parsing, json.hpp).
//   const Value dims = Value::tuple({Value::tuple({8, 4}), Value::tuple({})});   // ((8, 4), ())
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tracelens {

// Never changes once made, so copies share what they hold: a copy costs no more than a pointer.
class Value {
 public:
  // kTuple and kList differ only in how they print: (8, 4) and [8, 4].
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kReal, kText, kTuple, kList, kDict };
  // The keys of a dict, which thousands of equal ones can share.
  using Keys = std::shared_ptr<const std::vector<std::string>>;

  Value() = default;
  Value(bool value) : held_{value} {}               // NOLINT(*-explicit-*)
  Value(int value) : held_{std::int64_t{value}} {}  // NOLINT(*-explicit-*)
  Value(std::int64_t value) : held_{value} {}       // NOLINT(*-explicit-*)
  Value(double value) : held_{value} {}             // NOLINT(*-explicit-*)
  Value(std::string value)  // NOLINT(*-explicit-*, *-value-param): it is moved
      : held_{std::make_shared<const std::string>(std::move(value))} {}
  Value(const char* value) : Value{std::string{value}} {}  // NOLINT(*-explicit-*)

  static Value tuple(std::vector<Value> items) { return {Kind::kTuple, std::move(items), {}}; }
  static Value list(std::vector<Value> items) { return {Kind::kList, std::move(items), {}}; }
  // Keys keep their order; keys[i] belongs to items[i].
  static Value dict(std::vector<std::string> keys, std::vector<Value> items) {
    return dict_of(std::make_shared<const std::vector<std::string>>(std::move(keys)),
                   std::move(items));
  }
  static Value dict_of(Keys keys, std::vector<Value> items) {
    return {Kind::kDict, std::move(items), std::move(keys)};
  }

  [[nodiscard]] Kind kind() const {
    const Group* const group = this->group();
    return group == nullptr ? static_cast<Kind>(held_.index()) : group->kind;
  }
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_text() const { return kind() == Kind::kText; }
  [[nodiscard]] bool is_int() const { return kind() == Kind::kInt; }
  [[nodiscard]] bool is_number() const { return is_int() || kind() == Kind::kReal; }
  [[nodiscard]] bool is_sequence() const { return kind() == Kind::kTuple || kind() == Kind::kList; }

  // Each getter is meaningful for its own kind only and returns an empty value for the others.
  [[nodiscard]] bool as_bool() const {
    const bool* const held = std::get_if<bool>(&held_);
    return held != nullptr && *held;
  }
  [[nodiscard]] std::int64_t as_int() const {
    const std::int64_t* const held = std::get_if<std::int64_t>(&held_);
    return held == nullptr ? 0 : *held;
  }
  [[nodiscard]] double as_real() const {
    const double* const held = std::get_if<double>(&held_);
    return held == nullptr ? static_cast<double>(as_int()) : *held;
  }
  [[nodiscard]] const std::string& as_text() const {
    static const std::string kNone;
    const Text* const text = std::get_if<Text>(&held_);
    return text == nullptr || *text == nullptr ? kNone : **text;
  }
  [[nodiscard]] const std::vector<Value>& items() const {
    static const std::vector<Value> kNone;
    return group() == nullptr ? kNone : group()->items;
  }
  [[nodiscard]] const std::vector<std::string>& keys() const {
    static const std::vector<std::string> kNone;
    return group() == nullptr || group()->keys == nullptr ? kNone : *group()->keys;
  }

  // The member of a dict with this key, or nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const {
    for (std::size_t i = 0; i < keys().size(); ++i)
      if (keys()[i] == key) return &items()[i];
    return nullptr;
  }

  bool operator==(const Value& other) const {
    if (kind() != other.kind()) return false;
    if (group() != nullptr)
      return group() == other.group() || (keys() == other.keys() && items() == other.items());
    return is_text() ? as_text() == other.as_text() : held_ == other.held_;
  }

 private:
  struct Group {
    Kind kind;
    std::vector<Value> items;
    Keys keys;
  };
  using Text = std::shared_ptr<const std::string>;

  Value(Kind kind, std::vector<Value> items, Keys keys);
  [[nodiscard]] const Group* group() const {
    const auto* const held = std::get_if<std::shared_ptr<const Group>>(&held_);
    return held == nullptr ? nullptr : held->get();
  }

  // In the order of Kind; those that hold items last.
  std::variant<std::monostate, bool, std::int64_t, double, Text, std::shared_ptr<const Group>>
      held_;
};

inline Value::Value(Kind kind, std::vector<Value> items, Keys keys)
    : held_{std::make_shared<const Group>(Group{kind, std::move(items), std::move(keys)})} {}

}  // namespace tracelens
