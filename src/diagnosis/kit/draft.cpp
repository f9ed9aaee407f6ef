#include "diagnosis/kit/draft.hpp"

namespace tracelens {

Evidence proof(std::string_view table, std::string_view column, double value, std::string_view unit,
               ProofKey key) {
  return {.table = std::string{table},
          .key = std::move(key),
          .column = std::string{column},
          .value = value,
          .unit = std::string{unit}};
}

}  // namespace tracelens
