// errors.hpp: which exception of Python an Error of the core becomes. The core has one kind; what was
// being done when it was thrown tells the others apart.
//   return or_usage_error([&] { return make_report(trace, options); });
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <tracelens/error.hpp>
#include <vector>

namespace tracelens::python {

enum class ErrorKind { kRead, kFile, kUsage };

// An Error of a known kind, on its way to Python.
class TypedError : public std::runtime_error {
 public:
  TypedError(ErrorKind kind, const std::string& sentence, int error_number = 0,
             std::string path = {})
      : std::runtime_error{sentence},
        kind_{kind},
        error_number_{error_number},
        path_{std::move(path)} {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] int error_number() const { return error_number_; }  // 0: not known
  [[nodiscard]] const std::string& path() const { return path_; }   // empty: not known

 private:
  ErrorKind kind_;
  int error_number_;
  std::string path_;
};

// An Error that names one of the inputs is about that file: one that cannot be opened, or one that
// is of no use. Any other is about how the function was called.
[[noreturn]] void throw_typed(const Error& error, const std::vector<std::string>& inputs);

template <class Function>
auto or_usage_error(const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw TypedError{ErrorKind::kUsage, error.what()};
  }
}

template <class Function>
auto or_input_error(const std::vector<std::string>& inputs, const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw_typed(error, inputs);
  }
}

// Sets the exception of Python; for code that Python calls without pybind11 in between.
void set_python_error(std::exception_ptr thrown);

// For asking whether `output` can be written: its folder is not there, or no document has such a name.
[[noreturn]] void throw_for_output(const Error& error, const std::string& output);
template <class Function>
auto or_output_error(const std::string& output, const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw_for_output(error, output);
  }
}

// For writing `output`.
template <class Function>
auto or_file_error(const std::string& output, const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw TypedError{ErrorKind::kFile, error.what(), 0, output};
  }
}

}  // namespace tracelens::python
