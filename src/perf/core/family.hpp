// family.hpp: how a family file hands its table of ops to the registry.
//   struct GemmOp { OpInfo info; int a, b; };                       // what differs between the ops
//   constexpr GemmOp kOps[] = {{.info = {...}, .a = 0, .b = 1}};
//   Work gemm(const GemmOp& op, const Arguments& in) { ... }        // what they have in common
//   constinit const Family kGemm = modelled<kOps, gemm>();          // then a line in families.cpp
// A model throws a Reason when it cannot answer (the accessors of Arguments do so for it);
// op_work() catches it. Nothing else may leave a model.
#pragma once

#include <cstddef>
#include <iterator>
#include <tracelens/model.hpp>

#include "perf/core/op_info.hpp"

namespace tracelens::perf {

class Arguments;

struct Family {
  std::size_t size = 0;
  const OpInfo& (*info)(std::size_t row) = nullptr;
  Work (*run)(std::size_t row, const Arguments& in) = nullptr;  // null: categories only
};

template <const auto& kRows, auto kModel>
consteval Family modelled() {
  return {.size = std::size(kRows),
          .info = [](std::size_t row) -> const OpInfo& { return kRows[row].info; },
          .run = [](std::size_t row, const Arguments& in) { return kModel(kRows[row], in); }};
}

// For families whose ops have little in common: every row names its own function.
struct ModelledOp {
  OpInfo info;
  Work (*run)(const Arguments& in);
};

template <const auto& kRows>
consteval Family modelled() {
  return {.size = std::size(kRows),
          .info = [](std::size_t row) -> const OpInfo& { return kRows[row].info; },
          .run = [](std::size_t row, const Arguments& in) { return kRows[row].run(in); }};
}

template <const auto& kRows>
consteval Family categories_only() {
  return {.size = std::size(kRows),
          .info = [](std::size_t row) -> const OpInfo& { return kRows[row]; },
          .run = nullptr};
}

}  // namespace tracelens::perf
