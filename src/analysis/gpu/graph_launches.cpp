#include "analysis/gpu/graph_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr double kEnoughPercent = 95;

// Of all GPU events, in launches, and attributed to captured ops; sums of durations.
struct GpuTimes {
  std::int64_t all = 0, in_launches = 0, matched = 0;
};

GpuTimes gpu_times(const Trace& trace, const GraphStitching& stitching) {
  GpuTimes times;
  for (const EventId event : trace.recorded_events())
    if (is_gpu(trace.category(event)) && trace.phase(event) == Phase::kComplete &&
        trace.ts_ns()[event.row] != kAbsent)
      times.all = plus_ns(times.all, duration_of(trace, event));
  for (const StitchedLaunch& launch : stitching.launches) {
    times.in_launches = plus_ns(times.in_launches, launch.gpu_ns);
    times.matched = plus_ns(times.matched, launch.matched_ns);
  }
  return times;
}

double percent(std::int64_t part, std::int64_t whole) {
  return percent_of(part, whole).value_or(0);
}

bool holds_captures(const Trace& trace) {
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    if (trace.text({id}).find("StreamBeginCapture") != std::string_view::npos) return true;
  return false;
}

// The reason that costs the most GPU time.
std::string main_reason(const GraphStitching& stitching) {
  std::map<std::string, std::int64_t> lost;
  for (const StitchedLaunch& launch : stitching.launches)
    if (launch.matched < launch.kernels && !launch.reason.empty())
      lost[launch.reason] += launch.gpu_ns - launch.matched_ns;
  const auto most = std::ranges::max_element(
      lost, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lost.end() ? std::string{} : most->first;
}

}  // namespace

std::optional<Table> graph_stitching(const TraceFacts& facts, const GraphStitching& stitching) {
  if (stitching.launches.empty()) return std::nullopt;
  const Trace& trace = facts.trace();
  const GpuTimes times = gpu_times(trace, stitching);
  struct Row {
    const Trace& trace;
    const StitchedLaunch& launch;
    const GpuTimes& times;
  };
  const auto name = [](const Trace& t, EventId event) {
    return event.valid() ? std::optional{t.name(event)} : std::nullopt;
  };
  static constexpr auto kText = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional{std::string_view{text}};
  };
  ColumnSet<Row> columns{
      {{"step", Kind::kText, "", "annotation around the launch"},
       [name](const Row& r) { return name(r.trace, r.launch.step); }},
      {{"launch", Kind::kText, "", "the call"},
       [name](const Row& r) { return name(r.trace, r.launch.launch); }},
      {{"launch UID", Kind::kInteger, "", "its place in the trace file"},
       [](const Row& r) { return std::int64_t{r.launch.launch.row}; }},
      {{"capture", Kind::kText, "", "file its ops are taken from"},
       [](const Row& r) { return kText(r.launch.capture); }},
      {{"capture number", Kind::kInteger, "", "which of the file's captures, from 1"},
       [](const Row& r) {
         return r.launch.capture.empty() ? std::nullopt
                                         : std::optional{std::int64_t{r.launch.capture_root} + 1};
       }},
      {{"matched by", Kind::kText, "",
        "how kernels were told to be those of the capture: one by one (same names at the same "
        "places), in order, by name, by stream, in part, by order only (the capture names none)"},
       [](const Row& r) { return alignment_text(r.launch.alignment); }},
      {{"kernels", Kind::kInteger, "", "GPU events of the launch"},
       [](const Row& r) { return std::int64_t{r.launch.kernels}; }},
      {{"matched", Kind::kInteger, "", "those attributed to captured ops"},
       [](const Row& r) { return std::int64_t{r.launch.matched}; }},
      {{"unmatched", Kind::kInteger, "", "those that stay with the launch"},
       [](const Row& r) { return std::int64_t{r.launch.kernels} - r.launch.matched; }},
      {{"dropped calls", Kind::kInteger, "", "captured calls that ran nothing in this launch"},
       [](const Row& r) { return std::int64_t{r.launch.dropped}; }},
      {{"GPU time", Kind::kReal, "ms", "summed time of its GPU events"},
       [](const Row& r) { return ms(r.launch.gpu_ns); }},
      {{"covered GPU time", Kind::kReal, "ms", "of those attributed to captured ops"},
       [](const Row& r) { return ms(r.launch.matched_ns); }},
      {{"covered", Kind::kReal, "%", "share of the launch's GPU time"},
       [](const Row& r) { return percent_of(r.launch.matched_ns, r.launch.gpu_ns); }},
      {{"share of GPU time", Kind::kReal, "%", "the launch's part of that of the whole trace"},
       [](const Row& r) { return percent_of(r.launch.gpu_ns, r.times.all); }},
      {{"reason", Kind::kText, "text", "why kernels were not attributed, or what is not sure"},
       [](const Row& r) { return kText(r.launch.reason); }}};
  Table table = columns.make_table("graph_stitching",
                                   "Graph launches, and the captured ops their kernels belong to");
  for (const StitchedLaunch& launch : stitching.launches)
    columns.append(table, Row{trace, launch, times});
  return table;
}

std::optional<Table> graph_kernels(const TraceFacts& facts, const GraphStitching& stitching,
                                   const KernelRules& rules) {
  const Trace& trace = facts.trace();
  const Tree& tree = facts.tree();
  KernelCategories categories{trace, rules};
  struct Graph {
    std::string_view call;
    std::int64_t launches = 0, ns = 0;
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> parts = {};  // kernels, ns
  };
  std::map<std::vector<std::uint32_t>, std::size_t> by_kernels;  // names, in the order of the trace
  std::vector<Graph> graphs;
  std::int64_t all_ns = 0;
  for (const StitchedLaunch& launch : stitching.launches) {
    if (launch.matched == launch.kernels || !tree.node(launch.launch).valid()) continue;
    std::vector<EventId> own;
    for (const EventId gpu : tree.gpu_events(tree.node(launch.launch)))
      if (tree.launch_of(gpu) == launch.launch) own.push_back(gpu);
    if (own.empty()) continue;
    std::vector<std::uint32_t> names;
    for (const EventId gpu : own) names.push_back(trace.names()[gpu.row].row);
    const auto [entry, added] = by_kernels.try_emplace(std::move(names), graphs.size());
    if (added) graphs.push_back({.call = trace.name(launch.launch)});
    Graph& graph = graphs[entry->second];
    ++graph.launches;
    for (const EventId gpu : own) {
      auto& [kernels, ns] = graph.parts[categories.id_of(trace.names()[gpu.row])];
      ++kernels;
      ns = plus_ns(ns, duration_of(trace, gpu));
      graph.ns = plus_ns(graph.ns, duration_of(trace, gpu));
      all_ns = plus_ns(all_ns, duration_of(trace, gpu));
    }
  }
  if (graphs.empty()) return std::nullopt;
  std::ranges::stable_sort(graphs, std::greater{}, &Graph::ns);

  struct Row {
    const Graph& graph;
    std::int64_t number, kernels, ns, all_ns;
    std::string_view category;
  };
  ColumnSet<Row> columns{
      {{"graph", Kind::kInteger, "",
        "graphs by GPU time, from 1; launches of the same kernels are "
        "of one graph"},
       &Row::number},
      {{"launch", Kind::kText, "", "the call"}, [](const Row& r) { return r.graph.call; }},
      {{"launches", Kind::kInteger, "", "how often it was launched"},
       [](const Row& r) { return r.graph.launches; }},
      {{"kernel category", Kind::kText, "", "kind of work, by the kernels' names"}, &Row::category},
      {{"kernels", Kind::kInteger, "", "GPU events of this kind, in all launches"}, &Row::kernels},
      {{"GPU time", Kind::kReal, "ms", "their summed time"}, [](const Row& r) { return ms(r.ns); }},
      {{"share of graph", Kind::kReal, "%", "part of the graph's GPU time"},
       [](const Row& r) { return percent_of(r.ns, r.graph.ns); }},
      {{"share of all graphs", Kind::kReal, "%", "part of that of all graphs without ops"},
       [](const Row& r) { return percent_of(r.ns, r.all_ns); }}};
  Table table = columns.make_table(
      "graph_kernels", "Kinds of GPU work inside graph launches whose kernels have no op");
  std::int64_t number = 0;
  for (const Graph& graph : graphs) {
    ++number;
    std::vector<std::tuple<std::int64_t, std::string_view, std::int64_t>> parts;
    for (const auto& [category, part] : graph.parts)
      parts.emplace_back(-part.second, categories.text(category), part.first);
    std::ranges::sort(parts);
    for (const auto& [minus_ns, category, kernels] : parts)
      columns.append(table, Row{graph, number, kernels, -minus_ns, all_ns, category});
  }
  return table;
}

std::vector<std::string> stitching_warnings(const Trace& trace, const GraphStitching& stitching) {
  std::vector<std::string> sentences;
  const GpuTimes times = gpu_times(trace, stitching);
  const auto launches = std::ranges::count_if(
      stitching.launches, [](const StitchedLaunch& launch) { return launch.kernels > 0; });
  if (stitching.folder.empty()) {
    if (launches > 0)
      sentences.push_back(fmt::format(
          "{} graph launch{} {:.1f}% of the GPU time, ops unknown: name the traces of "
          "captures with --capture{}; until then table graph_kernels has kinds of "
          "kernels",
          launches, launches == 1 ? " holds" : "es hold", percent(times.in_launches, times.all),
          holds_captures(trace) ? ", this trace among them" : ""));
    return sentences;
  }
  if (launches == 0) {
    sentences.push_back(
        fmt::format("the trace has no graph launch: {} is not used", stitching.folder));
    return sentences;
  }
  for (const std::string& note : stitching.notes) sentences.push_back(note);
  const double covered = percent(times.matched, times.in_launches);
  if (covered < kEnoughPercent) {
    std::string sentence = fmt::format(
        "captured ops explain {:.1f}% of the GPU time inside graph launches, which is {:.1f}% of "
        "all; see graph_stitching",
        covered, percent(times.in_launches, times.all));
    if (const std::string reason = main_reason(stitching); !reason.empty())
      sentence += fmt::format(": {}", reason);
    sentences.push_back(std::move(sentence));
  }
  if (const auto by_order =
          std::ranges::count(stitching.launches, Alignment::kByOrder, &StitchedLaunch::alignment);
      by_order > 0)
    sentences.push_back(fmt::format(
        "the kernels of {} graph launches were matched by order only, because the capture does "
        "not name its kernels: counts, copies and fills agree, and no op contradicts its kernels",
        by_order));
  return sentences;
}

}  // namespace tracelens
