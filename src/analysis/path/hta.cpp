#include "analysis/path/hta.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/path/stream_waits.hpp"
#include "facts/gpu_work.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kLongGapNs = 1'500'000;
constexpr std::uint32_t kNoNode = 0xffffffff;  // also the row of an event that is not there

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}
// Calls that take one lock of the driver.
bool is_lock(std::string_view call) {
  return is_one_of(call, {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"});
}
bool weighs_nothing(std::string_view call) {
  return is_one_of(call, {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
                          "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync"});
}
bool is_counted_launch(std::string_view call) {
  return is_one_of(
      call, {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
             "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel",
             "hipMemcpyWithStream", "hipMemcpyAsync", "hipMemsetAsync"});
}

class HtaGraph {
 public:
  HtaGraph(const Trace& trace, std::optional<Interval> window) : trace_{trace}, window_{window} {}

  HtaPath find() {
    keep_events();
    add_nodes();
    add_lock_edges();
    add_stack_edges();
    add_gpu_edges();
    return longest_path();
  }

 private:
  struct Node {
    std::int64_t time;
    std::uint32_t row;
    bool is_start;
  };
  struct Link {
    std::uint32_t to, number;
    HtaEdge edge;
  };

  [[nodiscard]] std::int64_t start(std::uint32_t row) const { return trace_.ts_ns()[row]; }
  [[nodiscard]] std::int64_t end(std::uint32_t row) const { return end_of(trace_, {row}); }
  [[nodiscard]] std::string_view name(std::uint32_t row) const { return trace_.name({row}); }
  [[nodiscard]] bool is_sync(std::uint32_t row) const {
    return trace_.category_text({row}) == "cuda_sync";
  }
  // The kinds of calls that something on the GPU side belongs to.
  [[nodiscard]] std::uint32_t call_of(std::uint32_t gpu) const {
    const auto found = calls_.find(trace_.correlations()[gpu]);
    return found == calls_.end() ? kNoNode : found->second;
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> lane(std::uint32_t gpu) const {
    return {trace_.devices().at({gpu}).value_or(-1), trace_.streams().at({gpu}).value_or(-1)};
  }

  void keep_events() {
    for (const EventId event : trace_.recorded_events()) {
      const Category category = trace_.category(event);
      if (trace_.phase(event) != Phase::kComplete || trace_.ts_ns()[event.row] == kAbsent) continue;
      if (is_runtime(category) && trace_.correlations()[event.row] != kAbsent)
        calls_.try_emplace(trace_.correlations()[event.row], event.row);
      const bool loads_data =
          category == Category::kUserAnnotation &&
          trace_.name(event).find("enumerate(DataLoader)") != std::string_view::npos;
      if (category != Category::kCpuOp && !is_runtime(category) && !loads_data) continue;
      if (duration_of(trace_, event) <= 0) continue;
      if (window_ && (start(event.row) < window_->start || start(event.row) > window_->end))
        continue;
      host_.push_back(event.row);
      if (loads_data) loading_.push_back(event.row);
      if (trace_.correlations()[event.row] != kAbsent)
        kept_.insert(trace_.correlations()[event.row]);
    }
    for (const EventId event : trace_.recorded_events()) {
      if (trace_.phase(event) != Phase::kComplete || trace_.ts_ns()[event.row] == kAbsent) continue;
      if (!is_gpu(trace_.category(event)) && !is_sync(event.row)) continue;
      if (is_gpu(trace_.category(event))) all_gpu_.push_back(event.row);
      const bool is_wait = name(event.row) == "Stream Wait Event";
      if (is_wait || kept_.contains(trace_.correlations()[event.row])) gpu_.push_back(event.row);
    }
  }

  // A wait that belongs to a stream and a call is a node without edges.
  [[nodiscard]] bool is_on_stream(std::uint32_t sync) const {
    constexpr std::int64_t kNoStream = 0xffffffff;
    const std::int64_t stream = trace_.streams().at({sync}).value_or(-1);
    const std::int64_t correlation = trace_.correlations()[sync];
    return stream >= 0 && stream < kNoStream &&
           (name(sync) == "Stream Wait Event" ? calls_.contains(correlation)
                                              : kept_.contains(correlation));
  }

  void add_nodes() {
    const auto add = [&](std::uint32_t row) {
      nodes_.push_back({start(row), row, true});
      nodes_.push_back({end(row), row, false});
    };
    for (const std::uint32_t row : host_) add(row);
    for (const std::uint32_t row : gpu_)
      if (is_gpu(trace_.category({row})) || is_on_stream(row)) add(row);
    std::ranges::sort(nodes_, {}, [](const Node& node) {
      return std::tuple{node.time, node.row, !node.is_start};
    });
    starts_.assign(trace_.size(), kNoNode);
    ends_.assign(trace_.size(), kNoNode);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i)
      (nodes_[i].is_start ? starts_ : ends_)[nodes_[i].row] = i;
    links_.resize(nodes_.size());
  }

  // A later edge between two nodes takes the place of an earlier one.
  void add_edge(std::uint32_t from, std::uint32_t to, HtaEdgeKind kind, EventId owner,
                bool is_weightless = false) {
    if (from == kNoNode || to == kNoNode) return;
    const bool weighs = kind != HtaEdgeKind::kDependency && kind != HtaEdgeKind::kSync;
    const HtaEdge edge{kind, weighs && !is_weightless ? nodes_[to].time - nodes_[from].time : 0,
                       owner};
    const auto known = std::ranges::find(links_[from], to, &Link::to);
    if (known != links_[from].end())
      known->edge = edge;
    else
      links_[from].push_back({to, edge_count_++, edge});
  }

  void add_lock_edges() {
    std::vector<std::uint32_t> open;
    std::uint32_t before = kNoNode;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!is_runtime(trace_.category({nodes_[i].row})) || !is_lock(name(nodes_[i].row))) continue;
      if (nodes_[i].is_start) {
        open.push_back(i);
      } else {
        for (; !open.empty(); open.pop_back()) {
          const bool is_same = nodes_[open.back()].row == nodes_[i].row;
          add_edge(open.back(), i, is_same ? HtaEdgeKind::kOperator : HtaEdgeKind::kDependency,
                   is_same ? EventId{nodes_[i].row} : EventId{});
        }
        if (before != kNoNode && !nodes_[before].is_start)
          add_edge(before, i, HtaEdgeKind::kDependency, {});
      }
      before = i;
    }
  }

  // The backward thread counts as part of the forward one where each is the only one of its kind.
  [[nodiscard]] std::pair<TrackId, TrackId> merged_tracks() const {
    std::set<TrackId> forward, autograd;
    for (const EventId event : trace_.recorded_events()) {
      if ((trace_.category(event) != Category::kCpuOp &&
           trace_.category(event) != Category::kUserAnnotation) ||
          trace_.phase(event) != Phase::kComplete)
        continue;
      if (window_ &&
          (trace_.ts_ns()[event.row] < window_->start || trace_.ts_ns()[event.row] > window_->end))
        continue;
      if (trace_.name(event).find("forward") != std::string_view::npos)
        forward.insert(trace_.tracks()[event.row]);
      if (trace_.name(event).find("autograd") != std::string_view::npos)
        autograd.insert(trace_.tracks()[event.row]);
    }
    if (forward.size() != 1 || autograd.size() != 1 || *forward.begin() == *autograd.begin())
      return {};
    return {*autograd.begin(), *forward.begin()};
  }

  // A range opened by record_function begins inside the Python frame that opens it; its stack ends
  // with that frame.
  void find_clipped() {
    std::ranges::sort(loading_, {}, [&](std::uint32_t row) {
      return std::pair{trace_.tracks()[row], start(row)};
    });
    if (loading_.empty()) return;
    for (const EventId event : trace_.recorded_events()) {
      if (trace_.category(event) != Category::kPythonFunction ||
          trace_.phase(event) != Phase::kComplete || trace_.ts_ns()[event.row] == kAbsent ||
          trace_.name(event).find("_record_function_enter") == std::string_view::npos)
        continue;
      const TrackId track = trace_.tracks()[event.row];
      for (auto found =
               std::ranges::lower_bound(loading_, std::pair{track, start(event.row)}, {},
                                        [&](std::uint32_t row) {
                                          return std::pair{trace_.tracks()[row], start(row)};
                                        });
           found != loading_.end() && trace_.tracks()[*found] == track &&
           start(*found) < end(event.row);
           ++found)
        if (end(*found) > end(event.row)) clipped_.insert(*found);
    }
  }

  void add_stack_edges() {
    find_clipped();
    const auto [from, to] = merged_tracks();
    std::map<TrackId, std::vector<Node>> threads;
    for (const std::uint32_t row : host_) {
      TrackId track = trace_.tracks()[row];
      if (from.valid() && track == from) track = to;
      threads[track].push_back({start(row), row, true});
      if (!clipped_.contains(row)) threads[track].push_back({end(row), row, false});
    }
    for (auto& [track, records] : threads) {
      std::ranges::sort(records, [&](const Node& a, const Node& b) {
        if (a.time != b.time) return a.time < b.time;
        if (a.is_start != b.is_start) return !a.is_start;
        const std::int64_t dur_a = end(a.row) - start(a.row), dur_b = end(b.row) - start(b.row);
        if (a.is_start) return std::tuple{-dur_a, a.row} < std::tuple{-dur_b, b.row};
        return std::tuple{dur_a, b.row} < std::tuple{dur_b, a.row};
      });
      follow_stack(records);
    }
  }

  void follow_stack(const std::vector<Node>& records) {
    std::vector<std::uint32_t> open;  // rows
    std::uint32_t last = kNoNode;
    const auto visit = [&](const Node& record) {
      const std::uint32_t node = record.is_start ? starts_[record.row] : ends_[record.row];
      if (last != kNoNode) {
        const Node& before = nodes_[last];
        const bool both_lock = is_lock_call(before.row) && is_lock_call(record.row);
        if (!(both_lock && (before.is_start || !record.is_start))) {
          const bool is_free = record.is_start && open.empty();
          EventId owner;
          if (before.is_start)
            owner = {before.row};
          else if (!record.is_start)
            owner = {record.row};
          else if (!open.empty())
            owner = {open.back()};
          add_edge(last, node, is_free ? HtaEdgeKind::kDependency : HtaEdgeKind::kOperator, owner,
                   !record.is_start && weighs_nothing(name(record.row)));
        }
      }
      if (record.is_start)
        open.push_back(record.row);
      else if (const auto found = std::ranges::find(open, record.row); found != open.end())
        open.erase(found);
      last = node;
    };
    for (const Node& record : records) {
      visit(record);
      if (clipped_.contains(record.row)) visit({end(record.row), record.row, false});
    }
  }
  [[nodiscard]] bool is_lock_call(std::uint32_t row) const {
    return is_runtime(trace_.category({row})) && is_lock(name(row));
  }

  // --- GPU ---

  // Launches that wait on their stream, just after the call and just after the start of its work.
  void count_queues() {
    struct Change {
      std::int64_t time;
      int by;
      std::uint32_t row, gpu;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Change>> lanes;
    for (const std::uint32_t gpu : all_gpu_) {
      const std::uint32_t call = call_of(gpu);
      if (call == kNoNode || !is_counted_launch(name(call))) continue;
      lanes[lane(gpu)].push_back({start(call), 1, call, gpu});
      lanes[lane(gpu)].push_back({start(gpu), -1, gpu, gpu});
    }
    for (auto& [key, changes] : lanes) {
      std::ranges::sort(changes, {}, [](const Change& change) {
        return std::tuple{change.time, -change.by, change.row};
      });
      int length = 0;
      for (const Change& change : changes) {
        length += change.by;
        (change.by > 0 ? at_call_ : at_start_)[change.gpu] = length;
      }
    }
  }

  void add_gpu_edges() {
    count_queues();
    std::ranges::stable_sort(
        gpu_, {}, [&](std::uint32_t row) { return is_sync(row) ? end(row) : start(row); });
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> last;  // by lane
    for (const std::uint32_t row : gpu_) {
      if (is_sync(row)) {
        add_sync(row, last);
        continue;
      }
      add_edge(starts_[row], ends_[row], HtaEdgeKind::kOperator, {row});
      const auto before = last.find(lane(row));
      add_start(row, before == last.end() ? kNoNode : before->second);
      last[lane(row)] = row;
    }
  }

  void add_start(std::uint32_t row, std::uint32_t before) {
    const std::uint32_t call = call_of(row);
    const std::uint32_t source = waits_.source({row}).row;
    const auto ended_by = [&](std::uint32_t event, std::int64_t time) {
      return event == kNoNode || end(event) < time;
    };
    const auto queued = at_call_.find(row), left = at_start_.find(row);
    if (call != kNoNode && queued != at_call_.end() && queued->second == 1 && left->second == 0 &&
        ended_by(before, start(call)) && ended_by(source, start(call))) {
      add_edge(starts_[call], starts_[row], HtaEdgeKind::kLaunchDelay, {});
    } else if (before != kNoNode && start(row) - end(before) < kLongGapNs &&
               ended_by(source, end(before))) {
      add_edge(ends_[before], starts_[row], HtaEdgeKind::kKernelGap, {before});
    }
    if (source != kNoNode) add_edge(ends_[source], starts_[row], HtaEdgeKind::kSync, {});
  }

  void add_sync(std::uint32_t row,
                const std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t>& last) {
    const std::uint32_t call = call_of(row);
    if (call == kNoNode) return;
    const auto wait_for = [&](std::uint32_t event) {
      if (event != kNoNode) add_edge(ends_[event], ends_[call], HtaEdgeKind::kSync, {});
    };
    if (name(row) == "Stream Sync") {
      if (const auto found = last.find(lane(row)); found != last.end()) wait_for(found->second);
    } else if (name(row) == "Context Sync") {
      for (const auto& [key, event] : last) wait_for(event);
    } else if (name(row) == "Event Sync") {
      wait_for(waits_.source_of_wait({row}).row);
    }
  }

  // --- the path ---

  HtaPath longest_path() {
    HtaPath path;
    path.graph_nodes = nodes_.size();
    // Edges into a node in the order in which they were found: of several best ones the first counts.
    struct In {
      std::uint32_t from, number;
      const HtaEdge* edge;
    };
    std::vector<std::vector<In>> in(nodes_.size());
    for (std::uint32_t from = 0; from < links_.size(); ++from) {
      for (const Link& link : links_[from]) {
        in[link.to].push_back({from, link.number, &link.edge});
        ++path.edges_by_kind[static_cast<std::size_t>(link.edge.kind)];
        ++path.graph_edges;
      }
    }
    struct Best {
      std::int64_t length = 0;
      std::uint32_t from = kNoNode;
      const HtaEdge* edge = nullptr;
    };
    std::vector<Best> best(nodes_.size());
    std::vector<std::size_t> missing(nodes_.size());  // edges into a node not followed yet
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      std::ranges::sort(in[i], {}, &In::number);
      missing[i] = in[i].size();
      if (missing[i] == 0) ready.push_back(i);
    }
    std::uint32_t last = kNoNode;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const std::uint32_t node = ready[i];
      for (const In& edge : in[node]) {
        const std::int64_t weight = edge.edge->weight_ns <= -1000 ? 0 : edge.edge->weight_ns;
        const std::int64_t length = best[edge.from].length + weight;
        if (length >= 0 && (best[node].edge == nullptr || length > best[node].length))
          best[node] = {length, edge.from, edge.edge};
      }
      if (last == kNoNode || best[node].length > best[last].length) last = node;
      for (const Link& link : links_[node])
        if (--missing[link.to] == 0) ready.push_back(link.to);
    }
    if (last == kNoNode) return path;
    std::set<std::uint32_t> events{nodes_[last].row};
    path.nodes = 1;
    for (std::uint32_t node = last; best[node].edge != nullptr; node = best[node].from) {
      path.edges.push_back(*best[node].edge);
      path.length_ns += best[node].edge->weight_ns;
      events.insert(nodes_[best[node].from].row);
      ++path.nodes;
    }
    path.events = events.size();
    std::ranges::reverse(path.edges);
    return path;
  }

  const Trace& trace_;
  const std::optional<Interval> window_;
  std::unordered_map<std::int64_t, std::uint32_t> calls_;  // by correlation: the first
  std::set<std::int64_t> kept_;                            // correlations of calls in the window
  std::vector<std::uint32_t> host_, gpu_, all_gpu_;        // rows; gpu_: kept, with sync events
  std::vector<std::uint32_t> loading_;                     // of host_: ranges of data loading
  std::set<std::uint32_t> clipped_;                        // of those
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> starts_, ends_;  // nodes, by row
  std::uint32_t edge_count_ = 0;
  std::vector<std::vector<Link>> links_;                       // by node
  std::unordered_map<std::uint32_t, int> at_call_, at_start_;  // queue lengths, by GPU row
  const StreamWaits waits_{trace_};
};

}  // namespace

std::string_view HtaEdge::bound_by(const Trace& trace) const {
  switch (kind) {
    case HtaEdgeKind::kKernelGap:
      return "gpu_kernel_kernel_overhead";
    case HtaEdgeKind::kLaunchDelay:
      return "gpu_kernel_launch_overhead";
    case HtaEdgeKind::kDependency:
    case HtaEdgeKind::kSync:
      return "";
    case HtaEdgeKind::kOperator:
      break;
  }
  if (!owner.valid() || !is_gpu(trace.category(owner))) return "cpu_bound";
  const std::string_view name = trace.name(owner);
  const bool communicates = name.starts_with("nccl") || name.starts_with("hip") ||
                            name.starts_with("hccl") ||
                            name.find("ncclKernel") != std::string_view::npos;
  return communicates ? "gpu_communication_bound" : "gpu_compute_bound";
}

HtaPath find_hta_critical_path(const Trace& trace, std::optional<Interval> window) {
  return HtaGraph{trace, window}.find();
}

}  // namespace tracelens
