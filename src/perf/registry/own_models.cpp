// own_models.cpp: the public face of the models (tracelens/model.hpp).
#include <fmt/core.h>

#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/model.hpp>
#include <utility>

#include "perf/core/arguments.hpp"
#include "perf/registry/run_models.hpp"
#include "perf/registry/sheets.hpp"

namespace tracelens {
namespace {

perf::Arguments arguments_of(const OpCall& call) {
  return {call, Pass::kForward, Edition::kExtended};
}

perf::RunModels models_of(const WorkOptions& options) {
  return {options.edition, options.models == nullptr ? nullptr : &options.models->all()};
}

void add_to(perf::UserModels& models, perf::UserModel::Declaration declaration) {
  const std::string name = declaration.op.empty() ? declaration.pattern : declaration.op;
  const auto is_sheet = [](const std::string& sheet) { return perf::find_sheet(sheet) != nullptr; };
  if (declaration.sheet.empty() && is_sheet(declaration.category))
    declaration.sheet = declaration.category;
  if (!declaration.sheet.empty() && !is_sheet(declaration.sheet))
    throw Error{name, fmt::format("no sheet '{}'", declaration.sheet)};
  try {
    if (!models.add(std::make_shared<const perf::UserModel>(std::move(declaration))))
      throw Error{name, "there is a model for it already"};
  } catch (const Reason& reason) {
    throw Error{name, "not a regular expression: " + reason.text};
  }
}

perf::UserModel::Declaration declare(OpListing listing, OpModel model) {
  perf::UserModel::Declaration declared;
  declared.category = std::move(listing.category);
  declared.sheet = std::move(listing.sheet);
  declared.per_call = listing.per_call;
  declared.function = std::move(model);
  return declared;
}

}  // namespace

std::vector<double> tensor_shape(const OpCall& call, std::size_t argument) {
  return arguments_of(call).shape(argument).sizes();
}

double tensor_elements(const OpCall& call, std::size_t argument) {
  return arguments_of(call).shape(argument).elements();
}

double tensor_element_bytes(const OpCall& call, std::size_t argument) {
  const perf::Arguments in = arguments_of(call);
  return in.known_bytes(in.type(argument));
}

ModelSet::ModelSet() : models_{std::make_unique<perf::UserModels>()} {}
ModelSet::ModelSet(ModelSet&&) noexcept = default;
ModelSet& ModelSet::operator=(ModelSet&&) noexcept = default;
ModelSet::~ModelSet() = default;

void ModelSet::add(std::string op, OpListing listing, OpModel model) {
  perf::UserModel::Declaration declared = declare(std::move(listing), std::move(model));
  declared.op = std::move(op);
  add_to(*models_, std::move(declared));
}

void ModelSet::add_pattern(std::string pattern, OpListing listing, OpModel model) {
  perf::UserModel::Declaration declared = declare(std::move(listing), std::move(model));
  declared.pattern = std::move(pattern);
  add_to(*models_, std::move(declared));
}

void ModelSet::add_category(std::string op, std::string category) {
  perf::UserModel::Declaration declared = declare({.category = std::move(category)}, nullptr);
  declared.op = std::move(op);
  add_to(*models_, std::move(declared));
}

void ModelSet::add_file(const std::string& path) {
  const perf::UserModels declared = perf::read_user_models(read_text_file(path), path);
  for (const auto& model : declared.all())
    if (!models_->add(model))
      throw Error{path, fmt::format("there is a model for {} already", model->info().name)};
}

std::size_t ModelSet::size() const { return models_->size(); }

OrReason<Work> op_work(const OpCall& call, const WorkOptions& options) {
  return models_of(options).work(call, options.pass);
}

std::string op_category(std::string_view op, std::string_view first_kernel,
                        const WorkOptions& options) {
  return std::string{models_of(options).category(op, first_kernel)};
}

}  // namespace tracelens
