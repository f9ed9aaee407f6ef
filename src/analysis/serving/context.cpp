#include "analysis/serving/context.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLeastSteps = 3;

struct Grown {
  ServingPhase phase = ServingPhase::kNone;
  ServedOp op;
  std::vector<std::pair<std::uint32_t, std::int64_t>> by_step = {};  // step, busy time; by step
  LineFit fit = {};
  std::size_t steps = 0;
  double mean_us = 0, at_longest_us = 0;
  std::int64_t shortest = 0, longest = 0;  // contexts
  std::optional<double> share = {};        // of the longest step's busy time, percent

  [[nodiscard]] double growth_us() const {
    return fit.slope * (static_cast<double>(longest) - static_cast<double>(shortest)) / 1e3;
  }
};

// By the steps in which the op runs: a kernel that is chosen for some batches only says nothing
// about the others.
bool measure(Grown& op, const ServingRun& run) {
  std::vector<Point> points;
  std::int64_t sum = 0, at_longest = 0;
  std::uint32_t longest_step = 0;
  op.shortest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [step, ns] : op.by_step) {
    const std::optional<std::int64_t> context = run.steps()[step].kv_tokens();
    if (!context) continue;
    points.push_back({static_cast<double>(*context), static_cast<double>(ns)});
    sum = plus_ns(sum, ns);
    op.shortest = std::min(op.shortest, *context);
    if (*context <= op.longest) continue;
    op.longest = *context;
    at_longest = ns;
    longest_step = step;
  }
  const std::optional<LineFit> fit = fit_line(points);
  if (points.size() < kLeastSteps || !fit) return false;
  op.fit = *fit;
  op.steps = points.size();
  op.mean_us = us(sum) / static_cast<double>(points.size());
  op.at_longest_us = us(at_longest);
  op.share = percent_of(at_longest, run.steps()[longest_step].gpu.busy_ns);
  return true;
}

// By phase, category and name; each with its time in each step.
std::vector<Grown> ops_of_phases(const ServingRun& run, const ServedOps& ops) {
  // Work comes by start, and steps nearly so: those of an op are brought into order once.
  Grouped<Grown> grouped;
  for (std::size_t i = 0; i < run.work().size(); ++i) {
    const ServedWork& work = run.work()[i];
    const ServingPhase phase = run.phase(work.step);
    if (phase == ServingPhase::kNone) continue;
    const ServedOp& op = ops.of(i);
    auto& times = grouped
                      .at({static_cast<std::uint32_t>(phase), op.category, op.name.row},
                          [&] { return Grown{.phase = phase, .op = op}; })
                      .by_step;
    if (times.empty() || times.back().first != work.step) times.emplace_back(work.step, 0);
    times.back().second = plus_ns(times.back().second, work.busy_ns);
  }
  std::vector<Grown> all = std::move(grouped).take();
  for (Grown& op : all) {
    std::ranges::stable_sort(op.by_step, {}, &std::pair<std::uint32_t, std::int64_t>::first);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < op.by_step.size(); ++i) {
      if (kept > 0 && op.by_step[kept - 1].first == op.by_step[i].first)
        op.by_step[kept - 1].second = plus_ns(op.by_step[kept - 1].second, op.by_step[i].second);
      else
        op.by_step[kept++] = op.by_step[i];
    }
    op.by_step.resize(kept);
  }
  return all;
}

}  // namespace

std::optional<LineFit> fit_line(std::span<const Point> points) {
  if (points.empty()) return std::nullopt;
  const auto n = static_cast<double>(points.size());
  double x_sum = 0, y_sum = 0;
  for (const Point& point : points) {
    x_sum += point.x;
    y_sum += point.y;
  }
  const double x_mean = x_sum / n, y_mean = y_sum / n;
  double xx = 0, xy = 0, yy = 0;
  for (const Point& point : points) {
    const double dx = point.x - x_mean, dy = point.y - y_mean;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  if (xx <= 0) return std::nullopt;
  LineFit fit{.slope = xy / xx, .intercept = y_mean - xy / xx * x_mean};
  if (yy > 0) fit.r2 = xy * xy / (xx * yy);
  return fit;
}

Table context_growth(const ServingRun& run, const ServedOps& ops) {
  std::vector<Grown> rows;
  for (Grown& op : ops_of_phases(run, ops))
    if (measure(op, run)) rows.push_back(std::move(op));
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Grown::growth_us);

  using Row = std::pair<const Grown*, const ServedOps*>;
  ColumnSet<Row> columns{
      {{"phase", Kind::kText, "", "phase of the steps"},
       [](const Row& row) { return phase_name(row.first->phase); }},
      {{"name", Kind::kText, "", "op, or kernel where no op tells what it is for"},
       [](const Row& row) { return row.second->name(row.first->op); }},
      {{"op category", Kind::kText, "", "what kind of work it is"},
       [](const Row& row) { return row.second->text(row.first->op.category); }},
      {{"ns per KV token", Kind::kReal, "ns",
        "by how much its GPU time in a step grows with each token of context, of all requests "
        "together (least squares)"},
       [](const Row& row) { return row.first->fit.slope; }},
      {{"R²", Kind::kReal, "",
        "how well a straight line fits: 1 exactly, 0 not at all; empty: the time never changes"},
       [](const Row& row) { return row.first->fit.r2; }},
      {{"growth µs", Kind::kReal, "µs",
        "what that comes to from the shortest context in the trace to the longest"},
       [](const Row& row) { return row.first->growth_us(); }},
      {{"fixed µs", Kind::kReal, "µs", "time of a step without any context, by the same line"},
       [](const Row& row) { return row.first->fit.intercept / 1e3; }},
      {{"mean µs", Kind::kReal, "µs", "GPU time in a step, on average"},
       [](const Row& row) { return row.first->mean_us; }},
      {{"µs at longest context", Kind::kReal, "µs",
        "GPU time in the step with the longest context"},
       [](const Row& row) { return row.first->at_longest_us; }},
      {{"percent at longest context", Kind::kReal, "%", "share of the GPU busy time of that step"},
       [](const Row& row) { return row.first->share; }},
      {{"steps", Kind::kInteger, "", "steps in which it runs and that say their context"},
       [](const Row& row) { return static_cast<std::int64_t>(row.first->steps); }},
      {{"shortest context", Kind::kInteger, "tokens", "of all requests of a step together"},
       [](const Row& row) { return row.first->shortest; }},
      {{"longest context", Kind::kInteger, "tokens", "of all requests of a step together"},
       [](const Row& row) { return row.first->longest; }}};
  Table table = columns.make_table("context_growth", "Which ops take longer with more context");
  for (const Grown& row : rows) columns.append(table, Row{&row, &ops});
  return table;
}

Table attention_by_context(const ServingRun& run, const ServedOps& ops) {
  struct Bin {
    std::int64_t steps = 0, requests = 0, keys = 0, busy_ns = 0, attention_ns = 0;
  };
  // The power of two that a context length per request does not reach.
  const auto bin_of = [](std::int64_t keys, std::int64_t requests) {
    return std::bit_width(static_cast<std::uint64_t>(keys / std::max<std::int64_t>(requests, 1)));
  };
  std::map<std::pair<ServingPhase, int>, Bin> bins;
  std::vector<Bin*> bin_of_step(run.steps().size() + 1);
  for (std::size_t i = 0; i < run.steps().size(); ++i) {
    const ServedStep& step = run.steps()[i];
    const std::optional<std::int64_t> keys = step.kv_tokens();
    if (!keys || step.said.phase == ServingPhase::kNone) continue;
    Bin& bin = bins[{step.said.phase, bin_of(*keys, step.said.requests())}];
    ++bin.steps;
    bin.requests = add_counts(bin.requests, step.said.requests());
    bin.keys = add_counts(bin.keys, *keys);
    bin.busy_ns = plus_ns(bin.busy_ns, step.gpu.busy_ns);
    bin_of_step[i] = &bin;
  }
  for (std::size_t i = 0; i < run.work().size(); ++i)
    if (Bin* const bin = bin_of_step[run.work()[i].step];
        bin != nullptr && ops.is_attention(ops.of(i).category))
      bin->attention_ns = plus_ns(bin->attention_ns, run.work()[i].busy_ns);

  const ColumnSpec columns[] = {
      {"phase", Kind::kText, "", "phase of the steps"},
      {"context from", Kind::kInteger, "tokens", "context length per request, at least"},
      {"context below", Kind::kInteger, "tokens", "and less than this"},
      {"steps", Kind::kInteger, "", "steps whose requests attend to so much on average"},
      {"requests", Kind::kInteger, "", "requests of these steps"},
      {"KV tokens", Kind::kInteger, "tokens", "context of all of them together"},
      {"attention ms", Kind::kReal, "ms", "GPU time of attention in these steps"},
      {"percent of GPU busy", Kind::kReal, "%", "share of the busy time of these steps"},
      {"µs per step", Kind::kReal, "µs", "GPU time of attention in a step, on average"},
      {"ns per KV token", Kind::kReal, "ns", "GPU time of attention per token of context"}};
  Table table{"attention_by_context", "GPU time of attention by context length", columns};
  for (const auto& [key, bin] : bins) {
    const int width = key.second;
    const std::int64_t from = width == 0 ? 0 : std::int64_t{1} << (width - 1);
    const std::int64_t below =
        width >= 63 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << width;
    table.add_row(phase_name(key.first), from, below, bin.steps, bin.requests, bin.keys,
                  ms(bin.attention_ns), percent_of(bin.attention_ns, bin.busy_ns),
                  us(bin.attention_ns) / static_cast<double>(bin.steps),
                  static_cast<double>(bin.attention_ns) / static_cast<double>(bin.keys));
  }
  return table;
}

}  // namespace tracelens
