#include "analysis/diff/text.hpp"

#include <algorithm>
#include <vector>

#include "analysis/diff/names.hpp"

namespace tracelens {
namespace {

// Beyond it lines stand below each other: the text of a runaway recursion must not grow squarely.
constexpr std::size_t kDeepestIndent = 500;

class TreeText {
 public:
  explicit TreeText(const DiffInput& input) : input_{input} {}

  std::string print(const std::vector<std::uint32_t>& roots) {
    struct Line {
      std::uint32_t id;
      std::uint32_t depth;
      bool is_last;
    };
    std::vector<Line> open;
    const auto push = [&open](const std::vector<std::uint32_t>& siblings, std::uint32_t depth) {
      for (std::size_t i = siblings.size(); i-- > 0;)
        open.push_back({siblings[i], depth, i + 1 == siblings.size()});
    };
    push(roots, 0);
    std::vector<bool> is_last;  // of the ancestors of the line, outermost first
    while (!open.empty()) {
      const Line line = open.back();
      open.pop_back();
      is_last.resize(line.depth);
      const std::size_t drawn = std::min(is_last.size(), kDeepestIndent);
      for (std::size_t i = 0; i < drawn; ++i) out_ += is_last[i] ? "    " : "│   ";
      out_ += line.is_last ? "└── " : "├── ";
      add_label(input_.merged.node(line.id));
      out_ += "\n";
      is_last.push_back(line.is_last);
      push(grouped_children(line.id), line.depth + 1);
    }
    return std::move(out_);
  }

 private:
  void add_label(const MergedNode& node) {
    const std::string first =
        node.first.valid() ? node_title(input_.trace1, input_.tree1, node.first) : "";
    const std::string second =
        node.second.valid() ? node_title(input_.trace2, input_.tree2, node.second) : "";
    if (!node.is_combined())
      out_ += node.first.valid() ? ">> trace1: " + first : "<< trace2: " + second;
    else if (first == second)
      out_ += first;
    else
      out_.append("combined: ").append(first).append(" | ").append(second);
  }

  [[nodiscard]] std::vector<std::uint32_t> grouped_children(std::uint32_t id) const {
    std::vector<std::uint32_t> grouped;
    for (const int group : {0, 1, 2})
      for (const std::uint32_t child : input_.merged.children(id)) {
        const MergedNode& node = input_.merged.node(child);
        const int own = node.is_combined() ? 0 : node.first.valid() ? 1 : 2;
        if (own == group) grouped.push_back(child);
      }
    return grouped;
  }

  const DiffInput& input_;
  std::string out_;
};

}  // namespace

std::string node_title(const Trace& trace, const Tree& tree, NodeId node) {
  const EventId event = tree.event(node);
  const std::string_view name = trace.name(event);
  return name.empty() ? std::to_string(event.row) : std::string{name};
}

std::string op_title(const Trace& trace, const Tree& tree, NodeId node) {
  std::string title = node_title(trace, tree, node);
  return trace.source().recorder == Recorder::kJax ? hlo_name(title) : title;
}

std::string merged_tree_text(const DiffInput& input, const DiffTextOptions& options) {
  std::vector<std::uint32_t> roots;
  for (const std::uint32_t root : input.merged.roots()) {
    const MergedNode& node = input.merged.node(root);
    const bool works = (node.first.valid() && input.tree1.gpu_count(node.first) > 0) ||
                       (node.second.valid() && input.tree2.gpu_count(node.second) > 0);
    if (works || !options.prune_idle_roots) roots.push_back(root);
  }
  return TreeText{input}.print(roots);
}

}  // namespace tracelens
