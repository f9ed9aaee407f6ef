#include "analysis/memory/blocks.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "perf/registry/op_registry.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Whether ops of a name are matrix products or convolutions; each name is looked up once.
class MatrixOps {
 public:
  explicit MatrixOps(const Trace& trace) : trace_{trace}, known_(trace.string_count()) {}
  [[nodiscard]] bool contains(StringId name) {
    Known& known = known_[name.row];
    if (known == Known::kNotYet) {
      const auto category = perf::op_category(trace_.text(name), {}, Edition::kExtended);
      const bool is_matrix = category.starts_with("GEMM") || category.starts_with("CONV");
      known = is_matrix ? Known::kYes : Known::kNo;
    }
    return known == Known::kYes;
  }

 private:
  enum class Known : std::uint8_t { kNotYet, kNo, kYes };
  const Trace& trace_;
  std::vector<Known> known_;  // by StringId
};

// What the rules need to know of where a block was handed out or taken back.
struct Site {
  const MemoryPlaces& places;
  std::uint32_t at;

  [[nodiscard]] NodeId node() const { return places.node(at); }
  [[nodiscard]] NodeId op() const {
    return node().valid() ? places.program().op(node()) : NodeId{};
  }
  [[nodiscard]] NodeId top_op() const {
    return node().valid() ? places.program().top_op(node()) : NodeId{};
  }
  [[nodiscard]] ProgramPhase phase() const { return places.phase(at); }
};

BlockUse use_of(const Site& born, const Site* freed, bool freed_in_step, MatrixOps& matrix_ops) {
  const ProgramPhase phase = born.phase();
  if (phase == ProgramPhase::kBackward && !freed_in_step) return BlockUse::kGradient;
  if (freed == nullptr)
    return phase == ProgramPhase::kOptimizer ? BlockUse::kOptimizer : BlockUse::kOther;
  const auto name_of = [&](NodeId op) {
    return born.places.trace().names()[born.places.tree().event(op).row];
  };
  if (const NodeId op = born.op();
      op.valid() && op == freed->op() && matrix_ops.contains(name_of(op)))
    return BlockUse::kWorkspace;
  if (phase == ProgramPhase::kForward && freed->phase() == ProgramPhase::kBackward)
    return BlockUse::kActivation;
  if (phase == freed->phase() || (born.top_op().valid() && born.top_op() == freed->top_op()))
    return BlockUse::kTemporary;
  return BlockUse::kOther;
}

}  // namespace

std::string_view block_use_name(BlockUse use) {
  constexpr std::string_view kNames[] = {"before trace", "gradient",  "optimizer", "workspace",
                                         "activation",   "temporary", "other"};
  return kNames[static_cast<std::size_t>(use)];
}

MemoryPlaces::MemoryPlaces(const TraceFacts& facts)
    : trace_{facts.trace()},
      tree_{facts.tree()},
      ranges_{trace_},
      program_{trace_, tree_, ranges_},
      steps_{facts.steps()},
      nodes_(trace_.memory_changes().rows().size()) {
  find_nodes();
}

// The nodes of a thread come by start: the last one that has started, or the nearest around it that
// has not ended. Whoever has ended is passed over once.
void MemoryPlaces::find_nodes() {
  const auto rows = trace_.memory_changes().rows();
  std::vector<std::vector<std::uint32_t>> asked(trace_.track_table().size());
  for (std::uint32_t at = 0; at < rows.size(); ++at)
    if (const TrackId track = trace_.tracks()[rows[at]]; track.valid())
      asked[track.row].push_back(at);
  std::vector<std::vector<NodeId>> open(asked.size());
  for (std::uint32_t row = 0; row < tree_.size(); ++row) {
    const EventId event = tree_.event({row});
    const TrackId track = trace_.tracks()[event.row];
    if (event.row < trace_.recorded() && track.valid() && !is_gpu(trace_.category(event)) &&
        !asked[track.row].empty())
      open[track.row].push_back({row});
  }
  const auto start_of = [&](NodeId node) { return trace_.ts_ns()[tree_.event(node).row]; };
  const auto time_of = [&](std::uint32_t at) { return trace_.ts_ns()[rows[at]]; };
  for (std::size_t track = 0; track < asked.size(); ++track) {
    std::vector<NodeId>& nodes = open[track];
    if (!std::ranges::is_sorted(nodes, {}, start_of)) std::ranges::stable_sort(nodes, {}, start_of);
    std::ranges::stable_sort(asked[track], {}, time_of);
    std::size_t next = 0;
    NodeId current;
    for (const std::uint32_t at : asked[track]) {
      while (next < nodes.size() && start_of(nodes[next]) <= time_of(at)) current = nodes[next++];
      while (current.valid() && end_of(trace_, tree_.event(current)) < time_of(at))
        current = tree_.parent(current);
      nodes_[at] = current;
    }
  }
}

ProgramPhase MemoryPlaces::phase(std::uint32_t at) const {
  if (nodes_[at].valid() && program_.autograd(nodes_[at]).valid()) return ProgramPhase::kBackward;
  const std::uint32_t row = trace_.memory_changes().rows()[at];
  return in_ranges(ranges_.optimizer(), trace_.tracks()[row], trace_.ts_ns()[row])
             ? ProgramPhase::kOptimizer
             : ProgramPhase::kForward;
}

std::int64_t MemoryPlaces::step_end_ns(std::int64_t ts_ns) const {
  const auto after = std::ranges::upper_bound(steps_, ts_ns, {}, &Step::ts_ns);
  if (after != steps_.begin()) {
    const Step& step = *std::prev(after);
    if (const std::int64_t end = end_of(step.ts_ns, step.dur_ns); ts_ns < end) return end;
  }
  return std::numeric_limits<std::int64_t>::max();
}

std::vector<MemoryBlock> memory_blocks(const DeviceMemory& device, const MemoryPlaces& places) {
  const Trace& trace = places.trace();
  const auto& column = trace.memory_changes();
  std::vector<MemoryBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(device.allocs));
  std::unordered_map<std::int64_t, std::size_t> alive;  // by address
  for (std::uint32_t place = 0; place < device.order.size(); ++place) {
    const std::uint32_t at = device.order[place];
    const MemoryChange& change = column.values()[at];
    if (change.bytes > 0) {
      alive[change.address] = blocks.size();
      blocks.push_back({.born = place, .bytes = change.bytes, .owner = places.node(at)});
    } else if (const auto found = alive.find(change.address); found != alive.end()) {
      blocks[found->second].freed = place;
      alive.erase(found);
    }
  }
  const auto time_of = [&](std::uint32_t place) {
    return trace.ts_ns()[column.rows()[device.order[place]]];
  };
  MatrixOps matrix_ops{trace};
  for (MemoryBlock& block : blocks) {
    const bool is_freed = block.freed != MemoryBlock::kNever;
    block.freed_in_step =
        is_freed && time_of(block.freed) < places.step_end_ns(time_of(block.born));
    const Site born{places, device.order[block.born]};
    const Site freed{places, device.order[is_freed ? block.freed : block.born]};
    block.use = use_of(born, is_freed ? &freed : nullptr, block.freed_in_step, matrix_ops);
  }
  return blocks;
}

}  // namespace tracelens
