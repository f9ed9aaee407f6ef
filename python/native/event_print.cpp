#include "event_print.hpp"

#include <array>
#include <bit>
#include <cstddef>

#include "event_types.hpp"

namespace tracelens::python {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

constexpr int kDeepest = 32;  // arguments of ops are lists of lists of numbers

// Runs nothing of the user's, not even the __hash__ of a class made of str: what is walked here is
// borrowed, and must not change meanwhile.
// NOLINTNEXTLINE(misc-no-recursion)
std::uint64_t print_of(PyObject* value, int depth) {
  if (value == nullptr) return 1;
  if (PyLong_Check(value)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(value, &overflow);
    return mix(2, static_cast<std::uint64_t>(whole) + static_cast<std::uint64_t>(overflow));
  }
  if (PyFloat_Check(value)) return mix(3, std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(value)));
  if (PyUnicode_Check(value)) {
    const Py_hash_t hash = PyUnicode_Type.tp_hash(value);
    if (hash == -1) PyErr_Clear();
    return mix(4, static_cast<std::uint64_t>(hash));
  }
  if (depth < kDeepest && (PyList_Check(value) || PyTuple_Check(value))) {
    std::uint64_t hash = 5;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
      hash = mix(hash, print_of(PySequence_Fast_GET_ITEM(value, i), depth + 1));
    return mix(hash, static_cast<std::uint64_t>(PySequence_Fast_GET_SIZE(value)));
  }
  if (depth < kDeepest && PyDict_Check(value) && !is_lazy(value)) {
    std::uint64_t hash = 6;
    PyObject* key = nullptr;
    PyObject* member = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &member) != 0;)
      hash = mix(mix(hash, print_of(key, depth + 1)), print_of(member, depth + 1));
    return hash;
  }
  return mix(7, reinterpret_cast<std::uint64_t>(value));
}

PyObject* interned(const char* text) {
  PyObject* const made = PyUnicode_InternFromString(text);
  if (made == nullptr) PyErr_Clear();
  return made;
}

constexpr std::array kKeys = {"ph",         "cat",       "name",       "pid", "tid",    "ts",
                              "dur",        "t_end",     "id",         "UID", "parent", "children",
                              "gpu_events", "fwd_event", "bwd_events", "tree"};

}  // namespace

std::uint64_t print_of_event(PyObject* dict) {
  static const auto keys = [] {
    std::array<PyObject*, kKeys.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = interned(kKeys[i]);
    return made;
  }();
  static PyObject* const args_key = interned("args");
  std::uint64_t hash = 0;
  for (PyObject* const key : keys) hash = mix(hash, print_of(PyDict_GetItem(dict, key), 0));
  PyObject* const args = PyDict_GetItem(dict, args_key);
  const bool is_ours = args != nullptr && (Py_IS_TYPE(args, event_types().args) ||
                                           Py_IS_TYPE(args, event_types().lazy_args));
  return mix(hash, is_ours ? reinterpret_cast<std::uint64_t>(args) : print_of_args(args));
}

std::uint64_t print_of_args(PyObject* dict) {
  if (dict == nullptr || !PyDict_Check(dict)) return print_of(dict, 0);
  static PyObject* const stream_index = interned("stream_index");
  std::uint64_t hash = 8;
  PyObject* key = nullptr;
  PyObject* member = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &member) != 0;)
    if (key != stream_index) hash = mix(mix(hash, print_of(key, 0)), print_of(member, 0));
  return hash;
}

}  // namespace tracelens::python
