#include "analysis/serving/phases.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Per second; none when there is nothing to count, or no time.
std::optional<double> rate(std::int64_t count, std::int64_t ns) {
  if (count <= 0 || ns <= 0) return std::nullopt;
  return static_cast<double>(count) / static_cast<double>(ns) * 1e9;
}

std::optional<double> ratio(double a, double b) {
  if (b <= 0) return std::nullopt;
  return a / b;
}

std::optional<double> per_request(std::optional<std::int64_t> count, std::int64_t requests) {
  if (!count || requests <= 0) return std::nullopt;
  return static_cast<double>(*count) / static_cast<double>(requests);
}

// The least value that a share of all is not above; `sorted` has at least one.
double at_percent(std::span<const std::int64_t> sorted, std::size_t percent) {
  return ms(sorted[(percent * sorted.size() + 99) / 100 - 1]);
}

std::string_view phase_text(ServingPhase phase) {
  return phase == ServingPhase::kNone ? "none" : phase_name(phase);
}

struct PhaseRow {
  std::string_view name;
  bool has_steps = true;  // of what is outside: no steps to speak of
  bool has_undivided = false;
  std::int64_t steps = 0, requests = 0, context_tokens = 0, generation_tokens = 0, wall_ns = 0;
  // Of steps that do not tell prompts and output apart.
  std::int64_t undivided_tokens = 0, undivided_wall_ns = 0;
  std::int64_t kv_tokens = 0, kv_requests = 0;  // of steps that say their context length
  ServedTimes gpu = {};
  ModelledWork modelled = {};
  std::vector<std::int64_t> token_walls = {};  // of steps with output; sorted once complete
  std::int64_t all_wall_ns = 0, all_busy_ns = 0;
  double memory_gbps = 0;  // of the GPU; 0: not known

  void add(const ServedStep& step) {
    ++steps;
    requests = add_counts(requests, step.said.requests());
    if (step.said.is_divided) {
      context_tokens = add_counts(context_tokens, step.said.context_sum);
      generation_tokens = add_counts(generation_tokens, step.said.generation_sum);
    } else {
      undivided_tokens = add_counts(undivided_tokens, step.tokens());
      undivided_wall_ns = plus_ns(undivided_wall_ns, step.wall_ns);
      has_undivided = true;
    }
    wall_ns = plus_ns(wall_ns, step.wall_ns);
    if (const auto keys = step.kv_tokens()) {
      kv_tokens = add_counts(kv_tokens, *keys);
      kv_requests = add_counts(kv_requests, step.said.requests());
    }
    if (step.said.generation_sum > 0) token_walls.push_back(step.wall_ns);
  }
  [[nodiscard]] std::int64_t tokens() const {
    return add_counts(undivided_tokens, add_counts(context_tokens, generation_tokens));
  }
  [[nodiscard]] std::int64_t gpu_ns() const { return plus_ns(gpu.busy_ns, not_busy_ns()); }
  [[nodiscard]] std::int64_t not_busy_ns() const { return plus_ns(gpu.idle_ns, gpu.wait_ns); }
  template <class T>
  [[nodiscard]] std::optional<T> of_steps(T value) const {
    return has_steps ? std::optional{value} : std::nullopt;
  }
  // A sum that lacks the tokens of some steps would be taken for all.
  [[nodiscard]] std::optional<std::int64_t> of_divided(std::int64_t tokens_of_kind) const {
    return has_undivided ? std::nullopt : of_steps(tokens_of_kind);
  }
  [[nodiscard]] std::optional<double> token_wall(std::size_t percent) const {
    if (token_walls.empty()) return std::nullopt;
    return at_percent(token_walls, percent);
  }
  [[nodiscard]] std::optional<double> mean_token_wall() const {
    std::int64_t sum = 0;
    for (const std::int64_t wall : token_walls) sum = plus_ns(sum, wall);
    return ratio(ms(sum), static_cast<double>(token_walls.size()));
  }
  // Below a quarter of the busy time, what models know says nothing of the phase.
  [[nodiscard]] bool knows_enough() const {
    return modelled.ns > 0 && modelled.ns >= gpu.busy_ns / 4;
  }
  [[nodiscard]] std::optional<double> tflops() const {
    if (!knows_enough()) return std::nullopt;
    return ratio(modelled.flops / 1e3, static_cast<double>(modelled.ns));
  }
  [[nodiscard]] std::optional<double> terabytes() const {
    if (!knows_enough()) return std::nullopt;
    return ratio(modelled.bytes / 1e3, static_cast<double>(modelled.ns_of_bytes));
  }
  // What of the GPU's time in this phase the work would have taken at its peaks, in percent.
  [[nodiscard]] std::optional<double> of_bandwidth() const {
    if (!knows_enough() || modelled.bytes <= 0 || memory_gbps <= 0) return std::nullopt;
    return percent_of(modelled.bytes / memory_gbps, static_cast<double>(gpu_ns()));
  }
  [[nodiscard]] std::optional<double> of_compute() const {
    if (!knows_enough() || modelled.compute_us <= 0) return std::nullopt;
    return percent_of(modelled.compute_us, us(gpu_ns()));
  }
  [[nodiscard]] std::optional<std::string_view> bound() const {
    constexpr double kMuch = 25;  // percent of the GPU's time
    if (!has_steps || gpu.gpu_events == 0) return std::nullopt;
    const auto share = [&](std::int64_t ns) { return percent_of(ns, gpu_ns()).value_or(0); };
    if (share(not_busy_ns()) >= kMuch && not_busy_ns() >= gpu.exposed_comm_ns) return "host";
    if (share(gpu.exposed_comm_ns) >= kMuch) return "communication";
    const std::int64_t judged = plus_ns(modelled.memory_bound_ns, modelled.compute_bound_ns);
    if (judged < gpu.busy_ns / 4) return "GPU";
    return modelled.memory_bound_ns >= modelled.compute_bound_ns ? "memory" : "compute";
  }
};

ColumnSet<PhaseRow> phase_columns() {
  using Row = PhaseRow;
  return {
      {{"phase", Kind::kText, "",
        "prefill: steps of new prompts; decode: of one more token for each request; mixed: of "
        "both; denoise: of images; none: of no requests; outside: what was launched in no step; "
        "all: the sum"},
       &Row::name},
      {{"steps", Kind::kInteger, "", "steps of the engine"},
       [](const Row& row) { return row.of_steps(row.steps); }},
      {{"wall ms", Kind::kReal, "ms",
        "from the start of each step to that of the next; of the last one until its GPU work is "
        "done"},
       [](const Row& row) { return row.of_steps(ms(row.wall_ns)); }},
      {{"percent of wall", Kind::kReal, "%", "share of the wall time of all steps"},
       [](const Row& row) {
         return row.has_steps ? percent_of(row.wall_ns, row.all_wall_ns) : std::nullopt;
       }},
      {{"GPU busy ms", Kind::kReal, "ms",
        "time in which the GPU did what these steps launched; the rows add up to busy_time of "
        "gpu_timeline"},
       [](const Row& row) { return ms(row.gpu.busy_ns); }},
      {{"percent of GPU busy", Kind::kReal, "%", "share of all busy time"},
       [](const Row& row) { return percent_of(row.gpu.busy_ns, row.all_busy_ns); }},
      {{"GPU idle ms", Kind::kReal, "ms", "time in which the GPU waited for work of these steps"},
       [](const Row& row) { return ms(row.gpu.idle_ns); }},
      {{"GPU wait ms", Kind::kReal, "ms",
        "time of the steps before the first GPU work of the trace and after the last: busy, idle and "
        "wait of all are the wall time, where the GPU works in no time outside the steps"},
       [](const Row& row) { return ms(row.gpu.wait_ns); }},
      {{"exposed comm ms", Kind::kReal, "ms", "communication while nothing computed"},
       [](const Row& row) { return ms(row.gpu.exposed_comm_ns); }},
      {{"launch ms", Kind::kReal, "ms", "host time of the calls that launched the work"},
       [](const Row& row) { return ms(row.gpu.launch_ns); }},
      {{"graph launches", Kind::kInteger, "", "replays of captured graphs"},
       [](const Row& row) { return row.gpu.graph_launches; }},
      {{"bound", Kind::kText, "",
        "what holds the phase up: host (the GPU waits), communication, memory or compute (of most "
        "of the time that models know); GPU: its kernels, of which models know too little"},
       &Row::bound},
      {{"requests per step", Kind::kReal, "", "on average"},
       [](const Row& row) {
         return ratio(static_cast<double>(row.requests), static_cast<double>(row.steps));
       }},
      {{"context tokens", Kind::kInteger, "tokens",
        "tokens of prompts that were worked on; empty: annotations do not tell them from output"},
       [](const Row& row) { return row.of_divided(row.context_tokens); }},
      {{"output tokens", Kind::kInteger, "tokens",
        "tokens that were generated; with speculation, tokens that were tried; empty likewise"},
       [](const Row& row) { return row.of_divided(row.generation_tokens); }},
      {{"KV tokens per request", Kind::kReal, "tokens",
        "context a request attends to, on average; empty: the annotations do not say"},
       [](const Row& row) {
         return per_request(row.kv_tokens > 0 ? std::optional{row.kv_tokens} : std::nullopt,
                            row.kv_requests);
       }},
      {{"tokens/s of GPU", Kind::kReal, "1/s", "tokens worked on per second of GPU busy time"},
       [](const Row& row) {
         return row.has_steps ? rate(row.tokens(), row.gpu.busy_ns) : std::nullopt;
       }},
      {{"tokens/s of wall", Kind::kReal, "1/s", "tokens worked on per second of wall time"},
       [](const Row& row) {
         return row.has_steps ? rate(row.tokens(), row.wall_ns) : std::nullopt;
       }},
      {{"output tokens/s", Kind::kReal, "1/s",
        "generated tokens per second of wall time, both of the steps that tell them"},
       [](const Row& row) {
         return row.has_steps
                    ? rate(row.generation_tokens, minus_ns(row.wall_ns, row.undivided_wall_ns))
                    : std::nullopt;
       }},
      {{"time per output token ms mean", Kind::kReal, "ms",
        "what a request waits for its next token: the wall time of a step that generates"},
       &Row::mean_token_wall},
      {{"time per output token ms median", Kind::kReal, "ms", "of half of the steps, or less"},
       [](const Row& row) { return row.token_wall(50); }},
      {{"time per output token ms p90", Kind::kReal, "ms", "of 90% of the steps, or less"},
       [](const Row& row) { return row.token_wall(90); }},
      {{"time per output token ms p99", Kind::kReal, "ms", "of 99% of the steps, or less"},
       [](const Row& row) { return row.token_wall(99); }},
      {{"percent modelled", Kind::kReal, "%",
        "share of ops with a performance model in the busy time; the figures that follow know no "
        "others, and are empty below 25%"},
       [](const Row& row) { return percent_of(row.modelled.ns, row.gpu.busy_ns); }},
      {{"TFLOP/s", Kind::kReal, "TFLOP/s", "compute rate while these ops ran"}, &Row::tflops},
      {{"TB/s", Kind::kReal, "TB/s", "memory rate while these ops ran"}, &Row::terabytes},
      {{"MBU %", Kind::kReal, "%",
        "model bandwidth utilisation: the bytes these ops have to move, as a share of what the "
        "memory could have moved in the GPU's time, idle time and waits included"},
       [](const Row& row) { return row.of_bandwidth(); }},
      {{"percent of compute roof", Kind::kReal, "%",
        "the same of the arithmetic and the GPU's peak rates, as far as they are known"},
       [](const Row& row) { return row.of_compute(); }}};
}

constexpr ServingPhase kPhases[] = {ServingPhase::kPrefill, ServingPhase::kMixed,
                                    ServingPhase::kDecode, ServingPhase::kDenoise,
                                    ServingPhase::kNone};

struct StepRow {
  const ServedStep& step;
  std::int64_t index = 0, first_ns = 0;
  [[nodiscard]] std::optional<std::int64_t> of_divided(std::int64_t count) const {
    return step.said.is_divided ? std::optional{count} : std::nullopt;
  }
};

}  // namespace

Table serving_steps(const ServingRun& run) {
  using Row = StepRow;
  ColumnSet<Row> columns{
      {{"step", Kind::kInteger, "", "number of the step, by start"}, &Row::index},
      {{"phase", Kind::kText, "", "prefill, mixed, decode, denoise; none: no requests"},
       [](const Row& row) { return phase_text(row.step.said.phase); }},
      {{"requests", Kind::kInteger, "", "requests in the batch"},
       [](const Row& row) { return row.step.said.requests(); }},
      {{"context requests", Kind::kInteger, "",
        "those whose prompt is worked on; empty: the annotation does not say"},
       [](const Row& row) { return row.of_divided(row.step.said.context_requests); }},
      {{"context tokens", Kind::kInteger, "tokens",
        "tokens of these prompts; empty: the annotation does not say"},
       [](const Row& row) { return row.of_divided(row.step.said.context_sum); }},
      {{"output tokens", Kind::kInteger, "tokens",
        "tokens that are generated; with speculation, tokens that are tried; empty likewise"},
       [](const Row& row) { return row.of_divided(row.step.said.generation_sum); }},
      {{"KV tokens", Kind::kInteger, "tokens",
        "context of all requests together; empty: the annotation does not say"},
       [](const Row& row) { return row.step.kv_tokens(); }},
      {{"KV tokens per request", Kind::kReal, "tokens", "the same on average"},
       [](const Row& row) { return per_request(row.step.kv_tokens(), row.step.said.requests()); }},
      {{"start ms", Kind::kReal, "ms", "after the start of the first step"},
       [](const Row& row) { return ms(minus_ns(row.step.start_ns, row.first_ns)); }},
      {{"host ms", Kind::kReal, "ms", "from the start of the step to its end on the host"},
       [](const Row& row) { return ms(minus_ns(row.step.end_ns, row.step.start_ns)); }},
      {{"wall ms", Kind::kReal, "ms",
        "to the start of the next step; of the last one until its GPU work is done"},
       [](const Row& row) { return ms(row.step.wall_ns); }},
      {{"GPU busy ms", Kind::kReal, "ms", "time in which the GPU did what the step launched"},
       [](const Row& row) { return ms(row.step.gpu.busy_ns); }},
      {{"GPU idle ms", Kind::kReal, "ms", "time in which the GPU waited for work of the step"},
       [](const Row& row) { return ms(row.step.gpu.idle_ns); }},
      {{"GPU wait ms", Kind::kReal, "ms",
        "time of the step before the first GPU work of the trace, or after the last"},
       [](const Row& row) { return ms(row.step.gpu.wait_ns); }},
      {{"exposed comm ms", Kind::kReal, "ms", "communication while nothing computed"},
       [](const Row& row) { return ms(row.step.gpu.exposed_comm_ns); }},
      {{"first kernel ms", Kind::kReal, "ms",
        "from the start of the step to that of its first GPU work"},
       [](const Row& row) -> std::optional<double> {
         if (!row.step.first_gpu_ns) return std::nullopt;
         return ms(minus_ns(*row.step.first_gpu_ns, row.step.start_ns));
       }},
      {{"launch ms", Kind::kReal, "ms", "host time of the calls that launched the work"},
       [](const Row& row) { return ms(row.step.gpu.launch_ns); }},
      {{"launches", Kind::kInteger, "", "these calls"},
       [](const Row& row) { return row.step.gpu.launches; }},
      {{"graph launches", Kind::kInteger, "", "replays of captured graphs"},
       [](const Row& row) { return row.step.gpu.graph_launches; }},
      {{"GPU events", Kind::kInteger, "", "kernels, copies and fills"},
       [](const Row& row) { return row.step.gpu.gpu_events; }},
      {{"tokens/s of GPU", Kind::kReal, "1/s", "tokens worked on per second of GPU busy time"},
       [](const Row& row) { return rate(row.step.tokens(), row.step.gpu.busy_ns); }},
      {{"tokens/s of wall", Kind::kReal, "1/s", "tokens worked on per second of wall time"},
       [](const Row& row) { return rate(row.step.tokens(), row.step.wall_ns); }}};
  Table table = columns.make_table("serving_steps", "The steps of the serving engine");
  for (std::size_t i = 0; i < run.steps().size(); ++i)
    columns.append(table,
                   Row{run.steps()[i], static_cast<std::int64_t>(i), run.steps().front().start_ns});
  return table;
}

Table serving_phases(const ServingRun& run, std::span<const ModelledWork> modelled,
                     const Gpu* gpu) {
  std::vector<PhaseRow> rows;
  PhaseRow all{.name = "all"};
  for (const ServingPhase phase : kPhases) {
    PhaseRow row{.name = phase_text(phase)};
    for (std::size_t i = 0; i < run.steps().size(); ++i) {
      if (run.phase(i) != phase) continue;
      row.add(run.steps()[i]);
      row.gpu.add(run.steps()[i].gpu);
      row.modelled.add(modelled[i]);
    }
    if (row.steps > 0) rows.push_back(std::move(row));
  }
  for (const ServedStep& step : run.steps()) all.add(step);
  rows.push_back({.name = "outside", .has_steps = false, .gpu = run.outside()});
  rows.back().modelled = modelled.back();
  for (const PhaseRow& row : rows) {
    all.gpu.add(row.gpu);
    all.modelled.add(row.modelled);
  }
  rows.push_back(std::move(all));
  ColumnSet<PhaseRow> columns = phase_columns();
  Table table = columns.make_table("serving_phases", "Prefill, mixed and decode side by side");
  for (PhaseRow& row : rows) {
    row.all_wall_ns = rows.back().wall_ns;
    row.all_busy_ns = rows.back().gpu.busy_ns;
    if (gpu != nullptr) row.memory_gbps = gpu->memory_gbps.value_or(0);
    std::ranges::sort(row.token_walls);
    columns.append(table, row);
  }
  return table;
}

Table serving_ops_by_phase(const ServingRun& run, const ServedOps& ops) {
  constexpr std::size_t kOutside = kServingPhases, kAll = kOutside + 1;  // after the phases
  struct Row {
    std::uint32_t category = 0;
    std::array<std::int64_t, kAll + 1> ns = {};
  };
  std::vector<Row> rows;
  Row whole;
  for (std::size_t i = 0; i < run.work().size(); ++i) {
    const std::uint32_t category = ops.of(i).category;
    auto row = std::ranges::find(rows, category, &Row::category);
    if (row == rows.end()) row = rows.insert(row, {.category = category});
    const std::uint32_t step = run.work()[i].step;
    const std::size_t phase =
        step < run.steps().size() ? static_cast<std::size_t>(run.phase(step)) : kOutside;
    for (const std::size_t at : {phase, kAll}) {
      row->ns[at] = plus_ns(row->ns[at], run.work()[i].busy_ns);
      whole.ns[at] = plus_ns(whole.ns[at], run.work()[i].busy_ns);
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.ns[kAll]; });
  const auto column = [](std::string_view phase, std::string_view of) {
    return std::pair{
        ColumnSpec{std::string{phase} + " ms", Kind::kReal, "ms",
                   "busy time " + std::string{of} + "; empty: none"},
        ColumnSpec{std::string{phase} + " %", Kind::kReal, "%", "share of this kind in it"}};
  };
  std::vector<ColumnSpec> columns{
      {"op category", Kind::kText, "", "what kind of work it is; by kernels where no op says"}};
  const std::pair<std::size_t, std::pair<ColumnSpec, ColumnSpec>> parts[] = {
      {kAll, column("all", "in all")},
      {1, column("prefill", "in steps of prompts")},
      {2, column("mixed", "in steps of prompts and generation")},
      {3, column("decode", "in steps of generation")},
      {4, column("denoise", "in steps of images")},
      {0, column("none", "in steps of no requests")},
      {kOutside, column("outside", "in no step")}};
  for (const auto& [at, specs] : parts) {
    columns.push_back(specs.first);
    columns.push_back(specs.second);
  }
  Table table{"serving_ops_by_phase", "GPU time by category of op, the phases side by side",
              columns};
  RowCells cells;
  for (const Row& row : rows) {
    cells.clear();
    cells.add(ops.text(row.category));
    for (const auto& [at, specs] : parts) {
      const bool occurs = whole.ns[at] > 0;  // a phase that does not has no place on the screen
      cells.add(occurs ? std::optional{ms(row.ns[at])} : std::nullopt);
      cells.add(percent_of(row.ns[at], whole.ns[at]));
    }
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
