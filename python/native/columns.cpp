// columns.cpp: the columns of a trace as NumPy arrays over its own memory, and the search in them.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "columns.hpp"
#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

constexpr std::array kPhaseNames = {"complete", "flow_start", "flow_end", "instant",
                                    "metadata", "other",      "damaged"};

const SparseColumn<std::int64_t>& sparse_column(const Trace& trace, const std::string& name) {
  if (name == "external_id") return trace.external_ids();
  if (name == "sequence") return trace.sequence_numbers();
  if (name == "forward_thread") return trace.forward_threads();
  if (name == "stream") return trace.streams();
  if (name == "device") return trace.devices();
  throw py::key_error{name};
}

const Trace& trace_of(const py::object& self) {
  return self.cast<std::shared_ptr<TraceHandle>>()->trace();
}

// Numbers as they are, ids and enumerators as the numbers they are.
py::array dense(const py::object& self, const std::string& name) {
  const Trace& trace = trace_of(self);
  if (name == "ts_ns") return array_over(trace.ts_ns(), self);
  if (name == "dur_ns") return array_over(trace.dur_ns(), self);
  if (name == "correlation") return array_over(trace.correlations(), self);
  if (name == "name") return array_over_as<std::uint32_t>(trace.names(), self);
  if (name == "track") return array_over_as<std::uint32_t>(trace.tracks(), self);
  if (name == "signature") return array_over_as<std::uint32_t>(trace.signatures(), self);
  if (name == "cat") return array_over_as<std::uint8_t>(trace.categories(), self);
  if (name == "phase") return array_over_as<std::uint8_t>(trace.phases(), self);
  throw py::key_error{name};
}

// The row numbers and the values of those events that have one.
py::tuple sparse(const py::object& self, const std::string& name) {
  const SparseColumn<std::int64_t>& column = sparse_column(trace_of(self), name);
  return py::make_tuple(array_over(column.rows(), self), array_over(column.values(), self));
}

// By id; "" where no event has the name: the same ids stand for other texts too.
py::list name_texts(const TraceHandle& handle) {
  const Trace& trace = handle.trace();
  const std::vector<std::uint8_t> used = used_names(trace);
  const py::str none{""};
  py::list texts{used.size()};
  for (std::uint32_t id = 0; id < used.size(); ++id)
    texts[id] = used[id] != 0 ? python_text(trace.text(StringId{id})) : none;
  return texts;
}

py::list signatures_of(const TraceHandle& handle) {
  const Trace& trace = handle.trace();
  SharedValues shared;
  py::list all;
  for (const Signature& signature : trace.signature_table())
    all.append(py::make_tuple(shared.text(trace.text(signature.name)), shared.value(signature.dims),
                              shared.value(signature.types), shared.value(signature.strides),
                              shared.value(signature.concrete)));
  return all;
}

py::list tracks_of(const TraceHandle& handle) {
  py::list all;
  for (const Track& track : handle.trace().track_table())
    all.append(py::make_tuple(python_value(track.pid), python_value(track.tid)));
  return all;
}

// Rows whose category has no number of its own, and its text.
py::list other_categories(const TraceHandle& handle) {
  const Trace& trace = handle.trace();
  SharedValues shared;
  py::list all;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kOtherCategory)
      all.append(py::make_tuple(event.row, shared.text(trace.category_text(event))));
  return all;
}

py::list category_names() {
  py::list names;
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    names.append(python_text(category_name(static_cast<Category>(i))));
  return names;
}

struct Search {
  std::optional<std::vector<std::string>> categories;
  std::function<bool(std::string_view)> name;  // none: any
  std::optional<std::int64_t> from_ns, to_ns, longer_than_ns;
};

std::vector<std::int64_t> rows_where(const Trace& trace, const Search& search) {
  std::array<bool, kCategoryCount> wanted{};
  if (search.categories)
    for (std::size_t i = 0; i < kCategoryCount; ++i)
      wanted[i] =
          std::ranges::count(*search.categories, category_name(static_cast<Category>(i))) > 0;
  enum : std::uint8_t { kUnknown, kYes, kNo };
  std::vector<std::uint8_t> known(search.name ? trace.string_count() : 0);  // one question per name
  const auto is_named = [&](StringId id) {
    if (known[id.row] == kUnknown) known[id.row] = search.name(trace.text(id)) ? kYes : kNo;
    return known[id.row] == kYes;
  };
  std::vector<std::int64_t> rows;
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (search.categories && !wanted[static_cast<std::size_t>(category)] &&
        (category != Category::kOtherCategory ||
         std::ranges::count(*search.categories, trace.category_text(event)) == 0))
      continue;
    const std::int64_t start = trace.ts_ns()[event.row], length = trace.dur_ns()[event.row];
    if (search.from_ns && (start == kAbsent || start < *search.from_ns)) continue;
    if (search.to_ns && (start == kAbsent || start >= *search.to_ns)) continue;
    if (search.longer_than_ns && (length == kAbsent || length <= *search.longer_than_ns)) continue;
    if (search.name && !is_named(trace.names()[event.row])) continue;
    rows.push_back(event.row);
  }
  return rows;
}

std::set<std::string, std::less<>> texts_of(const py::object& names) {
  std::set<std::string, std::less<>> texts;
  for (const py::handle name : names) texts.insert(text_of(name));
  return texts;
}

// `names`: None, a list of texts, or a function that says whether a name will do.
py::array where(const TraceHandle& handle, std::optional<std::vector<std::string>> categories,
                const py::object& names, std::optional<std::int64_t> from_ns,
                std::optional<std::int64_t> to_ns, std::optional<std::int64_t> longer_than_ns) {
  Search search{std::move(categories), nullptr, from_ns, to_ns, longer_than_ns};
  if (PyCallable_Check(names.ptr()) != 0) {
    search.name = [&names](std::string_view name) {
      return py::bool_(py::object{names(python_text(name))});
    };
    return array_of(rows_where(handle.trace(), search));
  }
  if (!names.is_none())
    search.name = [texts = texts_of(names)](std::string_view name) { return texts.contains(name); };
  const auto rows = [&] {
    const py::gil_scoped_release unlocked;
    return rows_where(handle.trace(), search);
  };
  return array_of(rows());
}

}  // namespace

std::vector<std::uint8_t> used_names(const Trace& trace) {
  std::vector<std::uint8_t> used(trace.string_count());
  for (const StringId name : trace.names())
    if (name.valid()) used[name.row] = 1;
  return used;
}

void add_columns(py::module_& module) {
  module.def("column", &dense, py::arg("trace"), py::arg("name"));
  module.def("sparse_column", &sparse, py::arg("trace"), py::arg("name"));
  module.def("name_texts", &name_texts, py::arg("trace"));
  module.def("signatures", &signatures_of, py::arg("trace"));
  module.def("tracks", &tracks_of, py::arg("trace"));
  module.def("other_categories", &other_categories, py::arg("trace"));
  module.def("category_names", &category_names);
  module.def("phase_names", [] { return kPhaseNames; });
  module.def("where", &where, py::arg("trace"), py::kw_only{}, py::arg("categories"),
             py::arg("names"), py::arg("from_ns"), py::arg("to_ns"), py::arg("longer_than_ns"));
  module.attr("ABSENT") = kAbsent;
}

}  // namespace tracelens::python
