#include "analysis/jax/hlo_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/jax/hosts.hpp"
#include "analysis/jax/kernels.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kNoOp = "(no HLO op)";

// All runs of one HLO op, or all GPU events of one name that no module launched.
struct OpTotal {
  const JaxOp* op = nullptr;
  StringId name{};                                   // of the event when there is no op
  std::int64_t host = 0;                             // an op of two hosts is two ops
  std::vector<std::int64_t> runs_ns;                 // GPU time of each run
  std::map<std::string_view, std::int64_t> kernels;  // by name: how often
  std::int64_t sum_ns = 0;
};

// In order of their first kernels.
std::vector<OpTotal> total_up(const Trace& trace, const Tree& tree, const JaxOps& ops) {
  std::vector<OpTotal> totals;
  std::unordered_map<std::uint64_t, std::size_t> index;
  const auto total_of = [&](EventId event, bool is_op, std::uint32_t id) -> OpTotal& {
    const std::int64_t host = JaxHosts::number(trace, event);
    const std::uint64_t key =
        static_cast<std::uint64_t>(host) << 33 | std::uint64_t{id} << 1 | (is_op ? 1 : 0);
    const auto [entry, is_new] = index.try_emplace(key, totals.size());
    if (is_new) totals.emplace_back().host = host;
    return totals[entry->second];
  };
  for (const EventId event : trace.all_events()) {
    if (is_jax_span(trace, event)) {
      const SignatureId signature = trace.signatures()[event.row];
      const NodeId node = tree.node(event);
      if (!signature.valid() || !node.valid()) continue;
      OpTotal& total = total_of(event, true, signature.row);
      total.op = ops.of(signature);
      total.runs_ns.push_back(tree.gpu_sum_ns(node));
      total.sum_ns = plus_ns(total.sum_ns, total.runs_ns.back());
      for (const EventId kernel : tree.gpu_events(node)) ++total.kernels[trace.name(kernel)];
    } else if (is_gpu(trace.category(event)) && !tree.is_linked(event)) {
      OpTotal& total = total_of(event, false, trace.names()[event.row].row);
      total.name = trace.names()[event.row];
      total.runs_ns.push_back(duration_of(trace, event));
      total.sum_ns = plus_ns(total.sum_ns, total.runs_ns.back());
      ++total.kernels[trace.name(event)];
    }
  }
  return totals;
}

std::string source_of(const JaxOp* op) {
  if (op == nullptr || op->instruction == nullptr || op->instruction->source_file.empty())
    return {};
  return fmt::format("{}:{}", op->instruction->source_file, op->instruction->source_line);
}
std::string_view scope_of(const JaxOp* op) {
  return op == nullptr || op->instruction == nullptr ? std::string_view{}
                                                     : std::string_view{op->instruction->op_name};
}
std::string_view kind_of(const OpTotal& total) {
  if (total.op == nullptr) return kNoOp;
  return total.op->kind.empty() ? std::string_view{"(no HLO)"} : std::string_view{total.op->kind};
}

Value kernel_list(const OpTotal& total) {
  std::vector<std::string> names;
  std::vector<Value> counts;
  for (const auto& [name, count] : total.kernels) {
    names.emplace_back(name);
    counts.emplace_back(count);
  }
  return Value::dict(std::move(names), std::move(counts));
}

// What the kernels of an op do, by their names: the category of the one that ran most often.
std::string_view category_of(const OpTotal& total, const KernelRules* rules) {
  if (rules == nullptr || total.kernels.empty()) return {};
  const auto most =
      std::ranges::max_element(total.kernels, {}, [](const auto& kernel) { return kernel.second; });
  return rules->category(most->first);
}

// FLOPs, bytes and rates of an op over all its runs, in the columns below.
void add_work(RowCells& row, const OpTotal& total, const JaxHloOptions& options) {
  const Work* const work = total.op != nullptr && total.op->work ? &*total.op->work : nullptr;
  const auto runs = static_cast<double>(total.runs_ns.size());
  const double seconds = static_cast<double>(total.sum_ns) / 1e9;
  const bool has_rate = work != nullptr && seconds > 0;
  const bool has_bytes = work != nullptr && work->bytes.has_value();
  const auto maybe = [](bool has, auto&& value) {
    return has ? std::optional<double>{value()} : std::nullopt;
  };
  row.add(maybe(work != nullptr, [&] { return work->flops / 1e9; }));
  row.add(maybe(has_bytes, [&] { return *work->bytes / (1024.0 * 1024.0); }));
  row.add(maybe(has_bytes && *work->bytes > 0, [&] { return work->flops / *work->bytes; }));
  row.add(maybe(has_rate, [&] { return work->flops * runs / 1e12 / seconds; }));
  row.add(maybe(has_rate && has_bytes, [&] { return *work->bytes * runs / 1e12 / seconds; }));
  row.add(work == nullptr ? std::string_view{} : std::string_view{work->compute_spec});
  if (options.gpu == nullptr) return;
  const auto roof = work == nullptr
                        ? std::nullopt
                        : roofline(*work, *options.gpu, Edition::kExtended, options.peaks);
  row.add(maybe(roof.has_value(), [&] { return roof->best_us; }));
  if (roof)
    row.add(bound_name(roof->bound));
  else
    row.add(kMissing);
  row.add(maybe(roof && has_rate, [&] { return roof->best_us * runs / (seconds * 1e6) * 100; }));
}

void add_work_columns(std::vector<ColumnSpec>& columns, const JaxHloOptions& options) {
  columns.push_back({"GFLOPS", Kind::kReal, "GFLOP", "10^9 operations of one run, from the HLO"});
  columns.push_back({"Data Moved (MB)", Kind::kReal, "MiB", "2^20 bytes one run reads and writes"});
  columns.push_back({"FLOPS/Byte", Kind::kReal, "", "operations per byte"});
  columns.push_back({"TFLOPS/s", Kind::kReal, "TFLOP/s", "operations of all runs by their time"});
  columns.push_back({"TB/s", Kind::kReal, "TB/s", "bytes of all runs by their time"});
  columns.push_back({"Compute Spec", Kind::kText, "", "which peak of a GPU applies"});
  if (options.gpu == nullptr) return;
  columns.push_back({"Roofline Time (µs)", Kind::kReal, "µs", "best possible time of one run"});
  columns.push_back({"Roofline Bound", Kind::kText, "", "what limits it: compute or memory"});
  columns.push_back({"Pct Roofline", Kind::kReal, "%", "best possible time in the time it took"});
}

std::int64_t sum_of(const std::vector<OpTotal>& totals) {
  std::int64_t sum = 0;
  for (const OpTotal& total : totals) sum = plus_ns(sum, total.sum_ns);
  return sum;
}

Table hlo_ops(const Trace& trace, std::vector<OpTotal> totals, const JaxHloOptions& options) {
  const JaxHosts hosts{trace};
  std::vector<ColumnSpec> columns;
  if (hosts.are_several()) columns.push_back(kJaxHostColumn);
  columns.insert(
      columns.end(),
      {{"HLO op", Kind::kText, "", "instruction, or the GPU event that no module launched"},
       {"module", Kind::kText, "", "compiled module"},
       {"kind", Kind::kText, "", "what it computes, from the HLO"},
       {"kernel category", Kind::kText, "", "what its kernels do, by their names"},
       {"scope", Kind::kText, "", "where in the program: transformations and named scopes"},
       {"source", Kind::kText, "", "line of the program"},
       {"runs", Kind::kInteger, "", "how often it ran"},
       {"kernels", Kind::kNested, "", "its kernels and how often each ran"},
       {"GPU time (µs)_sum", Kind::kReal, "µs", "durations of all its kernels, copies and fills"},
       {"GPU time (µs)_mean", Kind::kReal, "µs", "of one run"},
       {"GPU time (µs)_min", Kind::kReal, "µs", "of the fastest run"},
       {"GPU time (µs)_max", Kind::kReal, "µs", "of the slowest run"}});
  RunningShare::add_columns(columns, "GPU time");
  add_work_columns(columns, options);
  std::ranges::stable_sort(totals, std::ranges::greater{}, &OpTotal::sum_ns);
  Table table{"hlo_ops", "GPU time, work and roofline of every HLO op", columns};
  RunningShare share{static_cast<double>(sum_of(totals))};
  for (OpTotal& total : totals) {
    const GroupStats stats = stats_of_ns(total.runs_ns);
    RowCells row;
    if (hosts.are_several()) row.add(hosts.name(total.host));
    row.add(total.op == nullptr ? trace.text(total.name) : std::string_view{total.op->name});
    row.add(total.op == nullptr ? std::string_view{} : std::string_view{total.op->module});
    row.add(kind_of(total));
    row.add(category_of(total, options.rules));
    row.add(scope_of(total.op));
    row.add(source_of(total.op));
    row.add(stats.count);
    row.add(kernel_list(total));
    row.add(stats.sum);
    row.add(stats.mean);
    row.add(stats.min);
    row.add(stats.max);
    share.add_to(row, static_cast<double>(total.sum_ns));
    add_work(row, total, options);
    table.append(row.cells());
  }
  return table;
}

// GPU time summed up by a text of each op.
template <class TextOf>
Table time_by(std::string name, std::string description, ColumnSpec key,
              const std::vector<OpTotal>& totals, TextOf text_of) {
  struct Sum {
    std::int64_t ops = 0, runs = 0, ns = 0;
    double flops = 0;
  };
  std::vector<std::pair<std::string, Sum>> sums;
  std::unordered_map<std::string, std::size_t> index;
  for (const OpTotal& total : totals) {
    const auto [entry, is_new] = index.try_emplace(std::string{text_of(total)}, sums.size());
    if (is_new) sums.emplace_back(entry->first, Sum{});
    Sum& sum = sums[entry->second].second;
    ++sum.ops;
    sum.runs += static_cast<std::int64_t>(total.runs_ns.size());
    sum.ns = plus_ns(sum.ns, total.sum_ns);
    if (total.op != nullptr && total.op->work)
      sum.flops += total.op->work->flops * static_cast<double>(total.runs_ns.size());
  }
  std::ranges::stable_sort(sums, std::ranges::greater{},
                           [](const auto& entry) { return entry.second.ns; });
  std::vector<ColumnSpec> columns{std::move(key),
                                  {"HLO ops", Kind::kInteger, "", "distinct ones"},
                                  {"runs", Kind::kInteger, "", "how often they ran"},
                                  {"GPU time (ms)", Kind::kReal, "ms", "their kernels' time"}};
  RunningShare::add_columns(columns, "GPU time");
  columns.push_back({"TFLOPS/s", Kind::kReal, "TFLOP/s", "known operations by that time"});
  Table table{std::move(name), std::move(description), columns};
  RunningShare share{static_cast<double>(sum_of(totals))};
  for (const auto& [text, sum] : sums) {
    RowCells row;
    row.add(text);
    row.add(sum.ops);
    row.add(sum.runs);
    row.add(static_cast<double>(sum.ns) / 1e6);
    share.add_to(row, static_cast<double>(sum.ns));
    row.add(sum.ns > 0 ? std::optional{sum.flops / 1e3 / static_cast<double>(sum.ns)}
                       : std::nullopt);
    table.append(row.cells());
  }
  return table;
}

// "jit(step)/jvp(attn)/dot_general" -> "jit(step)/jvp(attn)": the op's own name is not a scope.
std::string_view scope_without_op(const OpTotal& total) {
  const std::string_view scope = scope_of(total.op);
  const std::size_t slash = scope.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : scope.substr(0, slash);
}

// A module may run on several streams at once, with a run on each: it ran as often as on the stream
// where it ran most.
Table hlo_modules(const Trace& trace, const Tree& tree) {
  struct OnStream {
    std::int64_t runs = 0, gpu_ns = 0, span_ns = 0;
  };
  using Streams = std::map<TrackId, OnStream>;
  std::map<std::pair<std::string_view, std::int64_t>, Streams> modules;  // by name and GPU
  for (const EventId event : trace.all_events()) {
    if (!is_jax_span(trace, event) || trace.signatures()[event.row].valid()) continue;
    const NodeId node = tree.node(event);
    if (!node.valid()) continue;
    OnStream& stream =
        modules[{trace.name(event), trace.track(event).pid.as_int()}][trace.tracks()[event.row]];
    ++stream.runs;
    stream.gpu_ns = plus_ns(stream.gpu_ns, tree.gpu_sum_ns(node));
    stream.span_ns = plus_ns(stream.span_ns, duration_of(trace, event));
  }
  const JaxHosts hosts{trace};
  std::vector<ColumnSpec> columns;
  if (hosts.are_several()) columns.push_back(kJaxHostColumn);
  columns.insert(
      columns.end(),
      {{"module", Kind::kText, "", "compiled module"},
       {"gpu_pid", Kind::kInteger, "id", "1 + number of the GPU"},
       {"runs", Kind::kInteger, "", "how often it ran"},
       {"streams", Kind::kInteger, "", "streams it ran on"},
       {"GPU time (ms)_sum", Kind::kReal, "ms", "durations of its kernels on all streams"},
       {"GPU time (ms)_mean", Kind::kReal, "ms", "of one run"},
       {"span (ms)_mean", Kind::kReal, "ms",
        "from its first kernel to the end of its last, on the stream that did most"},
       {"GPU time / span", Kind::kReal, "%", "above 100 where kernels overlap"}});
  Table table{"hlo_modules", "Runs of the compiled modules", columns};
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  for (const auto& [key, streams] : modules) {
    OnStream sum, main;
    for (const auto& [track, stream] : streams) {
      sum.runs = std::max(sum.runs, stream.runs);
      sum.gpu_ns = plus_ns(sum.gpu_ns, stream.gpu_ns);
      if (stream.gpu_ns > main.gpu_ns) main = stream;
    }
    const double runs = static_cast<double>(sum.runs);
    RowCells row;
    if (hosts.are_several()) row.add(hosts.name(JaxHosts::number(Value{key.second})));
    row.add(key.first);
    row.add(key.second);
    row.add(sum.runs);
    row.add(static_cast<std::int64_t>(streams.size()));
    row.add(ms(sum.gpu_ns));
    row.add(ms(sum.gpu_ns) / runs);
    row.add(ms(main.span_ns) / static_cast<double>(std::max<std::int64_t>(main.runs, 1)));
    row.add(percent_of(ms(sum.gpu_ns), ms(main.span_ns)));
    table.append(row.cells());
  }
  table.sort_by("GPU time (ms)_sum", Order::kDescending);
  return table;
}

}  // namespace

std::vector<Table> jax_hlo_tables(const Trace& trace, const Tree& tree, const JaxOps& ops,
                                  const JaxHloOptions& options) {
  const std::vector<OpTotal> totals = total_up(trace, tree, ops);
  std::vector<Table> tables;
  tables.push_back(hlo_ops(trace, totals, options));
  tables.push_back(time_by("hlo_ops_by_kind", "GPU time by what the HLO ops compute",
                           {"kind", Kind::kText, "", "from the HLO"}, totals, kind_of));
  tables.push_back(time_by("hlo_scopes", "GPU time by scope of the program",
                           {"scope", Kind::kText, "", "transformations and named scopes"}, totals,
                           scope_without_op));
  tables.push_back(hlo_modules(trace, tree));
  return tables;
}

}  // namespace tracelens
