// errors.cpp: what the core throws, as exceptions of Python (tracelens/_errors.py).
#include "errors.hpp"

#include <fcntl.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// 0: the file can be read.
int open_error(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

// The class is looked up when it is needed: a thrown error is rare, and a module that is being left
// behind at the interpreter's end must not be held.
void raise(const char* name, const char* sentence, int error_number = 0,
           const std::string& path = {}) {
  try {
    const py::object kind = py::module_::import("tracelens._errors").attr(name);
    const py::object error = kind(py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        sentence, static_cast<Py_ssize_t>(std::string_view{sentence}.size()), "replace")));
    if (error_number != 0) error.attr("errno") = error_number;
    if (!path.empty())
      error.attr("filename") = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
    PyErr_SetObject(kind.ptr(), error.ptr());
  } catch (py::error_already_set& error) {
    error.restore();
  }
}

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kRead:
      return "ReadError";
    case ErrorKind::kFile:
      return "FileError";
    case ErrorKind::kUsage:
      return "UsageError";
  }
  return "Error";
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TypedError& error) {
    raise(class_name(error.kind()), error.what(), error.error_number(), error.path());
  } catch (const Error& error) {
    raise("Error", error.what());
  } catch (const py::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "an argument is of another type than expected");
  } catch (const py::error_already_set&) {
    throw;  // these three are pybind11's own business
  } catch (const py::builtin_exception&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    raise("InternalError", error.what());
  }
}

}  // namespace

void set_python_error(std::exception_ptr thrown) {
  try {
    translate(std::move(thrown));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void throw_typed(const Error& error, const std::vector<std::string>& inputs) {
  const std::string_view sentence = error.what();
  for (const std::string& input : inputs) {
    if (!sentence.starts_with(input + ":")) continue;
    if (const int number = open_error(input); number != 0)
      throw TypedError{ErrorKind::kFile, error.what(), number, input};
    throw TypedError{ErrorKind::kRead, error.what(), 0, input};
  }
  throw TypedError{ErrorKind::kUsage, error.what()};
}

void throw_for_output(const Error& error, const std::string& output) {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::path{output}.parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder, unknown))
    throw TypedError{ErrorKind::kUsage, error.what()};
  throw TypedError{ErrorKind::kFile, error.what(), ENOENT, output};
}

void add_errors(py::module_&) { py::register_exception_translator(&translate); }

}  // namespace tracelens::python
