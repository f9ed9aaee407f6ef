#include "event_types.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "event_source.hpp"

namespace tracelens::python {
namespace {

EventTypes types;

// --- filled: a dict, except that it is pickled and copied as a plain one ---

PyObject* reduce(PyObject* self, PyObject*) {
  if (!fill(self)) return nullptr;
  PyObject* const plain = PyDict_Copy(self);
  if (plain == nullptr) return nullptr;
  return Py_BuildValue("(O(N))", &PyDict_Type, plain);
}

void release(PyObject* self) {
  PyObject_GC_UnTrack(self);
  // Events in events, however deep, must not use up the stack: the dict below does not see to it for
  // types other than its own.
  Py_TRASHCAN_BEGIN(self, release);
  if (EventSource* const source = to_event(self)->source; source != nullptr) source->release();
  PyTypeObject* const type = Py_TYPE(self);
  PyDict_Type.tp_dealloc(self);
  Py_DECREF(type);
  Py_TRASHCAN_END;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return PyDict_Type.tp_traverse(self, visit, arg);
}

int clear(PyObject* self) { return PyDict_Type.tp_clear(self); }

// --- lazy: fill, then what a dict does ---

PyObject* call_after_fill(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                          PyObject* keywords) {
  if (!fill(self)) return nullptr;
  PyObject* const method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyDict_Type), name);
  if (method == nullptr) return nullptr;
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  std::array<PyObject*, 16> few{};
  const auto all = static_cast<std::size_t>(count + named + 1);
  std::vector<PyObject*> many;
  PyObject** with_self = few.data();
  if (all > few.size()) {
    many.resize(all);
    with_self = many.data();
  }
  with_self[0] = self;
  std::copy_n(args, static_cast<std::size_t>(count + named), with_self + 1);
  PyObject* const result =
      PyObject_Vectorcall(method, with_self, static_cast<std::size_t>(count + 1), keywords);
  Py_DECREF(method);
  return result;
}

enum Method : std::uint8_t {
  kKeys,
  kItems,
  kValues,
  kSetdefault,
  kPop,
  kPopitem,
  kUpdate,
  kClear,
  kCopy,
  kReversed,
  kSizeof,
};
constexpr std::array<const char*, 11> kMethodNames = {
    "keys",   "items", "values", "setdefault",   "pop",       "popitem",
    "update", "clear", "copy",   "__reversed__", "__sizeof__"};

template <Method kMethod>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return call_after_fill(kMethodNames[kMethod], self, args, count, keywords);
}

template <Method kMethod>
constexpr PyMethodDef method_entry() {
  return {kMethodNames[kMethod],
          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&method<kMethod>)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// The value without filling, where that is possible.
EventSource::Answer look_up(PyObject* self, PyObject* key, PyObject*& value) {
  if (!Py_IS_TYPE(self, types.lazy_event)) return EventSource::Answer::kUnknown;
  return to_event(self)->source->look_up(*to_event(self), key, value);
}

PyObject* subscript(PyObject* self, PyObject* key) {
  PyObject* value = nullptr;
  if (look_up(self, key, value) == EventSource::Answer::kValue) return value;
  if (PyErr_Occurred() != nullptr || !fill(self)) return nullptr;
  return PyDict_Type.tp_as_mapping->mp_subscript(self, key);
}

PyObject* get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* value = nullptr;
  if (keywords == nullptr && (count == 1 || count == 2)) {
    const EventSource::Answer answer = look_up(self, args[0], value);
    if (answer == EventSource::Answer::kValue) return value;
    if (PyErr_Occurred() != nullptr) return nullptr;
    if (answer == EventSource::Answer::kAbsent) {
      PyObject* const other = count == 2 ? args[1] : Py_None;
      Py_INCREF(other);
      return other;
    }
  }
  return call_after_fill("get", self, args, count, keywords);
}

int contains(PyObject* self, PyObject* key) {
  PyObject* value = nullptr;
  const EventSource::Answer answer = look_up(self, key, value);
  Py_XDECREF(value);
  if (PyErr_Occurred() != nullptr) return -1;
  if (answer != EventSource::Answer::kUnknown) return answer == EventSource::Answer::kValue ? 1 : 0;
  return fill(self) ? PyDict_Contains(self, key) : -1;
}

int assign(PyObject* self, PyObject* key, PyObject* value) {
  return fill(self) ? PyDict_Type.tp_as_mapping->mp_ass_subscript(self, key, value) : -1;
}

Py_ssize_t length(PyObject* self) { return fill(self) ? PyDict_Size(self) : -1; }

PyObject* iterate(PyObject* self) { return fill(self) ? PyDict_Type.tp_iter(self) : nullptr; }

PyObject* compare(PyObject* self, PyObject* other, int op) {
  return fill(self) && fill(other) ? PyDict_Type.tp_richcompare(self, other, op) : nullptr;
}

PyObject* represent(PyObject* self) { return fill(self) ? PyDict_Type.tp_repr(self) : nullptr; }

PyObject* join(PyObject* self, PyObject* other) {
  return fill(self) && fill(other) ? PyDict_Type.tp_as_number->nb_or(self, other) : nullptr;
}

PyObject* join_in_place(PyObject* self, PyObject* other) {
  return fill(self) && fill(other) ? PyDict_Type.tp_as_number->nb_inplace_or(self, other) : nullptr;
}

PyMethodDef filled_methods[] = {
    {"__reduce_ex__", reduce, METH_O, "A plain dict: who unpickles it needs no package."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef lazy_methods[] = {
    method_entry<kKeys>(),
    method_entry<kItems>(),
    method_entry<kValues>(),
    method_entry<kSetdefault>(),
    method_entry<kPop>(),
    method_entry<kPopitem>(),
    method_entry<kUpdate>(),
    method_entry<kClear>(),
    method_entry<kCopy>(),
    method_entry<kReversed>(),
    method_entry<kSizeof>(),
    {"get", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&get)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* make_type(const char* name, PyObject* base, bool lazy) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, slot(release)},
                                    {Py_tp_traverse, slot(traverse)},
                                    {Py_tp_clear, slot(clear)},
                                    {Py_tp_methods, lazy ? lazy_methods : filled_methods}};
  if (lazy)
    slots.insert(slots.end(), {{Py_mp_subscript, slot(subscript)},
                               {Py_mp_ass_subscript, slot(assign)},
                               {Py_mp_length, slot(length)},
                               {Py_sq_contains, slot(contains)},
                               {Py_tp_iter, slot(iterate)},
                               {Py_tp_richcompare, slot(compare)},
                               {Py_tp_repr, slot(represent)},
                               {Py_nb_or, slot(join)},
                               {Py_nb_inplace_or, slot(join_in_place)}});
  slots.push_back({0, nullptr});
  // Immutable: whether an event is filled is not for others to say by assigning to __class__.
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
                         (lazy ? Py_TPFLAGS_DISALLOW_INSTANTIATION : Py_TPFLAGS_BASETYPE);
  PyType_Spec spec{name, sizeof(EventObject), 0, flags, slots.data()};
  PyObject* const bases = PyTuple_Pack(1, base);
  if (bases == nullptr) throw pybind11::error_already_set{};
  PyObject* const made = PyType_FromSpecWithBases(&spec, bases);
  Py_DECREF(bases);
  if (made == nullptr) throw pybind11::error_already_set{};
  return reinterpret_cast<PyTypeObject*>(made);
}

// pprint lays out whatever has the __repr__ of dicts. repr() goes by the slot, which stays ours.
void print_like_dicts(PyTypeObject* lazy) {
  PyObject* const own = PyDict_GetItemString(PyDict_Type.tp_dict, "__repr__");
  if (own == nullptr || PyDict_SetItemString(lazy->tp_dict, "__repr__", own) != 0)
    throw pybind11::error_already_set{};
  PyType_Modified(lazy);
}

PyObject* new_lazy(PyTypeObject* type, EventSource& source, std::uint32_t row, PyObject* key,
                   PyObject* value) {
  static PyObject* const no_arguments = PyTuple_New(0);
  PyObject* const made = PyDict_Type.tp_new(type, no_arguments, nullptr);
  if (made == nullptr) return nullptr;
  EventObject* const event = to_event(made);
  source.retain();
  event->source = &source;
  event->text = nullptr;
  event->print = 0;
  event->size = 0;
  event->row = row;
  if (PyDict_SetItem(made, key, value) != 0) {
    Py_DECREF(made);
    return nullptr;
  }
  // It holds nothing that could hold it: the collector need not look at some hundred thousand of them.
  PyObject_GC_UnTrack(made);
  return made;
}

void become(PyObject* self, PyTypeObject* type) {
  PyTypeObject* const old = Py_TYPE(self);
  Py_INCREF(type);
  Py_SET_TYPE(self, type);
  Py_DECREF(old);
  if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
}

}  // namespace

const EventTypes& event_types() { return types; }

void add_event_types(PyObject* module) {
  auto* const dict = reinterpret_cast<PyObject*>(&PyDict_Type);
  types.event = make_type("tracelens._native.Event", dict, false);
  types.lazy_event =
      make_type("tracelens._native.LazyEvent", reinterpret_cast<PyObject*>(types.event), true);
  types.args = make_type("tracelens._native.Args", dict, false);
  types.lazy_args =
      make_type("tracelens._native.LazyArgs", reinterpret_cast<PyObject*>(types.args), true);
  print_like_dicts(types.lazy_event);
  print_like_dicts(types.lazy_args);
  for (PyTypeObject* const type : {types.event, types.lazy_event, types.args, types.lazy_args})
    if (PyModule_AddType(module, type) != 0) throw pybind11::error_already_set{};
}

PyObject* new_lazy_event(EventSource& source, std::uint32_t row) {
  PyObject* const uid = PyLong_FromUnsignedLong(row);
  if (uid == nullptr) return nullptr;
  PyObject* const made = new_lazy(types.lazy_event, source, row, source.uid_key(), uid);
  Py_DECREF(uid);
  return made;
}

PyObject* new_lazy_args(EventSource& source, std::uint32_t row, std::string_view text) {
  PyObject* const made = new_lazy(types.lazy_args, source, row, source.uid_key(), Py_None);
  if (made == nullptr) return nullptr;
  to_event(made)->text = text.data();
  to_event(made)->size = static_cast<std::uint32_t>(text.size());
  return made;
}

PyObject* new_event(PyObject* members) {
  static PyObject* const no_arguments = PyTuple_New(0);
  PyObject* const made = PyDict_Type.tp_new(types.event, no_arguments, nullptr);
  if (made == nullptr || PyDict_Update(made, members) == 0) return made;
  Py_DECREF(made);
  return nullptr;
}

bool fill(PyObject* object) {
  if (!is_lazy(object)) return true;
  EventObject* const self = to_event(object);
  // May let other threads run, which may look at the same event.
  if (!self->source->load_texts()) return false;
  if (Py_IS_TYPE(object, types.lazy_event)) {
    if (!self->source->fill_event(*self)) return false;
    become(object, types.event);
  } else if (Py_IS_TYPE(object, types.lazy_args)) {
    if (!self->source->fill_args(*self)) return false;
    become(object, types.args);
  }
  return true;
}

}  // namespace tracelens::python
