// What else a database holds: counters, memory, graphs, and how much of everything.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/database/detail_reader.hpp"
#include "analysis/database/summaries.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Work = DatabaseEvents::Work;
using GpuEvent = DatabaseEvents::GpuEvent;

}  // namespace

Table database_counters(const DatabaseEvents& events) {
  struct Counted {
    std::int64_t dispatches = 0;
    double sum = 0, min = 0, max = 0;
  };
  const Trace& trace = events.trace();
  std::map<std::pair<std::string, std::string>, Counted> groups;
  std::unordered_map<std::uint32_t, bool> has_counters;  // by text of the details
  for (const GpuEvent& job : events.gpu()) {
    const auto text = trace.detail_texts().at(job.event);
    if (job.work != Work::kKernel || !text) continue;
    const auto [known, is_new] = has_counters.try_emplace(text->row, true);
    if (!known->second) continue;
    const Value details = trace.details(job.event);
    const Value* const counters = details.find("counters");
    known->second = counters != nullptr;
    if (counters == nullptr) continue;
    for (std::size_t i = 0; i < counters->keys().size(); ++i) {
      Counted& counted = groups[{std::string{trace.name(job.event)}, counters->keys()[i]}];
      const double value = counters->items()[i].as_real();
      counted.min = counted.dispatches == 0 ? value : std::min(counted.min, value);
      counted.max = counted.dispatches == 0 ? value : std::max(counted.max, value);
      counted.sum += value;
      ++counted.dispatches;
    }
  }
  const ColumnSpec columns[] = {
      {"kernel", Kind::kText, "", "name of the kernel"},
      {"counter", Kind::kText, "", "what the hardware counted"},
      {"dispatches", Kind::kInteger, "", "launches in which it was counted"},
      {"sum", Kind::kReal, "", "over all of them"},
      {"mean", Kind::kReal, "", "of one launch, on average"},
      {"min", Kind::kReal, "", "the least in a launch"},
      {"max", Kind::kReal, "", "the most in a launch"}};
  Table table{"counters", "What the hardware counted, by kernel", columns};
  for (const auto& [key, counted] : groups)
    table.add_row(key.first, key.second, counted.dispatches, counted.sum,
                  counted.sum / static_cast<double>(counted.dispatches), counted.min, counted.max);
  return table;
}

// Memory that is freed belongs to where it was asked for: the row of a free says neither GPU nor size.
Table database_memory(const DatabaseEvents& events) {
  const Trace& trace = events.trace();
  std::vector<EventId> changes;
  for (const EventId event : trace.recorded_events())
    if (trace.category(event) == Category::kOtherCategory &&
        trace.category_text(event) == "memory_allocation")
      changes.push_back(event);
  std::ranges::stable_sort(changes, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
  struct Usage {
    std::int64_t allocs = 0, alloc_bytes = 0, frees = 0, unmatched = 0, now = 0, peak = 0;
  };
  struct Block {
    std::string device;
    std::int64_t bytes;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Usage> groups;
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Block> live;
  for (const EventId event : changes) {
    const Value details = trace.details(event);
    const auto text_of = [&](const char* key) {
      const Value* const found = details.find(key);
      return found == nullptr ? Value{} : *found;
    };
    const std::int64_t process = trace.track(event).pid.as_int();
    const std::string name = events.process_name(process), level = text_of("level").as_text();
    const Value gpu = text_of("device");
    std::string device;
    if (gpu.is_int()) device = std::to_string(events.place_of(gpu.as_int()).index);
    const std::int64_t address =
        text_of("address").is_int() ? text_of("address").as_int() : kAbsent;
    const std::int64_t bytes = text_of("bytes").as_int();
    const std::tuple block{process, address, level};
    if (trace.name(event) == "ALLOC") {
      live.insert_or_assign(block, Block{device, bytes});
      Usage& usage = groups[{name, device, level}];
      ++usage.allocs;
      usage.alloc_bytes = plus_ns(usage.alloc_bytes, bytes);
      usage.now = plus_ns(usage.now, bytes);
      usage.peak = std::max(usage.peak, usage.now);
    } else if (const auto found = live.find(block);
               trace.name(event) == "FREE" && found != live.end()) {
      Usage& usage = groups[{name, found->second.device, level}];
      ++usage.frees;
      usage.now -= found->second.bytes;
      live.erase(found);
    } else {
      ++groups[{name, device, level}].unmatched;
    }
  }
  const ColumnSpec columns[] = {
      {"process", Kind::kText, "", "machine and process"},
      {"device", Kind::kText, "", "number of the GPU; empty when unknown"},
      {"level", Kind::kText, "", "kind of memory, in the profiler's words"},
      {"allocs", Kind::kInteger, "", "how often memory was asked for"},
      {"alloc_bytes", Kind::kInteger, "B", "how much in all"},
      {"frees", Kind::kInteger, "", "how often it was given back"},
      {"unmatched_frees", Kind::kInteger, "", "memory that nobody had asked for"},
      {"peak_bytes", Kind::kInteger, "B", "the most in use at a time"},
      {"live_bytes", Kind::kInteger, "B", "in use at the end"}};
  Table table{"memory", "Memory that was asked for and given back", columns};
  for (const auto& [key, usage] : groups)
    table.add_row(std::get<0>(key), std::get<1>(key), std::get<2>(key), usage.allocs,
                  usage.alloc_bytes, usage.frees, usage.unmatched, usage.peak, usage.now);
  return table;
}

Table database_graphs(const DatabaseEvents& events) {
  struct Graph {
    std::vector<std::int64_t> launches;
    std::int64_t events = 0, ns = 0;
  };
  DetailReader details{events.trace()};
  std::map<std::int64_t, Graph> graphs;
  for (const GpuEvent& job : events.gpu()) {
    const Value& id = details.of(job.event, "graph");
    if (!id.is_int() || id.as_int() == 0) continue;
    Graph& graph = graphs[id.as_int()];
    graph.launches.push_back(events.trace().correlations()[job.event.row]);
    ++graph.events;
    graph.ns = plus_ns(graph.ns, job.ns());
  }
  const ColumnSpec columns[] = {{"graph", Kind::kInteger, "id", "number of the graph"},
                                {"launches", Kind::kInteger, "", "how often it was launched"},
                                {"gpu_ops", Kind::kInteger, "", "GPU events of these launches"},
                                {"gpu_ns", Kind::kInteger, "ns", "their time, added up"}};
  Table table{"graph_launches", "Launches of captured graphs", columns};
  for (auto& [id, graph] : graphs) {
    std::ranges::sort(graph.launches);
    const auto last = std::unique(graph.launches.begin(), graph.launches.end());
    table.add_row(id, last - graph.launches.begin(), graph.events, graph.ns);
  }
  return table;
}

Table database_graph_ops(const DatabaseEvents& events) {
  const ColumnSpec columns[] = {
      {"graph", Kind::kInteger, "id", "number of the graph; empty when the file does not say"},
      {"op", Kind::kText, "", "innermost range around the capture of the node"},
      {"name", Kind::kText, "", "what the node does: a kernel, a copy"},
      {"nodes", Kind::kInteger, "", "nodes of the graph"},
      {"count", Kind::kInteger, "", "GPU events of all launches"},
      {"gpu_ns", Kind::kInteger, "ns", "their time, added up"}};
  Table table{"graph_ops", "What was captured into graphs, by the op it was captured under",
              columns};
  if (!events.has_nodes()) return table;
  struct Captured {
    std::set<std::int64_t> nodes;
    std::int64_t events = 0, ns = 0;
  };
  const Trace& trace = events.trace();
  DetailReader details{trace};
  std::map<std::tuple<std::int64_t, std::string_view, std::string_view>, Captured> groups;
  for (const GpuEvent& job : events.gpu()) {
    const Value &node = details.of(job.event, "graph node"), &id = details.of(job.event, "graph");
    if (!node.is_int()) continue;
    const std::uint32_t range = events.range_of_node(job, node.as_int());
    if (range == kNoRange) continue;
    Captured& captured = groups[{id.is_int() ? id.as_int() : kAbsent,
                                 trace.name(events.ranges()[range].event), trace.name(job.event)}];
    captured.nodes.insert(node.as_int());
    ++captured.events;
    captured.ns = plus_ns(captured.ns, job.ns());
  }
  for (const auto& [key, captured] : groups)
    table.add_row(std::get<0>(key) == kAbsent ? Cell{kMissing} : Cell{std::get<0>(key)},
                  std::get<1>(key), std::get<2>(key), captured.nodes.size(), captured.events,
                  captured.ns);
  table.sort_by("gpu_ns", Order::kDescending);
  return table;
}

Table database_series(const DatabaseEvents& events) {
  const ColumnSpec columns[] = {
      {"counter", Kind::kText, "", "what was measured, in the profiler's words"},
      {"node", Kind::kText, "", "machine; empty when the file does not say"},
      {"device", Kind::kInteger, "id", "number of the GPU on that machine; empty: of no GPU"},
      {"samples", Kind::kInteger, "", "how often it was measured"},
      {"mean", Kind::kReal, "", "of all samples"},
      {"min", Kind::kReal, "", "the least"},
      {"max", Kind::kReal, "", "the most"},
      {"first_ns", Kind::kInteger, "ns", "time of the first sample"},
      {"last_ns", Kind::kInteger, "ns", "time of the last sample"}};
  Table table{"counter_series", "Clocks, sensors and counters that were measured over time",
              columns};
  const Value* const list = events.trace().metadata("counter_series");
  if (list == nullptr) return table;
  for (const Value& series : list->items()) {
    const Value& gpu = member(series, "gpu");
    DatabaseEvents::Place place;
    if (gpu.is_int()) place = events.place_of(gpu.as_int());
    table.add_row(member(series, "counter").as_text(), place.node,
                  gpu.is_int() ? Cell{place.index} : Cell{kMissing},
                  member(series, "samples").as_int(), member(series, "mean").as_real(),
                  member(series, "min").as_real(), member(series, "max").as_real(),
                  member(series, "first_ns").as_int(), member(series, "last_ns").as_int());
  }
  return table;
}

Table database_counts(const DatabaseEvents& events) {
  const Trace& trace = events.trace();
  std::array<std::int64_t, 4> by_work{};
  std::int64_t linked = 0;
  for (const GpuEvent& job : events.gpu()) {
    ++by_work[static_cast<std::size_t>(job.work)];
    linked += job.call.valid() ? 1 : 0;
  }
  std::int64_t loose = 0, marks = 0;
  for (const EventId event : trace.recorded_events()) {
    if (trace.category(event) != Category::kOtherCategory) continue;
    loose += trace.category_text(event) == "loose range" ? 1 : 0;
    marks += trace.category_text(event) == "mark" ? 1 : 0;
  }
  const auto told = [&](std::string_view key) {
    const Value* const value = trace.metadata(key);
    return value == nullptr ? 0 : value->as_int();
  };
  const auto of = [&](Work work) { return by_work[static_cast<std::size_t>(work)]; };
  const auto all = static_cast<std::int64_t>(events.gpu().size());
  const ColumnSpec columns[] = {{"what", Kind::kText, "", "kind of event"},
                                {"count", Kind::kInteger, "", "how many the file has"}};
  Table table{"counts", "What the file holds", columns};
  table.add_row("kernels", of(Work::kKernel));
  table.add_row("copies", of(Work::kCopy));
  table.add_row("memsets", of(Work::kFill));
  table.add_row("graph_traces", of(Work::kGraph));
  table.add_row("api_calls", events.calls().size());
  table.add_row("ranges", events.ranges().size());
  table.add_row("loose_ranges", loose);
  table.add_row("marks", marks);
  table.add_row("gpu_events_linked", linked);
  table.add_row("gpu_events_unlinked", all - linked);
  table.add_row("streaming_counter_samples", told("streaming_counter_samples"));
  table.add_row("rows_not_events", told("rows_not_events"));
  return table;
}

}  // namespace tracelens
