#include "analysis/ops/input.hpp"

namespace tracelens {

OpInput::OpInput(const Trace& a_trace, const Tree& a_tree, const OpTableOptions& a_options)
    : trace{a_trace},
      tree{a_tree},
      options{a_options},
      launches{trace, tree, perf::ModelSet{options.edition, options.own_models}},
      models{trace, launches, perf::ModelSet{options.edition, options.own_models}},
      ops{trace, tree, launches, models} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.overlap) overlaps.emplace(trace, tree, launches, options.include_unlinked);
}

}  // namespace tracelens
