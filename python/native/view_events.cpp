// view_events.cpp: TraceView and Event, see view.hpp.
#include <pybind11/pybind11.h>

#include <new>
#include <string>
#include <tracelens/trace.hpp>

#include "parts.hpp"
#include "python_values.hpp"
#include "view.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

PyObject* number_or_none(std::int64_t number) {
  return number == kAbsent ? Py_NewRef(Py_None) : PyLong_FromLongLong(number);
}

EventId id_of(PyObject* self) { return {self_of<EventView>(self)->row}; }
const Trace& trace_of(PyObject* self) { return self_of<EventView>(self)->view->trace(); }

// --- TraceView ---
PyObject* make_view(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *trace = nullptr, *origin = nullptr;
  if (PyArg_ParseTuple(arguments, "OO", &trace, &origin) == 0) return nullptr;
  return guarded([&]() -> PyObject* {
    auto handle = py::handle{trace}.cast<std::shared_ptr<TraceHandle>>();
    auto* const view = self_of<TraceView>(type->tp_alloc(type, 0));
    if (view == nullptr) return nullptr;
    new (&view->handle) std::shared_ptr<TraceHandle>{std::move(handle)};
    new (&view->texts) std::vector<PyObject*>{};
    view->origin = Py_NewRef(origin);
    return reinterpret_cast<PyObject*>(view);
  });
}

void drop_view(PyObject* self) {
  auto* const view = self_of<TraceView>(self);
  PyTypeObject* const type = Py_TYPE(self);
  for (PyObject* const text : view->texts) Py_XDECREF(text);
  view->texts.~vector();
  Py_XDECREF(view->origin);
  view->handle.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* view_event(PyObject* self, PyObject* row) {
  auto* const view = self_of<TraceView>(self);
  const Py_ssize_t at = PyNumber_AsSsize_t(row, PyExc_IndexError);
  if (at == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (at < 0 || static_cast<std::size_t>(at) >= view->trace().size()) {
    PyErr_SetString(PyExc_IndexError, "no such event");
    return nullptr;
  }
  return new_event(view, EventId{static_cast<std::uint32_t>(at)});
}

PyObject* view_tree(PyObject* self, PyObject* arguments) {
  int python_frames = 0, link_by_correlation = 0;
  if (PyArg_ParseTuple(arguments, "pp", &python_frames, &link_by_correlation) == 0) return nullptr;
  return new_tree_view(self_of<TraceView>(self), {.python_frames = python_frames != 0,
                                                  .link_by_correlation = link_by_correlation != 0});
}

PyMethodDef view_methods[] = {{"event", &view_event, METH_O, nullptr},
                              {"tree", &view_tree, METH_VARARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot view_slots[] = {{Py_tp_new, reinterpret_cast<void*>(&make_view)},
                            {Py_tp_dealloc, reinterpret_cast<void*>(&drop_view)},
                            {Py_tp_methods, view_methods},
                            {0, nullptr}};
PyType_Spec view_spec{"tracelens._native.TraceView", sizeof(TraceView), 0, Py_TPFLAGS_DEFAULT,
                      view_slots};

// --- Event ---
void drop_event(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(self_of<EventView>(self)->view);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* event_uid(PyObject* self, void*) { return PyLong_FromUnsignedLong(id_of(self).row); }
PyObject* event_name(PyObject* self, void*) {
  return shared_text(self_of<EventView>(self)->view, trace_of(self).names()[id_of(self).row]);
}
PyObject* event_category(PyObject* self, void*) {
  return guarded(
      [&] { return python_text(trace_of(self).category_text(id_of(self))).release().ptr(); });
}
PyObject* event_ts(PyObject* self, void*) {
  return number_or_none(trace_of(self).ts_ns()[id_of(self).row]);
}
PyObject* event_dur(PyObject* self, void*) {
  return number_or_none(trace_of(self).dur_ns()[id_of(self).row]);
}
PyObject* event_end(PyObject* self, void*) {
  const Trace& trace = trace_of(self);
  const std::uint32_t row = id_of(self).row;
  if (trace.ts_ns()[row] == kAbsent || trace.dur_ns()[row] == kAbsent) return Py_NewRef(Py_None);
  return PyLong_FromLongLong(trace.end_ns({row}));
}
PyObject* event_track(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const Trace& trace = trace_of(self);
    if (!trace.tracks()[id_of(self).row].valid()) return Py_NewRef(Py_None);
    const Track& track = trace.track(id_of(self));
    return py::make_tuple(python_value(track.pid), python_value(track.tid)).release().ptr();
  });
}
PyObject* event_arguments(PyObject* self, void*) {
  return guarded([&] { return arguments_of(trace_of(self), id_of(self)).release().ptr(); });
}
PyObject* event_node(PyObject* self, void*) {
  TraceView* const view = self_of<EventView>(self)->view;
  PyObject* const tree = new_tree_view(view, {});
  if (tree == nullptr) return nullptr;
  auto* const tree_view = self_of<TreeView>(tree);
  PyObject* const node = new_node(tree_view, tree_view->tree->node(id_of(self)));
  Py_DECREF(tree);
  return node;
}

PyObject* event_repr(PyObject* self) {
  return guarded([&] {
    const Trace& trace = trace_of(self);
    return py::str("Event({}, {!r}, {!r})")
        .format(id_of(self).row, python_text(trace.name(id_of(self))),
                python_text(trace.category_text(id_of(self))))
        .release()
        .ptr();
  });
}

Py_hash_t event_hash(PyObject* self) { return static_cast<Py_hash_t>(id_of(self).row); }

PyObject* event_compare(PyObject* self, PyObject* other, int how) {
  if (Py_TYPE(other) != view_types().event) Py_RETURN_NOTIMPLEMENTED;
  if (&trace_of(self) != &trace_of(other)) {
    if (how == Py_EQ || how == Py_NE) return PyBool_FromLong(how == Py_NE);
    Py_RETURN_NOTIMPLEMENTED;
  }
  Py_RETURN_RICHCOMPARE(id_of(self).row, id_of(other).row, how);
}

// By trace and number.
PyObject* event_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    return py::make_tuple(
               py::module_::import("tracelens._trace").attr("_restored_event"),
               py::make_tuple(py::handle{self_of<EventView>(self)->view->origin}, id_of(self).row))
        .release()
        .ptr();
  });
}

PyGetSetDef event_attributes[] = {
    {"uid", &event_uid, nullptr, "its row: the place in the file's list of events", nullptr},
    {"name", &event_name, nullptr, "what the profiler calls it", nullptr},
    {"category", &event_category, nullptr, "\"cpu_op\", \"kernel\", ...", nullptr},
    {"ts_ns", &event_ts, nullptr, "its start; None: it has none", nullptr},
    {"dur_ns", &event_dur, nullptr, "its length; None: it has none", nullptr},
    {"end_ns", &event_end, nullptr, "its end; None: it has none", nullptr},
    {"track", &event_track, nullptr, "(pid, tid); None: it has none", nullptr},
    {"args", &event_arguments, nullptr, "a new dict of what was recorded with it", nullptr},
    {"node", &event_node, nullptr, "its place in the tree; None: it has none", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef event_methods[] = {{"__reduce__", &event_reduce, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot event_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&drop_event)},
                             {Py_tp_getset, event_attributes},
                             {Py_tp_methods, event_methods},
                             {Py_tp_repr, reinterpret_cast<void*>(&event_repr)},
                             {Py_tp_hash, reinterpret_cast<void*>(&event_hash)},
                             {Py_tp_richcompare, reinterpret_cast<void*>(&event_compare)},
                             {Py_tp_doc, const_cast<char*>("One event of a trace.")},
                             {0, nullptr}};
PyType_Spec event_spec{"tracelens.Event", sizeof(EventView), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, event_slots};

}  // namespace

ViewTypes& view_types() {
  static ViewTypes types;
  return types;
}

PyObject* new_event(TraceView* view, EventId event) {
  EventView* const made = PyObject_New(EventView, view_types().event);
  if (made == nullptr) return nullptr;
  made->view = view;
  made->row = event.row;
  Py_INCREF(view);
  return reinterpret_cast<PyObject*>(made);
}

PyObject* shared_text(TraceView* view, StringId id) {
  return guarded([&]() -> PyObject* {
    if (!id.valid()) return PyUnicode_New(0, 0);
    if (view->texts.empty()) view->texts.resize(view->trace().string_count());
    PyObject*& text = view->texts[id.row];
    if (text == nullptr) text = python_text(view->trace().text(id)).release().ptr();
    return Py_NewRef(text);
  });
}

py::dict arguments_of(const Trace& trace, EventId event) {
  py::dict all;
  if (const SignatureId id = trace.signatures()[event.row]; id.valid()) {
    const Signature& signature = trace.signature(id);
    const std::pair<const char*, const Value*> parts[] = {{"Input Dims", &signature.dims},
                                                          {"Input type", &signature.types},
                                                          {"Input Strides", &signature.strides},
                                                          {"Concrete Inputs", &signature.concrete}};
    for (const auto& [key, value] : parts)
      if (!value->is_null()) all[key] = python_value(*value);
  }
  if (trace.correlations()[event.row] != kAbsent)
    all["correlation"] = trace.correlations()[event.row];
  const std::pair<const char*, const SparseColumn<std::int64_t>*> numbers[] = {
      {"External id", &trace.external_ids()},
      {"Sequence number", &trace.sequence_numbers()},
      {"Fwd thread id", &trace.forward_threads()},
      {"stream", &trace.streams()},
      {"device", &trace.devices()}};
  for (const auto& [key, column] : numbers)
    if (const auto number = column->at(event)) all[key] = *number;
  if (const auto stack = trace.call_stacks().at(event))
    all["Call stack"] = python_text(trace.text(*stack));
  const Value details = trace.details(event);
  for (std::size_t i = 0; i < details.keys().size(); ++i)
    all[python_text(details.keys()[i])] = python_value(details.items()[i]);
  return all;
}

void add_event_view(py::module_& module) {
  view_types().trace_view = new_type(view_spec);
  view_types().event = new_type(event_spec);
  module.attr("TraceView") = py::handle{reinterpret_cast<PyObject*>(view_types().trace_view)};
  module.attr("TraceEvent") = py::handle{reinterpret_cast<PyObject*>(view_types().event)};
}

}  // namespace tracelens::python
