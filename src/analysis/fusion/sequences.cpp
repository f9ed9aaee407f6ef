#include "analysis/fusion/sequences.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Sequence {
  std::string unit;
  std::vector<StringId> names;
  std::int64_t count = 0, gpu_ns = 0, busy_ns = 0, host_ns = 0, gap_ns = 0, short_kernels = 0;
  // Of the chains in it that one kernel could do.
  std::int64_t fusible = 0, fusible_ns = 0;
  double bytes = 0, bytes_fused = 0, fused_ns = 0;
};

std::string joined(const Trace& trace, std::span<const StringId> names) {
  std::string text;
  for (const StringId name : names) text.append(text.empty() ? "" : "|").append(trace.text(name));
  return text;
}

// Equal units with equal kernels are one.
class Sequences {
 public:
  Sequence& at(std::string_view unit, std::vector<StringId> names) {
    key_.assign(unit);
    for (const StringId name : names) {
      key_ += '|';
      key_.append(reinterpret_cast<const char*>(&name.row), sizeof name.row);
    }
    const auto [entry, added] = index_.try_emplace(key_, all_.size());
    if (added) all_.push_back({.unit = std::string{unit}, .names = std::move(names)});
    return all_[entry->second];
  }
  std::vector<Sequence> take() && { return std::move(all_); }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Sequence> all_;
  std::string key_;
};

// Chains between matrix products, on one stream, of ops whose bytes are mostly known.
class Chains {
 public:
  explicit Chains(const FusionInput& input)
      : input_{input}, bandwidth_{input.reached_bandwidth()} {}
  [[nodiscard]] bool can_estimate() const { return bandwidth_.has_value(); }

  // `kernels`: of one unit, by start.
  void add_to(Sequence& sequence, std::span<const GpuPosition> kernels) {
    const auto is_matrix = [&](std::size_t i) {
      return input_[kernels[i]].role == KernelRole::kMatrix;
    };
    for (std::size_t first = 0; first < kernels.size();) {
      std::size_t end = first + 1;
      while (end < kernels.size() && !is_matrix(end) &&
             input_.gpu(kernels[end]).stream == input_.gpu(kernels[first]).stream)
        ++end;
      if (!is_matrix(first)) add_chain(sequence, kernels.subspan(first, end - first));
      first = is_matrix(first) ? first + 1 : end;
    }
  }

 private:
  void add_chain(Sequence& sequence, std::span<const GpuPosition> chain) {
    if (chain.size() < 2 || !bandwidth_) return;
    std::size_t modelled = 0;
    double bytes = 0;
    std::int64_t ns = 0;
    for (const GpuPosition at : chain) {
      modelled += input_[at].is_modelled ? 1 : 0;
      bytes += input_[at].bytes;
      ns = plus_ns(ns, input_.dur_ns(at));
    }
    constexpr std::size_t kShort = 5;  // half of a short chain is enough, else three quarters
    if (4 * modelled < (chain.size() < kShort ? 2 : 3) * chain.size()) return;
    const double fused = fused_bytes(input_, chain).total;
    if (fused <= 0) return;
    sequence.fusible += static_cast<std::int64_t>(chain.size());
    sequence.fusible_ns = plus_ns(sequence.fusible_ns, ns);
    sequence.bytes += bytes;
    sequence.bytes_fused += fused;
    sequence.fused_ns += std::min(fused / *bandwidth_, static_cast<double>(ns));
  }

  const FusionInput& input_;
  std::optional<double> bandwidth_;
};

// "nn.Module: Linear" of "nn.Module: Linear_12".
std::string_view without_number(std::string_view module) {
  const std::size_t last = module.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < module.size() && module[last] == '_'
             ? module.substr(0, last)
             : module;
}

}  // namespace

Table kernel_sequences(const FusionInput& input, const SequenceOptions& options) {
  const Trace& trace = input.trace();
  const Tree& tree = input.tree();
  Chains chains{input};
  Sequences sequences;
  std::unordered_map<std::string_view, std::uint32_t> open_until;  // by unit
  const auto short_ns = options.short_kernel_us * 1e3;
  std::vector<GpuPosition> kernels;
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    const NodeId node{row};
    const bool is_module = tree.is_module(node);
    if ((!is_module && !tree.is_op(node)) || tree.gpu_count(node) < options.fewest) continue;
    const std::string_view name = trace.name(tree.event(node));
    const std::string_view unit = is_module ? without_number(name) : name;
    if (unit.find(options.of) == std::string_view::npos) continue;
    std::uint32_t& end = open_until[unit];
    if (row < end) continue;
    end = tree.end(node).row;
    if (tree.gpu_count(node) > options.longest) continue;

    kernels.clear();
    const GpuPosition first = input.ops().launches.first_position(node);
    for (GpuPosition at = first; at < first + tree.gpu_count(node); ++at) kernels.push_back(at);
    std::ranges::stable_sort(kernels, {}, [&](GpuPosition at) { return input.gpu(at).start_ns; });
    std::vector<StringId> names;
    for (const GpuPosition at : kernels) names.push_back(input.gpu(at).name);
    Sequence& sequence = sequences.at(unit, std::move(names));
    ++sequence.count;
    std::int64_t last_end = input.gpu(kernels.front()).end_ns;
    for (const GpuPosition at : kernels) {
      sequence.gpu_ns = plus_ns(sequence.gpu_ns, input.dur_ns(at));
      if (static_cast<double>(input.dur_ns(at)) < short_ns) ++sequence.short_kernels;
      last_end = std::max(last_end, input.gpu(at).end_ns);
    }
    const std::int64_t span_ns = minus_ns(last_end, input.gpu(kernels.front()).start_ns);
    const std::int64_t busy = input.ops().launches.busy_ns(kernels);
    sequence.busy_ns = plus_ns(sequence.busy_ns, busy);
    sequence.gap_ns = plus_ns(sequence.gap_ns, minus_ns(span_ns, busy));
    sequence.host_ns = plus_ns(sequence.host_ns, duration_of(trace, tree.event(node)));
    chains.add_to(sequence, kernels);
  }

  struct Row {
    Sequence sequence;
    std::string text;
    bool can_estimate;
  };
  std::vector<Row> rows;
  for (Sequence& sequence : std::move(sequences).take()) {
    std::string text = joined(trace, sequence.names);
    rows.push_back({std::move(sequence), std::move(text), chains.can_estimate()});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    if (a.sequence.gpu_ns != b.sequence.gpu_ns) return a.sequence.gpu_ns > b.sequence.gpu_ns;
    return std::tie(a.text, a.sequence.unit) < std::tie(b.text, b.sequence.unit);
  });
  static constexpr auto kIfKnown = [](const Row& r, double value) {
    return r.can_estimate ? std::optional{value} : std::nullopt;
  };
  ColumnSet<Row> columns{
      {{"unit", Kind::kText, "", "op, or class of nn.Module, that launched the kernels"},
       [](const Row& r) { return r.sequence.unit; }},
      {{"sequence", Kind::kText, "", "names of the kernels, copies and fills by start"},
       [](const Row& r) { return r.text; }},
      {{"kernels", Kind::kInteger, "", "GPU events of the sequence"},
       [](const Row& r) { return static_cast<std::int64_t>(r.sequence.names.size()); }},
      {{"count", Kind::kInteger, "", "how often it ran"},
       [](const Row& r) { return r.sequence.count; }},
      {{"gpu_ms", Kind::kReal, "ms", "summed time of the GPU events of all of them"},
       [](const Row& r) { return ms(r.sequence.gpu_ns); }},
      {{"gpu_busy_ms", Kind::kReal, "ms", "time in which at least one of them ran"},
       [](const Row& r) { return ms(r.sequence.busy_ns); }},
      {{"host_ms", Kind::kReal, "ms", "host time of the op or module"},
       [](const Row& r) { return ms(r.sequence.host_ns); }},
      {{"gap_ms", Kind::kReal, "ms", "time between its first and last GPU event in which none ran"},
       [](const Row& r) { return ms(r.sequence.gap_ns); }},
      {{"short_kernels", Kind::kInteger, "", "GPU events that are short (--short-kernel-us)"},
       [](const Row& r) { return r.sequence.short_kernels; }},
      {{"fusible", Kind::kInteger, "",
        "GPU events in chains between matrix products that one kernel could do: on one stream, most "
        "of them with known bytes"},
       [](const Row& r) { return r.sequence.fusible; }},
      {{"bytes", Kind::kReal, "B", "what the ops of those chains read and write"},
       [](const Row& r) { return kIfKnown(r, r.sequence.bytes); }},
      {{"bytes_fused", Kind::kReal, "B",
        "what one kernel per chain would, by shapes: the largest tensor in and out, in the backward "
        "pass once more"},
       [](const Row& r) { return kIfKnown(r, r.sequence.bytes_fused); }},
      {{"saving_ms", Kind::kReal, "ms",
        "their time less that of moving bytes_fused at the rate the run's large elementwise ops "
        "reach; what one step costs besides memory is not known"},
       [](const Row& r) {
         const double fusible_ns = static_cast<double>(r.sequence.fusible_ns);
         return kIfKnown(r, (fusible_ns - r.sequence.fused_ns) / 1e6);
       }}};
  Table table =
      columns.make_table("kernel_sequences", "Sequences of kernels that ops and nn.Modules launch");
  for (Row& row : rows) columns.append(table, row);
  return table;
}

Table hta_kernel_sequences(const TraceFacts& facts, const SequenceOptions& options) {
  const Trace& trace = facts.trace();
  const Tree& tree = facts.tree();
  std::vector<std::uint32_t> depths(tree.size(), 0);
  std::uint32_t least = 0xffffffff;
  std::vector<NodeId> units;
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    const NodeId node{row}, parent = tree.parent(node);
    if (parent.valid()) depths[row] = depths[parent.row] + 1;
    const EventId event = tree.event(node);
    if (is_gpu(trace.category(event)) ||
        trace.name(event).find(options.of) == std::string_view::npos)
      continue;
    if (depths[row] < least) units.clear();
    least = std::min(least, depths[row]);
    if (depths[row] == least) units.push_back(node);
  }

  // What shares the id of a call: kernels, copies, fills and synchronisations.
  std::unordered_map<std::int64_t, std::vector<EventId>> by_correlation;
  for (const EventId event : trace.all_events()) {
    if (trace.phase(event) != Phase::kComplete || trace.correlations()[event.row] < 0) continue;
    if (!is_gpu(trace.category(event)) && trace.category_text(event) != "cuda_sync") continue;
    if (trace.streams().at(event).value_or(0) > 0)
      by_correlation[trace.correlations()[event.row]].push_back(event);
  }
  Sequences sequences;
  for (const NodeId unit : units) {
    std::vector<EventId> work;
    for (std::uint32_t row = unit.row; row < tree.end(unit).row; ++row) {
      const EventId call = tree.event({row});
      if (!is_runtime(trace.category(call))) continue;
      const auto found = by_correlation.find(trace.correlations()[call.row]);
      if (found != by_correlation.end())
        work.insert(work.end(), found->second.begin(), found->second.end());
    }
    if (work.size() < options.fewest) continue;
    std::ranges::stable_sort(work, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
    std::vector<StringId> names;
    std::int64_t ns = 0;
    for (const EventId event : work) {
      names.push_back(trace.names()[event.row]);
      ns = plus_ns(ns, duration_of(trace, event));
    }
    Sequence& sequence = sequences.at(trace.name(tree.event(unit)), std::move(names));
    ++sequence.count;
    sequence.gpu_ns = plus_ns(sequence.gpu_ns, ns);
    sequence.host_ns = plus_ns(sequence.host_ns, duration_of(trace, tree.event(unit)));
  }

  struct Row {
    std::string pattern;
    std::int64_t count, gpu_ns, host_ns;
  };
  std::vector<Row> rows;
  for (const Sequence& sequence : std::move(sequences).take())
    rows.push_back({sequence.unit + "|" + joined(trace, sequence.names), sequence.count,
                    sequence.gpu_ns, sequence.host_ns});
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return a.count != b.count ? a.count > b.count : a.pattern < b.pattern;
  });
  ColumnSet<Row> columns{
      {{"pattern", Kind::kText, "", "the op or module, and the GPU events below it by start"},
       [](const Row& r) { return r.pattern; }},
      {{"count", Kind::kInteger, "", "how often it ran"}, &Row::count},
      {{"GPU kernel duration (us)", Kind::kReal, "µs", "summed time of the GPU events"},
       [](const Row& r) { return us(r.gpu_ns); }},
      {{"CPU op duration (us)", Kind::kReal, "µs", "summed time of the ops"},
       [](const Row& r) { return us(r.host_ns); }}};
  Table table = columns.make_table("kernel_sequences",
                                   "Sequences of kernels as Holistic Trace Analysis counts them");
  for (Row& row : rows) columns.append(table, row);
  return table;
}

}  // namespace tracelens
