// tree_choice.hpp: which nodes of a call tree a text or a summary of it is about.
//   const RootPattern root{options.root};
//   if (root.matches(name) && is_shown(trace, tree, node, options.layers)) ...
#pragma once

#include <re2/re2.h>

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/tree_text.hpp>

namespace tracelens {

[[nodiscard]] bool is_shown(const Trace& trace, const Tree& tree, NodeId node,
                            const TreeLayers& layers);

class RootPattern {
 public:
  // Empty: finds every name. Throws Error when it is not a regular expression.
  explicit RootPattern(const std::string& text);
  [[nodiscard]] bool takes_all() const { return !pattern_; }
  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  std::optional<RE2> pattern_;
};

}  // namespace tracelens
