// models.hpp: models of ops that are functions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/model.hpp>
#include <utility>
#include <vector>

namespace tracelens::python {

// A ModelSet over a list of (op, pattern, category, sheet, per_call, function), where op or pattern is
// None. To be made and dropped with the interpreter's lock; the models themselves may be asked by any
// thread that does not hold it.
class PythonModels {
 public:
  explicit PythonModels(pybind11::list models);
  PythonModels(const PythonModels&) = delete;
  PythonModels& operator=(const PythonModels&) = delete;

  [[nodiscard]] const ModelSet* set() const { return models_.empty() ? nullptr : &set_; }
  // Sentences about the functions that failed.
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Throws what a function raised that was no mistake of its own, such as KeyboardInterrupt.
  void rethrow() const;

 private:
  OrReason<Work> ask(PyObject* function, const OpCall& call);

  pybind11::list models_;  // keeps the functions
  ModelSet set_;
  mutable std::mutex mutex_;
  std::set<std::string> warnings_;
  std::exception_ptr raised_;
};

// ReportOptions::category_of as a function of Python. Locks as with PythonModels; but whatever the
// function raises, it is not asked again, and the report fails with that.
class PythonCategories {
 public:
  explicit PythonCategories(pybind11::object function) : function_{std::move(function)} {}
  PythonCategories(const PythonCategories&) = delete;
  PythonCategories& operator=(const PythonCategories&) = delete;

  // None without a function. Refers to this.
  [[nodiscard]] std::function<std::string(std::string_view, std::string_view)> asked();
  void rethrow() const;  // whatever the function raised

 private:
  pybind11::object function_;
  mutable std::mutex mutex_;
  std::exception_ptr raised_;
};

}  // namespace tracelens::python
