// walk_tree TRACE: the ops that nobody called, the costliest first, and the kernels of the first.
#include <algorithm>
#include <cstdio>
#include <string>
#include <tracelens/tracelens.hpp>
#include <vector>

using namespace tracelens;

int main(int argc, char** argv) try {
  if (argc != 2) throw Error{"walk_tree", "name one trace"};
  const Trace trace = read_trace(argv[1]);
  const Tree tree = build_tree(trace);

  std::vector<Node> ops;
  for (const EventId event : tree.op_roots())
    if (const auto node = node_of(trace, tree, event)) ops.push_back(*node);
  std::ranges::stable_sort(ops, std::ranges::greater{}, &Node::gpu_us);

  std::printf("%zu events, %zu ops at the top\n", trace.size(), ops.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(ops.size(), 5); ++i)
    std::printf("%10.1f us  %3zu kernels  %s\n", ops[i].gpu_us(), ops[i].gpu_count(),
                std::string{ops[i].name()}.c_str());

  if (ops.empty()) return 0;
  std::printf("\nin %s:\n", std::string{ops.front().name()}.c_str());
  for (const Node node : ops.front().walk())  // callers come before what they call
    if (node.is_gpu())
      std::printf("  %s by %s\n", std::string{node.name()}.substr(0, 60).c_str(),
                  std::string{node.nearest_op()->name()}.c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
