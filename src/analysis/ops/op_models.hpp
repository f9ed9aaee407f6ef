// op_models.hpp: the performance models' answers for the ops of one trace, each computed once.
//   OpModels models{trace, table, Edition::kReference};
//   const OpModels::Answer answer = models.ask(event, Pass::kForward, kernels);
//   if (const auto& work = models[answer]) use(work->flops);
// Nearly every answer depends on the signature alone. The `transpose` of a GEMM comes from the name
// of its kernel, and the models marked OpInfo::per_call look at more; those get one answer per
// distinct combination of what they see.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <tracelens/model.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/kit/group_rows.hpp"
#include "analysis/ops/launch_table.hpp"
#include "facts/serving_steps.hpp"
#include "perf/registry/op_registry.hpp"
#include "perf/registry/run_models.hpp"

namespace tracelens {

class OpModels {
 public:
  using Answer = std::uint32_t;
  static constexpr Answer kNotAsked = 0xffffffff;

  // `all_steps`: the reference's report of serving traces looks up the step of all attention, its
  // other one that of a single op; the extended edition always does.
  OpModels(const Trace& trace, const LaunchTable& table, const perf::RunModels& models,
           bool all_steps = false);

  [[nodiscard]] const perf::OpInfo* info(EventId event);  // null: unknown op
  [[nodiscard]] bool has_model(EventId event);
  // `kernels`: the GPU events whose time the answer is for, by start.
  [[nodiscard]] Answer ask(EventId event, Pass pass, std::span<const GpuPosition> kernels);
  // Answers stay where they are.
  [[nodiscard]] const OrReason<Work>& operator[](Answer answer) const { return answers_[answer]; }
  [[nodiscard]] std::size_t size() const { return answers_.size(); }
  [[nodiscard]] Edition edition() const { return set_.edition(); }

 private:
  enum class Known : std::uint8_t { kNotYet, kNo, kYes };
  struct NameInfo {
    bool known = false;
    const perf::OpInfo* info = nullptr;
    bool is_gemm = false;
    Known without_arguments = Known::kNotYet;  // whether a call without any has a model
  };
  struct Last {
    std::uint32_t transpose = 0;
    Answer answer = kNotAsked;
  };
  // What a per-call model sees beyond the signature; 0xffffffff: nothing.
  struct PerCall {
    SignatureId forward;
    std::uint32_t kernel_names = 0xffffffff;
    const ServingStep* step = nullptr;
    StringId details;  // what was written into a made-up op: Trace::detail_texts()
  };

  const NameInfo& name_info(StringId name);
  const Signature& signature_of(EventId event) const;
  std::uint32_t transpose_of(std::span<const GpuPosition> kernels);
  PerCall per_call(EventId event, std::span<const GpuPosition> kernels);
  SignatureId forward_call(EventId event);
  const ServingStep* step_of(EventId event);
  bool knows_step(EventId event) const;
  Answer run(EventId event, Pass pass, std::uint32_t transpose, const PerCall& per_call,
             std::span<const GpuPosition> kernels);

  const Trace& trace_;
  const LaunchTable& table_;
  perf::RunModels set_;
  bool all_steps_;
  std::vector<NameInfo> by_name_;             // by StringId
  std::vector<Known> models_;                 // by SignatureId
  std::vector<Last> last_[2];                 // by Pass, SignatureId: nearly always the answer
  std::vector<std::uint32_t> transposes_of_;  // by StringId of a kernel: 0 not yet, 1 none
  std::vector<Value> transposes_;             // the distinct ones, from 2 on
  KeyIndex keys_, kernel_lists_;
  std::deque<OrReason<Work>> answers_;  // by KeyIndex of keys_
  std::unordered_map<std::int64_t, std::vector<EventId>> by_sequence_;
  bool has_sequences_ = false;
  std::optional<ServingSteps> steps_;  // once asked for
};

}  // namespace tracelens
