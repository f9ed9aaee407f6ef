#include "diagnosis/kit/draft.hpp"

#include <utility>

namespace tracelens {

Evidence proof(std::string_view table, std::string_view column, double value, std::string_view unit,
               ProofKey key) {
  return {.table = std::string{table},
          .key = std::move(key),
          .column = std::string{column},
          .value = value,
          .unit = std::string{unit}};
}

Evidence derived(std::string_view table, std::string_view what, double value, std::string_view unit,
                 ProofKey key) {
  Evidence made = proof(table, what, value, unit, std::move(key));
  made.is_derived = true;
  return made;
}

}  // namespace tracelens
