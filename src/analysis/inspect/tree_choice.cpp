#include "analysis/inspect/tree_choice.hpp"

#include <tracelens/error.hpp>

namespace tracelens {

bool is_shown(const Trace& trace, const Tree& tree, NodeId node, const TreeLayers& layers) {
  const Category category = trace.category(tree.event(node));
  if (category == Category::kPythonFunction)
    return tree.is_module(node) ? layers.modules : layers.python;
  if (category == Category::kCpuOp) return layers.ops;
  return is_gpu(category) ? layers.gpu : layers.calls;
}

RootPattern::RootPattern(const std::string& text) {
  if (text.empty()) return;
  RE2::Options quiet;
  quiet.set_log_errors(false);
  pattern_.emplace(text, quiet);
  if (!pattern_->ok()) throw Error{"--root " + text, pattern_->error()};
}

bool RootPattern::matches(std::string_view name) const {
  return !pattern_ || RE2::PartialMatch(re2::StringPiece{name.data(), name.size()}, *pattern_);
}

}  // namespace tracelens
