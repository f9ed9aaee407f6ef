#include "analysis/gpu/recompute.hpp"

#include <algorithm>
#include <string_view>

namespace tracelens {
namespace {

bool is_recompute_frame(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != name.npos &&
         name.find("recompute_fn") != name.npos;
}

}  // namespace

RecomputeMarks mark_recompute(const Trace& trace, const Tree& tree) {
  std::vector<std::uint8_t> is_frame(trace.string_count());
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    is_frame[id] = is_recompute_frame(trace.text({id})) ? 1 : 0;

  RecomputeMarks marks;
  marks.marked.assign(tree.size(), 0);
  std::uint32_t marked_up_to = 0;
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    const EventId event = tree.event({node});
    if (trace.category(event) != Category::kPythonFunction ||
        is_frame[trace.names()[event.row].row] == 0)
      continue;
    const std::uint32_t end = tree.end({node}).row;
    if (end <= marked_up_to) continue;  // inside a region already marked
    std::fill(marks.marked.begin() + node, marks.marked.begin() + end, std::uint8_t{1});
    marked_up_to = end;
  }
  return marks;
}

}  // namespace tracelens
