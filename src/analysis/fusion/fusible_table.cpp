#include "analysis/fusion/fusible_table.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr double kReachedOfPeak = 0.7;

struct Row {
  std::string_view kind;
  std::string unit;
  ProgramPhase phase = ProgramPhase::kForward;
  std::string kernels = {};  // of the first run
  std::int64_t runs = 0, count = 0, time_ns = 0, fused_ns = 0;
  double bytes = 0, bytes_fused = 0;

  void add(std::size_t more, std::int64_t time, std::int64_t fused) {
    ++runs;
    count += static_cast<std::int64_t>(more);
    time_ns = plus_ns(time_ns, time);
    fused_ns = plus_ns(fused_ns, fused);
  }
};

class Rows {
 public:
  explicit Rows(const FusionInput& input) : input_{input} {}
  Row& at(std::string_view kind, const std::string& unit, ProgramPhase phase,
          const std::vector<EventId>& kernels) {
    const auto [entry, added] =
        rows_.try_emplace({kind, unit, phase}, Row{.kind = kind, .unit = unit, .phase = phase});
    if (added) entry->second.kernels = op_names(kernels);
    return entry->second;
  }
  std::vector<Row> take() && {
    std::vector<Row> rows;
    for (auto& [key, row] : rows_) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](const Row& row) { return minus_ns(row.time_ns, row.fused_ns); });
    return rows;
  }

 private:
  [[nodiscard]] std::string op_names(const std::vector<EventId>& kernels) const {
    const Tree& tree = input_.tree();
    std::string names;
    for (const EventId kernel : kernels) {
      const NodeId op = tree.nearest_op(tree.node(kernel));
      names.append(names.empty() ? "" : "|");
      if (op.valid()) names.append(input_.trace().name(tree.event(op)));
    }
    return names;
  }

  const FusionInput& input_;
  std::map<std::tuple<std::string_view, std::string, ProgramPhase>, Row> rows_;
};

}  // namespace

double fused_bandwidth(const Gpu* gpu) {
  return gpu != nullptr && gpu->memory_gbps ? kReachedOfPeak * *gpu->memory_gbps : 0;
}

Table fusible_kernels(const FusionInput& input, const Gpu* gpu) {
  Rows rows{input};
  for (const FusibleRun& run : fusible_runs(input, fused_bandwidth(gpu))) {
    Row& row = rows.at("chain", run.unit, run.phase, run.kernels);
    row.add(run.kernels.size(), run.time_ns, run.fused_ns);
    row.bytes += run.bytes;
    row.bytes_fused += run.bytes_fused;
  }
  for (const Epilogue& epilogue : epilogues(input))
    rows.at("epilogue", epilogue.unit, epilogue.phase, epilogue.kernels)
        .add(epilogue.kernels.size(), epilogue.time_ns, 0);
  ColumnSet<Row> columns{
      {{"kind", Kind::kText, "",
        "chain: elementwise, reduction and copy kernels in a row; epilogue: one or two elementwise "
        "kernels after a matrix product, of its result's size. A kernel may be in both"},
       [](const Row& r) { return r.kind; }},
      {{"unit", Kind::kText, "", "class of the nn.Module, of backward work that of its forward op"},
       [](const Row& r) { return r.unit; }},
      {{"phase", Kind::kText, "", "forward, backward or optimizer"},
       [](const Row& r) { return phase_name(r.phase); }},
      {{"ops", Kind::kText, "", "ops of the first of them"},
       [](const Row& r) { return r.kernels; }},
      {{"count", Kind::kInteger, "", "how many chains or epilogues"}, &Row::runs},
      {{"kernels", Kind::kInteger, "", "kernels in all of them"}, &Row::count},
      {{"time_ms", Kind::kReal, "ms", "time of those kernels"},
       [](const Row& r) { return ms(r.time_ns); }},
      {{"fused_ms", Kind::kReal, "ms",
        "time of one kernel each that moves the largest tensor in and out, in the backward pass once "
        "more, at 0.7 of the GPU's bandwidth; nothing for an epilogue"},
       [](const Row& r) { return ms(r.fused_ns); }},
      {{"saving_ms", Kind::kReal, "ms", "the difference"},
       [](const Row& r) { return ms(minus_ns(r.time_ns, r.fused_ns)); }},
      {{"bytes", Kind::kReal, "B", "what the ops of chains read and write"}, &Row::bytes},
      {{"bytes_fused", Kind::kReal, "B", "what one kernel each would"}, &Row::bytes_fused}};
  Table table = columns.make_table("fusible_kernels",
                                   "Chains of kernels that one could do, by nn.Module and phase");
  for (Row& row : std::move(rows).take()) columns.append(table, row);
  return table;
}

}  // namespace tracelens
