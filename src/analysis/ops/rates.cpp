#include "analysis/ops/rates.hpp"

namespace tracelens {

const Figures& WorkFigures::of(OpModels::Answer answer) {
  if (figures_.size() <= answer) figures_.resize(models_.size());
  std::optional<Figures>& entry = figures_[answer];
  if (entry) return *entry;
  const Work& work = *models_[answer];
  Figures& figures = entry.emplace();
  figures.gflops = work.flops / 1e9;
  if (work.bytes) figures.megabytes = *work.bytes / (1024.0 * 1024.0);
  if (work.bytes && *work.bytes > 0) figures.flops_per_byte = work.flops / *work.bytes;
  figures.compute_spec = work.compute_spec;
  if (gpu_ != nullptr) figures.roof = roofline(work, *gpu_, models_.edition(), peaks_);
  return figures;
}

void Rates::clear() {
  rows_.clear();
  inverse_.reset();
  is_uniform_ = true;
}

void Rates::add(const OpRow& row) {
  if (row.busy_ns <= 0) return;  // no rate without a time
  rows_.emplace_back(row.answer, row.busy_ns);
  is_uniform_ &= row.answer == rows_.front().first;
}

template <class FactorOf>
GroupStats Rates::stats(FactorOf factor_of) {
  if (rows_.empty()) return {};
  values_.clear();
  if (!is_uniform_) {
    for (const auto& [answer, ns] : rows_)
      if (const std::optional<double> factor = factor_of(answer))
        values_.push_back(*factor / static_cast<double>(ns));
    return stats_of(values_);
  }
  if (!inverse_) {
    for (const auto& [answer, ns] : rows_) values_.push_back(1 / static_cast<double>(ns));
    inverse_ = stats_of(values_);
  }
  const std::optional<double> factor = factor_of(rows_.front().first);
  return factor ? scaled(*inverse_, *factor) : GroupStats{};
}

GroupStats Rates::tflops() {
  return stats([&](OpModels::Answer answer) -> std::optional<double> {
    return models_[answer]->flops / 1e3;
  });
}

GroupStats Rates::terabytes() {
  return stats([&](OpModels::Answer answer) -> std::optional<double> {
    const std::optional<double>& bytes = models_[answer]->bytes;
    return bytes ? std::optional{*bytes / 1e3} : std::nullopt;
  });
}

GroupStats Rates::percent_of_roof() {
  return stats([&](OpModels::Answer answer) -> std::optional<double> {
    const std::optional<Roof>& roof = figures_.known(answer).roof;
    return roof ? std::optional{roof->best_us * 1e3 * 100} : std::nullopt;
  });
}

std::optional<double> best_us_of(const Roof* roof) {
  return roof == nullptr ? std::nullopt : std::optional{roof->best_us};
}

std::optional<std::string_view> bound_of(const Roof* roof) {
  return roof == nullptr ? std::nullopt : std::optional{bound_name(roof->bound)};
}

GroupStats scaled(GroupStats stats, double factor) {
  stats.sum *= factor;
  for (auto* value :
       {&stats.mean, &stats.median, &stats.min, &stats.max, &stats.std, &stats.population_std})
    if (*value) **value *= factor;
  return stats;
}

}  // namespace tracelens
