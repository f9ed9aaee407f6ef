// module_tables.hpp: GPU time by nn.Module. Needs a tree with Python frames.
//   for (Table& table : module_tables(input)) ...        // modules, ops_by_module, ...
// Work of the backward pass runs where no module is open; it counts for the module whose forward op
// it belongs to.
#pragma once

#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ops/input.hpp"

namespace tracelens {

// `modules`: one row per module instance and its parent, with the time of all below it and of its
// own ops. `ops_by_module` and `categories_by_module`: what the modules of one class spend their
// time on. No tables when the trace has no modules.
[[nodiscard]] std::vector<Table> module_tables(OpInput& input);

}  // namespace tracelens
