// event_print.hpp: a number that tells whether an event was changed since it was filled.
//   event->print = print_of(dict);   ...   if (print_of(dict) != event->print) it was edited
// Of the members that analyses depend on; keys of the user's own do not count.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tracelens::python {

// Of an event. Its args count by identity when they are ours, else with all they hold.
[[nodiscard]] std::uint64_t print_of_event(PyObject* dict);
// Of args: all members but "stream_index".
[[nodiscard]] std::uint64_t print_of_args(PyObject* dict);

}  // namespace tracelens::python
