// event_json.hpp: JSON text of a trace as Python objects, and back.
//   PyObject* dims = decode_json("[[8, 4], []]");       // a list of lists; a new reference
// As forgiving as the readers of traces: what is no JSON becomes None, broken text U+FFFD.
#pragma once

#include <Python.h>

#include <string>
#include <string_view>

namespace tracelens::python {

// A new reference; nullptr with an exception set when memory is short.
[[nodiscard]] PyObject* decode_json(std::string_view text);

// Puts the members of an object into a dict; false with an exception set when memory is short.
[[nodiscard]] bool decode_json_members(std::string_view object, PyObject* dict);

// The text of a string between its quotes, escapes resolved. Short ones are shared.
[[nodiscard]] PyObject* decode_json_text(std::string_view raw);

// The same for a key: interned, so that look-ups with literals compare pointers.
[[nodiscard]] PyObject* decode_json_key(std::string_view raw);

// Puts a value as JSON behind `out`: dicts, lists, tuples, texts, numbers (NumPy's too), booleans and
// None; null in place of anything else. False with an exception set when Python fails.
[[nodiscard]] bool encode_json(std::string& out, PyObject* value);

}  // namespace tracelens::python
