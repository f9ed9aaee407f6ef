// Parts are taken off the end, the last one first: what is then left is the name.
#include "readers/database/emit_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "io/numbers.hpp"

namespace tracelens {
namespace {

// Reads a text from its start; every function is false where the text goes on otherwise.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_{text} {}
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool number(std::int64_t& value, bool may_be_negative) {
    std::size_t size = may_be_negative && rest_.starts_with('-') ? 1 : 0;
    const std::size_t sign = size;
    std::int64_t digits = 0;
    constexpr std::size_t kSurelyFit = 18;
    for (; size < rest_.size() && rest_[size] >= '0' && rest_[size] <= '9'; ++size)
      if (size - sign < kSurelyFit) digits = digits * 10 + (rest_[size] - '0');
    if (size == sign) return false;
    value = sign == 1 ? -digits : digits;
    if (size - sign > kSurelyFit) {
      const auto parsed = io::parse_int64(rest_.substr(0, size));
      if (!parsed) return false;
      value = *parsed;
    }
    rest_.remove_prefix(size);
    return true;
  }
  // "[" [item {", " item}] "]"
  template <class Item>
  bool list(const Item& item) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!item()) return false;
    } while (take_comma());
    return take(']');
  }
  [[nodiscard]] bool is_over() const { return rest_.empty(); }

 private:
  bool take_comma() {
    if (rest_.size() < 2 || rest_[0] != ',' || rest_[1] != ' ') return false;
    rest_.remove_prefix(2);
    return true;
  }
  std::string_view rest_;
};

// Whether the text is a list of shapes; `add_size` and `end_shape` are told of what is in it.
template <class AddSize, class EndShape>
bool read_shapes(std::string_view text, const AddSize& add_size, const EndShape& end_shape) {
  Cursor cursor{text};
  const bool fits = cursor.list([&] {
    const bool is_shape = cursor.list([&] {
      std::int64_t size = 0;
      if (!cursor.number(size, true)) return false;
      add_size(size);
      return true;
    });
    if (is_shape) end_shape();
    return is_shape;
  });
  return fits && cursor.is_over();
}

bool are_pairs(std::string_view text) {
  Cursor cursor{text};
  std::int64_t ignored = 0;
  return cursor.list([&] {
    return cursor.take('(') && cursor.number(ignored, false) && cursor.take(',') &&
           cursor.number(ignored, true) && cursor.take(')');
  }) && cursor.is_over();
}

// False: these are no digits. A number that is too large for any id is digits all the same.
bool digits_of(std::string_view text, std::int64_t& value) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return false;
  value = io::parse_int64(text).value_or(kAbsent);
  return true;
}

// Takes the last part off the text when it has this key and `fits` accepts its value. No value has an
// equals sign in it: the last one is that of the last part.
template <class Fits>
void take_part(std::string_view& text, std::string_view key, const Fits& fits) {
  const std::size_t sign = text.rfind('=');
  if (sign == text.npos || !text.substr(0, sign + 2).ends_with(key)) return;
  if (fits(text.substr(sign + 2))) text = text.substr(0, sign + 2 - key.size());
}

// Ops that begin with a list of tensors, and how many arguments they have: emit_nvtx writes the
// tensors of the list as if each were an argument.
struct ListOp {
  std::string_view name;
  std::size_t arguments;
};
constexpr ListOp kListOps[] = {{"aten::cat", 2},
                               {"aten::concat", 2},
                               {"aten::hstack", 1},
                               {"aten::stack", 2},
                               {"aten::vstack", 1}};

Value with_list(std::string_view op, Value dims) {
  const auto* const known = std::ranges::find(kListOps, op, &ListOp::name);
  if (known == std::end(kListOps) || dims.items().size() < known->arguments) return dims;
  const std::vector<Value>& flat = dims.items();
  const auto rest = flat.end() - static_cast<std::ptrdiff_t>(known->arguments - 1);
  std::vector<Value> slots{Value::tuple({flat.begin(), rest})};
  slots.insert(slots.end(), rest, flat.end());
  return Value::tuple(std::move(slots));
}

}  // namespace

EmittedOp emitted_op(std::string_view text) {
  EmittedOp op;
  std::string_view rest = text;
  take_part(rest, ", input_op_ids = ", are_pairs);
  take_part(rest, ", sizes = ", [&](std::string_view value) {
    const bool fits = read_shapes(
        value, [](std::int64_t) {}, [] {});
    if (fits) op.sizes = value;
    return fits;
  });
  take_part(rest, ", op_id = ", [&](std::string_view value) {
    const bool fits = digits_of(value, op.op_id);
    op.is_op = op.is_op || fits;
    return fits;
  });
  take_part(rest, ", seq = ", [&](std::string_view value) {
    const bool fits = digits_of(value, op.sequence);
    op.is_op = op.is_op || fits;
    return fits;
  });
  op.name = rest;
  op.is_op = op.is_op || !op.sizes.empty();
  return op;
}

Value dims_of(const EmittedOp& op) {
  std::vector<Value> shapes, sizes;
  const bool fits = read_shapes(
      op.sizes, [&](std::int64_t size) { sizes.emplace_back(size); },
      [&] { shapes.push_back(Value::tuple(std::exchange(sizes, {}))); });
  return fits ? with_list(op.name, Value::tuple(std::move(shapes))) : Value{};
}

}  // namespace tracelens
