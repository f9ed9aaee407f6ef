// modules.hpp: the compiled modules of a profile, and the HLO op each kernel belongs to.
//   Program* program = modules.find(program_id, "jit_step");
//   const HloOp* op = program->op("gemm_fusion_dot.40");      // null: ask align()
// Modules are decoded when the first kernel asks for them; those nobody asks for are left out of
// the trace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <vector>

#include "readers/xplane/hlo_align.hpp"
#include "trace/hlo.hpp"

namespace tracelens::xplane {

// An instruction as the trace knows it.
struct HloOp {
  SignatureId signature;
  StringId label;  // "gemm_fusion_dot.40 (jit(step)/jvp(attn)/dot_general, model.py:31)"
  std::uint32_t position = hlo::kNone;  // in the order of the module
  bool is_in_loop = false;
};

class Program {
 public:
  Program(TraceBuilder& builder, std::string name, std::string key, std::string_view proto)
      : builder_{builder}, name_{std::move(name)}, key_{std::move(key)}, proto_{proto} {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] std::string_view proto() const { return proto_; }
  [[nodiscard]] bool has_hlo() const { return module_.has_value(); }
  [[nodiscard]] bool is_used() const { return is_used_; }
  // Whether only one instruction launches anything: each of its runs is a run of the module.
  [[nodiscard]] bool is_single_op() const;

  // The op a kernel names; null when it names something that runs many (a graph, a loop).
  [[nodiscard]] const HloOp* op(std::string_view hlo_op);
  // The ops of kernels that were launched together by such a thing, one per kernel.
  struct Launch {
    const HloOp* op = nullptr;
    bool is_first = true;  // kernel of this run of the op
  };
  [[nodiscard]] std::vector<Launch> align(std::string_view hlo_op,
                                          std::span<const std::string_view> kernels);
  // For kernels that the profiler did not annotate: the one op that kernels of this name belong to,
  // by those seen so far or because XLA named the kernel after it; null when that is not certain.
  void saw(StringId kernel, const HloOp& op);
  [[nodiscard]] const HloOp* op_of_kernel(StringId kernel);
  // Decodes the module; called once before the first question.
  void use();

 private:
  // Names are those of profiles and modules: kept as text, asked for as views.
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  const HloOp* at(hlo::Place place);
  const HloOp* add(std::string_view name, std::optional<hlo::Place> place = std::nullopt);
  [[nodiscard]] std::optional<hlo::Place> place_of(std::string_view hlo_op) const;

  TraceBuilder& builder_;
  std::string name_, key_;
  std::string_view proto_;
  bool is_used_ = false;
  std::optional<hlo::Module> module_;
  std::optional<HloAligner> aligner_;
  std::deque<HloOp> ops_;                                      // never move
  std::unordered_map<std::uint32_t, const HloOp*> by_kernel_;  // null: kernels of several ops
  // By what kernels call them; null: runs many. By the instruction's own name; by its place.
  std::unordered_map<std::string, const HloOp*, TextHash, std::equal_to<>> by_name_, by_own_name_;
  std::unordered_map<std::uint64_t, const HloOp*> by_place_;
};

class Modules {
 public:
  explicit Modules(TraceBuilder& builder) : builder_{builder} {}

  // A module of the profile; `id` as the kernels of this host refer to it.
  void add(std::int64_t id, std::string_view name, std::string_view proto);
  // Keys of a second host get its name in front.
  void start_host(std::string_view host);
  // By id, else by name; made up, without HLO, when the profile does not have it.
  [[nodiscard]] Program& find(std::optional<std::int64_t> id, std::string_view name);
  // Takes over what was used of the modules: the bytes they were added from may go then.
  void finish_host();
  // Puts them into the trace's metadata.
  void finish();

 private:
  TraceBuilder& builder_;
  std::string prefix_;  // of keys, from the second host on
  std::deque<Program> programs_;
  std::map<std::int64_t, Program*> by_id_;
  std::map<std::string, Program*, std::less<>> by_name_;
  std::vector<std::string> used_keys_;
  std::vector<Value> used_protos_;
  std::uint64_t without_hlo_ = 0;
  bool has_host_ = false;
};

}  // namespace tracelens::xplane
