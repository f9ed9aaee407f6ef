#include "analysis/ops/input.hpp"

#include <fmt/format.h>

namespace tracelens {
namespace {

KernelCategories::Classify kernel_kind_of(const OpTableOptions& options) {
  if (options.edition == Edition::kReference) return {};
  if (options.kernel_kind) return options.kernel_kind;
  return [](std::string_view kernel) {
    static const TorchKernelKinds kKinds{KernelRules::built_in()};
    return kKinds(kernel);
  };
}

}  // namespace

OpInput::OpInput(const TraceFacts& facts, const OpTableOptions& a_options)
    : trace{facts.trace()},
      tree{facts.tree()},
      options{a_options},
      run_models{options.edition, options.own_models, options.categories},
      launches{facts, run_models, kernel_kind_of(options), options.communication},
      models{trace, launches, run_models, options.inference},
      ops{trace, tree, launches, models},
      modules{trace, tree} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.inference && options.call_stack) start_ns = trace_span(trace).start_ns;
  if (options.overlap) overlaps.emplace(facts, launches, options.include_unlinked);
}

std::size_t OpInput::kernels_per_table() const {
  constexpr std::size_t kTimesEach = 16, kAlways = 100'000;
  return kTimesEach * launches.gpu_events().size() + kAlways;
}

std::vector<std::string> OpInput::warnings() const {
  std::vector<std::string> sentences;
  const std::size_t rows = rows_without_kernels + ops.rows_without_kernels();
  if (rows > 0)
    sentences.push_back(fmt::format(
        "ops are nested too deep: {} rows do not list their kernels, as a table lists at most {}",
        rows, kernels_per_table()));
  if (overlaps && overlaps->crowded() > 0)
    sentences.push_back(fmt::format(
        "{} kernels ran beside {} others or more: their overlaps are those with {} of them",
        overlaps->crowded(), Overlaps::kMostAtOnce, Overlaps::kMostAtOnce));
  return sentences;
}

}  // namespace tracelens
