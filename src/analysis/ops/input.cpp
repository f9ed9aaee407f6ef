#include "analysis/ops/input.hpp"

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
      launches{facts, perf::RunModels{options.edition, options.own_models},
               kernel_kind_of(options)},
      models{trace, launches, perf::RunModels{options.edition, options.own_models},
             options.inference},
      ops{trace, tree, launches, models},
      modules{trace, tree} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.overlap) overlaps.emplace(facts, launches, options.include_unlinked);
}

}  // namespace tracelens
