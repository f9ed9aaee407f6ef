// view.hpp: events and nodes as objects of Python. They are made by the thousand, so they are plain
// types of CPython and not bound classes: a node costs about 0.1 us instead of 1.
//   TraceView <- Event(row)          one object per trace, which keeps it and its texts alive
//      ^------- TreeView <- Node(row), Walk
// Nothing here changes once made, and nothing refers back: a view goes with its last event or node.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "handle.hpp"

namespace tracelens::python {

struct TraceView {
  PyObject ob_base;
  std::shared_ptr<TraceHandle> handle;
  std::vector<PyObject*> texts;  // by StringId, made when first asked for
  PyObject* origin;              // how a pickle finds the trace again; see _trace.py

  [[nodiscard]] const Trace& trace() const { return handle->trace(); }
};

struct TreeView {
  PyObject ob_base;
  TraceView* events;
  std::shared_ptr<const Tree> tree;
  TreeOptions options;
};

struct EventView {
  PyObject ob_base;
  TraceView* view;
  std::uint32_t row;
};

struct NodeObject {
  PyObject ob_base;
  TreeView* view;
  std::uint32_t row;
};

// Each returns a new reference, or null with an exception set.
[[nodiscard]] PyObject* new_event(TraceView* view, EventId event);
[[nodiscard]] PyObject* new_node(TreeView* view, NodeId node);  // None when it is not valid
[[nodiscard]] PyObject* new_tree_view(TraceView* view, const TreeOptions& options);
[[nodiscard]] PyObject* shared_text(TraceView* view, StringId id);  // one object per text

// What the profiler wrote beside name and times, as far as reports need it.
[[nodiscard]] pybind11::dict arguments_of(const Trace& trace, EventId event);

// The types; null before add_events_view() and add_tree_view().
struct ViewTypes {
  PyTypeObject *trace_view = nullptr, *tree_view = nullptr, *event = nullptr, *node = nullptr,
               *walk = nullptr;
};
[[nodiscard]] ViewTypes& view_types();

// Runs what may throw in a slot of a type: the exception becomes one of Python.
template <class Function>
PyObject* guarded(const Function& function) {
  try {
    return function();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

[[nodiscard]] inline PyTypeObject* new_type(PyType_Spec& spec) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw pybind11::error_already_set{};
  return reinterpret_cast<PyTypeObject*>(type);
}

template <class Object>
[[nodiscard]] Object* self_of(PyObject* object) {
  return reinterpret_cast<Object*>(object);
}

}  // namespace tracelens::python
