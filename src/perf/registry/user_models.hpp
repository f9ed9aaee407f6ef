// user_models.hpp: models that users declare in a JSON file, see docs/how-to/own-models.md, or give
// as functions (ModelSet of model.hpp).
//   const UserModels mine = read_user_models(text, "models.json");
//   if (const UserModel* model = mine.find("my::fused_gemm")) use(model->work(call));
// RunModels (run_models.hpp) asks them before the models of TraceLens.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/model.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perf/core/expression.hpp"

namespace re2 {
class RE2;
}

namespace tracelens::perf {

class UserModel {
 public:
  // What a declaration says, checked. One of op and pattern is empty.
  struct Declaration {
    std::string op, pattern;
    std::string category, sheet;
    std::string compute;  // "matrix_bf16", "matrix", "vector"; empty: by category
    std::vector<std::string> names;
    std::vector<Expression> values;  // of the names; each may use the names before it
    std::optional<Expression> flops, bytes;
    OpModel function = nullptr;  // instead of expressions
    bool per_call = false;       // of the function: see OpListing
  };
  // Without expressions and function only the category is its own; the rest is that of the op.
  // Throws a Reason when the pattern is not a regular expression.
  explicit UserModel(Declaration declaration);
  UserModel(const UserModel&) = delete;
  UserModel& operator=(const UserModel&) = delete;
  ~UserModel();

  [[nodiscard]] const OpInfo& info() const { return info_; }  // name: the op, or the pattern
  [[nodiscard]] bool matches(std::string_view op) const;
  [[nodiscard]] bool has_work() const {
    return declared_.function || declared_.flops || declared_.bytes;
  }
  // The names and their values become the parameters. Never throws.
  [[nodiscard]] OrReason<Work> work(const OpCall& call, Pass pass = Pass::kForward) const;

 private:
  [[nodiscard]] OrReason<Work> ask(const OpCall& call) const;  // the function
  [[nodiscard]] Work declared_work(const Arguments& in) const;
  [[nodiscard]] std::string compute_spec_of(const Arguments& in) const;

  Declaration declared_;
  std::unique_ptr<re2::RE2> pattern_;  // null: by name
  OpInfo info_;                        // views of declared_
  mutable std::mutex asking_;          // what users write need not be made for several threads
};

class UserModels {
 public:
  // Null when no declaration covers the op. One by name wins over patterns, of those the first.
  [[nodiscard]] const UserModel* find(std::string_view op) const;
  [[nodiscard]] std::size_t size() const { return models_.size(); }
  // False when a model for the same op or pattern is there already.
  bool add(std::shared_ptr<const UserModel> model);
  [[nodiscard]] const std::vector<std::shared_ptr<const UserModel>>& all() const { return models_; }

 private:
  std::vector<std::shared_ptr<const UserModel>> models_;  // in file order
  std::unordered_map<std::string_view, const UserModel*> by_name_;
};

// Throws Error that names `file`, line and column when the text is not JSON, a key is unknown or
// missing, or an expression is malformed.
[[nodiscard]] UserModels read_user_models(std::string_view text, std::string_view file);

// Those the user gave as functions, then those of a file; either may be missing (null, empty).
[[nodiscard]] UserModels load_user_models(const ModelSet* given, const std::string& file);

}  // namespace tracelens::perf
