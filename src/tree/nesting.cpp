#include "tree/nesting.hpp"

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Nests rows; `sink` is told of each event: `open` when it begins, `close` when it ends. Gives how it went.
template <class Sink>
void nest(const Trace& trace, std::span<const std::uint32_t> rows, bool with_frames, Sink& sink) {
  CallStack<typename Sink::Call> stack;
  const auto on_close = [&sink](const typename Sink::Call& call) { sink.close(call); };
  for (const std::uint32_t row : rows) {
    if (!with_frames && trace.categories()[row] == Category::kPythonFunction) continue;
    const std::int64_t end = end_of(trace, {row});
    const Room room = stack.make_room(trace.ts_ns()[row], end, on_close);
    if (room == Room::kNone) {
      sink.discard(row);
      continue;
    }
    if (room == Room::kBeside) sink.pop_beside();
    stack.push(end, sink.open(row, stack.empty() ? nullptr : &stack.top()));
  }
  stack.close_all(on_close);
}

class Counter {
 public:
  struct Call {
    std::uint32_t row;
  };
  Counter(const Trace& trace, const Launches& launches) : trace_{trace}, launches_{launches} {}

  Call open(std::uint32_t row, const Call*) {
    ++counts.nodes;
    return {row};
  }
  void close(const Call& call) {
    for (EventId gpu = launches_.first({call.row}); gpu.valid(); gpu = launches_.next(gpu)) {
      ++counts.nodes;
      ++counts.gpu_events;
      counts.gpu_ns = plus_ns(counts.gpu_ns, duration_of(trace_, gpu));
    }
  }
  void discard(std::uint32_t) {}
  void pop_beside() {}

  NestingCounts counts;

 private:
  const Trace& trace_;
  const Launches& launches_;
};

class Writer {
 public:
  // An event on the call stack of the thread at hand.
  struct Call {
    NodeId node;
    Category category;
  };
  Writer(const Trace& trace, const Launches& launches, NodeFlags flags, ModuleNames* modules,
         const NestingCounts& before, const NodeColumns& out, NestingNotes& notes)
      : counts{before},
        trace_{trace},
        launches_{launches},
        flags_{flags},
        modules_{modules},
        out_{out},
        notes_{notes} {}

  Call open(std::uint32_t row, const Call* parent) {
    const Category category = trace_.categories()[row];
    std::uint8_t flags = 0;
    if (category == Category::kCpuOp) {
      flags = flags_.op;
      if (open_ops_++ == 0) notes_.op_roots.push_back({row});
    } else if (category == Category::kPythonFunction && modules_->contains(trace_.names()[row])) {
      flags = flags_.module;
    }
    return {add({row}, parent == nullptr ? NodeId{} : parent->node, flags), category};
  }
  void close(const Call& call) {
    add_gpu_events(out_.events[call.node.row], call.node);
    if (call.category == Category::kCpuOp) --open_ops_;
    out_.ends[call.node.row] = counts.nodes;
  }
  void discard(std::uint32_t row) {
    ++notes_.discarded;
    if (trace_.categories()[row] == Category::kCpuOp) ++notes_.discarded_ops;
    if (launches_.first({row}).valid()) notes_.discarded_launches.push_back({row});
  }
  void pop_beside() { ++notes_.bleed_pops; }

  NodeId add(EventId event, NodeId parent, std::uint8_t flags) {
    const NodeId node{counts.nodes++};
    out_.events[node.row] = event;
    out_.parents[node.row] = parent;
    out_.ends[node.row] = node.row + 1;
    out_.flags[node.row] = flags;
    out_.gpu_before[node.row] = counts.gpu_events;
    out_.nodes[event.row] = node;
    return node;
  }
  void add_gpu_events(EventId call, NodeId node) {
    for (EventId gpu = launches_.first(call); gpu.valid(); gpu = launches_.next(gpu)) {
      add(gpu, node, 0);
      counts.gpu_ns = plus_ns(counts.gpu_ns, duration_of(trace_, gpu));
      out_.gpu_events[counts.gpu_events++] = gpu;
      out_.gpu_ns_before[counts.gpu_events] = counts.gpu_ns;
    }
  }

  NestingCounts counts;

 private:
  const Trace& trace_;
  const Launches& launches_;
  NodeFlags flags_;
  ModuleNames* modules_;
  const NodeColumns& out_;
  NestingNotes& notes_;
  std::uint32_t open_ops_ = 0;  // cpu_ops on the stack
};

}  // namespace

NestingCounts Nesting::count(std::span<const std::uint32_t> rows) const {
  Counter counter{trace_, launches_};
  nest(trace_, rows, modules_ != nullptr, counter);
  return counter.counts;
}

NestingCounts Nesting::write(std::span<const std::uint32_t> rows, const NestingCounts& before,
                             const NodeColumns& out, NestingNotes& notes) const {
  Writer writer{trace_, launches_, flags_, modules_, before, out, notes};
  nest(trace_, rows, modules_ != nullptr, writer);
  return writer.counts;
}

NestingCounts Nesting::write_alone(EventId call, const NestingCounts& before,
                                   const NodeColumns& out) const {
  NestingNotes none;
  Writer writer{trace_, launches_, flags_, modules_, before, out, none};
  const NodeId node = writer.add(call, NodeId{}, 0);
  writer.close({node, Category::kNone});
  return writer.counts;
}

}  // namespace tracelens
