#include "diagnosis/kit/draft.hpp"

#include "diagnosis/kit/figures.hpp"

namespace tracelens {

std::string Draft::prove(std::string_view table, std::string_view column, double value,
                         std::string_view unit, Key key) {
  evidence.push_back({.table = std::string{table},
                      .key = std::move(key),
                      .column = std::string{column},
                      .value = value,
                      .unit = std::string{unit}});
  return figure(value, unit);
}

}  // namespace tracelens
