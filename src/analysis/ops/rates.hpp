// rates.hpp: what the models' answers come to at the times that were measured.
//   WorkFigures figures{models, gpu, peaks};
//   figures.of(row.answer).gflops
//   Rates rates{models, figures};
//   for (row : group) rates.add(row);
//   rates.tflops().mean;  rates.terabytes().median;  rates.clear();
#pragma once

#include <optional>
#include <string_view>
#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>
#include <utility>
#include <vector>

#include "analysis/kit/group_stats.hpp"
#include "analysis/ops/measured_ops.hpp"
#include "analysis/ops/op_models.hpp"

namespace tracelens {

// What follows from an answer alone.
struct Figures {
  double gflops = 0;
  std::optional<double> megabytes, flops_per_byte;
  std::string_view compute_spec;
  std::optional<Roof> roof;
};

class WorkFigures {
 public:
  // `gpu` may be null: no roofline.
  WorkFigures(const OpModels& models, const Gpu* gpu, Peaks peaks)
      : models_{models}, gpu_{gpu}, peaks_{peaks} {}

  // Of an answer that is not a Reason; stays valid until the models have new answers.
  const Figures& of(OpModels::Answer answer);
  // The same of one that was asked about before: by any number of threads.
  [[nodiscard]] const Figures& known(OpModels::Answer answer) const { return *figures_[answer]; }
  [[nodiscard]] bool has_gpu() const { return gpu_ != nullptr; }

 private:
  const OpModels& models_;
  const Gpu* gpu_;
  Peaks peaks_;
  std::vector<std::optional<Figures>> figures_;  // by answer
};

// Of a group of rows whose models answered; the figures of these must be known.
class Rates {
 public:
  Rates(const OpModels& models, const WorkFigures& figures) : models_{models}, figures_{figures} {}

  void clear();
  void add(const OpRow& row);
  [[nodiscard]] GroupStats tflops();           // TFLOP/s
  [[nodiscard]] GroupStats terabytes();        // TB/s; rows of unknown bytes are left out
  [[nodiscard]] GroupStats percent_of_roof();  // best possible time in the time it took

 private:
  // Each rate is a constant of the answer divided by the time. In nearly every group the answer is
  // the same, so that the statistics of 1 / time serve all three.
  template <class FactorOf>
  GroupStats stats(FactorOf factor_of);

  const OpModels& models_;
  const WorkFigures& figures_;
  std::vector<std::pair<OpModels::Answer, std::int64_t>> rows_;  // with their times
  bool is_uniform_ = true;
  std::optional<GroupStats> inverse_;  // of 1 / ns
  std::vector<double> values_;
};

// Their cells; none without a roof.
[[nodiscard]] std::optional<double> best_us_of(const Roof* roof);
[[nodiscard]] std::optional<std::string_view> bound_of(const Roof* roof);

// Every statistic times a factor above 0.
[[nodiscard]] GroupStats scaled(GroupStats stats, double factor);

}  // namespace tracelens
