// event_types.hpp: events as Python dicts that are filled when somebody looks into them.
// `LazyEvent` holds its UID alone, in the storage of the dict itself: what reads that storage without
// asking (the C encoder of json looks at its size) sees no empty dict. Any operation first fills it,
// makes it an `Event`, which is a dict without further overrides, and goes on: from then on it is as
// fast as a dict. The keys that loops over all events ask for are answered without filling.
// `LazyArgs` and `Args` are the same for the member "args".
// Pickled or copied both become plain dicts. All functions need the interpreter's lock.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string_view>

namespace tracelens::python {

class EventSource;

struct EventObject {
  PyDictObject dict;
  EventSource* source;  // kept alive by it; nullptr for an Event made by hand
  const char* text;     // of args: as it is written
  std::uint64_t print;  // of what it said when it was filled, see event_print.hpp
  std::uint32_t size;   // of text
  std::uint32_t row;    // of the trace
};

struct EventTypes {
  PyTypeObject* event = nullptr;
  PyTypeObject* lazy_event = nullptr;
  PyTypeObject* args = nullptr;
  PyTypeObject* lazy_args = nullptr;
};
// Valid after add_event_types().
[[nodiscard]] const EventTypes& event_types();

// Makes the types and puts Event and LazyEvent into the module; throws what pybind11 throws.
void add_event_types(PyObject* module);

// New references; nullptr with an exception set on failure.
[[nodiscard]] PyObject* new_lazy_event(EventSource& source, std::uint32_t row);
[[nodiscard]] PyObject* new_lazy_args(EventSource& source, std::uint32_t row,
                                      std::string_view text);
// A filled event with the members of a dict; of no trace.
[[nodiscard]] PyObject* new_event(PyObject* members);

[[nodiscard]] inline bool is_event(const PyObject* object) {
  return Py_IS_TYPE(object, event_types().event) || Py_IS_TYPE(object, event_types().lazy_event);
}
[[nodiscard]] inline bool is_lazy(const PyObject* object) {
  return Py_IS_TYPE(object, event_types().lazy_event) ||
         Py_IS_TYPE(object, event_types().lazy_args);
}
[[nodiscard]] inline EventObject* to_event(PyObject* object) {
  return reinterpret_cast<EventObject*>(object);
}

// Fills what is lazy; nothing to do for anything else. False with an exception set on failure.
[[nodiscard]] bool fill(PyObject* object);

}  // namespace tracelens::python
