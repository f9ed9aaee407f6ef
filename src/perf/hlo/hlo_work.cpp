// hlo_work.cpp: see hlo_work.hpp. Matrix products, convolutions and attention: hlo_library.cpp.
#include "perf/hlo/hlo_work.hpp"

#include <algorithm>
#include <array>

#include "perf/core/dtype.hpp"

namespace tracelens::perf {
namespace {

using hlo::Instruction;

// Nested bodies are walked at most this far: a damaged module may call itself.
constexpr std::size_t kMostSteps = std::size_t{1} << 20;

bool is_float(hlo::ElementType type) {
  const std::string_view name = type.name();
  return name.starts_with('f') || name.starts_with("bf") || name.starts_with('c');
}

// One operation per element of the result.
bool is_arithmetic(std::string_view opcode) {
  constexpr std::array<std::string_view, 30> kOpcodes = {"add",
                                                         "subtract",
                                                         "multiply",
                                                         "divide",
                                                         "maximum",
                                                         "minimum",
                                                         "power",
                                                         "remainder",
                                                         "negate",
                                                         "abs",
                                                         "exponential",
                                                         "exponential-minus-one",
                                                         "log",
                                                         "log-plus-one",
                                                         "tanh",
                                                         "tan",
                                                         "sine",
                                                         "cosine",
                                                         "sqrt",
                                                         "rsqrt",
                                                         "cbrt",
                                                         "logistic",
                                                         "erf",
                                                         "atan2",
                                                         "floor",
                                                         "ceil",
                                                         "round-nearest-afz",
                                                         "round-nearest-even",
                                                         "sign",
                                                         "clamp"};
  return std::ranges::find(kOpcodes, opcode) != kOpcodes.end();
}

bool is_slice(std::string_view opcode) {
  return opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather";
}

bool is_scratch(const hlo::Shape& shape) {
  return shape.dims.size() == 1 && (shape.type.name() == "s8" || shape.type.name() == "u8");
}

std::string_view precision_of(hlo::ElementType type) {
  const std::string_view name = type.name();
  if (name == "bf16") return "bf16";
  if (name == "f16") return "fp16";
  if (name == "f32" || name == "c64") return "fp32";
  if (name == "f64" || name == "c128") return "fp64";
  if (name.starts_with("f8")) return "fp8";
  if (name.starts_with("f4")) return "fp4";
  if (name == "s8" || name == "u8") return "int8";
  return {};
}

}  // namespace

std::string hlo_compute_spec(hlo::ElementType type, bool is_matrix) {
  return compute_spec(is_matrix ? Unit::kMatrix : Unit::kVector, precision_of(type));
}

bool is_hlo_collective(std::string_view opcode) {
  constexpr std::array<std::string_view, 6> kFamilies = {
      "all-reduce",     "all-gather",         "all-to-all",
      "reduce-scatter", "collective-permute", "collective-broadcast"};
  return std::ranges::any_of(kFamilies, [opcode](auto name) { return opcode.starts_with(name); });
}

double HloCosts::own_flops(hlo::Place place, Body& sum) const {
  const Instruction& at = module_.at(place);
  double matrix = 0;
  hlo::ElementType type;
  if (const auto product = gemm(place)) {
    matrix = product->flops();
    type = product->a;
    sum.has_gemm = true;
  } else if (const auto convolution = conv(place)) {
    matrix = convolution->flops;
    type = convolution->input.type;
    sum.has_conv = true;
  } else if (const auto attends = attention(place)) {
    const auto& [sizes, causal, backward, element] = *attends;
    const double scores = 2 * sizes.b * sizes.h_q * sizes.n_q * sizes.n_kv * (causal ? 0.5 : 1);
    matrix = backward ? scores * (3 * sizes.d_qk + 2 * sizes.d_v)  // Q K^T is computed again
                      : scores * (sizes.d_qk + sizes.d_v);
    type = element;
  }
  if (matrix > 0) {
    sum.matrix_flops += matrix;
    if (matrix > sum.largest_matrix) {
      sum.largest_matrix = matrix;
      sum.matrix_type = type;
    }
    return matrix;
  }
  const hlo::Shape& result = at.shape.first_array();
  if (!is_float(result.type)) return 0;
  if (is_arithmetic(at.opcode)) return result.elements();
  if (at.opcode == "reduce") {
    const hlo::Shape* const input = operand(place, 0);
    return input == nullptr ? 0 : input->elements();
  }
  if (at.opcode == "reduce-window") {
    double window = 1;
    for (const hlo::WindowDim& dim : at.window) window *= static_cast<double>(dim.size);
    return result.elements() * window;
  }
  return 0;
}

HloCosts::Body HloCosts::body(hlo::Place place) const {
  Body sum;
  std::vector<hlo::Place> open{place};
  for (std::size_t steps = 0; !open.empty() && steps < kMostSteps; ++steps) {
    const hlo::Place at = open.back();
    open.pop_back();
    const Instruction& instruction = module_.at(at);
    if (instruction.opcode != "fusion") {
      sum.flops += own_flops(at, sum);
      continue;
    }
    for (const std::uint32_t called : instruction.calls) {
      if (called == hlo::kNone) continue;
      const std::size_t count = module_.computations[called].instructions.size();
      for (std::uint32_t i = 0; i < count && open.size() < kMostSteps; ++i)
        open.push_back({called, i});
    }
  }
  return sum;
}

// What a fusion reads of a parameter that it only takes slices of, or updates in place, is less
// than the parameter.
std::optional<double> HloCosts::bytes_read(hlo::Place place, std::size_t index) const {
  const hlo::Shape* const whole = operand(place, index);
  if (whole == nullptr) return 0;
  const Instruction& at = module_.at(place);
  if (at.opcode != "fusion" || at.calls.empty() || at.calls.front() == hlo::kNone)
    return whole->bytes();
  const std::uint32_t called = at.calls.front();
  const auto& body = module_.computations[called].instructions;
  const auto parameter = std::ranges::find_if(body, [index](const Instruction& inner) {
    return inner.opcode == "parameter" && inner.parameter == static_cast<std::int64_t>(index);
  });
  if (parameter == body.end()) return whole->bytes();
  const auto position = static_cast<std::uint32_t>(parameter - body.begin());
  double read = 0;
  bool is_used = false;
  for (const Instruction& user : body) {
    if (std::ranges::find(user.operands, position) == user.operands.end()) continue;
    is_used = true;
    const bool is_source = user.operands.front() == position;
    if (is_source && user.opcode == "dynamic-update-slice") continue;  // only written
    const auto part = user.shape.bytes();
    if (!is_source || !is_slice(user.opcode) || !part) return whole->bytes();
    read += *part;
  }
  return is_used ? std::optional{read} : whole->bytes();
}

std::optional<double> HloCosts::bytes_written(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  if (at.opcode == "fusion" && !at.calls.empty() && at.calls.front() != hlo::kNone) {
    const hlo::Computation& body = module_.computations[at.calls.front()];
    if (body.root != hlo::kNone) {
      const Instruction& root = body.instructions[body.root];
      if (root.opcode == "dynamic-update-slice" && root.operands.size() > 1 &&
          root.operands[1] != hlo::kNone)
        return body.instructions[root.operands[1]].shape.bytes();
    }
  }
  if (!at.shape.is_tuple()) return at.shape.bytes();
  double sum = 0;
  for (const hlo::Shape& part : at.shape.parts) {
    if (at.opcode == "custom-call" && is_scratch(part)) continue;
    const auto bytes = part.bytes();
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

std::optional<double> HloCosts::bytes(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  std::optional<double> sum = bytes_written(place);
  for (std::size_t i = 0; i < at.operands.size() && sum; ++i) {
    const auto same = std::find(
        at.operands.begin(), at.operands.begin() + static_cast<std::ptrdiff_t>(i), at.operands[i]);
    if (same != at.operands.begin() + static_cast<std::ptrdiff_t>(i)) continue;  // read already
    const hlo::Shape* const shape = operand(place, i);
    if (shape != nullptr && shape->type.name() == "token") continue;
    const auto read = bytes_read(place, i);
    sum = read ? std::optional{*sum + *read} : std::nullopt;
  }
  return sum;
}

OrReason<Work> HloCosts::work(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  if (is_hlo_collective(at.opcode)) {
    Work work;  // the collectives' own tables say what leaves and enters
    if (const hlo::Shape* const payload = operand(place, 0)) work.bytes = payload->bytes();
    return work;
  }
  const Body sum = body(place);
  if (at.opcode == "custom-call" && sum.flops == 0)
    return Reason{Reason::Kind::kNoModel, "no model of custom call " + at.target};
  const bool is_matrix = sum.matrix_flops > 0;
  const hlo::Shape& result = at.shape.first_array();
  Work work{.flops = sum.flops,
            .bytes = bytes(place),
            .compute_spec = hlo_compute_spec(is_matrix ? sum.matrix_type : result.type, is_matrix),
            .params = {}};
  if (!is_matrix && work.compute_spec.empty()) work.compute_spec = "vector_fp32";
  return work;
}

std::string HloCosts::kind(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  if (is_hlo_collective(at.opcode)) return "collective";
  if (attention(place)) return "attention";
  const Body sum = body(place);
  if (sum.has_conv) return "conv";
  if (sum.has_gemm) return "gemm";
  if (at.opcode == "copy" || at.opcode == "copy-start") return "copy";
  return at.opcode;
}

}  // namespace tracelens::perf
