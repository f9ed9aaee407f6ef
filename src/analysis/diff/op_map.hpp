// op_map.hpp: names for ops that do the same work in two traces and are called differently.
//   OpRenaming renaming = unify_op_names(rows, edition);
//   renaming.of("aten::miopen_convolution")
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <vector>

namespace tracelens {

// What a row of diff_stats says about an op. The texts are the asker's.
struct OpMention {
  std::string_view op, kernel, module;
  std::size_t side = 0;
  std::optional<std::int64_t> ancestor = {};
};

struct OpRenaming {
  std::map<std::string, std::string, std::less<>> names;
  std::vector<std::string> notes;
  [[nodiscard]] std::string_view of(std::string_view op) const {
    const auto found = names.find(op);
    return found == names.end() ? op : std::string_view{found->second};
  }
};

// Ops that stand below the same point of divergence are one op when one name holds the other, both
// begin alike, or both are all there is of the same module. Reference: "root", which every op
// has outside modules, counts as one.
[[nodiscard]] OpRenaming unify_op_names(std::span<const OpMention> rows, Edition edition);

// {"op": ["kernel", ...]} of one side.
[[nodiscard]] std::string kernels_by_op_json(std::span<const OpMention> rows, std::size_t side);
// {"op": {"trace1": {"kernels": [...], "nn_module_parents": [...]}, ...}}, ops in order of `rows`,
// modules without blanks; without the level of the trace when there is one side only.
[[nodiscard]] std::string unified_op_json(std::span<const OpMention> rows, bool one_side);

// Of a module's name.
[[nodiscard]] std::string without_blanks(std::string_view text);

}  // namespace tracelens
