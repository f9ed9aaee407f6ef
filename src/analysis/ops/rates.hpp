// rates.hpp: what the models' answers come to at the times that were measured.
//   Rates rates{models, gpu, peaks};
//   rates.figures(row.answer).gflops
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

class Rates {
 public:
  // `gpu` may be null: no roofline.
  Rates(const OpModels& models, const Gpu* gpu, Peaks peaks)
      : models_{models}, gpu_{gpu}, peaks_{peaks} {}

  struct Figures {
    double gflops = 0;
    std::optional<double> megabytes, flops_per_byte;
    std::string_view compute_spec;
    std::optional<Roof> roof;
  };
  // Of an answer that is not a Reason; stays valid until the models have new answers.
  [[nodiscard]] const Figures& figures(OpModels::Answer answer);
  [[nodiscard]] bool has_gpu() const { return gpu_ != nullptr; }

  // --- of a group of rows whose models answered ---
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
  const Gpu* gpu_;
  Peaks peaks_;
  std::vector<std::optional<Figures>> figures_;                  // by answer
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
