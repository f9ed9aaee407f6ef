#include "groups.hpp"

#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "address_map.hpp"
#include "arrays.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

class KernelLists {
 public:
  KernelLists(const py::array& cells, std::span<const std::int64_t> groups, std::size_t count)
      : cells_{cells}, groups_{groups}, first_rows_(count, -1), lengths_(count), sizes_(count) {}

  py::object made() {
    std::vector<std::int64_t> rows;  // of the lists that count
    bool left_out = false;
    for (py::ssize_t row = 0; row < cells_.size(); ++row) {
      PyObject* const list = cell(row);
      if (!PyList_Check(list) && !PyTuple_Check(list)) continue;
      const Py_ssize_t length = PySequence_Fast_GET_SIZE(list);
      if (length == 0) continue;
      const auto group = static_cast<std::size_t>(groups_[static_cast<std::size_t>(row)]);
      if (first_rows_[group] < 0) first_rows_[group] = row, lengths_[group] = length;
      if (lengths_[group] != length) {
        left_out = true;
        continue;
      }
      ++sizes_[group];
      rows.push_back(row);
    }
    std::vector<std::int64_t> starts(first_rows_.size());
    std::exclusive_scan(lengths_.begin(), lengths_.end(), starts.begin(), std::int64_t{0});
    std::vector<double> durations;
    std::vector<std::int64_t> places;
    for (const std::int64_t row : rows) {
      PyObject* const list = cell(row);
      const auto group = static_cast<std::size_t>(groups_[static_cast<std::size_t>(row)]);
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
        const std::optional<double> duration = duration_of(PySequence_Fast_GET_ITEM(list, i));
        if (!duration) return py::none{};
        durations.push_back(*duration);
        places.push_back(starts[group] + i);
      }
    }
    return py::make_tuple(array_of(std::move(durations)), array_of(std::move(places)),
                          array_of(std::move(first_rows_)), array_of(std::move(lengths_)),
                          array_of(std::move(sizes_)), left_out);
  }

 private:
  [[nodiscard]] PyObject* cell(py::ssize_t row) const {
    PyObject* const held = *static_cast<PyObject* const*>(cells_.data(row));
    return held == nullptr ? Py_None : held;
  }
  static std::optional<double> duration_of(PyObject* kernel) {
    static PyObject* const key = PyUnicode_InternFromString("dur");
    if (!PyDict_CheckExact(kernel)) return std::nullopt;
    PyObject* const duration = PyDict_GetItemWithError(kernel, key);
    if (duration == nullptr || !PyFloat_CheckExact(duration)) return std::nullopt;
    return PyFloat_AS_DOUBLE(duration);
  }

  const py::array& cells_;
  std::span<const std::int64_t> groups_;
  std::vector<std::int64_t> first_rows_, lengths_, sizes_;
};

}  // namespace

py::tuple identity_codes(const py::array& cells) {
  if (cells.ndim() != 1 || cells.dtype().kind() != 'O')
    throw py::type_error{"expected one column of objects"};
  AddressMap<std::int64_t> known;  // codes from 1: 0 is new
  std::vector<std::int64_t> codes, first_rows;
  codes.reserve(static_cast<std::size_t>(cells.size()));
  const PyObject* last = nullptr;
  for (py::ssize_t row = 0; row < cells.size(); ++row) {
    const PyObject* cell = *static_cast<PyObject* const*>(cells.data(row));
    if (cell == nullptr) cell = Py_None;  // so NumPy leaves cells that nobody has filled
    if (cell != last) {                   // rows that follow each other are often of one op
      last = cell;
      std::int64_t& code = known[cell];
      if (code == 0) {
        first_rows.push_back(row);
        code = std::ssize(first_rows);
      }
      codes.push_back(code - 1);
    } else {
      codes.push_back(codes.back());
    }
  }
  return py::make_tuple(array_of(std::move(codes)), array_of(std::move(first_rows)));
}

py::object kernel_durations(const py::array& cells, const GroupNumbers& groups, std::size_t count) {
  const std::span numbers{groups.data(), static_cast<std::size_t>(groups.size())};
  if (cells.ndim() != 1 || cells.dtype().kind() != 'O' || cells.size() != groups.size())
    throw py::type_error{"expected a column of objects and a number for each"};
  for (const std::int64_t number : numbers)
    if (number < 0 || static_cast<std::size_t>(number) >= count)
      throw py::index_error{"no such group"};
  return KernelLists{cells, numbers, count}.made();
}

}  // namespace tracelens::python
