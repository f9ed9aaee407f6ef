// models.hpp: models of ops that are functions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <tracelens/model.hpp>
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

}  // namespace tracelens::python
