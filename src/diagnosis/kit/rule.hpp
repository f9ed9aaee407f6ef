// rule.hpp: one cause of lost time that traces show: how it is told, and what mending would change.
//   constinit const Rule kData1 = {.id = "DATA-1", .title = "Waiting for data",
//                                  .numbers = kNumbers, .find = find};
// A rule is a file in src/diagnosis/rules and a line in its list.cpp; see docs/how-to/add-a-rule.md.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/draft.hpp"
#include "diagnosis/kit/numbers.hpp"

namespace tracelens {

struct Rule {
  std::string_view id;     // "DATA-1"
  std::string_view title;  // "Waiting for data"
  // Says that the host is slow, not what makes it so: comes after what does.
  bool is_generic = false;
  // Rules that tell the cause of this one: where one of them has found it, this one is generic.
  std::array<std::string_view, 2> explained_by = {};
  // Wrong where graph launches were recorded without their kernels.
  bool needs_whole_graphs = false;
  std::span<const Number> numbers = {};
  // Nothing when the cause is not there. Several threads ask the rules, some of them twice: what it finds
  // may depend on those before it in the list through c.is_free() alone, asked by the thread it is called in.
  std::optional<Draft> (*find)(const DiagnosisContext& c, const Numbers& n);

  // "DATA"
  [[nodiscard]] constexpr std::string_view family() const { return id.substr(0, id.find('-')); }
};

}  // namespace tracelens
