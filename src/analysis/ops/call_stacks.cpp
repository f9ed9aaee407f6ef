#include "analysis/ops/call_stacks.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/kit/cells.hpp"
#include "io/ascii.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr const char* kNotFound = "Not found";

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "file.py(12): forward" -> "forward"
std::string_view function_part(std::string_view frame) {
  const std::size_t at = frame.rfind("): ");
  return at == frame.npos ? frame : frame.substr(at + 3);
}

constexpr std::array<std::string_view, 3> kWrapperStarts = {"<built-in", "pybind11_builtins",
                                                            "nn.Module:"};
constexpr std::array<std::string_view, 11> kWrapperPaths = {
    "torch/_ops.py",
    "torch/nn/modules/module.py",
    "torch/utils/_contextlib.py",
    "torch/utils/_device.py",
    "torch/_tensor.py",
    "torch/functional.py",
    "torch/overrides.py",
    "torch/_inductor/",
    "torch/_functorch/",
    "torch/distributed/c10d_logger.py",
    "triton/backends/",
};
constexpr std::array<std::string_view, 10> kWrapperFunctions = {
    "__torch_function__",
    "_call_impl",
    "_wrapped_call_impl",
    "decorate_context",
    "dispatch_wrapper",
    "handle_torch_function",
    "wrapper",
    "custom_wrapper",
    "wrapper_custom",
    "outer_wrapper",
};

bool is_wrapper_frame(std::string_view frame) {
  return std::ranges::any_of(kWrapperStarts, [&](auto s) { return frame.starts_with(s); }) ||
         std::ranges::any_of(kWrapperPaths, [&](auto path) { return contains(frame, path); }) ||
         std::ranges::find(kWrapperFunctions, function_part(frame)) != kWrapperFunctions.end();
}

// The op's name as stacks have it when the trace numbers its ops: "op_12" -> "op".
std::string_view without_trailing_number(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end == name.size() || end == 0 || name[end - 1] != '_') return name;
  return name.substr(0, end - 1);
}

// The reference adds starts and durations as doubles of microseconds. Of frames that end together,
// as those do that were open when the recording ended, some then outlast their caller by a rounding
// error, for which they lose their place in its tree.
class EndsAsDoubles {
 public:
  explicit EndsAsDoubles(const OpInput& input)
      : trace_{input.trace}, start_ns_{input.start_ns}, is_on_{input.start_ns != kAbsent} {}
  // Whether an event has a place below those asked about before, from the outermost on.
  [[nodiscard]] bool has_place(EventId event) {
    if (!is_on_ || trace_.category(event) != Category::kPythonFunction ||
        event.row >= trace_.recorded())
      return true;
    const double end =
        us(minus_ns(trace_.ts_ns()[event.row], start_ns_)) + us(trace_.dur_ns()[event.row]);
    if (end > caller_end_) return false;
    caller_end_ = end;
    return true;
  }

 private:
  const Trace& trace_;
  std::int64_t start_ns_;
  bool is_on_;
  double caller_end_ = std::numeric_limits<double>::infinity();
};

// Names from `from` (included) up to `to` (included), outermost first; those that are shown, and of
// a runaway recursion the innermost: each kernel has a stack of its own. An invalid `to` stands for
// the root.
constexpr std::size_t kDeepestStack = 500, kUsualDepth = 64;
void append_path(CallChain& chain, const OpInput& input, FrameNames& frames, NodeId from,
                 NodeId to) {
  std::vector<EventId> path;
  path.reserve(kUsualDepth);
  for (NodeId node = from; node.valid(); node = input.tree.parent(node)) {
    if (path.size() == kDeepestStack) break;
    path.push_back(input.tree.event(node));
    if (node == to) break;
  }
  chain.reserve(chain.size() + path.size() + 1);
  EndsAsDoubles ends{input};
  for (auto event = path.rbegin(); event != path.rend(); ++event)
    if (ends.has_place(*event))
      if (const Value& name = frames.of(*event); !name.is_null()) chain.push_back(name);
}

}  // namespace

Value call_stack_value(std::span<const CallChain> chains) {
  if (chains.empty()) return {};
  std::size_t common = chains[0].size();
  for (const CallChain& chain : chains) {
    const auto [mine, other] = std::ranges::mismatch(chains[0], chain);
    common = std::min(common, static_cast<std::size_t>(mine - chains[0].begin()));
  }
  const auto texts = [](auto first, auto last) { return std::vector<Value>(first, last); };
  if (chains.size() == 1) return Value::list(texts(chains[0].begin(), chains[0].end()));
  const auto skip = static_cast<std::ptrdiff_t>(common);
  std::vector<Value> items = texts(chains[0].begin(), chains[0].begin() + skip);
  for (const CallChain& chain : chains) {
    if (chain.size() == common) continue;
    Value rest = Value::list(texts(chain.begin() + skip, chain.end()));
    if (std::ranges::find(items, rest) == items.end()) items.push_back(std::move(rest));
  }
  return Value::list(std::move(items));
}

std::optional<std::string> entry_point(const Value& stack, std::string_view op) {
  std::vector<std::string_view> frames;
  for (const Value& item : stack.items()) {
    if (item.is_text()) frames.push_back(item.as_text());
    for (const Value& inner : item.items()) frames.push_back(inner.as_text());
  }
  const auto last_named = [&](std::string_view name) {
    const auto found = std::find(frames.rbegin(), frames.rend(), name);
    return static_cast<std::size_t>(frames.rend() - found);  // one past it; 0: none
  };
  std::size_t after = last_named(op);
  if (after == 0) after = last_named(without_trailing_number(op));
  if (after == 0) return std::nullopt;
  const std::size_t colons = op.rfind("::");
  const std::string local = io::lower_case(colons == op.npos ? op : op.substr(colons + 2));
  for (std::size_t i = after; i < frames.size(); ++i)
    if (contains(frames[i], ".py") && contains(io::lower_case(function_part(frames[i])), local))
      return std::string{frames[i]};
  for (std::size_t i = after - 1; i-- > 0;)
    if (contains(frames[i], ".py") && !is_wrapper_frame(frames[i])) return std::string{frames[i]};
  return std::nullopt;
}

std::vector<CallChain> kernel_call_stacks(const OpInput& input, FrameNames& frames,
                                          const UnifiedOp& op) {
  std::vector<CallChain> stacks;
  if (!op.top.valid()) return stacks;
  const Tree& tree = input.tree;
  CallChain to_op;
  append_path(to_op, input, frames, op.row.node, op.top);
  // The reference, going up from the call, never meets the op put around it (its oddity I-18).
  const bool never_met = tree.is_passed_over(op.row.node);
  const bool repeats_op = !never_met && !frames.of(op.row.event).is_null();
  CallChain below;  // from the op, which to_op ends with already, down to the call
  NodeId last_call;
  const std::span<const GpuPosition> positions = input.ops.kernels(op.row);
  stacks.reserve(positions.size());
  for (const GpuPosition position : positions) {
    const NodeId call = tree.parent(tree.node(input.launches.gpu_events()[position].event));
    if (stacks.empty() || call != last_call) {
      below.clear();
      if (never_met)
        append_path(below, input, frames, tree.parent(op.row.node), NodeId{});
      else
        append_path(below, input, frames, call, op.row.node);
      last_call = call;
    }
    // The last one may have what was made for all: most ops have one kernel.
    const bool is_last = stacks.size() + 1 == positions.size();
    CallChain stack = is_last ? std::move(to_op) : to_op;  // NOLINT(bugprone-use-after-move)
    stack.insert(stack.end(), below.begin() + (repeats_op ? 1 : 0), below.end());
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

CallStackCells call_stack_cells(const OpInput& input, FrameNames& frames, const UnifiedOp* op,
                                const KernelStats& kernels) {
  if (op == nullptr) return {kNotFound, kNotFound};
  std::vector<CallChain> stacks = kernel_call_stacks(input, frames, *op);
  const std::span<const GpuPosition> positions = input.ops.kernels(op->row);
  stacks.resize(positions.size());  // those of a synthetic op hold nothing but the kernel
  std::vector<CallChain> chains;
  for (const std::size_t i : kernels.order()) {
    stacks[i].emplace_back(
        std::string{input.trace.text(input.launches.gpu_events()[positions[i]].name)});
    chains.push_back(std::move(stacks[i]));
  }
  Value full = call_stack_value(chains);
  return {entry_point(full, unified_name(input.trace, *op)).value_or(kNotFound), std::move(full)};
}

}  // namespace tracelens
