// launch_table.hpp: the linked GPU events and the ops they are charged to, as columns that every op
// table reads. Built once per report; nothing changes it afterwards, so that several threads may read it.
//   const LaunchTable table{facts, Edition::kReference};
//   for (const Launcher& op : table.launchers()) total += op.direct_ns;
//   table.gpu(node);                 // the GPU events below a node, as a contiguous range
// The facts must outlive it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/column.hpp>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/ops/kernel_stats.hpp"
#include "facts/kernel_rules.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/run_models.hpp"
#include "tree/numbered_set.hpp"

namespace tracelens {

// A linked GPU event. Its position in LaunchTable::gpu_events() stands for it in lists.
struct GpuEvent {
  EventId event;
  StringId name;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t stream = kAbsent;
  [[nodiscard]] KernelUse use() const { return {name, stream, end_ns - start_ns}; }
};
using GpuPosition = std::uint32_t;

// An op that launched GPU work itself; see launchers.hpp for the rule.
struct Launcher {
  NodeId node;
  EventId event;
  std::uint32_t first = 0, count = 0;  // its own GPU events: LaunchTable::own()
  std::int64_t direct_ns = 0;          // time in which at least one of its own GPU events ran
  std::int64_t subtree_ns = 0;         // the same of all below it, communication included
  std::uint32_t category = 0;          // OpCategories::text()
  bool by_user = false;                // the category is the user's own
};

// The category of an op; each distinct (name, first kernel) is looked up once. Where the op's name
// says nothing, `kernel_kind` is asked about the kernel, if there is one.
class OpCategories {
 public:
  OpCategories(const Trace& trace, const perf::RunModels& models,
               KernelCategories::Classify kernel_kind)
      : trace_{trace},
        models_{models},
        kernel_kind_{std::move(kernel_kind)},
        by_name_(trace.string_count()),
        by_kernel_(trace.string_count()) {}
  // Whether ops of this name are known by their kernels alone.
  [[nodiscard]] bool is_by_kernel(StringId name);
  // What the user says of an op and the first kernel it launched itself, if any; none: nothing.
  std::optional<std::uint32_t> of_user(std::string_view name, StringId first_kernel);
  // `first_kernel` is invalid when the op launched nothing itself.
  std::uint32_t of(StringId name, StringId first_kernel);
  std::uint32_t of_text(std::string_view name, StringId first_kernel);  // for synthetic names
  std::uint32_t id_of(std::string_view category);
  // Stays where it is when others are added.
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] Value sorted_texts(std::span<const std::uint32_t> ids) const;  // as a list

 private:
  struct Last {
    bool known = false;
    StringId first_kernel;
    std::uint32_t category = 0;
  };
  enum class Known : std::uint8_t { kNotYet, kNo, kYes };

  const Trace& trace_;
  perf::RunModels models_;
  KernelCategories::Classify kernel_kind_;  // may be empty
  std::vector<Last> by_name_;               // by StringId: nearly always the answer
  std::vector<Known> by_kernel_;            // by StringId
  std::unordered_map<std::uint64_t, std::uint32_t> by_pair_;
  std::deque<std::string> texts_;
};

// Names of an event's process and thread, "Unknown" where the trace does not say. Equal names of
// different threads have one id. Several threads may ask.
class TrackNames {
 public:
  struct Names {
    std::string process, process_label, thread;
    auto operator<=>(const Names&) const = default;
  };
  explicit TrackNames(const Trace& trace) : trace_{trace}, ids_(trace.track_table().size() + 1) {}
  std::uint32_t id_of(TrackId track);
  [[nodiscard]] const Names& names(std::uint32_t id);

 private:
  const Trace& trace_;
  // By TrackId: the id and 1, or 0 where nobody has asked yet. The last one: events without a track.
  std::vector<std::atomic<std::uint32_t>> ids_;
  std::mutex naming_;
  std::map<Names, std::uint32_t> known_;
  std::vector<const Names*> names_;  // by id
};

class LaunchTable {
 public:
  // `communication`: communication kernels are charged to ops like all others.
  LaunchTable(const TraceFacts& facts, const perf::RunModels& models,
              KernelCategories::Classify kernel_kind = {}, bool communication = false);

  // In tree order, as Tree::linked_gpu_events().
  [[nodiscard]] std::span<const GpuEvent> gpu_events() const { return gpu_; }
  [[nodiscard]] std::span<const GpuPosition> file_order() const { return file_order_; }
  // The GPU events below a node; none for an invalid node. The position of its first one:
  [[nodiscard]] std::span<const GpuEvent> gpu(NodeId node) const;
  [[nodiscard]] GpuPosition first_position(NodeId node) const {  // of a valid node
    return static_cast<GpuPosition>(tree_.gpu_events(node).data() -
                                    tree_.linked_gpu_events().data());
  }
  // By name, whatever its category.
  [[nodiscard]] bool is_communication(GpuPosition position) const {
    return communication_before_[position + 1] != communication_before_[position];
  }
  [[nodiscard]] bool any_communication(NodeId node) const;

  // By start; ties in the order of their first GPU events.
  [[nodiscard]] std::span<const Launcher> launchers() const { return launchers_; }
  // The same, but calls and compiled regions, whose kernels no op tells apart, divided by what
  // their kernels do: one for each category.
  [[nodiscard]] std::span<const Launcher> parts() const {
    return parts_.empty() ? launchers_ : parts_;
  }
  // Whether what launched GPU work is no op, or a compiled region: its kernels alone say what is
  // done.
  [[nodiscard]] bool is_only_a_launch(const Launcher& op, OpCategories& categories) const;
  // A launcher's own GPU events by start.
  [[nodiscard]] std::span<const GpuPosition> own(const Launcher& op) const {
    return std::span{own_}.subspan(op.first, op.count);
  }
  [[nodiscard]] std::vector<GpuPosition> own_in_file_order(const Launcher& op) const;
  // Null when nothing is charged to the node.
  [[nodiscard]] const Launcher* launcher(NodeId node) const;
  // The name of the first GPU event an op launched itself; invalid when it launched none.
  [[nodiscard]] StringId first_kernel(NodeId node) const;
  // Of an op that need not have launched any.
  [[nodiscard]] std::uint32_t category(NodeId node, OpCategories& categories) const;

  // Of the GPU events below a node: one subtraction unless an earlier one still ran, so that ops
  // nested without end cost no more than flat ones.
  [[nodiscard]] std::int64_t busy_ns(NodeId node) const;
  [[nodiscard]] bool is_by_start(NodeId node) const;  // gpu(node)
  [[nodiscard]] std::int64_t busy_ns(std::span<const GpuPosition> positions) const;

  // Those of the launchers: who asks for more does so of a copy.
  [[nodiscard]] const OpCategories& categories() const { return categories_; }

 private:
  void collect_gpu_events(std::span<const std::uint32_t> gpu_events, const GpuWorkKinds& kinds);
  void fill_gpu_events(std::span<const std::uint32_t> rows, const GpuWorkKinds& kinds,
                       GpuPosition* file_order);
  void sum_up();
  void collect_launchers(std::span<const NodeId> launchers, bool communication);
  void sort_launchers(std::span<const NodeId> nodes);
  void measure_launchers();
  void categorize();
  void measure(Launcher& op);
  void categorize_by_kernels();
  void divide(Launcher& op);

  const Trace& trace_;
  const Tree& tree_;
  const int threads_;
  Column<GpuEvent> gpu_;
  std::vector<GpuPosition> file_order_;
  std::vector<std::uint32_t> communication_before_;  // one more than gpu_
  std::vector<GpuPosition> run_start_;               // of the GPU events that come by start
  std::vector<std::int64_t> busy_before_;  // one more than gpu_: busy time of the runs so far
  std::vector<bool> is_alone_;             // the earlier ones of the run had all ended
  Column<Launcher> launchers_, parts_;     // parts_: empty when nothing is divided
  std::vector<GpuPosition> own_;
  NumberedSet launching_;                    // nodes
  std::vector<std::uint32_t> launcher_ids_;  // by number of the node: index into launchers_
  OpCategories categories_;
};

}  // namespace tracelens
