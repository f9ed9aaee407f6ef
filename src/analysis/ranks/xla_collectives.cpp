#include "analysis/ranks/xla_collectives.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/ranks/device_groups.hpp"
#include "trace/hlo.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

struct Operation {
  std::string_view opcode, collective;
};
constexpr Operation kOperations[] = {
    {"all-reduce", "allreduce"},
    {"all-gather", "all_gather"},
    {"reduce-scatter", "reduce_scatter"},
    {"all-to-all", "all_to_all"},
    {"collective-permute", "collective_permute"},
    {"collective-broadcast", "broadcast"},
};

// The name of the operation; empty: none. "all-reduce-start" is one, its "-done" does nothing.
std::string_view collective_of(std::string_view opcode) {
  constexpr std::string_view kStart = "-start";
  if (opcode.ends_with(kStart)) opcode.remove_suffix(kStart.size());
  const auto* const found = std::ranges::find(kOperations, opcode, &Operation::opcode);
  return found == std::end(kOperations) ? std::string_view{} : found->collective;
}

// The collective that an instruction runs: itself, or what an async-start wraps.
const hlo::Instruction* collective_in(const hlo::Module& module, const hlo::Instruction& at) {
  if (!collective_of(at.opcode).empty()) return &at;
  if (at.opcode != "async-start" || at.calls.empty() ||
      at.calls.front() >= module.computations.size())
    return nullptr;
  for (const hlo::Instruction& wrapped : module.computations[at.calls.front()].instructions)
    if (!collective_of(wrapped.opcode).empty()) return &wrapped;
  return nullptr;
}

struct Size {
  std::string dtype;
  double elements = 0;
};
// Of all operands together; in bytes when they are of several types, or of one without a name here.
std::optional<Size> operands_of(const hlo::Module& module, hlo::Place place) {
  Size size;
  double bytes = 0;
  bool is_one_type = true;
  for (const std::uint32_t operand : module.at(place).operands) {
    if (operand == hlo::kNone) continue;
    const hlo::Shape& shape = module.at({place.computation, operand}).shape;
    const auto of_operand = shape.bytes();
    if (!of_operand) return std::nullopt;
    const std::string type{shape.type.name()};
    is_one_type = is_one_type && !shape.is_tuple() && (size.dtype.empty() || size.dtype == type);
    size.dtype = type;
    size.elements += shape.elements();
    bytes += *of_operand;
  }
  if (!is_one_type || !dtype_bytes(Value{size.dtype}, Edition::kExtended))
    size = {"bytes", std::ceil(bytes)};
  constexpr double kMost = 1e18;  // a size of 64 bits
  if (!(size.elements >= 0 && size.elements < kMost)) return std::nullopt;
  return size;
}

std::unique_ptr<XlaCollective> make(const hlo::Module& module, hlo::Place place, std::string name) {
  const hlo::Instruction* const collective = collective_in(module, module.at(place));
  if (collective == nullptr) return nullptr;
  auto op = std::make_unique<XlaCollective>();
  op->name = std::move(name);
  CollectiveMessage& message = op->message;
  message[kCollective] = std::string{collective_of(collective->opcode)};
  message[kGroupRanks] = device_groups_text(*collective);
  message[kInSplit] = message[kOutSplit] = "[]";  // the same amount for every rank
  if (const auto size = operands_of(module, place)) {
    message[kDtype] = size->dtype;
    message[kInElements] = static_cast<std::int64_t>(size->elements);
  }
  return op;
}

}  // namespace

XlaCollectives::XlaCollectives(const Trace& trace) {
  const auto modules = hlo::modules_of(trace);
  if (modules.empty()) return;
  const auto signatures = trace.signature_table();
  ops_.resize(signatures.size());
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const auto module = modules.find(hlo::program_of(signatures[i]));
    if (module == modules.end()) continue;
    const std::string_view name = trace.text(signatures[i].name);
    if (const auto place = module->second.place_of(name))
      ops_[i] = make(module->second, *place,
                     signatures[i].concrete.items().front().as_text() + '/' + std::string{name});
  }
}

}  // namespace tracelens
