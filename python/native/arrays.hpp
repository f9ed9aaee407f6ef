// arrays.hpp: memory of the core as NumPy arrays, without a copy.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>
#include <utility>
#include <vector>

namespace tracelens::python {

// A read-only array over memory that `owner` keeps alive.
template <class T>
pybind11::array array_over(std::span<const T> values, const pybind11::object& owner) {
  pybind11::array array{
      pybind11::dtype::of<T>(), {values.size()}, {sizeof(T)}, values.data(), owner};
  pybind11::detail::array_proxy(array.ptr())->flags &=
      ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// Of a type of the core that is nothing but a T: an id, an enumerator.
template <class T, class Wrapped>
pybind11::array array_over_as(std::span<const Wrapped> values, const pybind11::object& owner) {
  static_assert(sizeof(Wrapped) == sizeof(T) && std::is_standard_layout_v<Wrapped>);
  return array_over(std::span{reinterpret_cast<const T*>(values.data()), values.size()}, owner);
}

// An array that owns what was worked out for it.
template <class T>
pybind11::array array_of(std::vector<T> values) {
  auto* const held = new std::vector<T>{std::move(values)};
  const pybind11::capsule owner{
      held, [](void* pointer) { delete static_cast<std::vector<T>*>(pointer); }};
  return {pybind11::dtype::of<T>(), {held->size()}, {sizeof(T)}, held->data(), owner};
}

}  // namespace tracelens::python
