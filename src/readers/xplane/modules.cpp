#include "readers/xplane/modules.hpp"

#include <fmt/format.h>

#include <utility>

namespace tracelens::xplane {
namespace {

Value dims_value(const hlo::Shape& shape) {
  std::vector<Value> dims;
  dims.reserve(shape.dims.size());
  for (const std::int64_t dim : shape.dims) dims.emplace_back(dim);
  return Value::tuple(std::move(dims));
}

// The arrays an instruction reads: dims and types, one of each per operand.
void set_operands(const hlo::Module& module, hlo::Place place, Signature& signature) {
  std::vector<Value> dims, types;
  for (const std::uint32_t operand : module.at(place).operands) {
    if (operand == hlo::kNone) continue;
    const hlo::Shape& shape = module.at({place.computation, operand}).shape.first_array();
    dims.push_back(dims_value(shape));
    types.emplace_back(std::string{shape.type.name()});
  }
  signature.dims = Value::tuple(std::move(dims));
  signature.types = Value::tuple(std::move(types));
}

}  // namespace

void Program::use() {
  if (is_used_) return;
  is_used_ = true;
  if (proto_.empty()) return;
  module_ = hlo::decode(proto_);
  if (module_) aligner_.emplace(*module_);
}

bool Program::is_single_op() const { return aligner_ && aligner_->launching_instructions() == 1; }

std::optional<hlo::Place> Program::place_of(std::string_view hlo_op) const {
  if (const std::size_t nested = hlo_op.rfind("::"); nested != std::string_view::npos)
    hlo_op.remove_prefix(nested + 2);
  if (hlo_op.starts_with('%')) hlo_op.remove_prefix(1);
  if (const auto place = module_->place_of(hlo_op)) return place;
  // Older profilers name an instruction without the last number of a scheduled module's names.
  if (const auto place = module_->place_of(std::string{hlo_op} + ".0")) return place;
  // A collective may run as the pair F-start, F-done and be named F.
  for (const std::string_view family :
       {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute"})
    if (hlo_op.starts_with(family) && !hlo_op.substr(family.size()).starts_with('-'))
      return module_->place_of(fmt::format("{}-start{}", family, hlo_op.substr(family.size())));
  return std::nullopt;
}

const HloOp* Program::op(std::string_view hlo_op) {
  if (const auto found = by_name_.find(hlo_op); found != by_name_.end()) return found->second;
  const HloOp* op = nullptr;
  if (!module_) {
    op = add(hlo_op);
  } else if (const auto place = place_of(hlo_op); place && launches_work(module_->at(*place))) {
    op = at(*place);
  }
  by_name_.emplace(hlo_op, op);
  return op;
}

std::vector<Program::Launch> Program::align(std::string_view hlo_op,
                                            std::span<const std::string_view> kernels) {
  std::vector<Launch> launches;
  std::uint32_t computation = module_->entry;
  if (const auto place = place_of(hlo_op)) {  // a call or a loop
    const hlo::Instruction& at = module_->at(*place);
    if (!at.calls.empty() && at.calls.front() != hlo::kNone) computation = at.calls.front();
  }
  for (const auto& [place, is_first] : aligner_->align(computation, kernels))
    launches.push_back(
        {.op = place.instruction == hlo::kNone ? add(hlo_op) : at(place), .is_first = is_first});
  return launches;
}

void Program::saw(StringId kernel, const HloOp& op) {
  const auto [entry, is_new] = by_kernel_.try_emplace(kernel.row, &op);
  if (!is_new && entry->second != &op) entry->second = nullptr;
}

const HloOp* Program::op_of_kernel(StringId kernel) {
  if (const auto found = by_kernel_.find(kernel.row); found != by_kernel_.end())
    return found->second;
  const HloOp* op = nullptr;
  if (module_) {
    const KernelName name{builder_.text(kernel)};
    const auto place = aligner_->place_of_kernel(name);
    if (place) op = at(*place);
  }
  by_kernel_.emplace(kernel.row, op);
  return op;
}

const HloOp* Program::at(hlo::Place place) {
  const HloOp*& op = by_place_[std::uint64_t{place.computation} << 32 | place.instruction];
  if (op == nullptr) op = add(module_->at(place).name, place);
  return op;
}

const HloOp* Program::add(std::string_view name, std::optional<hlo::Place> place) {
  // Two names may mean one instruction, so ops are kept by the instruction's own.
  if (const auto found = by_own_name_.find(name); found != by_own_name_.end()) return found->second;
  Signature signature;
  signature.name = builder_.intern(name);
  signature.concrete = Value::tuple({Value{name_}, Value{key_}});
  HloOp& op = ops_.emplace_back();
  std::string label{name};
  if (place) {
    set_operands(*module_, *place, signature);
    if (const std::string origin = hlo::origin_text(module_->at(*place)); !origin.empty())
      label += fmt::format(" ({})", origin);
    op.position = aligner_->entry_position(*place);
    op.is_in_loop = place->computation != module_->entry;
  }
  op.signature = builder_.intern(std::move(signature));
  op.label = builder_.intern(label);
  by_own_name_.emplace(name, &op);
  return &op;
}

void Modules::start_host(std::string_view host) {
  if (has_host_) prefix_ = fmt::format("{}/", host);
}

void Modules::add(std::int64_t id, std::string_view name, std::string_view proto) {
  Program& program =
      programs_.emplace_back(builder_, std::string{name}, fmt::format("{}{}", prefix_, id), proto);
  by_id_[id] = &program;
  by_name_.emplace(std::string{name}, &program);
}

Program& Modules::find(std::optional<std::int64_t> id, std::string_view name) {
  if (id)
    if (const auto found = by_id_.find(*id); found != by_id_.end()) return *found->second;
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  add(id.value_or(-1), name, {});
  return programs_.back();
}

void Modules::finish_host() {
  for (const Program& program : programs_) {
    if (!program.is_used()) continue;
    without_hlo_ += program.has_hlo() ? 0 : 1;
    if (!program.has_hlo()) continue;
    used_keys_.push_back(program.key());
    used_protos_.emplace_back(std::string{program.proto()});
  }
  has_host_ = true;
  programs_.clear();
  by_id_.clear();
  by_name_.clear();
}

void Modules::finish() {
  if (!used_keys_.empty())
    builder_.add_metadata(std::string{hlo::kModulesKey},
                          Value::dict(std::move(used_keys_), std::move(used_protos_)));
  if (without_hlo_ > 0)
    builder_.warnings().add("compiled module without its HLO: its ops have no shapes or FLOPs", 0,
                            without_hlo_);
}

}  // namespace tracelens::xplane
