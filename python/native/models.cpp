#include "models.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <tracelens/gpu.hpp>
#include <tracelens/model_tables.hpp>
#include <utility>

#include "errors.hpp"
#include "parts.hpp"
#include "python_values.hpp"
#include "report_options.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// The bytes of an element of each argument; None where it is no tensor or its type is not known.
py::list element_bytes(const OpCall& call) {
  py::list all;
  for (std::size_t i = 0; i < call.args.dims.items().size(); ++i) {
    try {
      all.append(tensor_element_bytes(call, i));
    } catch (const Reason&) {
      all.append(py::none{});
    }
  }
  return all;
}

Reason reason_of(std::string text) { return {Reason::Kind::kNotImplemented, std::move(text)}; }

}  // namespace

PythonModels::PythonModels(py::list models) : models_{std::move(models)} {
  or_usage_error([&] {
    for (const py::handle each : models_) {
      const auto model = each.cast<py::tuple>();
      OpListing listing{.category = text_of(py::object{model[2]}),
                        .sheet = text_of(py::object{model[3]}),
                        .per_call = py::object{model[4]}.cast<bool>()};
      PyObject* const function = py::object{model[5]}.ptr();  // the list keeps it
      OpModel ask_it = [this, function](const OpCall& call) { return ask(function, call); };
      if (py::object{model[0]}.is_none())
        set_.add_pattern(text_of(py::object{model[1]}), std::move(listing), std::move(ask_it));
      else
        set_.add(text_of(py::object{model[0]}), std::move(listing), std::move(ask_it));
    }
  });
}

// The function, see _models.py, gives (flops, bytes or None, compute spec, [(name, value)]), or a str
// why not, or (warning, reason) when it failed.
OrReason<Work> PythonModels::ask(PyObject* function, const OpCall& call) {
  const py::gil_scoped_acquire locked;
  try {
    py::list kernels;
    for (const std::string_view kernel : call.kernels) kernels.append(python_text(kernel));
    const py::object answer = py::reinterpret_borrow<py::object>(function)(
        python_text(call.name), python_value(call.args.dims), python_value(call.args.types),
        python_value(call.args.strides), python_value(call.args.concrete), kernels,
        element_bytes(call));
    if (py::isinstance<py::str>(answer)) return reason_of(text_of(answer));
    const auto parts = answer.cast<py::tuple>();
    if (parts.size() == 2) {
      const std::scoped_lock lock{mutex_};
      warnings_.insert(text_of(py::object{parts[0]}));
      return reason_of(text_of(py::object{parts[1]}));
    }
    Work work{.flops = py::object{parts[0]}.cast<double>(),
              .bytes = py::object{parts[1]}.cast<std::optional<double>>(),
              .compute_spec = text_of(py::object{parts[2]})};
    for (const py::handle param : py::object{parts[3]}) {
      const auto pair = param.cast<py::tuple>();
      work.params.push_back({text_of(py::object{pair[0]}), value_of(py::object{pair[1]})});
    }
    return work;
  } catch (const std::exception&) {
    const std::scoped_lock lock{mutex_};
    if (!raised_) raised_ = std::current_exception();
    return reason_of("interrupted");
  }
}

std::vector<std::string> PythonModels::warnings() const {
  const std::scoped_lock lock{mutex_};
  return {warnings_.begin(), warnings_.end()};
}

void PythonModels::rethrow() const {
  const std::scoped_lock lock{mutex_};
  if (raised_) std::rethrow_exception(raised_);
}

std::function<std::string(std::string_view, std::string_view)> PythonCategories::asked() {
  if (function_.is_none()) return nullptr;
  return [this](std::string_view op, std::string_view first_kernel) {
    const py::gil_scoped_acquire locked;
    {
      const std::scoped_lock lock{mutex_};
      if (raised_) return std::string{};
    }
    try {
      const py::object answer =
          function_(python_text(op),
                    first_kernel.empty() ? py::object{py::none()} : python_text(first_kernel));
      if (answer.is_none()) return std::string{};
      if (!py::isinstance<py::str>(answer))
        throw py::type_error{"category_of: expected a str or None from the function"};
      return text_of(answer);
    } catch (const std::exception&) {
      const std::scoped_lock lock{mutex_};
      if (!raised_) raised_ = std::current_exception();
      return std::string{};
    }
  };
}

void PythonCategories::rethrow() const {
  const std::scoped_lock lock{mutex_};
  if (raised_) std::rethrow_exception(raised_);
}

void add_models(py::module_& module) {
  module.def(
      "model",
      [](const std::string& op, const std::string& dims, const std::string& dtype,
         const std::string& types, const std::string& strides, const std::string& concrete,
         const std::string& gpu, bool backward, const std::string& edition,
         const py::list& models) {
        const PythonModels mine{models};
        Table answer = [&] {
          const py::gil_scoped_release unlocked;
          return or_usage_error([&] {
            const Signature args = model_arguments(op, {.dims = dims,
                                                        .dtype = dtype,
                                                        .types = types,
                                                        .strides = strides,
                                                        .concrete = concrete});
            const std::optional<Gpu> peaks =
                gpu.empty() ? std::nullopt : chosen_gpu({.name = gpu}, nullptr);
            return model_answer({.name = op, .args = args}, peaks ? &*peaks : nullptr,
                                {.pass = backward ? Pass::kBackward : Pass::kForward,
                                 .edition = edition_of(edition),
                                 .models = mine.set()});
          });
        }();
        mine.rethrow();
        return answer;
      },
      py::arg("op"), py::kw_only{}, py::arg("dims"), py::arg("dtype"), py::arg("types"),
      py::arg("strides"), py::arg("concrete"), py::arg("gpu"), py::arg("backward"),
      py::arg("edition"), py::arg("models"));
  module.def(
      "known_models",
      [](const std::string& edition, const std::string& family) {
        return or_usage_error([&] { return known_models(edition_of(edition), family); });
      },
      py::arg("edition"), py::arg("family"));
}

}  // namespace tracelens::python
