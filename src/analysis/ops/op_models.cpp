#include "analysis/ops/op_models.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "perf/matrix/gemm_kernel_name.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kBackwardSuffix = "Backward";

// The beginnings of the names of the ops of which the Python TraceLens's report of serving traces
// looks up the step; its other report does so of the first alone.
constexpr std::array<std::string_view, 14> kReferenceStepOps = {
    "vllm::unified_attention_with_output",
    "aiter::fmha_v3_varlen_fwd",
    "aiter::mha_batch_prefill",
    "aiter::mha_varlen_fwd",
    "aiter::pa_decode_gluon",
    "aiter::v4_attention_with_output",
    "pseudo_mla_decode_fwd",
    "pseudo_mla_prefill_fwd",
    "pseudo_v4_paged_decode_csa",
    "pseudo_v4_paged_decode_hca",
    "pseudo_v4_paged_decode_swa",
    "sglang_profiler::attention_paged_attention_ragged",
    "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd",
    "vllm::gdn_attention_core",
};

}  // namespace

OpModels::OpModels(const Trace& trace, const LaunchTable& table, const perf::RunModels& models,
                   bool all_steps)
    : trace_{trace},
      table_{table},
      set_{models},
      all_steps_{all_steps},
      by_name_(trace.string_count()),
      models_(trace.signature_table().size()),
      transposes_of_(trace.string_count()),
      transposes_(2) {
  for (auto& last : last_) last.resize(trace.signature_table().size());
}

const OpModels::NameInfo& OpModels::name_info(StringId name) {
  NameInfo& entry = by_name_[name.row];
  if (!entry.known) {
    entry.known = true;
    entry.info = set_.find_op(trace_.text(name));
    entry.is_gemm = entry.info != nullptr && entry.info->sheet == "GEMM";
  }
  return entry;
}

const perf::OpInfo* OpModels::info(EventId event) {
  return name_info(trace_.names()[event.row]).info;
}

const Signature& OpModels::signature_of(EventId event) const {
  static const Signature kNoArguments;
  const SignatureId id = trace_.signatures()[event.row];
  return id.valid() ? trace_.signature(id) : kNoArguments;
}

bool OpModels::has_model(EventId event) {
  const SignatureId id = trace_.signatures()[event.row];
  // Python frames, which most events of a trace may be, have a name and no arguments.
  Known& known =
      id.valid() ? models_[id.row] : by_name_[trace_.names()[event.row].row].without_arguments;
  if (known == Known::kNotYet) {
    const OpCall call{.name = trace_.name(event), .args = signature_of(event)};
    known = set_.has_model(call) ? Known::kYes : Known::kNo;
  }
  return known == Known::kYes;
}

std::uint32_t OpModels::transpose_of(std::span<const GpuPosition> kernels) {
  for (const GpuPosition position : kernels) {
    const StringId name = table_.gpu_events()[position].name;
    std::uint32_t& id = transposes_of_[name.row];
    if (id == 0) {
      const std::string_view names[] = {trace_.text(name)};
      const std::optional<Value> transpose = perf::gemm_transpose(names);
      if (transpose) {
        const auto found = std::find(transposes_.begin() + 2, transposes_.end(), *transpose);
        id = static_cast<std::uint32_t>(found - transposes_.begin());
        if (found == transposes_.end()) transposes_.push_back(*transpose);
      } else {
        id = 1;
      }
    }
    if (id > 1) return id;
  }
  return 1;
}

// The call that a backward op names by its own name and shares the sequence number with.
SignatureId OpModels::forward_call(EventId event) {
  const std::string_view name = trace_.name(event);
  const auto sequence = trace_.sequence_numbers().at(event);
  if (!sequence || !name.ends_with(kBackwardSuffix)) return {};
  if (!has_sequences_) {
    has_sequences_ = true;
    const auto& column = trace_.sequence_numbers();
    for (std::size_t i = 0; i < column.rows().size(); ++i) {
      const EventId other{column.rows()[i]};
      if (trace_.category(other) == Category::kCpuOp && info(other) != nullptr)
        by_sequence_[column.values()[i]].push_back(other);
    }
  }
  const std::string_view forward = name.substr(0, name.size() - kBackwardSuffix.size());
  const auto found = by_sequence_.find(*sequence);
  if (found == by_sequence_.end()) return {};
  for (const EventId other : found->second)
    if (trace_.name(other) == forward) return trace_.signatures()[other.row];
  return {};
}

bool OpModels::knows_step(EventId event) const {
  if (edition() == Edition::kExtended) return true;
  return std::ranges::any_of(
      std::span{kReferenceStepOps}.first(all_steps_ ? kReferenceStepOps.size() : 1),
      [&](std::string_view start) { return trace_.name(event).starts_with(start); });
}

// Of attention only: the other models would get one answer per step for nothing.
const ServingStep* OpModels::step_of(EventId event) {
  if (info(event)->sheet != "InferenceAttention" || !knows_step(event)) return nullptr;
  if (!steps_) steps_.emplace(trace_);
  return steps_->around(trace_, event);
}

OpModels::PerCall OpModels::per_call(EventId event, std::span<const GpuPosition> kernels) {
  PerCall seen{.forward = forward_call(event),
               .step = step_of(event),
               .details = trace_.detail_texts().at(event).value_or(StringId{})};
  for (const GpuPosition position : kernels)
    seen.kernel_names =
        kernel_lists_.id_of({seen.kernel_names, table_.gpu_events()[position].name.row});
  return seen;
}

OpModels::Answer OpModels::ask(EventId event, Pass pass, std::span<const GpuPosition> kernels) {
  // Ops nested without end are asked about all kernels below them time and again.
  constexpr std::size_t kLookedAt = 1000;
  kernels = kernels.first(std::min(kernels.size(), kLookedAt));
  const NameInfo& name = name_info(trace_.names()[event.row]);
  const std::uint32_t transpose = name.is_gemm ? transpose_of(kernels) : 1;
  const SignatureId id = trace_.signatures()[event.row];
  const bool per_call_model = name.info != nullptr && name.info->per_call;
  if (per_call_model || !id.valid())
    return run(event, pass, transpose, per_call_model ? per_call(event, kernels) : PerCall{},
               kernels);
  Last& last = last_[static_cast<std::size_t>(pass)][id.row];
  if (last.answer == kNotAsked || last.transpose != transpose)
    last = {transpose, run(event, pass, transpose, {}, kernels)};
  return last.answer;
}

OpModels::Answer OpModels::run(EventId event, Pass pass, std::uint32_t transpose,
                               const PerCall& per_call, std::span<const GpuPosition> kernels) {
  const SignatureId id = trace_.signatures()[event.row];
  const Answer answer =
      keys_.id_of({id.row, trace_.names()[event.row].row, static_cast<std::uint32_t>(pass),
                   transpose, per_call.forward.row, per_call.kernel_names,
                   per_call.step ? per_call.step->name.row : StringId{}.row, per_call.details.row});
  if (answer < answers_.size()) return answer;
  std::vector<std::string_view> names;
  for (const GpuPosition position : kernels)
    names.push_back(trace_.text(table_.gpu_events()[position].name));
  const Value details = per_call.details.valid() ? trace_.details(event) : Value{};
  OrReason<Work> work = set_.work(
      {.name = trace_.name(event),
       .args = signature_of(event),
       .forward = per_call.forward.valid() ? &trace_.signature(per_call.forward) : nullptr,
       .kernels = names,
       .step = per_call.step ? &per_call.step->tokens : nullptr,
       .extra = &details},
      pass);
  if (work && transpose > 1) work->params.push_back({"transpose", transposes_[transpose]});
  answers_.push_back(std::move(work));
  return answer;
}

}  // namespace tracelens
