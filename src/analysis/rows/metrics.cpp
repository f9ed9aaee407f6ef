#include "analysis/rows/metrics.hpp"

#include <string>
#include <utility>

namespace tracelens {

const Value& ParamCells::of(OpModels::Answer answer) {
  if (params_.size() <= answer) params_.resize(models_.size());
  std::optional<Value>& entry = params_[answer];
  if (entry) return *entry;
  std::vector<std::string> names;
  std::vector<Value> values;
  for (const Param& param : models_[answer]->params) {
    names.push_back(param.name);
    values.push_back(param.value);
  }
  entry = names.empty() ? Value{} : Value::dict(std::move(names), std::move(values));
  return *entry;
}

}  // namespace tracelens
