// The batched format of the Python TraceLens: arguments by the names and types of PyTorch's schemas.
#include <charconv>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/replay.hpp>
#include <unordered_map>

#include "io/numbers.hpp"
#include "report/replay/records.hpp"
#include "report/replay/schema.hpp"

namespace tracelens {
namespace {

Value item_at(const Value& list, std::size_t i) {
  return i < list.items().size() ? list.items()[i] : Value::list({});
}

std::optional<Value> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Value{number};
}

std::optional<Value> real_number(std::string_view text) {
  const auto number = io::parse_double(text);
  return number ? std::optional{Value{*number}} : std::nullopt;
}

std::optional<Value> truth(std::string_view text) {
  if (text == "True" || text == "true") return Value{true};
  if (text == "False" || text == "false") return Value{false};
  return std::nullopt;
}

// A number keeps its kind: 1 stays an integer, which integer tensors need.
std::optional<Value> any_number(std::string_view text) {
  if (auto value = truth(text)) return value;
  if (auto value = whole_number(text)) return value;
  return real_number(text);
}

using Convert = std::optional<Value> (*)(std::string_view);

Convert converter_of(std::string_view type) {
  if (type == "int" || type == "SymInt") return whole_number;
  if (type == "float") return real_number;
  if (type == "bool") return truth;
  if (type == "Scalar") return any_number;
  return nullptr;
}

// "[1, 2]"
std::optional<Value> list_of(std::string_view text, Convert convert) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<Value> items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    const std::optional<Value> value = convert(item);
    if (!value) return std::nullopt;
    items.push_back(*value);
    text = comma == text.npos ? "" : text.substr(comma + 1);
  }
  return Value::list(std::move(items));
}

// Which tensors are written before they are read.
bool is_filled(std::string_view op, std::string_view argument) {
  if (op == "aten::fill_") return false;
  return op != "aten::copy_" || argument == "src";
}

Value tensor(const Value& dims, std::string_view type, const Value& strides, bool filled) {
  return Value::dict({"shape", "dtype", "strides", "init"},
                     {dims, Value{std::string{type}}, strides, filled ? Value{"normal"} : Value{}});
}

std::optional<Value> value_of(const ReplayArguments& call, std::size_t i,
                              const SchemaArgument& argument) {
  const std::string_view recorded = text_at(call.types, i), concrete = text_at(call.concrete, i);
  std::string_view type = argument.type;
  const bool optional = type.ends_with('?');
  if (optional) {
    type.remove_suffix(1);
    if (recorded.empty()) return Value{};
  }
  if (type == "Tensor") {
    if (recorded.empty() || recorded == "Scalar" || recorded == "ScalarList" ||
        recorded == "TensorList")
      return std::nullopt;
    return tensor(item_at(call.dims, i), recorded, item_at(call.strides, i),
                  is_filled(call.op, argument.name));
  }
  if (const std::size_t bracket = type.find('['); bracket != type.npos) {
    const Convert convert = converter_of(type.substr(0, bracket));
    if (convert == nullptr || recorded != "ScalarList") return std::nullopt;
    return list_of(concrete, convert);
  }
  const Convert convert = converter_of(type);
  if (convert == nullptr || recorded != "Scalar") return std::nullopt;
  return convert(concrete);
}

// The arguments by one schema; nothing when they do not fit.
std::optional<Value> ir_of(const ReplayArguments& call, const Schema& schema) {
  if (call.types.items().size() != schema.arguments.size()) return std::nullopt;
  std::vector<Value> positional, keywords;
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    std::optional<Value> value = value_of(call, i, argument);
    if (!value) return std::nullopt;
    (argument.keyword_only ? keywords : positional)
        .push_back(Value::dict({"arg_name", "arg_type", "value"},
                               {Value{argument.name}, Value{argument.type}, *std::move(value)}));
  }
  return Value::dict({"list_pos_args", "list_kwargs"},
                     {Value::list(std::move(positional)), Value::list(std::move(keywords))});
}

}  // namespace

std::string replay_ir(const Replay& replay, std::string_view schemas,
                      std::vector<std::string>& left_out) {
  std::unordered_map<std::string, std::vector<Schema>> by_op;
  while (!schemas.empty()) {
    const std::size_t end = schemas.find('\n');
    if (std::optional<Schema> schema = parse_schema(schemas.substr(0, end)))
      by_op[schema->op].push_back(*std::move(schema));
    schemas = end == schemas.npos ? "" : schemas.substr(end + 1);
  }
  if (by_op.empty())
    throw Error{"--schemas",
                "no line of the file is an operator of PyTorch, such as "
                "aten::mm(Tensor self, Tensor mat2) -> Tensor"};
  std::vector<Value> ops;
  for (const ReplayRecord& record : replay.records) {
    std::optional<Value> ir;
    for (const Schema& schema : by_op[record.call.op])
      if (!ir) ir = ir_of(record.call, schema);
    if (!ir) {
      left_out.push_back(record.call.op);
      continue;
    }
    ops.push_back(Value::dict(
        {"op_name", "replay_ir", "count"},
        {Value{record.call.op}, *std::move(ir), Value{static_cast<std::int64_t>(record.count)}}));
  }
  return json_text(Value::list(std::move(ops))) + "\n";
}

}  // namespace tracelens
