// metrics.hpp: the work of one op, its GPU time and what both come to: columns that the tables of
// single ops share.
//   struct Row : SingleOp { OpMetrics metrics; };
//   add_metric_columns(columns, {.any_answer = true, .has_gpu = true});
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/ops/rates.hpp"

namespace tracelens {

struct OpMetrics {
  std::int64_t busy_ns = 0;
  std::optional<std::int64_t> moving_nothing_ns = {};  // without kernels that only move data
  const Work* work = nullptr;                          // null: no model answered
  const Figures* figures = nullptr;                    // of the same

  [[nodiscard]] std::optional<double> gflops() const {
    return figures == nullptr ? std::nullopt : std::optional{figures->gflops};
  }
  [[nodiscard]] std::optional<double> tflops_in(std::optional<std::int64_t> ns) const {
    if (work == nullptr || ns.value_or(0) <= 0) return std::nullopt;
    return work->flops / 1e3 / static_cast<double>(*ns);
  }
  [[nodiscard]] std::optional<double> terabytes() const {
    if (work == nullptr || !work->bytes || busy_ns <= 0) return std::nullopt;
    return *work->bytes / 1e3 / static_cast<double>(busy_ns);
  }
  [[nodiscard]] const Roof* roof() const {
    return figures != nullptr && figures->roof ? &*figures->roof : nullptr;
  }
  [[nodiscard]] std::optional<double> percent_of_roof() const {
    return roof() == nullptr ? std::nullopt : roof()->percent_of(us(busy_ns));
  }
};

// The model's parameters as dicts; each distinct answer's is made once.
class ParamCells {
 public:
  explicit ParamCells(const OpModels& models) : models_{models} {}
  [[nodiscard]] const Value& of(OpModels::Answer answer);  // null: the model has none

 private:
  const OpModels& models_;
  std::vector<std::optional<Value>> params_;  // by answer
};

struct MetricColumns {
  bool work = true;       // some model answered
  bool roofline = false;  // there is a GPU to hold it against
  bool moving_nothing = false;
};

// The rows' member `metrics`.
template <class Row>
void add_metric_columns(ColumnSet<Row>& columns, const MetricColumns& which) {
  const bool roof = which.work && which.roofline;
  columns.add(
      {{{"GFLOPS", Kind::kReal, "GFLOP", "floating-point operations"},
        [](const Row& row) { return row.metrics.gflops(); },
        which.work},
       {{"Kernel Time (µs)", Kind::kReal, "µs", "time in which at least one of its kernels ran"},
        [](const Row& row) { return us(row.metrics.busy_ns); }},
       {{"TFLOPS/s", Kind::kReal, "TFLOP/s", "operations in that time"},
        [](const Row& row) { return row.metrics.tflops_in(row.metrics.busy_ns); },
        which.work},
       {{"Non-Data-Mov Kernel Time (µs)", Kind::kReal, "µs",
         "the same without kernels that only copy or transpose"},
        [](const Row& row) -> std::optional<double> {
          if (!row.metrics.moving_nothing_ns) return std::nullopt;
          return us(*row.metrics.moving_nothing_ns);
        },
        which.moving_nothing},
       {{"Non-Data-Mov TFLOPS/s", Kind::kReal, "TFLOP/s", "operations in that time"},
        [](const Row& row) { return row.metrics.tflops_in(row.metrics.moving_nothing_ns); },
        which.moving_nothing},
       {{"Data Moved (MB)", Kind::kReal, "MiB", "moved to and from memory"},
        [](const Row& row) {
          return row.metrics.figures == nullptr ? std::nullopt : row.metrics.figures->megabytes;
        },
        which.work},
       {{"FLOPS/Byte", Kind::kReal, "FLOP/B", "operations per byte moved"},
        [](const Row& row) {
          return row.metrics.figures == nullptr ? std::nullopt
                                                : row.metrics.figures->flops_per_byte;
        },
        which.work},
       {{"TB/s", Kind::kReal, "TB/s", "bytes moved in that time"},
        [](const Row& row) { return row.metrics.terabytes(); },
        which.work},
       {{"Compute Spec", Kind::kText, "", "which peak of the GPU applies"},
        [](const Row& row) -> std::optional<std::string_view> {
          if (row.metrics.figures == nullptr) return std::nullopt;
          return row.metrics.figures->compute_spec;
        },
        which.work},
       {{"Roofline Time (µs)", Kind::kReal, "µs", "best time the GPU could take"},
        [](const Row& row) { return best_us_of(row.metrics.roof()); },
        roof},
       {{"Roofline Bound", Kind::kText, "", "what limits it"},
        [](const Row& row) { return bound_of(row.metrics.roof()); },
        roof},
       {{"Pct Roofline", Kind::kReal, "%", "best possible time in the time it took"},
        [](const Row& row) { return row.metrics.percent_of_roof(); },
        roof}});
}

}  // namespace tracelens
