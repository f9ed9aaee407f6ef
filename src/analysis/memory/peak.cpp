#include "analysis/memory/peak.hpp"

#include <algorithm>
#include <utility>

#include "analysis/kit/group_rows.hpp"
#include "analysis/ops/module_classes.hpp"

namespace tracelens {
namespace {

// Code of the framework and of Python itself does not say whose the memory is.
bool is_user_frame(std::string_view frame) {
  constexpr std::string_view kOthers[] = {
      "torch/", "nn.Module:", "<built-in", "<frozen", "site-packages/torch/", "<method", "<class"};
  return !frame.empty() && std::ranges::none_of(kOthers, [&](std::string_view start) {
    return frame.starts_with(start) ||
           (start.ends_with('/') && frame.find(start) != std::string_view::npos);
  });
}

// "model.py(12): forward": of the stack written into the event, else of the Python frames around it.
std::string_view user_line(const MemoryPlaces& places, std::uint32_t at) {
  const Trace& trace = places.trace();
  if (const auto stack = trace.call_stacks().at({trace.memory_changes().rows()[at]})) {
    for (std::string_view rest = trace.text(*stack); !rest.empty();) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      if (is_user_frame(rest.substr(0, end))) return rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
  }
  for (NodeId node = places.node(at); node.valid(); node = places.tree().parent(node)) {
    const EventId event = places.tree().event(node);
    if (trace.category(event) == Category::kPythonFunction && is_user_frame(trace.name(event)))
      return trace.name(event);
  }
  return {};
}

class Owners {
 public:
  Owners(const DeviceMemory& device, const MemoryPlaces& places)
      : device_{device}, places_{places}, modules_{places.trace(), places.tree()} {}

  void add(const MemoryBlock& block) {
    const NodeId op = part(block, &OpPlaces::op), top_op = part(block, &OpPlaces::top_op),
                 module = part(block, &OpPlaces::module);
    const std::uint32_t module_class = modules_.of(module);
    Found& found = owners_.at(
        {static_cast<std::uint32_t>(block.use), name(op).row, name(top_op).row, module_class}, [&] {
          Found fresh;
          fresh.owner.use = block.use;
          fresh.owner.op = text(op);
          fresh.owner.top_op = text(top_op);
          if (module.valid()) fresh.owner.module = modules_.text(module_class);
          return fresh;
        });
    MemoryOwner& owner = found.owner;
    owner.bytes += block.bytes;
    ++owner.count;
    if (block.freed_in_step) owner.freed_in_step += block.bytes;
    if (block.freed != MemoryBlock::kNever) {
      owner.life_ns += static_cast<double>(time_of(block.freed) - time_of(block.born));
      ++owner.freed;
    }
    if (block.bytes > found.largest) {
      found.largest = block.bytes;
      found.example = device_.order[block.born];
    }
  }

  std::vector<MemoryOwner> take() && {
    std::vector<MemoryOwner> all;
    for (Found& found : std::move(owners_).take()) {
      found.owner.line = user_line(places_, found.example);
      all.push_back(std::move(found.owner));
    }
    return all;
  }

 private:
  struct Found {
    MemoryOwner owner = {};
    std::int64_t largest = 0;
    std::uint32_t example = 0;
  };
  using Part = NodeId (OpPlaces::*)(NodeId) const;
  [[nodiscard]] NodeId part(const MemoryBlock& block, Part which) const {
    return block.owner.valid() ? (places_.program().*which)(block.owner) : NodeId{};
  }
  [[nodiscard]] StringId name(NodeId node) const {
    return node.valid() ? places_.trace().names()[places_.tree().event(node).row] : StringId{};
  }
  [[nodiscard]] std::string_view text(NodeId node) const {
    return node.valid() ? places_.trace().text(name(node)) : std::string_view{};
  }
  [[nodiscard]] std::int64_t time_of(std::uint32_t place) const {
    return places_.trace().ts_ns()[places_.trace().memory_changes().rows()[device_.order[place]]];
  }

  const DeviceMemory& device_;
  const MemoryPlaces& places_;
  ModuleClasses modules_;
  Grouped<Found> owners_;
};

}  // namespace

std::vector<MemoryOwner> owners_at_peak(const DeviceMemory& device,
                                        std::span<const MemoryBlock> blocks,
                                        const MemoryPlaces& places) {
  Owners owners{device, places};
  std::int64_t known = 0;
  for (const MemoryBlock& block : blocks) {
    if (!device.peak) break;  // no block was handed out yet
    if (block.born > *device.peak || block.freed <= *device.peak) continue;
    known += block.bytes;
    owners.add(block);
  }
  std::vector<MemoryOwner> all = std::move(owners).take();
  if (device.peak_allocated > known)
    all.push_back({.use = BlockUse::kBeforeTrace, .bytes = device.peak_allocated - known});
  std::ranges::stable_sort(all, std::ranges::greater{}, &MemoryOwner::bytes);
  return all;
}

std::vector<MemoryOwner> owners_of_all(const DeviceMemory& device,
                                       std::span<const MemoryBlock> blocks,
                                       const MemoryPlaces& places) {
  Owners owners{device, places};
  for (const MemoryBlock& block : blocks) owners.add(block);
  std::vector<MemoryOwner> all = std::move(owners).take();
  std::ranges::stable_sort(all, std::ranges::greater{}, &MemoryOwner::count);
  return all;
}

}  // namespace tracelens
