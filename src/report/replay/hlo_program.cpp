#include "report/replay/hlo_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tracelens/json.hpp>

namespace tracelens {
namespace {

// A fusion has tens of instructions. What has thousands is a program, not an op.
constexpr std::size_t kMaxInstructions = 4096;

using Numbers = std::vector<std::int64_t>;

std::string text_of(const Numbers& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// One object of JSON.
class Object {
 public:
  void add(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? "{" : ", ";
    append_json_text(text_, key);
    text_ += ": ";
    text_ += json;
  }
  void add_text(std::string_view key, std::string_view text) {
    std::string json;
    append_json_text(json, text);
    add(key, json);
  }
  void add(std::string_view key, const Numbers& numbers) {
    if (!numbers.empty()) add(key, text_of(numbers));
  }
  template <class List, class Row>
  void add_rows(std::string_view key, const List& list, const Row& row_of) {
    std::string rows;
    for (const auto& item : list) rows += (rows.empty() ? "" : ", ") + text_of(row_of(item));
    if (!rows.empty()) add(key, "[" + rows + "]");
  }
  [[nodiscard]] std::string finish() && { return text_.empty() ? "{}" : std::move(text_) + "}"; }

 private:
  std::string text_;
};

// Protobuf's JSON has 64-bit integers as text.
Numbers numbers_in(const Value& config, std::string_view key) {
  Numbers numbers;
  const Value* const list = config.find(key);
  if (list == nullptr) return numbers;
  for (const Value& item : list->items()) {
    const auto number = item.is_text() ? parse_json_value(item.as_text()) : std::optional{item};
    numbers.push_back(number ? number->as_int() : 0);
  }
  return numbers;
}

std::string dot_text(const Numbers& lhs, const Numbers& rhs, const Numbers& lhs_batch,
                     const Numbers& rhs_batch) {
  return fmt::format("[{}, {}, {}, {}]", text_of(lhs), text_of(rhs), text_of(lhs_batch),
                     text_of(rhs_batch));
}

std::string real_in(const Value& config, std::string_view key, double otherwise) {
  const Value* const value = config.find(key);
  return json_text(value == nullptr || !value->is_number() ? otherwise : value->as_real());
}

std::string_view text_in(const Value& config, std::string_view key) {
  const Value* const value = config.find(key);
  return value == nullptr ? std::string_view{} : std::string_view{value->as_text()};
}

// What a library call computes. Of its settings (chosen algorithm, workspace) nothing is taken.
void add_library_call(Object& out, const hlo::Instruction& instruction) {
  out.add_text("target", instruction.target);
  const std::optional<Value> config = parse_json_value(instruction.backend_config);
  if (!config) return;
  if (const Value* const gemm = config->find("gemm_backend_config")) {
    if (const Value* const dims = gemm->find("dot_dimension_numbers"))
      out.add("dot", dot_text(numbers_in(*dims, "lhs_contracting_dimensions"),
                              numbers_in(*dims, "rhs_contracting_dimensions"),
                              numbers_in(*dims, "lhs_batch_dimensions"),
                              numbers_in(*dims, "rhs_batch_dimensions")));
    out.add("scale", real_in(*gemm, "alpha_real", 1));
    out.add("beta", real_in(*gemm, "beta", 0));
    out.add_text("epilogue", text_in(*gemm, "epilogue"));
  }
  if (const Value* const conv = config->find("cudnn_conv_backend_config"))
    out.add_text("epilogue", text_in(*conv, "activation_mode"));
  if (const Value* const attention = config->find("cudnn_fmha_backend_config")) {
    out.add("scale", real_in(*attention, "fmha_scale", 1));
    out.add("dropout", real_in(*attention, "dropout_rate", 0));
    out.add_text("mask", text_in(*attention, "mask_type"));
  }
}

void add_convolution(Object& out, const hlo::Instruction& instruction) {
  const hlo::ConvDims& conv = *instruction.conv;
  const auto spec = [](std::int64_t first, std::int64_t second, const Numbers& spatial) {
    Numbers all{first, second};
    all.insert(all.end(), spatial.begin(), spatial.end());
    return text_of(all);
  };
  out.add(
      "conv",
      fmt::format("[{}, {}, {}]", spec(conv.input_batch, conv.input_feature, conv.input_spatial),
                  spec(conv.kernel_output_feature, conv.kernel_input_feature, conv.kernel_spatial),
                  spec(conv.output_batch, conv.output_feature, conv.output_spatial)));
  out.add("groups", Numbers{instruction.feature_groups, instruction.batch_groups});
}

void add_indexing(Object& out, const hlo::IndexDims& dims) {
  Object indexing;
  indexing.add("offset", text_of(dims.offset));
  indexing.add("collapsed", text_of(dims.collapsed));
  indexing.add("map", text_of(dims.start_index_map));
  indexing.add("operand batch", text_of(dims.operand_batch));
  indexing.add("indices batch", text_of(dims.indices_batch));
  indexing.add("vector", fmt::format("{}", dims.index_vector));
  out.add("indexing", std::move(indexing).finish());
}

void add_attributes(Object& out, const hlo::Instruction& instruction) {
  if (instruction.opcode == "parameter") out.add("index", fmt::format("{}", instruction.parameter));
  if (instruction.opcode == "get-tuple-element")
    out.add("index", fmt::format("{}", instruction.tuple_index));
  out.add("dims", instruction.dimensions);
  if (!instruction.literal.empty()) out.add_text("value", instruction.literal);
  if (!instruction.comparison.empty()) out.add_text("compare", instruction.comparison);
  if (instruction.dot)
    out.add("dot", dot_text(instruction.dot->lhs_contracting, instruction.dot->rhs_contracting,
                            instruction.dot->lhs_batch, instruction.dot->rhs_batch));
  if (instruction.conv) add_convolution(out, instruction);
  out.add_rows("window", instruction.window, [](const hlo::WindowDim& dim) {
    return Numbers{dim.size,          dim.stride,          dim.padding_low,        dim.padding_high,
                   dim.base_dilation, dim.window_dilation, dim.is_reversed ? 1 : 0};
  });
  out.add_rows("slice", instruction.slice, [](const hlo::SliceDim& dim) {
    return Numbers{dim.start, dim.limit, dim.stride};
  });
  out.add("sizes", instruction.slice_sizes);
  out.add_rows("pad", instruction.padding, [](const hlo::PadDim& dim) {
    return Numbers{dim.low, dim.high, dim.interior};
  });
  if (instruction.indexing) add_indexing(out, *instruction.indexing);
  if (instruction.exponent_bits > 0)
    out.add("bits", Numbers{instruction.exponent_bits, instruction.mantissa_bits});
  if (std::ranges::any_of(instruction.precision, [](auto level) { return level > 0; }))
    out.add("precision", instruction.precision);
  if (!instruction.target.empty()) add_library_call(out, instruction);
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const hlo::Module& module) : module_{module} {}

  std::string write(hlo::Place place) {
    const hlo::Computation& around = module_.computations[place.computation];
    const hlo::Instruction& instruction = module_.at(place);
    std::string body;
    Numbers operands;
    for (const std::uint32_t at : instruction.operands) {
      if (at == hlo::kNone) continue;
      const hlo::Instruction& operand = around.instructions[at];
      Object parameter;
      parameter.add_text("op", "parameter");
      parameter.add_text("shape", operand.shape.text());
      parameter.add("index", fmt::format("{}", operands.size()));
      if (!operand.literal.empty()) parameter.add_text("value", operand.literal);
      body += std::move(parameter).finish() + ",\n";
      operands.push_back(static_cast<std::int64_t>(operands.size()));
    }
    body += text(instruction, operands);
    computations_ = computation_text(operands.size(), body);
    instructions_ = operands.size() + 1;
    // The list grows while computations name others.
    for (std::size_t i = 0; i < called_.size() && instructions_ <= kMaxInstructions; ++i)
      add(module_.computations[called_[i]]);
    if (instructions_ > kMaxInstructions)
      return fmt::format(R"({{"computations": [], "problem": "more than {} instructions"}})",
                         kMaxInstructions);
    return "{\"computations\": [" + computations_ + "]}";
  }

 private:
  static std::string computation_text(std::size_t root, std::string_view body) {
    return fmt::format("{{\"root\": {}, \"body\": [\n{}]}}", root, body);
  }

  void add(const hlo::Computation& computation) {
    instructions_ += computation.instructions.size();
    if (instructions_ > kMaxInstructions) return;
    std::string body;
    for (const hlo::Instruction& instruction : computation.instructions) {
      Numbers operands;
      for (const std::uint32_t at : instruction.operands)
        operands.push_back(at == hlo::kNone ? -1 : std::int64_t{at});
      body += (body.empty() ? "" : ",\n") + text(instruction, operands);
    }
    computations_ += ",\n" + computation_text(computation.root, body);
  }

  std::string text(const hlo::Instruction& instruction, const Numbers& operands) {
    Object out;
    out.add_text("op", instruction.opcode);
    out.add_text("shape", instruction.shape.text());
    out.add("in", operands);
    Numbers calls;
    for (const std::uint32_t computation : instruction.calls)
      if (computation != hlo::kNone) calls.push_back(position_of(computation));
    out.add("calls", calls);
    add_attributes(out, instruction);
    return std::move(out).finish();
  }

  std::int64_t position_of(std::uint32_t computation) {
    const auto [entry, is_new] = positions_.try_emplace(computation, called_.size() + 1);
    if (is_new) called_.push_back(computation);
    return static_cast<std::int64_t>(entry->second);
  }

  const hlo::Module& module_;
  std::string computations_;
  std::size_t instructions_ = 0;
  std::vector<std::uint32_t> called_;  // in the order of their positions, from 1
  std::map<std::uint32_t, std::size_t> positions_;
};

// What a fusion is about: the first of these in it, else what its root does.
constexpr std::array<std::string_view, 12> kTelling = {
    "dot",         "convolution", "scatter",
    "gather",      "sort",        "reduce-window",
    "fft",         "reduce",      "dynamic-update-slice",
    "concatenate", "transpose",   "dynamic-slice"};

}  // namespace

std::string hlo_program(const hlo::Module& module, hlo::Place place) {
  return ProgramWriter{module}.write(place);
}

std::string hlo_label(const hlo::Module& module, hlo::Place place) {
  const hlo::Instruction& instruction = module.at(place);
  if (!instruction.target.empty()) return instruction.target;
  if (instruction.opcode != "fusion" || instruction.calls.empty() ||
      instruction.calls.front() == hlo::kNone)
    return instruction.opcode;
  const hlo::Computation& body = module.computations[instruction.calls.front()];
  for (const std::string_view opcode : kTelling)
    if (std::ranges::find(body.instructions, opcode, &hlo::Instruction::opcode) !=
        body.instructions.end())
      return fmt::format("fusion({})", opcode);
  if (body.root >= body.instructions.size()) return "fusion";
  return fmt::format("fusion({})", body.instructions[body.root].opcode);
}

}  // namespace tracelens
