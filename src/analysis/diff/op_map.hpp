// op_map.hpp: names for ops that do the same work in two traces and are called differently.
//   OpRenaming renaming = unify_op_names(rows, edition);
//   renaming.of("aten::miopen_convolution")
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <vector>

namespace tracelens {

// What a row of diff_stats says about an op.
struct OpMention {
  std::string op, kernel, module;
  std::size_t side = 0;
  std::optional<std::int64_t> ancestor = {};
};

struct OpRenaming {
  std::map<std::string, std::string> names;
  std::vector<std::string> notes;
  [[nodiscard]] const std::string& of(const std::string& op) const {
    const auto found = names.find(op);
    return found == names.end() ? op : found->second;
  }
};

// Ops that stand below the same point of divergence are one op when one name holds the other, both
// begin alike, or both are all there is of the same module. Reference: "root", which every op
// has outside modules, counts as one.
[[nodiscard]] OpRenaming unify_op_names(std::span<const OpMention> rows, Edition edition);

// {"op": ["kernel", ...]} of one side.
[[nodiscard]] std::string kernels_by_op_json(std::span<const OpMention> rows, std::size_t side);
// {"op": {"trace1": {"kernels": [...], "nn_module_parents": [...]}, ...}}, ops in order of `rows`;
// without the level of the trace when there is one side only.
[[nodiscard]] std::string unified_op_json(std::span<const OpMention> rows, bool one_side);

}  // namespace tracelens
