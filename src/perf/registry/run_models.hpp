// run_models.hpp: the models of a run: the user's own, then those of TraceLens.
//   const RunModels models{Edition::kExtended, &mine};     // or just an Edition: no own models
//   models.work({.name = "my::fused_gemm", .args = signature});
// The same questions as op_registry.hpp and op_work.hpp answer, with the user's declarations first.
// Small: pass it by value. What it points to must outlive it.
#pragma once

#include <string_view>

#include "perf/registry/op_registry.hpp"
#include "perf/registry/op_work.hpp"
#include "perf/registry/own_categories.hpp"
#include "perf/registry/user_models.hpp"

namespace tracelens::perf {

class RunModels {
 public:
  RunModels(Edition edition, const UserModels* own = nullptr,  // NOLINT(*-explicit-*)
            const OwnCategories* categories = nullptr)
      : edition_{edition}, own_{own}, categories_{categories} {}

  [[nodiscard]] Edition edition() const { return edition_; }
  [[nodiscard]] const UserModel* find_own(std::string_view op) const {
    return own_ == nullptr ? nullptr : own_->find(op);
  }
  [[nodiscard]] const OpInfo* find_op(std::string_view op) const {
    const UserModel* const own = find_own(op);
    return own != nullptr ? &own->info() : perf::find_op(op, edition_);
  }
  [[nodiscard]] std::string_view category(std::string_view op,
                                          std::string_view first_kernel) const {
    const UserModel* const own = find_own(op);
    return own != nullptr ? own->info().category : perf::op_category(op, first_kernel, edition_);
  }
  // What the user's function says of an op and the first kernel it really launches, which comes before
  // category(); empty: nothing.
  [[nodiscard]] std::string_view own_category(std::string_view op,
                                              std::string_view first_kernel) const {
    return categories_ == nullptr ? std::string_view{} : categories_->of(op, first_kernel);
  }
  [[nodiscard]] bool has_model(const OpCall& call) const {
    const UserModel* const own = find_own(call.name);
    return (own != nullptr && own->has_work()) || perf::has_model(call, edition_);
  }
  [[nodiscard]] OrReason<Work> work(const OpCall& call, Pass pass = Pass::kForward) const {
    const UserModel* const own = find_own(call.name);
    return own != nullptr && own->has_work() ? own->work(call, pass)
                                             : perf::built_in_work(call, pass, edition_);
  }

 private:
  Edition edition_;
  const UserModels* own_;
  const OwnCategories* categories_;
};

}  // namespace tracelens::perf
