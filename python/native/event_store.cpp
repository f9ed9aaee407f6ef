#include "event_store.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <unordered_set>

#include "event_json.hpp"
#include "event_print.hpp"
#include "owned.hpp"
#include "parts.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

// The list of UIDs under a key of a dict.
void append_uid(py::dict& lists, const py::object& key, std::int64_t uid) {
  PyObject* list = PyDict_GetItemWithError(lists.ptr(), key.ptr());
  if (list == nullptr) {
    require(PyErr_Occurred() == nullptr);
    const py::list fresh;
    lists[key] = fresh;
    list = fresh.ptr();
  }
  const py::int_ number{uid};
  require(PyList_Append(list, number.ptr()) == 0);
}

bool contains_launch(std::string_view name) {
  constexpr std::string_view kLaunch = "launch";
  return std::search(name.begin(), name.end(), kLaunch.begin(), kLaunch.end(),
                     [](char a, char b) { return (a | 0x20) == b; }) != name.end();
}

// A UID as a number: integers, NumPy's too, and floats that are whole.
std::optional<std::int64_t> to_uid(PyObject* object) {
  if (PyUnicode_Check(object)) return std::nullopt;
  if (PyFloat_Check(object)) {
    const double real = PyFloat_AS_DOUBLE(object);
    if (real >= -9e15 && real <= 9e15 &&
        real == static_cast<double>(static_cast<std::int64_t>(real)))
      return static_cast<std::int64_t>(real);
    return std::nullopt;
  }
  if (!PyIndex_Check(object)) return std::nullopt;
  PyObject* const number = PyNumber_Index(object);
  if (number == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (overflow != 0) return std::nullopt;
  return value;
}

[[noreturn]] void throw_key_error(const py::object& key) {
  // As an object: of a bare None Python would make an error without a key.
  const py::object error = stolen(PyObject_CallOneArg(PyExc_KeyError, key.ptr()));
  PyErr_SetObject(PyExc_KeyError, error.ptr());
  throw py::error_already_set{};
}

// A member of a dict, or null.
PyObject* member(PyObject* dict, const char* key) {
  const py::object name = stolen(PyUnicode_InternFromString(key));
  PyObject* const value = PyDict_GetItemWithError(dict, name.ptr());
  require(value != nullptr || PyErr_Occurred() == nullptr);
  return value;
}

}  // namespace

EventStore::EventStore(std::shared_ptr<TraceHandle> handle, const TreeSettings& settings)
    : source_{new EventSource{handle}}, synced_{std::move(handle)} {
  made_.resize(source_->trace().size());
  source_->set_tree(settings);
}

std::size_t EventStore::size() const {
  return events_ ? static_cast<std::size_t>(PyList_GET_SIZE(events_.ptr())) : made_.size();
}

PyObject* EventStore::made(std::uint32_t row) {
  // Code that the collector runs, or another thread, may have built the tree of fewer events.
  if (row >= made_.size()) throw py::index_error{"the events were changed meanwhile"};
  if (!made_[row]) {
    const PausedCollector paused;
    made_[row] = stolen(new_lazy_event(*source_, row));
  }
  return made_[row].ptr();
}

void EventStore::make_all() {
  const PausedCollector paused;
  for (std::uint32_t row = 0; row < made_.size(); ++row) static_cast<void>(made(row));
}

py::list EventStore::events() {
  if (!events_) {
    make_all();
    const PausedCollector paused;
    py::list list{made_.size()};
    for (std::size_t row = 0; row < made_.size(); ++row)
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(row), made_[row].inc_ref().ptr());
    events_ = std::move(list);
  }
  return events_;
}

py::dict EventStore::events_by_uid() {
  if (!by_uid_) {
    make_all();
    const PausedCollector paused;
    py::dict dict;
    for (std::uint32_t row = 0; row < made_.size(); ++row) {
      const py::int_ uid{source_->uid({row})};
      require(PyDict_SetItem(dict.ptr(), uid.ptr(), made_[row].ptr()) == 0);
    }
    by_uid_ = std::move(dict);
  }
  return by_uid_;
}

py::object EventStore::event(const py::object& uid) {
  if (by_uid_) {
    const py::object all = by_uid_;
    PyObject* const found = PyDict_GetItemWithError(all.ptr(), uid.ptr());
    if (found != nullptr) return borrowed(found);
    require(PyErr_Occurred() == nullptr);
    throw_key_error(uid);
  }
  const std::optional<std::int64_t> number = to_uid(uid.ptr());
  if (!number || *number < 0 || *number >= static_cast<std::int64_t>(made_.size()))
    throw_key_error(uid);
  if (is_imported_ && source_->uid({static_cast<std::uint32_t>(*number)}) != *number) {
    static_cast<void>(events_by_uid());
    return event(uid);
  }
  return borrowed(made(static_cast<std::uint32_t>(*number)));
}

py::object EventStore::parent(const py::dict& event) {
  const py::object uid = event.attr("get")("parent");
  if (uid.is_none()) return uid;
  return this->event(uid);
}

py::list EventStore::linked(const py::dict& event, const char* key) {
  py::list events;
  const py::object uids = event.attr("get")(key);
  if (!uids.is_none())
    for (const py::handle uid : uids) events.append(this->event(borrowed(uid.ptr())));
  return events;
}

py::object EventStore::find_external(const py::object& id, const py::object& pid,
                                     const py::object& tid) {
  const std::optional<std::int64_t> wanted = to_uid(id.ptr());
  if (!wanted) return py::none{};
  const SourceRef source = source_;
  const auto& ids = source->trace().external_ids();
  for (std::size_t i = 0; i < ids.rows().size(); ++i) {
    if (ids.values()[i] != *wanted) continue;
    const TrackId track = source->trace().tracks()[ids.rows()[i]];
    if (stolen(source->pid(track)).equal(pid) && stolen(source->tid(track)).equal(tid))
      return borrowed(made(ids.rows()[i]));
  }
  return py::none{};
}

void EventStore::materialize() {
  make_all();
  const PausedCollector paused;
  const Dicts all = made_;
  for (const py::object& event : all) {
    require(fill(event.ptr()));
    if (PyObject* const args = member(event.ptr(), "args"); args != nullptr)
      require(fill(borrowed(args).ptr()));
  }
}

// --- what the Python TraceLens keeps beside the events ---

void EventStore::forget_answers() {
  for (py::object* const answer :
       {&roots_, &names_, &metadata_, &sequences_, &streams_, &flows_, &by_place_, &by_link_})
    *answer = py::object{};
}

py::list EventStore::cpu_root_nodes() {
  if (!roots_) {
    const SourceRef source = source_;
    if (is_built())
      roots_ = stolen(source->uid_list(source->tree()->op_roots()));
    else
      roots_ = py::list{};
  }
  return roots_;
}

py::object EventStore::name2event_uids() {
  if (names_) return names_;
  const py::object lists =
      py::module_::import("collections").attr("defaultdict")(py::type::of(py::list{}));
  const SourceRef source = source_;
  if (source->tree() != nullptr) {
    const Trace& trace = source->trace();
    std::vector<EventId> events;
    for (const EventId event : trace.all_events())
      if (source->is_host_event(event.row)) events.push_back(event);
    std::ranges::stable_sort(events, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
    const std::vector<EventId> linked = source->by_launch(source->tree()->linked_gpu_events());
    events.insert(events.end(), linked.begin(), linked.end());
    py::dict dict = py::reinterpret_borrow<py::dict>(lists);
    for (const EventId event : events)
      append_uid(dict, stolen(source->text(trace.names()[event.row])), source->uid(event));
  }
  names_ = lists;
  return names_;
}

py::dict EventStore::metadata() {
  if (metadata_) return metadata_;
  const SourceRef source = source_;
  const Trace& trace = source->trace();
  py::dict processes;
  const auto inner = [](const py::dict& outer, const py::object& key) {
    if (!outer.contains(key)) outer[key] = py::dict{};
    return py::reinterpret_borrow<py::dict>(py::object{outer[key]});
  };
  for (const EventId event : trace.all_events()) {
    if (trace.phase(event) != Phase::kMetadata) continue;
    const TrackId track = trace.tracks()[event.row];
    const std::optional<Value> value = trace.label(trace.track(track), trace.name(event));
    if (!value) continue;
    const py::dict threads = inner(processes, stolen(source->pid(track)));
    inner(threads, stolen(source->tid(track)))[stolen(source->text(trace.names()[event.row]))] =
        python_value(*value);
  }
  metadata_ = processes;
  return processes;
}

py::dict EventStore::sequences() {
  if (sequences_) return sequences_;
  py::dict lists;
  const SourceRef source = source_;
  const auto& column = source->trace().sequence_numbers();
  for (std::size_t i = 0; i < column.rows().size(); ++i)
    append_uid(lists, py::int_{column.values()[i]}, source->uid({column.rows()[i]}));
  sequences_ = lists;
  return lists;
}

py::dict EventStore::stream_events() {
  if (streams_) return streams_;
  py::dict events;
  const SourceRef source = source_;
  const auto& column = source->trace().streams();
  for (std::size_t i = 0; i < column.rows().size(); ++i) {
    const std::uint32_t row = column.rows()[i];
    events[py::make_tuple(column.values()[i], source->stream_index(row))] = borrowed(made(row));
  }
  streams_ = events;
  return events;
}

std::string EventStore::linking_key(const Trace& trace) {
  for (const EventId event : trace.all_events())
    if (is_runtime(trace.category(event)) && contains_launch(trace.name(event)))
      return trace.correlations()[event.row] != kAbsent ? "correlation" : "External id";
  return "External id";
}

py::list EventStore::runtime_uids() const {
  py::list uids;
  const SourceRef source = source_;
  for (const EventId event : source->trace().all_events())
    if (is_runtime(source->trace().category(event))) uids.append(source->uid(event));
  return uids;
}

py::dict EventStore::flow_events() {
  if (flows_) return flows_;
  const SourceRef source = source_;
  const Trace& trace = source->trace();
  py::dict starts, ends, both;
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kAsyncCpuToGpu) continue;
    const std::int64_t id = trace.correlations()[event.row];
    if (id == kAbsent) continue;
    if (trace.phase(event) == Phase::kFlowStart) starts[py::int_{id}] = borrowed(made(event.row));
    if (trace.phase(event) == Phase::kFlowEnd) ends[py::int_{id}] = borrowed(made(event.row));
  }
  both["start"] = starts;
  both["end"] = ends;
  flows_ = both;
  return both;
}

// The number that calls and GPU events share; null where an event has none.
py::object EventStore::link_value(const Trace& trace, std::uint32_t row) {
  if (trace.category({row}) == Category::kAsyncCpuToGpu) return {};
  if (linking_key(trace) == "correlation") {
    const std::int64_t id = trace.correlations()[row];
    return id == kAbsent ? py::object{} : py::int_{id};
  }
  const std::optional<std::int64_t> id = trace.external_ids().at({row});
  return id ? py::object{py::int_{*id}} : py::object{};
}

py::dict EventStore::linked_by_place() {
  if (by_place_) return by_place_;
  py::dict events;
  const SourceRef source = source_;
  for (const EventId event : source->trace().all_events()) {
    const py::object link = link_value(source->trace(), event.row);
    if (!link) continue;
    const TrackId track = source->trace().tracks()[event.row];
    events[py::make_tuple(stolen(source->pid(track)), stolen(source->tid(track)), link)] =
        borrowed(made(event.row));
  }
  by_place_ = events;
  return events;
}

py::dict EventStore::gpu_events_by_link() {
  if (by_link_) return by_link_;
  py::dict lists;
  const SourceRef source = source_;
  for (const EventId event : source->trace().all_events()) {
    if (!is_gpu(source->trace().category(event))) continue;
    const py::object link = link_value(source->trace(), event.row);
    if (!link) continue;
    if (!lists.contains(link)) lists[link] = py::list{};
    py::list{py::object{lists[link]}}.append(borrowed(made(event.row)));
  }
  by_link_ = lists;
  return lists;
}

// --- for the collector: what users put onto events may lead back to the store ---

int EventStore::traverse(visitproc visit, void* arg) const {
  for (const py::object& event : made_) Py_VISIT(event.ptr());
  for (const py::object* const own :
       {&event_to_category_, &events_, &by_uid_, &roots_, &names_, &metadata_, &sequences_,
        &streams_, &flows_, &by_place_, &by_link_})
    Py_VISIT(own->ptr());
  return 0;
}

void EventStore::clear() {
  const Dicts events = std::exchange(made_, {});
  forget_answers();
  events_ = {};
  by_uid_ = {};
  event_to_category_ = py::none{};
}

namespace {

// Null while the object is being made.
EventStore* store_of(PyObject* self) {
  const auto value = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return value.holder_constructed() ? value.value_ptr<EventStore>() : nullptr;
}

void collect_store(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    const EventStore* const store = store_of(self);
    return store == nullptr ? 0 : store->traverse(visit, arg);
  };
  type.tp_clear = [](PyObject* self) {
    if (EventStore* const store = store_of(self); store != nullptr) store->clear();
    return 0;
  };
}

}  // namespace

void add_events(py::module_& module) {
  add_event_types(module.ptr());
  const auto settings = [](bool python_frames, bool link_by_correlation, bool mark_non_gpu_paths,
                           bool link_fwd_bwd) {
    return TreeSettings{.python_frames = python_frames,
                        .link_by_correlation = link_by_correlation,
                        .mark_non_gpu_paths = mark_non_gpu_paths,
                        .link_autograd = link_fwd_bwd};
  };
  py::class_<EventStore>(module, "EventStore", py::custom_type_setup(collect_store))
      .def(py::init([settings](std::shared_ptr<TraceHandle> trace, bool frames, bool correlation,
                               bool marks, bool links) {
             return std::make_unique<EventStore>(std::move(trace),
                                                 settings(frames, correlation, marks, links));
           }),
           py::arg("trace"), py::kw_only{}, py::arg("python_frames") = false,
           py::arg("link_by_correlation") = false, py::arg("mark_non_gpu_paths") = true,
           py::arg("link_fwd_bwd") = true)
      .def(
          "build",
          [settings](EventStore& store, bool frames, bool correlation, bool marks, bool links) {
            store.build(settings(frames, correlation, marks, links));
          },
          py::kw_only{}, py::arg("python_frames") = false, py::arg("link_by_correlation") = false,
          py::arg("mark_non_gpu_paths") = true, py::arg("link_fwd_bwd") = true)
      .def_property_readonly("is_built", &EventStore::is_built)
      .def("__len__", &EventStore::size)
      .def_property("events", &EventStore::events, &EventStore::set_events)
      .def_property("events_by_uid", &EventStore::events_by_uid, &EventStore::set_events_by_uid)
      .def("event", &EventStore::event)
      .def("parent", &EventStore::parent)
      .def("children",
           [](EventStore& store, const py::dict& event) { return store.linked(event, "children"); })
      .def("gpu_events", [](EventStore& store,
                            const py::dict& event) { return store.linked(event, "gpu_events"); })
      .def("find_external", &EventStore::find_external)
      .def("materialize", &EventStore::materialize)
      .def_property("cpu_root_nodes", &EventStore::cpu_root_nodes, &EventStore::set_cpu_root_nodes)
      .def_property_readonly("name2event_uids", &EventStore::name2event_uids)
      .def_property_readonly("metadata", &EventStore::metadata)
      .def_property_readonly("seq_num2event_uids_map", &EventStore::sequences)
      .def_property_readonly("dict_stream_index2event", &EventStore::stream_events)
      .def_property_readonly("linking_key",
                             [](const EventStore& store) { return store.linking_key(); })
      .def_property_readonly("runtime_event_uids", &EventStore::runtime_uids)
      .def_property_readonly("ac2g_event_map", &EventStore::flow_events)
      .def_property_readonly("pid_tid_event_map", &EventStore::linked_by_place)
      .def_property_readonly("linking_id_to_gpu_events", &EventStore::gpu_events_by_link)
      .def("dirty", &EventStore::dirty)
      .def("synced", &EventStore::synced)
      .def("tree", &EventStore::tree)
      .def("uids", &EventStore::uids)
      .def("rows", &EventStore::rows);
  module.def(
      "import_events",
      [](const py::iterable& dicts, py::object event_to_category, std::string name,
         const py::object& metadata, bool end_times) {
        return std::make_unique<EventStore>(dicts, std::move(event_to_category), std::move(name),
                                            metadata, end_times);
      },
      py::arg("dicts"), py::kw_only{}, py::arg("event_to_category") = py::none{},
      py::arg("name") = "memory", py::arg("metadata") = py::none{}, py::arg("end_times") = true);
  module.def(
      "from_events",
      [](const py::iterable& dicts, std::string name, const py::object& metadata) {
        return EventStore{dicts, py::none{}, std::move(name), metadata, true}.synced();
      },
      py::arg("dicts"), py::kw_only{}, py::arg("name") = "memory",
      py::arg("metadata") = py::none{});
}

}  // namespace tracelens::python
