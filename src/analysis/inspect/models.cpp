#include <tracelens/model_tables.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tracelens/error.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "perf/core/dtype.hpp"
#include "perf/registry/run_models.hpp"
#include "perf/registry/sheets.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

// What people call an element type, and what PyTorch writes into a trace.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"bf16", "c10::BFloat16"},
    {"bfloat16", "c10::BFloat16"},
    {"fp16", "c10::Half"},
    {"float16", "c10::Half"},
    {"half", "c10::Half"},
    {"fp32", "float"},
    {"float32", "float"},
    {"fp64", "double"},
    {"float64", "double"},
    {"fp8", "c10::Float8_e4m3fn"},
    {"fp8_e4m3", "c10::Float8_e4m3fn"},
    {"fp8_e5m2", "c10::Float8_e5m2"},
    {"fp4", "c10::Float4_e2m1fn_x2"},
    {"int8", "signed char"},
    {"uint8", "unsigned char"},
    {"int16", "short int"},
    {"int32", "int"},
    {"int64", "long int"},
};

// What PyTorch assumes for the scalar arguments a model reads, by their places.
struct Defaults {
  std::string_view op;
  std::size_t arguments;
  std::array<std::pair<std::size_t, std::string_view>, 3> values;
};
constexpr Defaults kDefaults[] = {
    {"aten::convolution", 9, {{{6, "False"}, {8, "1"}, {3, ""}}}},
    {"aten::_convolution", 13, {{{6, "False"}, {8, "1"}, {3, ""}}}},
    {"aten::_scaled_dot_product_flash_attention", 7, {{{3, "0."}, {4, "False"}, {5, "False"}}}},
    {"aten::_scaled_dot_product_efficient_attention", 8, {{{4, "False"}, {5, "0."}, {6, "False"}}}},
    {"aten::_scaled_dot_product_cudnn_attention", 9, {{{4, "False"}, {5, "0."}, {6, "False"}}}},
    {"flash_attn::_flash_attn_forward", 11, {{{3, "0."}, {5, "False"}, {4, ""}}}},
};

std::string traced_type(std::string_view given) {
  for (const auto& [name, traced] : kTypes)
    if (name == given) return std::string{traced};
  if (perf::element_bytes(given, Edition::kExtended)) return std::string{given};
  std::string known;
  for (const auto& [name, traced] : kTypes) known.append(known.empty() ? "" : ", ").append(name);
  throw Error{"--dtype", fmt::format("unknown type '{}'; expected one of {}, or a type as it is "
                                     "traced, such as c10::Half",
                                     given, known)};
}

// A JSON array, or null when the text is empty.
Value list_of(std::string_view flag, const std::string& text, std::string_view example) {
  if (text.empty()) return {};
  const std::optional<Value> value = parse_json_value(text);
  if (!value || !value->is_sequence())
    throw Error{flag, fmt::format("expected a JSON array such as {}, found '{}'", example, text)};
  return *value;
}

bool is_tensor(const Value& dims) { return dims.is_sequence() && !dims.items().empty(); }
bool is_tensor_list(const Value& dims) {
  return is_tensor(dims) && dims.items().front().is_sequence();
}

// Rows one after the other: the last dimension has stride 1.
Value contiguous(const Value& dims) {
  std::vector<Value> strides(dims.items().size());
  double stride = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (is_tensor_list(dims)) {
      strides[i] = contiguous(dims.items()[i]);
      continue;
    }
    constexpr double kLargest = 9e18;
    strides[i] = static_cast<std::int64_t>(std::min(stride, kLargest));
    stride *= std::max(dims.items()[i].as_real(), 1.0);
  }
  return Value::tuple(std::move(strides));
}

// A shape is a list of sizes, a list of tensors a list of shapes; deeper there is nothing.
void check_dims(const Value& dims, const std::string& text) {
  const auto is_shape = [](const Value& shape) {
    return shape.is_sequence() && std::ranges::all_of(shape.items(), [](const Value& size) {
             return size.is_int() && size.as_int() >= 0;
           });
  };
  for (const Value& argument : dims.items())
    if (!is_shape(argument) &&
        !(argument.is_sequence() && std::ranges::all_of(argument.items(), is_shape)))
      throw Error{"--dims", fmt::format("expected a list of shapes such as [[8,4],[4,2]], with [] "
                                        "for what is no tensor, found '{}'",
                                        text)};
}

}  // namespace

Signature model_arguments(std::string_view op, const ArgumentTexts& texts) {
  Signature args;
  std::vector<Value> dims = list_of("--dims", texts.dims, "[[8,4],[4,2]]").items();
  check_dims(Value::tuple(dims), texts.dims);
  const auto* const known = std::ranges::find(kDefaults, op, &Defaults::op);
  const bool has_defaults = known != std::end(kDefaults);
  if (has_defaults && dims.size() < known->arguments)
    dims.resize(known->arguments, Value::tuple({}));

  const std::string type = texts.dtype.empty() ? "float" : traced_type(texts.dtype);
  std::vector<Value> types, strides, concrete(dims.size(), Value{""});
  for (const Value& shape : dims) {
    types.emplace_back(is_tensor_list(shape) ? "TensorList" : is_tensor(shape) ? type : "Scalar");
    strides.push_back(contiguous(shape));
  }
  if (has_defaults)
    for (const auto& [place, value] : known->values) concrete[place] = Value{std::string{value}};

  const Value given_types = list_of("--types", texts.types, R"(["float","float"])");
  const Value given_strides = list_of("--strides", texts.strides, "[[4,1],[2,1]]");
  const Value given_concrete = list_of("--concrete", texts.concrete, R"(["","","True"])");
  args.dims = texts.dims.empty() ? Value{} : Value::tuple(std::move(dims));
  args.types = given_types.is_null() ? Value::tuple(std::move(types)) : given_types;
  args.strides = given_strides.is_null() ? Value::tuple(std::move(strides)) : given_strides;
  args.concrete = given_concrete.is_null() ? Value::tuple(std::move(concrete)) : given_concrete;
  return args;
}

Table model_answer(const OpCall& call, const Gpu* gpu, const WorkOptions& options) {
  const perf::RunModels models{options.edition,
                               options.models == nullptr ? nullptr : &options.models->all()};
  const perf::OpInfo* const info = models.find_op(call.name);
  const OrReason<Work> work = models.work(call, options.pass);
  const auto text = [](std::string_view words) {
    return words.empty() ? std::optional<std::string_view>{} : std::optional{words};
  };
  std::vector<ColumnSpec> columns;
  RowCells row;
  const auto add = [&](ColumnSpec column, auto cell) {
    columns.push_back(std::move(column));
    row.add(std::move(cell));
  };
  add({"op", Kind::kText, "", "op name as traced"}, call.name);
  add({"family", Kind::kText, "", "sheets of the report that list it"},
      info ? text(info->sheet) : std::nullopt);
  add({"category", Kind::kText, "", "what kind of work the op does"},
      text(models.category(call.name, "")));
  if (!work) {
    add({"reason", Kind::kText, "", "why there is no answer"}, std::string{work.reason().text});
  } else {
    // Exact where 64 bits hold it: people check models by hand.
    constexpr double kInt64 = 9.2e18;
    const auto amount = [&](ColumnSpec column, double value) {
      column.kind = value < kInt64 ? Kind::kInteger : Kind::kReal;
      if (value < kInt64)
        add(std::move(column), static_cast<std::int64_t>(std::llround(value)));
      else
        add(std::move(column), value);
    };
    amount({"FLOPs", Kind::kInteger, "FLOP", "floating-point operations of one call"}, work->flops);
    if (work->bytes)
      amount({"bytes", Kind::kInteger, "B", "bytes one call has to read and write"}, *work->bytes);
    if (work->bytes && *work->bytes > 0)
      add({"intensity", Kind::kReal, "FLOP/B", "arithmetic intensity"}, work->flops / *work->bytes);
    add({"compute spec", Kind::kText, "", "which peak rate of the GPU applies"},
        text(work->compute_spec));
    for (const Param& param : work->params)
      add({"param: " + param.name, Kind::kNested, "", "read from the arguments"}, param.value);
  }
  if (work && gpu != nullptr) {
    add({"GPU", Kind::kText, "", "whose limits the rest is about"}, std::string{gpu->name});
    const auto peak = gpu->peak_tflops.find(work->compute_spec);
    if (gpu->memory_gbps)
      add({"memory rate", Kind::kReal, "TB/s", "peak of the memory"}, *gpu->memory_gbps / 1e3);
    if (peak != gpu->peak_tflops.end()) {
      add({"peak rate", Kind::kReal, "TFLOP/s", "peak of the compute spec"}, peak->second);
      if (gpu->memory_gbps)
        add({"ridge point", Kind::kReal, "FLOP/B", "intensity above which compute is the limit"},
            peak->second * 1e3 / *gpu->memory_gbps);
    }
    if (const auto roof = roofline(*work, *gpu, Edition::kExtended)) {
      add({"bound", Kind::kText, "", "what limits the call at best"},
          roof->bound == Bound::kCompute ? "compute" : "memory");
      add({"best time", Kind::kReal, "µs", "time the GPU would take at its peak rates"},
          roof->best_us);
      if (work->flops > 0 && roof->best_us > 0)
        add({"attainable", Kind::kReal, "TFLOP/s", "the roof at this intensity"},
            work->flops / roof->best_us / 1e6);
    }
  }
  Table table{"model", fmt::format("Model of {}", call.name), columns};
  table.append(row.cells());
  return table;
}

Table known_models(Edition edition, std::string_view family) {
  if (!family.empty() && std::ranges::find(perf::sheets(edition), family, &perf::SheetInfo::name) ==
                             perf::sheets(edition).end())
    throw Error{"--family",
                fmt::format("no family '{}'; known are {}", family, perf::sheet_names(edition))};
  const ColumnSpec columns[] = {
      {"op", Kind::kText, "", "op name as traced"},
      {"family", Kind::kText, "", "sheets of the report that list it"},
      {"category", Kind::kText, "", "what kind of work the op does"},
      {"model", Kind::kText, "", "name of its model; none: only the category is known"},
      {"edition", Kind::kText, "", "reference: known to the Python TraceLens too; or ours"},
      {"arguments", Kind::kText, "", "what the model reads"}};
  Table table{"models", "Ops whose work or category is known", columns};
  const auto text = [](std::string_view words) {
    return words.empty() ? std::optional<std::string_view>{} : std::optional{words};
  };
  for (const perf::OpInfo* op : perf::all_ops(edition)) {
    if (!family.empty() && op->sheet != family) continue;
    const perf::SheetInfo* const sheet = op->model.empty() ? nullptr : perf::find_sheet(op->sheet);
    table.add_row(op->name, text(op->sheet), text(op->category), text(op->model),
                  op->edition == Edition::kExtended ? "ours" : "reference",
                  text(sheet == nullptr ? "" : sheet->reads));
  }
  return table;
}

Table as_card(const Table& table) {
  const ColumnSpec columns[] = {{"property", Kind::kText, "", "a column of the table"},
                                {"value", Kind::kText, "", "its cell, rounded"},
                                {"unit", Kind::kText, "", "its unit"},
                                {"meaning", Kind::kText, "", "what it says"}};
  Table card{table.name(), table.description(), columns};
  for (const Table::Column& column : table.columns())
    if (!column.is_missing(0))
      card.add_row(column.spec().name, HumanFormat{column}(0), column.spec().unit,
                   column.spec().description);
  return card;
}

}  // namespace tracelens
