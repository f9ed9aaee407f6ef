// hlo.hpp: the compiled modules a JAX profile carries, as a graph of plain structs.
//   const std::optional<hlo::Module> module = hlo::decode(bytes);       // a serialized HloProto
//   if (const hlo::Instruction* dot = module->find("gemm_fusion_dot.40")) use(dot->shape);
// A module is a list of computations, a computation a list of instructions in which operands come
// before their users. Instructions are referred to by position; kNone where the file names one that
// is not there. The readers use this to say which op a kernel belongs to, perf/ to say what it
// costs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens::hlo {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// XLA's PrimitiveType: a number with a name ("bf16") and a size.
struct ElementType {
  int number = 0;
  [[nodiscard]] std::string_view name() const;    // "bf16"; "invalid" when unknown
  [[nodiscard]] std::optional<int> bits() const;  // none: tuples, tokens, opaque, unknown
  bool operator==(const ElementType&) const = default;
};
inline constexpr ElementType kTuple{13};

struct Shape {
  ElementType type;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> minor_to_major;
  std::vector<Shape> parts;  // of a tuple

  [[nodiscard]] bool is_tuple() const { return type == kTuple; }
  [[nodiscard]] double elements() const;              // of an array; 1 for a scalar
  [[nodiscard]] std::optional<double> bytes() const;  // all parts of a tuple; none: unknown type
  [[nodiscard]] std::string text() const;             // "bf16[8,512]{1,0}", "(f32[2]{0}, u8[0]{0})"
  [[nodiscard]] const Shape& first_array() const;     // itself, or the first array of a tuple
};

struct DotDims {
  std::vector<std::int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

struct WindowDim {
  std::int64_t size = 1, stride = 1, base_dilation = 1, window_dilation = 1;
  std::int64_t padding_low = 0, padding_high = 0;
  bool is_reversed = false;
};

struct SliceDim {
  std::int64_t start = 0, limit = 0, stride = 1;
};

struct PadDim {
  std::int64_t low = 0, high = 0, interior = 0;
};

// Of a gather; a scatter has the same under other names (update_window_dims, ...).
struct IndexDims {
  std::vector<std::int64_t> offset, collapsed, start_index_map, operand_batch, indices_batch;
  std::int64_t index_vector = 0;
};

struct ConvDims {
  std::int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  std::int64_t input_batch = 0, input_feature = 0, output_batch = 0, output_feature = 0;
  std::vector<std::int64_t> kernel_spatial, input_spatial, output_spatial;
};

struct Instruction {
  std::string name, opcode;
  Shape shape;                           // of its result
  std::vector<std::uint32_t> operands;   // in the same computation
  std::vector<std::uint32_t> calls;      // computations: fusion body, loop body and condition, ...
  std::int64_t parameter = 0;            // of a parameter: which one
  std::int64_t tuple_index = 0;          // of a get-tuple-element
  std::vector<std::int64_t> dimensions;  // of a reduce, transpose, broadcast, concatenate, ...
  std::string target;                    // of a custom call: "__cublas$lt$matmul"
  std::string backend_config;  // JSON, or an MLIR attribute dictionary for typed FFI calls
  std::optional<DotDims> dot;
  std::optional<ConvDims> conv;
  std::vector<WindowDim> window;
  std::int64_t feature_groups = 1, batch_groups = 1;  // of a convolution
  std::vector<SliceDim> slice;
  std::vector<std::int64_t> slice_sizes;  // of a dynamic-slice or gather
  std::vector<PadDim> padding;
  std::optional<IndexDims> indexing;
  std::string comparison;                             // "LT"
  std::int64_t exponent_bits = 0, mantissa_bits = 0;  // of a reduce-precision
  std::vector<std::int64_t> precision;                // by operand: 0 default, 1 high, 2 highest
  std::string literal;  // a constant of one element: "0.5", "-inf", "true"; empty: not known
  // --- of a collective ---
  std::int64_t group_size = 0;  // devices that take part; 0: not said
  // As HLO writes them: "{{0,1},{2,3}}", "[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)"; empty: not said.
  std::string replica_groups;
  std::string source_target_pairs;  // of a permutation: "{{0,1},{1,0}}"

  // --- where it comes from ---
  std::string op_type, op_name;  // "jit(step)/jvp(attn)/dot_general"
  std::string source_file;
  int source_line = 0;
  std::string deduplicated_name, scheduling_name;
};

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  std::uint32_t root = kNone;
  std::vector<std::uint32_t> schedule;  // in order of execution; empty: the order of `instructions`
};

// Where an instruction stands.
struct Place {
  std::uint32_t computation = kNone, instruction = kNone;
  bool operator==(const Place&) const = default;
};

struct Module {
  std::string name;
  std::vector<Computation> computations;
  std::uint32_t entry = kNone;

  [[nodiscard]] const Instruction& at(Place place) const {
    return computations[place.computation].instructions[place.instruction];
  }
  // Names are unique in a module. Nothing when there is none of this name.
  [[nodiscard]] std::optional<Place> place_of(std::string_view name) const;
  [[nodiscard]] const Instruction* find(std::string_view name) const;

 private:
  friend std::optional<Module> decode(std::string_view bytes);
  std::map<std::string, Place, std::less<>> places_;
};

// Nothing when the bytes are no HloProto.
[[nodiscard]] std::optional<Module> decode(std::string_view bytes);

// The scope and line of an instruction for a person: "jit(step)/jvp(attn)/dot_general,
// model.py:31"; empty when the module does not say.
[[nodiscard]] std::string origin_text(const Instruction& instruction);

// --- how a Trace carries modules ---
// Trace metadata kModulesKey: a dict from program id to the serialized HloProto, for every module
// that ran on a GPU. An op's Signature has concrete = (module name, program id), and its name is
// that of the instruction.
inline constexpr std::string_view kModulesKey = "hlo_modules";

// All of them, decoded. A trace of another format has none.
[[nodiscard]] std::map<std::string, Module, std::less<>> modules_of(const Trace& trace);

// The key of the module in modules_of() that an op's signature names; "" when it is no HLO op.
[[nodiscard]] std::string program_of(const Signature& signature);

}  // namespace tracelens::hlo
