// view_tree.cpp: TreeView, Node and Walk, see view.hpp.
#include <pybind11/pybind11.h>

#include <new>
#include <string>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/tree_text.hpp>

#include "arrays.hpp"
#include "parts.hpp"
#include "python_values.hpp"
#include "view.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

struct WalkObject {
  PyObject ob_base;
  TreeView* view;
  std::uint32_t next, end;
};

NodeId id_of(PyObject* self) { return {self_of<NodeObject>(self)->row}; }
TreeView* view_of(PyObject* self) { return self_of<NodeObject>(self)->view; }
const Tree& tree_of(PyObject* self) { return *view_of(self)->tree; }
const Trace& trace_of(PyObject* self) { return view_of(self)->events->trace(); }
EventId event_of(PyObject* self) { return tree_of(self).event(id_of(self)); }

PyObject* new_walk(TreeView* view, std::uint32_t from, std::uint32_t to) {
  WalkObject* const walk = PyObject_New(WalkObject, view_types().walk);
  if (walk == nullptr) return nullptr;
  walk->view = view;
  walk->next = from;
  walk->end = to;
  Py_INCREF(view);
  return reinterpret_cast<PyObject*>(walk);
}

// A list of what `make` gives for each item.
template <class Items, class Make>
PyObject* list_of(const Items& items, const Make& make) {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(items.size()));
  if (list == nullptr) return nullptr;
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyObject* const item = make(items[i]);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

// --- TreeView ---
void drop_view(PyObject* self) {
  auto* const view = self_of<TreeView>(self);
  PyTypeObject* const type = Py_TYPE(self);
  view->tree.~shared_ptr();
  Py_DECREF(view->events);
  type->tp_free(self);
  Py_DECREF(type);
}

Py_ssize_t view_size(PyObject* self) {
  return static_cast<Py_ssize_t>(self_of<TreeView>(self)->tree->size());
}

PyObject* view_node(PyObject* self, PyObject* uid) {  // by event; None when it is not in the tree
  auto* const view = self_of<TreeView>(self);
  const Py_ssize_t row = PyNumber_AsSsize_t(uid, PyExc_IndexError);
  if (row == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (row < 0 || static_cast<std::size_t>(row) >= view->events->trace().size()) {
    PyErr_SetString(PyExc_IndexError, "no such event");
    return nullptr;
  }
  return new_node(view, view->tree->node(EventId{static_cast<std::uint32_t>(row)}));
}

PyObject* view_roots(PyObject* self, PyObject*) {
  auto* const view = self_of<TreeView>(self);
  return list_of(view->tree->roots(), [&](NodeId node) { return new_node(view, node); });
}

PyObject* view_walk(PyObject* self) {
  auto* const view = self_of<TreeView>(self);
  return new_walk(view, 0, static_cast<std::uint32_t>(view->tree->size()));
}

PyObject* view_column(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    auto* const view = self_of<TreeView>(self);
    const Tree& tree = *view->tree;
    const auto owner = py::reinterpret_borrow<py::object>(self);
    const std::string which = text_of(name);
    const auto per_node = [&](auto figure) {
      std::vector<std::int64_t> figures(tree.size());
      for (std::uint32_t i = 0; i < tree.size(); ++i)
        figures[i] = static_cast<std::int64_t>(figure(NodeId{i}));
      return array_of(std::move(figures)).release().ptr();
    };
    if (which == "event") return array_over_as<std::uint32_t>(tree.events(), owner).release().ptr();
    if (which == "parent")
      return array_over_as<std::uint32_t>(tree.parents(), owner).release().ptr();
    if (which == "end") return array_over(tree.ends(), owner).release().ptr();
    if (which == "gpu_count") return per_node([&](NodeId node) { return tree.gpu_count(node); });
    if (which == "gpu_sum_ns") return per_node([&](NodeId node) { return tree.gpu_sum_ns(node); });
    throw py::key_error{which};
  });
}

PyObject* view_text(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"layers",  "depth", "min_us", "without_gpu_work",
                                "summary", "width", nullptr};
  PyObject* layers = nullptr;
  Py_ssize_t depth = -1, width = 0;
  double min_us = 0;
  int without_gpu_work = 0, summary = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O|ndppn", const_cast<char**>(names),
                                  &layers, &depth, &min_us, &without_gpu_work, &summary,
                                  &width) == 0)
    return nullptr;
  return guarded([&]() -> PyObject* {
    auto* const view = self_of<TreeView>(self);
    const auto shown = [&](const char* layer) {
      return py::reinterpret_borrow<py::object>(layers).contains(layer);
    };
    TreeTextOptions options{.min_us = min_us, .without_gpu_work = without_gpu_work != 0};
    options.layers = {.modules = shown("modules"),
                      .python = shown("python"),
                      .ops = shown("ops"),
                      .calls = shown("calls"),
                      .gpu = shown("gpu")};
    if (depth >= 0) options.depth = static_cast<std::size_t>(depth);
    if (width > 0) options.width = static_cast<std::size_t>(width);
    std::string text;
    {
      const py::gil_scoped_release unlocked;
      const TextSink sink = [&](std::string_view piece) { text += piece; };
      if (summary != 0)
        write_tree_summary(view->events->trace(), *view->tree, options, sink);
      else
        write_tree_text(view->events->trace(), *view->tree, options, sink);
    }
    return python_text(text).release().ptr();
  });
}

PyMethodDef view_methods[] = {
    {"node", &view_node, METH_O, nullptr},
    {"roots", &view_roots, METH_NOARGS, nullptr},
    {"column", &view_column, METH_O, nullptr},
    {"text", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&view_text)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot view_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&drop_view)},
                            {Py_tp_methods, view_methods},
                            {Py_tp_iter, reinterpret_cast<void*>(&view_walk)},
                            {Py_sq_length, reinterpret_cast<void*>(&view_size)},
                            {0, nullptr}};
PyType_Spec view_spec{"tracelens._native.TreeView", sizeof(TreeView), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, view_slots};

// --- Walk ---
void drop_walk(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(self_of<WalkObject>(self)->view);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* walk_next(PyObject* self) {
  auto* const walk = self_of<WalkObject>(self);
  return walk->next < walk->end ? new_node(walk->view, NodeId{walk->next++}) : nullptr;
}

PyType_Slot walk_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&drop_walk)},
                            {Py_tp_iter, reinterpret_cast<void*>(&PyObject_SelfIter)},
                            {Py_tp_iternext, reinterpret_cast<void*>(&walk_next)},
                            {0, nullptr}};
PyType_Spec walk_spec{"tracelens._native.Walk", sizeof(WalkObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, walk_slots};

// --- Node ---
void drop_node(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(view_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* node_uid(PyObject* self, void*) { return PyLong_FromUnsignedLong(event_of(self).row); }
PyObject* node_index(PyObject* self, void*) { return PyLong_FromUnsignedLong(id_of(self).row); }
PyObject* node_event(PyObject* self, void*) {
  return new_event(view_of(self)->events, event_of(self));
}
PyObject* node_name(PyObject* self, void*) {
  return shared_text(view_of(self)->events, trace_of(self).names()[event_of(self).row]);
}
PyObject* node_category(PyObject* self, void*) {
  return guarded(
      [&] { return python_text(trace_of(self).category_text(event_of(self))).release().ptr(); });
}
PyObject* node_parent(PyObject* self, void*) {
  return new_node(view_of(self), tree_of(self).parent(id_of(self)));
}
PyObject* node_children(PyObject* self, void*) {
  const Tree& tree = tree_of(self);
  return guarded([&] {
    std::vector<NodeId> children;
    const NodeId end = tree.end(id_of(self));
    for (NodeId child{id_of(self).row + 1}; child < end; child = tree.end(child))
      children.push_back(child);
    return list_of(children, [&](NodeId child) { return new_node(view_of(self), child); });
  });
}
PyObject* node_gpu_events(PyObject* self, void*) {
  return list_of(tree_of(self).gpu_events(id_of(self)),
                 [&](EventId event) { return new_event(view_of(self)->events, event); });
}
PyObject* node_gpu_count(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(tree_of(self).gpu_count(id_of(self)));
}
PyObject* node_gpu_time(PyObject* self, void*) {
  return PyLong_FromLongLong(tree_of(self).gpu_sum_ns(id_of(self)));
}
PyObject* node_busy(PyObject* self, void*) {
  return guarded([&] {
    return PyLong_FromLongLong(busy_ns(trace_of(self), tree_of(self).gpu_events(id_of(self))));
  });
}
PyObject* node_of(PyObject* self, EventId event) {
  return new_node(view_of(self), event.valid() ? tree_of(self).node(event) : NodeId{});
}
PyObject* node_launch(PyObject* self, void*) {
  if (!is_gpu(trace_of(self).category(event_of(self)))) return Py_NewRef(Py_None);
  return node_of(self, tree_of(self).launch_of(event_of(self)));
}
PyObject* node_op(PyObject* self, void*) {
  return new_node(view_of(self), tree_of(self).nearest_op(id_of(self)));
}
PyObject* node_module(PyObject* self, void*) {
  return new_node(view_of(self), tree_of(self).nearest_module(id_of(self)));
}
PyObject* node_forward(PyObject* self, void*) {
  return node_of(self, tree_of(self).forward_of(event_of(self)));
}
PyObject* node_backward(PyObject* self, void*) {
  return list_of(tree_of(self).backward_of(event_of(self)),
                 [&](EventId event) { return node_of(self, event); });
}
PyObject* node_is_op(PyObject* self, void*) {
  return PyBool_FromLong(tree_of(self).is_op(id_of(self)));
}
PyObject* node_is_module(PyObject* self, void*) {
  return PyBool_FromLong(tree_of(self).is_module(id_of(self)));
}
PyObject* node_ancestors(PyObject* self, PyObject*) {
  return guarded([&] {
    std::vector<NodeId> above;
    const Tree& tree = tree_of(self);
    for (NodeId at = tree.parent(id_of(self)); at.valid(); at = tree.parent(at))
      above.push_back(at);
    return list_of(above, [&](NodeId node) { return new_node(view_of(self), node); });
  });
}
PyObject* node_walk(PyObject* self, PyObject*) {
  return new_walk(view_of(self), id_of(self).row, tree_of(self).end(id_of(self)).row);
}
PyObject* node_path(PyObject* self, PyObject*) {
  return guarded([&] {
    std::string text;
    write_path_text(trace_of(self), tree_of(self), event_of(self),
                    [&](std::string_view piece) { text += piece; });
    return python_text(text).release().ptr();
  });
}
PyObject* node_repr(PyObject* self) {
  return guarded([&] {
    return py::str("Node({}, {!r})")
        .format(event_of(self).row, python_text(trace_of(self).name(event_of(self))))
        .release()
        .ptr();
  });
}
Py_hash_t node_hash(PyObject* self) { return static_cast<Py_hash_t>(id_of(self).row); }

PyObject* node_compare(PyObject* self, PyObject* other, int how) {
  if (Py_TYPE(other) != view_types().node) Py_RETURN_NOTIMPLEMENTED;
  if (&tree_of(self) != &tree_of(other)) {
    if (how == Py_EQ || how == Py_NE) return PyBool_FromLong(how == Py_NE);
    Py_RETURN_NOTIMPLEMENTED;
  }
  Py_RETURN_RICHCOMPARE(id_of(self).row, id_of(other).row, how);
}

// By trace, options of the tree, and number.
PyObject* node_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const TreeView* const view = view_of(self);
    return py::make_tuple(
               py::module_::import("tracelens._trace").attr("_restored_node"),
               py::make_tuple(py::handle{view->events->origin}, view->options.python_frames,
                              view->options.link_by_correlation, event_of(self).row))
        .release()
        .ptr();
  });
}

PyGetSetDef node_attributes[] = {
    {"uid", &node_uid, nullptr, "the row of its event", nullptr},
    {"index", &node_index, nullptr, "its place in the arrays of the tree", nullptr},
    {"event", &node_event, nullptr, "what was recorded", nullptr},
    {"name", &node_name, nullptr, "the name of its event", nullptr},
    {"category", &node_category, nullptr, "\"cpu_op\", \"kernel\", ...", nullptr},
    {"parent", &node_parent, nullptr, "its caller; None at a root", nullptr},
    {"children", &node_children, nullptr, "what it calls, by time", nullptr},
    {"gpu_events", &node_gpu_events, nullptr, "the GPU events launched below it", nullptr},
    {"gpu_count", &node_gpu_count, nullptr, "how many those are", nullptr},
    {"gpu_time_ns", &node_gpu_time, nullptr, "the sum of their lengths", nullptr},
    {"busy_ns", &node_busy, nullptr, "how long at least one of them ran", nullptr},
    {"launch", &node_launch, nullptr, "of a GPU event: the call that launched it", nullptr},
    {"op", &node_op, nullptr, "the nearest op above; None: there is none", nullptr},
    {"module", &node_module, nullptr, "the nearest nn.Module above; None: there is none", nullptr},
    {"forward", &node_forward, nullptr, "of a backward op: its forward op, or None", nullptr},
    {"backward", &node_backward, nullptr, "of a forward op: its backward ops", nullptr},
    {"is_op", &node_is_op, nullptr, "whether it is an op of the framework", nullptr},
    {"is_module", &node_is_module, nullptr, "whether it is a call of an nn.Module", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef node_methods[] = {
    {"ancestors", &node_ancestors, METH_NOARGS, "Its callers, the nearest first."},
    {"walk", &node_walk, METH_NOARGS, "Itself and all below it, callers before callees."},
    {"path", &node_path, METH_NOARGS, "The way up to its root as text, a line for each."},
    {"__reduce__", &node_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot node_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&drop_node)},
                            {Py_tp_getset, node_attributes},
                            {Py_tp_methods, node_methods},
                            {Py_tp_repr, reinterpret_cast<void*>(&node_repr)},
                            {Py_tp_hash, reinterpret_cast<void*>(&node_hash)},
                            {Py_tp_richcompare, reinterpret_cast<void*>(&node_compare)},
                            {Py_tp_doc, const_cast<char*>("A call in the tree.")},
                            {0, nullptr}};
PyType_Spec node_spec{"tracelens.Node", sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};

}  // namespace

PyObject* new_node(TreeView* view, NodeId node) {
  if (!node.valid()) return Py_NewRef(Py_None);
  NodeObject* const made = PyObject_New(NodeObject, view_types().node);
  if (made == nullptr) return nullptr;
  made->view = view;
  made->row = node.row;
  Py_INCREF(view);
  return reinterpret_cast<PyObject*>(made);
}

PyObject* new_tree_view(TraceView* view, const TreeOptions& options) {
  return guarded([&]() -> PyObject* {
    std::shared_ptr<const Tree> tree;
    {
      const std::shared_ptr<TraceHandle> handle = view->handle;
      const py::gil_scoped_release unlocked;
      tree = handle->tree(options);
    }
    PyTypeObject* const type = view_types().tree_view;
    auto* const made = self_of<TreeView>(type->tp_alloc(type, 0));
    if (made == nullptr) return nullptr;
    new (&made->tree) std::shared_ptr<const Tree>{std::move(tree)};
    made->events = view;
    made->options = options;
    Py_INCREF(view);
    return reinterpret_cast<PyObject*>(made);
  });
}

void add_tree_view(py::module_& module) {
  view_types().tree_view = new_type(view_spec);
  view_types().walk = new_type(walk_spec);
  view_types().node = new_type(node_spec);
  module.attr("TreeView") = py::handle{reinterpret_cast<PyObject*>(view_types().tree_view)};
  module.attr("Node") = py::handle{reinterpret_cast<PyObject*>(view_types().node)};
}

}  // namespace tracelens::python
