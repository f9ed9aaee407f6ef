#include "analysis/ops/input.hpp"

namespace tracelens {

OpInput::OpInput(const TraceFacts& facts, const OpTableOptions& a_options)
    : trace{facts.trace()},
      tree{facts.tree()},
      options{a_options},
      launches{facts, perf::RunModels{options.edition, options.own_models}},
      models{trace, launches, perf::RunModels{options.edition, options.own_models},
             options.inference},
      ops{trace, tree, launches, models},
      modules{trace, tree} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.inference && options.call_stack) start_ns = trace_span(trace).start_ns;
  if (options.overlap) overlaps.emplace(facts, launches, options.include_unlinked);
}

}  // namespace tracelens
