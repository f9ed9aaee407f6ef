#include "analysis/ops/input.hpp"

#include <fmt/format.h>

#include "io/parallel.hpp"
#include "io/threads.hpp"

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

SharedOps::SharedOps(const TraceFacts& facts, const perf::RunModels& models,
                     const OpTableOptions& options) {
  const std::size_t links = facts.tree().forward_backward_links();
  io::for_each_part(links < io::kManyItems ? 1 : io::spare_threads(facts.threads()), 2,
                    [&](std::size_t part) {
                      if (part == 0)
                        launches = std::make_shared<LaunchTable>(
                            facts, models, kernel_kind_of(options), options.communication);
                      else
                        wrappers = std::make_shared<AutogradWrappers>(facts.trace(), facts.tree());
                    });
}

OpInput::OpInput(const TraceFacts& facts, const OpTableOptions& a_options)
    : trace{facts.trace()},
      tree{facts.tree()},
      options{a_options},
      run_models{options.edition, options.own_models, options.categories},
      threads{io::spare_threads(facts.threads())},
      shared{facts, run_models, options},
      categories{launches.categories()},
      tracks{trace},
      models{trace, launches, run_models, options.inference},
      ops{tree, launches, wrappers, models},
      modules{trace, tree} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.inference && options.call_stack) start_ns = trace_span(trace).start_ns;
  if (options.overlap) overlaps.emplace(facts, launches, options.include_unlinked);
}

OpInput::OpInput(const OpInput& other)
    : trace{other.trace},
      tree{other.tree},
      options{other.options},
      run_models{other.run_models},
      threads{other.threads},
      shared{other.shared},
      categories{launches.categories()},
      tracks{trace},
      models{trace, launches, run_models, options.inference},
      ops{tree, launches, wrappers, models},
      modules{trace, tree},
      recompute{other.recompute},
      start_ns{other.start_ns} {}

std::size_t OpInput::kernels_per_table() const {
  constexpr std::size_t kTimesEach = 16, kAlways = 100'000;
  return kTimesEach * launches.gpu_events().size() + kAlways;
}

std::vector<std::string> OpInput::warnings(std::size_t more_rows) const {
  std::vector<std::string> sentences;
  const std::size_t rows = all_rows_without_kernels() + more_rows;
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
