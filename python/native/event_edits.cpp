// event_edits.cpp: dicts made or changed in Python, as a trace for the core. They are written as JSON
// and read by the reader of traces, which knows what every argument means; events nobody has touched
// are copied as they stand in their file.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace_builder.hpp>

#include "event_json.hpp"
#include "event_print.hpp"
#include "event_store.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

py::object stolen(PyObject* object) {
  if (object == nullptr) throw py::error_already_set{};
  return py::reinterpret_steal<py::object>(object);
}
void require(bool done) {
  if (!done) throw py::error_already_set{};
}

[[noreturn]] void throw_key_error(std::string_view key) {
  const py::str text{key.data(), key.size()};
  PyErr_SetObject(PyExc_KeyError, text.ptr());
  throw py::error_already_set{};
}

PyObject* interned(const char* text) {
  PyObject* const made = PyUnicode_InternFromString(text);
  require(made != nullptr);
  return made;
}

// The keys of events by name, made once.
struct Keys {
  PyObject* ph = interned("ph");
  PyObject* cat = interned("cat");
  PyObject* name = interned("name");
  PyObject* pid = interned("pid");
  PyObject* tid = interned("tid");
  PyObject* ts = interned("ts");
  PyObject* dur = interned("dur");
  PyObject* id = interned("id");
  PyObject* args = interned("args");
  PyObject* uid = interned("UID");
  PyObject* end = interned("t_end");
  PyObject* parent = interned("parent");
  PyObject* children = interned("children");
  PyObject* stream = interned("stream");
  PyObject* stream_index = interned("stream_index");
};
const Keys& keys() {
  static const auto* const all = new Keys;
  return *all;
}

// A member, or null; of a dict that is filled.
PyObject* member(PyObject* dict, PyObject* key) {
  PyObject* const value = PyDict_GetItemWithError(dict, key);
  require(value != nullptr || PyErr_Occurred() == nullptr);
  return value;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

std::optional<std::int64_t> to_integer(PyObject* value) {
  if (value == nullptr || !PyIndex_Check(value)) return std::nullopt;
  const py::object number = stolen(PyNumber_Index(value));
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return integer;
}

bool is_text(PyObject* value, const char* text) {
  return value != nullptr && PyUnicode_Check(value) &&
         PyUnicode_CompareWithASCIIString(value, text) == 0;
}

// What metadata events may be, and the argument that says it.
constexpr std::array<std::pair<const char*, const char*>, 5> kLabels = {
    {{"process_name", "name"},
     {"process_labels", "labels"},
     {"process_sort_index", "sort_index"},
     {"thread_name", "name"},
     {"thread_sort_index", "sort_index"}}};

void check_label(PyObject* event) {
  PyObject* const name = member(event, keys().name);
  if (name == nullptr) throw_key_error("name");
  for (const auto& [label, argument] : kLabels) {
    if (!is_text(name, label)) continue;
    PyObject* const args = member(event, keys().args);
    if (args == nullptr) throw_key_error("args");
    if (PyDict_Check(args)) {
      require(fill(args));
      if (PyDict_GetItemString(args, argument) == nullptr) throw_key_error(argument);
    }
    return;
  }
  PyErr_SetObject(PyExc_KeyError, name);
  throw py::error_already_set{};
}

// A copy of an event with what the constructor of the Python TraceLens adds.
PyObject* copy_of(const py::handle& given, std::int64_t uid, bool end_times) {
  if (!PyDict_Check(given.ptr())) throw py::type_error{"an event must be a dict"};
  require(fill(given.ptr()));
  py::object event = stolen(new_event(given.ptr()));
  PyObject* const phase = member(event.ptr(), keys().ph);
  if (phase == nullptr) throw_key_error("ph");
  if (is_text(phase, "M")) check_label(event.ptr());
  if (member(event.ptr(), keys().cat) == nullptr)
    require(PyDict_SetItem(event.ptr(), keys().cat, Py_None) == 0);
  const py::int_ number{uid};
  require(PyDict_SetItem(event.ptr(), keys().uid, number.ptr()) == 0);
  PyObject* const start = member(event.ptr(), keys().ts);
  PyObject* const length = member(event.ptr(), keys().dur);
  if (end_times && start != nullptr && length != nullptr && start != Py_None && length != Py_None &&
      member(event.ptr(), keys().end) == nullptr)
    require(PyDict_SetItem(event.ptr(), keys().end, stolen(PyNumber_Add(start, length)).ptr()) ==
            0);
  return event.release().ptr();
}

}  // namespace

// --- events made in Python ---

EventStore::EventStore(const py::iterable& dicts, py::object event_to_category, std::string name,
                       const py::object& metadata, bool end_times)
    : event_to_category_{std::move(event_to_category)}, name_{std::move(name)} {
  if (!metadata.is_none())
    for (const auto& [key, value] : metadata.cast<py::dict>()) {
      if (py::str{key}.equal(py::str{"traceEvents"})) continue;
      metadata_text_ += ",\n";
      require(encode_json(metadata_text_, py::str{key}.ptr()));
      metadata_text_ += ':';
      require(encode_json(metadata_text_, value.ptr()));
    }
  std::vector<PyObject*> events;
  try {
    for (const py::handle given : dicts)
      events.push_back(copy_of(given, static_cast<std::int64_t>(events.size()), end_times));
    take_dicts(events);
  } catch (...) {
    if (made_.empty())
      for (PyObject* const event : events) Py_DECREF(event);
    for (PyObject* const event : made_) Py_DECREF(event);
    if (source_ != nullptr) source_->release();
    throw;
  }
}

Trace EventStore::read_document(std::string document) const {
  const std::string name = is_imported_ ? name_ : source_->trace().source().name;
  const py::gil_scoped_release unlocked;
  return read_trace_bytes(name, {document.data(), document.size()});
}

void EventStore::take_dicts(std::vector<PyObject*> dicts) {
  made_ = std::move(dicts);
  is_imported_ = true;
  std::vector<Item> items(made_.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {made_[i], -1, true};
  std::vector<std::int64_t> uids = uids_of(items);
  auto document = std::make_shared<std::string>(document_of(items));
  auto handle = std::make_shared<TraceHandle>(read_document(*document), document);
  EventSource* const source = new EventSource{std::move(handle)};
  source->retain();
  bool are_rows = true;
  for (std::size_t i = 0; i < uids.size(); ++i)
    are_rows = are_rows && uids[i] == static_cast<std::int64_t>(i);
  if (!are_rows) source->set_uids(std::move(uids));
  if (source_ != nullptr) source_->release();
  source_ = source;
  synced_ = source_->handle();
  synced_state_ = 0;
  synced_rows_.clear();
  synced_uids_.clear();
  for (std::uint32_t row = 0; !are_rows && row < made_.size(); ++row) {
    synced_uids_.push_back(source_->uid({row}));
    synced_rows_[synced_uids_.back()] = row;
  }
  forget_answers();
  write_stream_indices();
  remember_prints();
}

void EventStore::write_stream_indices() {
  for (const std::uint32_t row : source_->trace().streams().rows()) {
    PyObject* const args = member(made_[row], keys().args);
    if (args == nullptr || !PyDict_Check(args)) continue;
    require(fill(args));
    PyObject* const stream = member(args, keys().stream);
    if (stream == nullptr || stream == Py_None) continue;
    const py::int_ index{source_->stream_index(row)};
    require(PyDict_SetItem(args, keys().stream_index, index.ptr()) == 0);
  }
}

void EventStore::remember_prints() {
  prints_.resize(made_.size());
  for (std::size_t row = 0; row < made_.size(); ++row) prints_[row] = print_of_event(made_[row]);
}

// A host event cannot be put on a call stack without these.
void EventStore::check_host_events(bool python_frames) {
  const Trace& trace = source_->trace();
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (category != Category::kCpuOp && !is_runtime(category) &&
        (category != Category::kPythonFunction || !python_frames))
      continue;
    if (member(made_[event.row], keys().name) == nullptr) throw_key_error("name");
    if (member(made_[event.row], keys().end) == nullptr) throw_key_error("t_end");
  }
}

void EventStore::build(const TreeSettings& settings) {
  if (state() != 0) {
    // What was changed decides, by its times: the events become dicts like any others.
    if (!is_imported_) materialize();
    std::vector<PyObject*> dicts;
    for (const Item& item : items()) dicts.push_back(item.dict);
    for (PyObject* const dict : dicts) Py_INCREF(dict);
    for (PyObject* const dict : made_) Py_DECREF(dict);
    if (name_.empty()) name_ = source_->trace().source().name;
    take_dicts(std::move(dicts));
  }
  if (is_imported_) check_host_events(settings.python_frames);
  source_->set_tree(settings);
  forget_answers();
  for (std::uint32_t row = 0; row < made_.size(); ++row) {
    PyObject* const event = made_[row];
    if (event == nullptr) continue;
    if (is_lazy(event)) {
      if (PyDict_GET_SIZE(event) == 1) continue;
      const py::int_ uid{source_->uid({row})};  // the lists were of the old tree
      PyDict_Clear(event);
      require(PyDict_SetItem(event, source_->uid_key(), uid.ptr()) == 0);
    } else {
      require(source_->write_tree_keys(event, row));
      if (!is_imported_) to_event(event)->print = print_of_event(event);
    }
  }
  if (is_imported_) remember_prints();
}

// --- what was changed ---

bool EventStore::is_changed(PyObject* dict, std::size_t row) const {
  if (is_imported_) return print_of_event(dict) != prints_[row];
  EventObject* const event = to_event(dict);
  if (is_lazy(dict)) return PyDict_GET_SIZE(dict) > 1 && !source_->has_own_lists(*event);
  if (print_of_event(dict) != event->print) return true;
  PyObject* const args = member(dict, keys().args);
  return args != nullptr && Py_IS_TYPE(args, event_types().args) &&
         print_of_args(args) != to_event(args)->print;
}

std::vector<EventStore::Item> EventStore::items() {
  std::vector<Item> all;
  all.reserve(size());
  if (!events_) {
    for (std::size_t row = 0; row < made_.size(); ++row)
      all.push_back({made_[row], static_cast<std::int64_t>(row),
                     made_[row] != nullptr && is_changed(made_[row], row)});
  } else {
    std::unordered_map<PyObject*, std::size_t> moved;  // rows by event, when the list was changed
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(events_.ptr()); ++i) {
      PyObject* const dict = PyList_GET_ITEM(events_.ptr(), i);
      auto row = static_cast<std::size_t>(i);
      bool is_own = row < made_.size() && made_[row] == dict;
      if (!is_own && PyDict_Check(dict)) {
        if (moved.empty())
          for (std::size_t at = 0; at < made_.size(); ++at)
            if (made_[at] != nullptr) moved[made_[at]] = at;
        const auto found = moved.find(dict);
        is_own = found != moved.end();
        if (is_own) row = found->second;
      }
      if (is_own)
        all.push_back({dict, static_cast<std::int64_t>(row), is_changed(dict, row)});
      else if (PyDict_Check(dict))
        all.push_back({dict, -1, true});
    }
  }
  // Events that were only put under a UID.
  if (by_uid_ && static_cast<std::size_t>(PyDict_GET_SIZE(by_uid_.ptr())) > all.size()) {
    std::unordered_map<PyObject*, bool> known;
    for (const Item& item : all) known[item.dict] = true;
    PyObject* key = nullptr;
    PyObject* dict = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(by_uid_.ptr(), &at, &key, &dict) != 0;)
      if (PyDict_Check(dict) && !known.contains(dict)) all.push_back({dict, -1, true});
  }
  return all;
}

std::uint64_t EventStore::state() {
  std::uint64_t hash = 0;
  const std::vector<Item> all = items();
  if (all.size() != made_.size()) hash = mix(hash + 1, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [dict, row, changed] = all[i];
    if (row >= 0 && static_cast<std::size_t>(row) != i)
      hash = mix(mix(hash + 1, i), static_cast<std::uint64_t>(row));
    if (!changed) continue;
    require(fill(dict));
    hash = mix(mix(hash + 1, i), print_of_event(dict));
    // Writing the event down fills its args: that must not look like a change.
    if (PyObject* const args = member(dict, keys().args); args != nullptr && PyDict_Check(args)) {
      require(fill(args));
      hash = mix(hash, print_of_args(args));
    }
  }
  return hash;
}

// --- a trace of what the dicts say ---

std::vector<std::int64_t> EventStore::uids_of(const std::vector<Item>& items) const {
  std::vector<std::int64_t> uids(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    uids[i] = items[i].row >= 0 ? source_->uid({static_cast<std::uint32_t>(items[i].row)})
                                : static_cast<std::int64_t>(i);
    if (items[i].dict != nullptr)
      if (const auto given = to_integer(member(items[i].dict, keys().uid))) uids[i] = *given;
  }
  return uids;
}

void EventStore::put_event(std::string& out, PyObject* dict) const {
  require(fill(dict));
  out += "{\"ph\":";
  PyObject* const phase = member(dict, keys().ph);
  if (phase == nullptr)
    out += "\"X\"";  // a made-up op
  else
    require(encode_json(out, phase));
  const auto put = [&](const char* key, PyObject* value) {
    if (value == nullptr || value == Py_None) return;
    out.append(",\"").append(key).append("\":");
    require(encode_json(out, value));
  };
  if (event_to_category_.is_none()) {
    put("cat", member(dict, keys().cat));
  } else {
    const py::object category = event_to_category_(py::handle{dict});
    put("cat", category.ptr());
  }
  put("name", member(dict, keys().name));
  put("pid", member(dict, keys().pid));
  put("tid", member(dict, keys().tid));
  put("ts", member(dict, keys().ts));
  put("dur", member(dict, keys().dur));
  put("id", member(dict, keys().id));
  put("args", member(dict, keys().args));
  out += '}';
}

std::string EventStore::document_of(const std::vector<Item>& items) {
  std::string out = "{\"traceEvents\":[\n";
  if (!is_imported_) require(source_->load_texts());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (i > 0) out += ",\n";
    const EventId event{static_cast<std::uint32_t>(item.row)};
    const std::string_view text =
        is_imported_ || item.is_changed ? std::string_view{} : source_->raw_text(event);
    if (!text.empty())
      out += text;
    else if (!is_imported_ && !item.is_changed && source_->trace().phase(event) == Phase::kDamaged)
      out += "null";  // keeps its place
    else
      put_event(out, item.dict != nullptr ? item.dict : made(event.row));
  }
  out += "\n]";
  if (is_imported_) {
    out += metadata_text_;
  } else {
    for (const MetadataEntry& entry : source_->trace().metadata()) {
      if (entry.key == "traceEvents") continue;
      out += ",\n";
      append_json_text(out, entry.key);
      out += ':';
      append_json(out, entry.value);
    }
  }
  out += "}\n";
  return out;
}

std::vector<std::pair<EventId, EventId>> EventStore::links_of(const std::vector<Item>& items) {
  const Tree* const tree = source_->tree();
  if (tree == nullptr) return {};
  const std::vector<std::int64_t> uids = uids_of(items);
  std::unordered_map<std::int64_t, std::uint32_t> places;
  places.reserve(uids.size());
  for (std::uint32_t i = 0; i < uids.size(); ++i) places.try_emplace(uids[i], i);
  const auto place_of = [&](std::optional<std::int64_t> uid) {
    const auto found = uid ? places.find(*uid) : places.end();
    return found == places.end() ? EventId{} : EventId{found->second};
  };

  std::vector<EventId> parents(items.size());
  std::vector<bool> is_node(items.size()), has_said(items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const NodeId node =
        item.row < 0 ? NodeId{} : tree->node({static_cast<std::uint32_t>(item.row)});
    is_node[i] = node.valid();
    if (!item.is_changed) {
      if (node.valid() && tree->parent(node).valid())
        parents[i] = place_of(source_->uid(tree->event(tree->parent(node))));
      continue;
    }
    PyObject* const parent = member(item.dict, keys().parent);
    parents[i] = place_of(to_integer(parent));
    has_said[i] = parent != nullptr;
    PyObject* const children = member(item.dict, keys().children);
    is_node[i] = is_node[i] || parents[i].valid() ||
                 (children != nullptr && PyList_Check(children) && PyList_GET_SIZE(children) > 0);
  }
  // Whom a changed event lists as its child, unless the child itself says otherwise.
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_changed) continue;
    PyObject* const children = member(items[i].dict, keys().children);
    if (children == nullptr || !PyList_Check(children)) continue;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(children); ++at) {
      const EventId child = place_of(to_integer(PyList_GET_ITEM(children, at)));
      if (!child.valid() || has_said[child.row]) continue;
      parents[child.row] = {i};
      is_node[child.row] = true;
    }
  }
  std::vector<std::pair<EventId, EventId>> links;
  for (std::uint32_t i = 0; i < items.size(); ++i)
    if (is_node[i]) links.push_back({{i}, parents[i]});
  return links;
}

std::shared_ptr<TraceHandle> EventStore::synced() {
  const std::uint64_t now = state();
  if (now == synced_state_) return synced_;
  if (now == 0) {
    synced_ = source_->handle();
    synced_uids_.clear();
    synced_rows_.clear();
    synced_state_ = 0;
    return synced_;
  }
  const std::vector<Item> all = items();
  auto document = std::make_shared<std::string>(document_of(all));
  const std::vector<std::pair<EventId, EventId>> links = links_of(all);
  Trace trace = read_document(*document);
  TraceBuilder builder{std::move(trace)};
  for (const auto& [event, parent] : links) builder.set_parent(event, parent);
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].row >= 0 &&
        std::ranges::binary_search(source_->trace().passed_over(),
                                   EventId{static_cast<std::uint32_t>(all[i].row)}))
      builder.pass_over({i});
  synced_ = std::make_shared<TraceHandle>(std::move(builder).finish(), document);
  synced_uids_ = uids_of(all);
  synced_rows_.clear();
  bool are_rows = true;
  for (std::uint32_t i = 0; i < synced_uids_.size(); ++i) {
    synced_rows_.try_emplace(synced_uids_[i], i);
    are_rows = are_rows && synced_uids_[i] == std::int64_t{i};
  }
  if (are_rows) {
    synced_uids_.clear();
    synced_rows_.clear();
  }
  synced_state_ = now;
  return synced_;
}

TreeHandle EventStore::tree() {
  const std::shared_ptr<TraceHandle> handle = synced();
  const TreeSettings& settings = source_->settings();
  const py::gil_scoped_release unlocked;
  return {handle->shared_trace(),
          handle->tree({.python_frames = settings.python_frames,
                        .link_by_correlation = settings.link_by_correlation})};
}

py::object EventStore::uids() {
  static_cast<void>(synced());
  if (synced_uids_.empty()) return py::none{};
  return py::cast(synced_uids_);
}

std::vector<std::uint32_t> EventStore::rows(const std::vector<std::int64_t>& uids) {
  const std::size_t size = synced()->trace().size();
  std::vector<std::uint32_t> rows;
  for (const std::int64_t uid : uids) {
    const auto found = synced_rows_.find(uid);
    if (synced_rows_.empty() && uid >= 0 && static_cast<std::size_t>(uid) < size) {
      rows.push_back(static_cast<std::uint32_t>(uid));
    } else if (found != synced_rows_.end()) {
      rows.push_back(found->second);
    } else {
      PyErr_SetObject(PyExc_KeyError, py::int_{uid}.ptr());
      throw py::error_already_set{};
    }
  }
  return rows;
}

}  // namespace tracelens::python
