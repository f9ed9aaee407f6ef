// user_models.cpp: finding and running the user's models; user_models_file.cpp reads declared ones.
#include "perf/registry/user_models.hpp"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <tracelens/files.hpp>

#include "perf/registry/op_registry.hpp"

namespace tracelens::perf {
namespace {

// Categories whose work runs on the matrix units unless a declaration says otherwise.
constexpr std::array<std::string_view, 5> kMatrixCategories = {"GEMM", "GroupedGEMM", "SDPA",
                                                               "CONV", "InferenceAttention"};

Unit unit_of(std::string_view category) {
  const bool matrix = std::ranges::any_of(
      kMatrixCategories, [&](std::string_view start) { return category.starts_with(start); });
  return matrix ? Unit::kMatrix : Unit::kVector;
}

// A Reason of an expression says whose it is.
double evaluate(const Expression& expression, std::string_view name, const Arguments& in,
                std::span<const double> values) try {
  const double value = expression.evaluate(in, values);
  if (!std::isfinite(value)) fail("out of the range of numbers");
  return value;
} catch (const Reason& reason) {
  throw Reason{reason.kind, fmt::format("{}: {}", name, reason.text)};
}

std::optional<double> amount(const std::optional<Expression>& expression, std::string_view name,
                             const Arguments& in, std::span<const double> values) {
  if (!expression) return std::nullopt;
  const double value = evaluate(*expression, name, in, values);
  if (value < 0) fail(fmt::format("{}: {} is negative", name, value));
  return value;
}

}  // namespace

UserModel::UserModel(Declaration declaration) : declared_{std::move(declaration)} {
  if (!declared_.pattern.empty()) {
    pattern_ = std::make_unique<re2::RE2>(declared_.pattern, re2::RE2::Quiet);
    if (!pattern_->ok()) fail(pattern_->error());
  }
  const std::string_view name = pattern_ ? declared_.pattern : declared_.op;
  if (has_work()) {
    info_ = {.model = name, .sheet = declared_.sheet, .per_call = declared_.per_call};
  } else if (const OpInfo* const known = find_op(declared_.op, Edition::kExtended)) {
    info_ = *known;
  }
  info_.name = name;
  info_.category = declared_.category;
  info_.edition = Edition::kExtended;
}

UserModel::~UserModel() = default;

bool UserModel::matches(std::string_view op) const {
  if (!pattern_) return op == declared_.op;
  return re2::RE2::PartialMatch({op.data(), op.size()}, *pattern_);
}

OrReason<Work> UserModel::work(const OpCall& call, Pass pass) const try {
  const Arguments in{call, pass, Edition::kExtended};  // knows every element type
  in.forward_only();
  if (!declared_.function) return declared_work(in);
  OrReason<Work> work = ask(call);
  if (!work) return work;
  for (const double amount : {work->flops, work->bytes.value_or(0)})
    if (!std::isfinite(amount) || amount < 0) fail(fmt::format("{} is no amount of work", amount));
  if (work->compute_spec.empty()) work->compute_spec = compute_spec_of(in);
  return work;
} catch (const Reason& reason) {
  return reason;
} catch (const std::exception& error) {  // of a function; expressions throw Reasons alone
  return Reason{Reason::Kind::kFailed, error.what()};
}

OrReason<Work> UserModel::ask(const OpCall& call) const {
  const std::lock_guard lock{asking_};
  return declared_.function(call);
}

Work UserModel::declared_work(const Arguments& in) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < declared_.names.size(); ++i)
    values.push_back(evaluate(declared_.values[i], declared_.names[i], in, values));
  Work work{.flops = amount(declared_.flops, "flops", in, values).value_or(0),
            .bytes = amount(declared_.bytes, "bytes", in, values),
            .compute_spec = compute_spec_of(in)};
  for (std::size_t i = 0; i < values.size(); ++i)
    work.params.push_back({declared_.names[i], count(values[i])});
  return work;
}

// Where the declaration does not name the precision: that of the first argument that has one.
std::string UserModel::compute_spec_of(const Arguments& in) const {
  if (declared_.compute.find('_') != std::string::npos) return declared_.compute;
  const Unit unit = declared_.compute == "matrix"   ? Unit::kMatrix
                    : declared_.compute == "vector" ? Unit::kVector
                                                    : unit_of(declared_.category);
  for (const Value& type : in.call().args.types.items())
    if (const std::string_view precision = in.precision(type.as_text()); !precision.empty())
      return compute_spec(unit, precision);
  return {};
}

bool UserModels::add(std::shared_ptr<const UserModel> model) {
  const std::string_view name = model->info().name;
  if (!by_name_.try_emplace(name, model.get()).second) return false;
  models_.push_back(std::move(model));
  return true;
}

const UserModel* UserModels::find(std::string_view op) const {
  // A pattern may look like a name; only the latter is found here.
  if (const auto found = by_name_.find(op); found != by_name_.end() && found->second->matches(op))
    return found->second;
  for (const auto& model : models_)
    if (model->matches(op)) return model.get();
  return nullptr;
}

UserModels load_user_models(const ModelSet* given, const std::string& file) {
  UserModels models = given == nullptr ? UserModels{} : given->all();
  if (file.empty()) return models;
  const UserModels declared = read_user_models(read_text_file(file), file);
  for (const auto& model : declared.all()) models.add(model);
  return models;
}

}  // namespace tracelens::perf
