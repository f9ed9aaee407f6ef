// groups.hpp: what grouping the rows of a frame takes that is slow in Python: columns of objects, of which
// many rows share a few.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

namespace tracelens::python {

using GroupNumbers =
    pybind11::array_t<std::int64_t, pybind11::array::c_style | pybind11::array::forcecast>;

// Numbers the cells of an array of objects, those that are one and the same object alike, in the order
// of their first rows: (number of each row, first row of each number).
[[nodiscard]] pybind11::tuple identity_codes(const pybind11::array& cells);

// The durations of kernels in lists of {name, dur, ...}, group by group: what statistics over the calls
// of an op are made of. `groups`: the group of each cell, below `count`. None where a cell holds anything
// else, which Python must look at; otherwise (durations, the place of each: a group's kernels follow those
// of the groups before; then of each group: row of its first list that is not empty or -1, length of that
// list, how many are as long; whether lists of another length were left out).
[[nodiscard]] pybind11::object kernel_durations(const pybind11::array& cells,
                                                const GroupNumbers& groups, std::size_t count);

}  // namespace tracelens::python
