#include "analysis/jax/ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tracelens {
namespace {

// As HLO text: shapes of a tuple without blanks between them.
std::string shape_text(const hlo::Shape& shape) {
  std::string text = shape.text();
  for (std::size_t at = text.find(", "); at != std::string::npos; at = text.find(", ", at))
    text.erase(at + 1, 1);
  return text;
}

// metadata={op_name="jit(f)/dot_general" source_file="f.py" source_line=77, cut where the Python
// TraceLens cuts it: at the first character it does not expect, the closing brace at the latest.
std::string metadata_text(const hlo::Instruction& instruction) {
  std::string fields;
  const auto add = [&fields](std::string_view key, const std::string& value) {
    if (!value.empty()) fields += fmt::format("{}{}=\"{}\"", fields.empty() ? "" : " ", key, value);
  };
  add("op_type", instruction.op_type);
  add("op_name", instruction.op_name);
  add("source_file", instruction.source_file);
  if (instruction.source_line != 0)
    fields += fmt::format(" source_line={}", instruction.source_line);
  add("deduplicated_name", instruction.deduplicated_name);
  add("scheduling_name", instruction.scheduling_name);
  if (fields.empty()) return "NA";
  const auto unexpected = std::ranges::find_if(fields, [](unsigned char c) {
    return std::isalnum(c) == 0 &&
           std::string_view{"_=\"()/ @.-"}.find(static_cast<char>(c)) == std::string_view::npos;
  });
  return "metadata={" + std::string{fields.begin(), unexpected};
}

void set_operands(const hlo::Module& module, JaxOp& op) {
  std::vector<Value> dims, types;
  for (const std::uint32_t operand : op.instruction->operands) {
    if (operand == hlo::kNone) continue;
    const hlo::Shape& shape = module.at({op.place.computation, operand}).shape;
    op.operands.push_back(shape_text(shape));
    const hlo::Shape& array = shape.first_array();
    if (array.dims.empty()) continue;
    std::vector<Value> sizes;
    for (const std::int64_t dim : array.dims) sizes.emplace_back(dim);
    dims.push_back(Value::tuple(std::move(sizes)));
    types.emplace_back(std::string{array.type.name()});
    if (!shape.is_tuple()) op.input_bytes += shape.bytes().value_or(0);
  }
  op.dims = Value::tuple(std::move(dims));
  op.types = Value::tuple(std::move(types));
}

}  // namespace

JaxOps::JaxOps(const Trace& trace)
    : trace_{trace}, modules_{hlo::modules_of(trace)}, ops_(trace.signature_table().size()) {
  for (std::size_t i = 0; i < ops_.size(); ++i) ops_[i] = make(trace.signature_table()[i]);
}

const JaxOp* JaxOps::of(SignatureId signature) const {
  return signature.valid() ? ops_[signature.row].get() : nullptr;
}

const JaxOp* JaxOps::of(EventId event) const { return of(trace_.signatures()[event.row]); }

std::unique_ptr<JaxOp> JaxOps::make(const Signature& signature) const {
  const std::string program = hlo::program_of(signature);
  if (program.empty()) return nullptr;
  auto op = std::make_unique<JaxOp>();
  op->name = trace_.text(signature.name);
  op->module = signature.concrete.items().front().as_text();
  op->metadata = op->target = "NA";
  op->dims = op->types = Value::tuple({});
  const auto module = modules_.find(program);
  if (module == modules_.end()) return op;
  op->hlo = &module->second;
  const auto place = op->hlo->place_of(op->name);
  if (!place) return op;
  op->place = *place;
  op->instruction = &op->hlo->at(*place);
  set_operands(*op->hlo, *op);
  op->metadata = metadata_text(*op->instruction);
  if (!op->instruction->target.empty())
    op->target = fmt::format("custom_call_target=\"{}\"", op->instruction->target);
  const perf::HloCosts costs{*op->hlo};
  op->kind = costs.kind(*place);
  op->gemm = costs.gemm(*place);
  op->conv = costs.conv(*place);
  op->attention = costs.attention(*place);
  if (auto work = costs.work(*place)) op->work = *std::move(work);
  return op;
}

}  // namespace tracelens
