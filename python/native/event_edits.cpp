// event_edits.cpp: dicts made or changed in Python, as a trace for the core. They are written as JSON
// and read by the reader of traces, which knows what every argument means; events nobody has touched
// are copied as they stand in their file.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace_builder.hpp>

#include "event_json.hpp"
#include "event_print.hpp"
#include "event_store.hpp"
#include "owned.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

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

// A member, or null; of a dict that is filled. Held: what is done with it may run code of the user's.
py::object member(const py::object& dict, PyObject* key) {
  PyObject* const value = PyDict_GetItemWithError(dict.ptr(), key);
  require(value != nullptr || PyErr_Occurred() == nullptr);
  return py::reinterpret_borrow<py::object>(value);
}
bool is_dict(const py::object& value) { return value && PyDict_Check(value.ptr()); }

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

std::optional<std::int64_t> to_integer(const py::object& value) {
  if (!value || PyIndex_Check(value.ptr()) == 0) return std::nullopt;
  const py::object number = stolen(PyNumber_Index(value.ptr()));
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return integer;
}

bool is_text(const py::object& value, const char* text) {
  return value && PyUnicode_Check(value.ptr()) &&
         PyUnicode_CompareWithASCIIString(value.ptr(), text) == 0;
}

// What metadata events may be, and the argument that says it.
constexpr std::array<std::pair<const char*, const char*>, 5> kLabels = {
    {{"process_name", "name"},
     {"process_labels", "labels"},
     {"process_sort_index", "sort_index"},
     {"thread_name", "name"},
     {"thread_sort_index", "sort_index"}}};

void check_label(const py::object& event) {
  const py::object name = member(event, keys().name);
  if (!name) throw_key_error("name");
  for (const auto& [label, argument] : kLabels) {
    if (!is_text(name, label)) continue;
    const py::object args = member(event, keys().args);
    if (!args) throw_key_error("args");
    if (is_dict(args)) {
      require(fill(args.ptr()));
      if (PyDict_GetItemString(args.ptr(), argument) == nullptr) throw_key_error(argument);
    }
    return;
  }
  PyErr_SetObject(PyExc_KeyError, name.ptr());
  throw py::error_already_set{};
}

// A copy of an event with what the constructor of the Python TraceLens adds.
py::object copy_of(const py::handle& given, std::int64_t uid, bool end_times) {
  if (!PyDict_Check(given.ptr())) throw py::type_error{"an event must be a dict"};
  require(fill(given.ptr()));
  py::object event = stolen(new_event(given.ptr()));
  const py::object phase = member(event, keys().ph);
  if (!phase) throw_key_error("ph");
  if (is_text(phase, "M")) check_label(event);
  if (!member(event, keys().cat)) require(PyDict_SetItem(event.ptr(), keys().cat, Py_None) == 0);
  const py::int_ number{uid};
  require(PyDict_SetItem(event.ptr(), keys().uid, number.ptr()) == 0);
  const py::object start = member(event, keys().ts);
  const py::object length = member(event, keys().dur);
  if (end_times && start && length && !start.is_none() && !length.is_none() &&
      !member(event, keys().end))
    require(PyDict_SetItem(event.ptr(), keys().end,
                           stolen(PyNumber_Add(start.ptr(), length.ptr())).ptr()) == 0);
  return event;
}

Trace read_document(const std::string& name, const std::string& document, std::size_t size) {
  const py::gil_scoped_release unlocked;
  Trace trace = read_trace_bytes(name, {document.data(), document.size()});
  // Rows of the trace are places among the dicts from here on.
  if (trace.size() != size) throw std::runtime_error{"the events could not be written down"};
  return trace;
}

void write_stream_indices(EventSource& source, std::span<const py::object> dicts) {
  for (const std::uint32_t row : source.trace().streams().rows()) {
    const py::object args = member(dicts[row], keys().args);
    if (!is_dict(args)) continue;
    require(fill(args.ptr()));
    const py::object stream = member(args, keys().stream);
    if (!stream || stream.is_none()) continue;
    const py::int_ index{source.stream_index(row)};
    require(PyDict_SetItem(args.ptr(), keys().stream_index, index.ptr()) == 0);
  }
}

// A host event cannot be put on a call stack without these.
void check_host_events(const Trace& trace, std::span<const py::object> dicts, bool python_frames) {
  for (std::uint32_t row = 0; row < dicts.size(); ++row) {
    const Category category = trace.category({row});
    if (category != Category::kCpuOp && !is_runtime(category) &&
        (category != Category::kPythonFunction || !python_frames))
      continue;
    if (!member(dicts[row], keys().name)) throw_key_error("name");
    if (!member(dicts[row], keys().end)) throw_key_error("t_end");
  }
}

std::vector<std::uint64_t> prints_of(std::span<const py::object> dicts) {
  std::vector<std::uint64_t> prints;
  prints.reserve(dicts.size());
  for (const py::object& dict : dicts) prints.push_back(print_of_event(dict.ptr()));
  return prints;
}

}  // namespace

// --- events made in Python ---

EventStore::EventStore(const py::iterable& dicts, py::object event_to_category, std::string name,
                       const py::object& metadata, bool end_times)
    : event_to_category_{std::move(event_to_category)}, name_{std::move(name)} {
  if (!metadata.is_none())
    for (const auto& [key, value] : metadata.cast<py::dict>()) {
      const auto held = py::reinterpret_borrow<py::object>(value);
      const py::str text{key};
      if (text.equal(py::str{"traceEvents"})) continue;
      metadata_text_ += ",\n";
      require(encode_json(metadata_text_, text.ptr()));
      metadata_text_ += ':';
      require(encode_json(metadata_text_, held.ptr()));
    }
  Dicts events;
  for (const py::handle given : dicts)
    events.push_back(copy_of(given, static_cast<std::int64_t>(events.size()), end_times));
  take(import_dicts(std::move(events), name_));
}

EventStore::Turn::Turn(EventStore& store) : store_{store} {
  if (store_.reader_ == std::this_thread::get_id())
    throw std::runtime_error{"the events are being read: their tree cannot be asked for meanwhile"};
  if (!store_.turn_.try_lock()) {
    const py::gil_scoped_release unlocked;
    store_.turn_.lock();
  }
  store_.reader_ = std::this_thread::get_id();
}

EventStore::Turn::~Turn() {
  store_.reader_ = {};
  store_.turn_.unlock();
}

EventStore::Import EventStore::import_dicts(Dicts dicts, const std::string& name) {
  std::vector<Item> items;
  items.reserve(dicts.size());
  for (const py::object& dict : dicts) items.push_back({dict, -1, true});
  std::vector<std::int64_t> uids = uids_of(items);
  auto document = std::make_shared<std::string>(document_of(items, true));
  auto handle =
      std::make_shared<TraceHandle>(read_document(name, *document, dicts.size()), document);
  const SourceRef source{new EventSource{std::move(handle)}};
  bool are_rows = true;
  for (std::size_t i = 0; i < uids.size(); ++i)
    are_rows = are_rows && uids[i] == static_cast<std::int64_t>(i);
  if (!are_rows) source->set_uids(std::move(uids));
  write_stream_indices(*source, dicts);
  return {std::move(dicts), source};
}

void EventStore::take(Import import) {
  std::vector<std::uint64_t> prints = prints_of(import.dicts);
  std::vector<std::int64_t> uids;
  std::unordered_map<std::int64_t, std::uint32_t> rows;
  bool are_rows = true;
  for (std::uint32_t row = 0; row < import.dicts.size(); ++row) {
    uids.push_back(import.source->uid({row}));
    rows[uids.back()] = row;
    are_rows = are_rows && uids.back() == std::int64_t{row};
  }
  // All at once: nothing of the user's runs before the old ones are let go at the end.
  std::swap(made_, import.dicts);
  std::swap(source_, import.source);
  is_imported_ = true;
  prints_ = std::move(prints);
  synced_ = source_->handle();
  synced_state_ = 0;
  synced_uids_.clear();
  synced_rows_.clear();
  if (!are_rows) {
    synced_uids_ = std::move(uids);
    synced_rows_ = std::move(rows);
  }
  forget_answers();
}

void EventStore::build(const TreeSettings& settings) {
  const Turn turn{*this};
  if (state() != 0) {
    // What was changed decides, by its times: the events become dicts like any others.
    if (!is_imported_) materialize();
    Dicts dicts;
    for (const Item& item : items()) dicts.push_back(item.dict);
    if (name_.empty()) name_ = source_->trace().source().name;
    Import import = import_dicts(std::move(dicts), name_);
    check_host_events(import.source->trace(), import.dicts, settings.python_frames);
    import.source->set_tree(settings);
    for (std::uint32_t row = 0; row < import.dicts.size(); ++row)
      require(import.source->write_tree_keys(import.dicts[row].ptr(), row));
    take(std::move(import));
    return;
  }
  if (is_imported_) check_host_events(source_->trace(), made_, settings.python_frames);
  source_->set_tree(settings);
  forget_answers();
  for (std::uint32_t row = 0; row < made_.size(); ++row) {
    PyObject* const event = made_[row].ptr();
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
  if (is_imported_) prints_ = prints_of(made_);
}

// --- what was changed ---

bool EventStore::is_changed(PyObject* dict, std::size_t row) const {
  if (is_imported_) return print_of_event(dict) != prints_[row];
  EventObject* const event = to_event(dict);
  if (is_lazy(dict)) return PyDict_GET_SIZE(dict) > 1 && !source_->has_own_lists(*event);
  if (print_of_event(dict) != event->print) return true;
  const py::object args = member(py::reinterpret_borrow<py::object>(dict), keys().args);
  return args && Py_IS_TYPE(args.ptr(), event_types().args) &&
         print_of_args(args.ptr()) != to_event(args.ptr())->print;
}

std::vector<EventStore::Item> EventStore::items() {
  std::vector<Item> all;
  all.reserve(size());
  if (!events_) {
    for (std::size_t row = 0; row < made_.size(); ++row)
      all.push_back({made_[row], static_cast<std::int64_t>(row),
                     made_[row] && is_changed(made_[row].ptr(), row)});
  } else {
    std::unordered_map<PyObject*, std::size_t> moved;  // rows by event, when the list was changed
    const py::object events = events_;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(events.ptr()); ++i) {
      const auto dict = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(events.ptr(), i));
      auto row = static_cast<std::size_t>(i);
      bool is_own = row < made_.size() && made_[row].is(dict);
      if (!is_own && is_dict(dict)) {
        if (moved.empty())
          for (std::size_t at = 0; at < made_.size(); ++at)
            if (made_[at]) moved[made_[at].ptr()] = at;
        const auto found = moved.find(dict.ptr());
        is_own = found != moved.end();
        if (is_own) row = found->second;
      }
      if (is_own)
        all.push_back({dict, static_cast<std::int64_t>(row), is_changed(dict.ptr(), row)});
      else if (is_dict(dict))
        all.push_back({dict, -1, true});
    }
  }
  // Events that were only put under a UID.
  if (by_uid_ && static_cast<std::size_t>(PyDict_GET_SIZE(by_uid_.ptr())) > all.size()) {
    std::unordered_map<PyObject*, bool> known;
    for (const Item& item : all) known[item.dict.ptr()] = true;
    PyObject* key = nullptr;
    PyObject* dict = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(by_uid_.ptr(), &at, &key, &dict) != 0;)
      if (PyDict_Check(dict) && !known.contains(dict))
        all.push_back({py::reinterpret_borrow<py::object>(dict), -1, true});
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
    require(fill(dict.ptr()));
    hash = mix(mix(hash + 1, i), print_of_event(dict.ptr()));
    // Writing the event down fills its args: that must not look like a change.
    if (const py::object args = member(dict, keys().args); is_dict(args)) {
      require(fill(args.ptr()));
      hash = mix(hash, print_of_args(args.ptr()));
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
    if (items[i].dict)
      if (const auto given = to_integer(member(items[i].dict, keys().uid))) uids[i] = *given;
  }
  return uids;
}

void EventStore::put_event(std::string& out, const py::object& dict) const {
  require(fill(dict.ptr()));
  out += "{\"ph\":";
  const py::object phase = member(dict, keys().ph);
  if (!phase)
    out += "\"X\"";  // a made-up op
  else
    require(encode_json(out, phase.ptr()));
  const auto put = [&](const char* key, const py::object& value) {
    if (!value || value.is_none()) return;
    out.append(",\"").append(key).append("\":");
    require(encode_json(out, value.ptr()));
  };
  if (event_to_category_.is_none()) {
    put("cat", member(dict, keys().cat));
  } else {
    put("cat", event_to_category_(dict));
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

std::string EventStore::document_of(const std::vector<Item>& items, bool of_dicts) {
  std::string out = "{\"traceEvents\":[\n";
  if (!of_dicts) require(source_->load_texts());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (i > 0) out += ",\n";
    const EventId event{static_cast<std::uint32_t>(item.row)};
    const std::string_view text =
        of_dicts || item.is_changed ? std::string_view{} : source_->raw_text(event);
    if (!text.empty())
      out += text;
    else if (!of_dicts && !item.is_changed && source_->trace().phase(event) == Phase::kDamaged)
      out += "null";  // keeps its place
    else
      put_event(out, item.dict ? item.dict : py::reinterpret_borrow<py::object>(made(event.row)));
  }
  out += "\n]";
  if (of_dicts) {
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
    const py::object parent = member(item.dict, keys().parent);
    parents[i] = place_of(to_integer(parent));
    has_said[i] = static_cast<bool>(parent);
    const py::object children = member(item.dict, keys().children);
    is_node[i] = is_node[i] || parents[i].valid() ||
                 (children && PyList_Check(children.ptr()) && PyList_GET_SIZE(children.ptr()) > 0);
  }
  // Whom a changed event lists as its child, unless the child itself says otherwise.
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_changed) continue;
    const py::object children = member(items[i].dict, keys().children);
    if (!children || !PyList_Check(children.ptr())) continue;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(children.ptr()); ++at) {
      const EventId child = place_of(
          to_integer(py::reinterpret_borrow<py::object>(PyList_GET_ITEM(children.ptr(), at))));
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

bool EventStore::dirty() {
  const Turn turn{*this};
  return state() != synced_state_;
}

std::shared_ptr<TraceHandle> EventStore::synced() {
  const Turn turn{*this};
  return sync();
}

std::shared_ptr<TraceHandle> EventStore::sync() {
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
  auto document = std::make_shared<std::string>(document_of(all, is_imported_));
  const std::vector<std::pair<EventId, EventId>> links = links_of(all);
  const std::string name = is_imported_ ? name_ : source_->trace().source().name;
  Trace trace = read_document(name, *document, all.size());
  TraceBuilder builder{std::move(trace)};
  for (const auto& [event, parent] : links) builder.set_parent(event, parent);
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].row >= 0 &&
        std::ranges::binary_search(source_->trace().passed_over(),
                                   EventId{static_cast<std::uint32_t>(all[i].row)}))
      builder.pass_over({i});
  std::vector<std::int64_t> uids = uids_of(all);
  synced_ = std::make_shared<TraceHandle>(std::move(builder).finish(), document);
  synced_uids_ = std::move(uids);
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
  const TreeSettings settings = source_->settings();
  const py::gil_scoped_release unlocked;
  return {handle->shared_trace(),
          handle->tree({.python_frames = settings.python_frames,
                        .link_by_correlation = settings.link_by_correlation})};
}

py::object EventStore::uids() {
  const Turn turn{*this};
  static_cast<void>(sync());
  if (synced_uids_.empty()) return py::none{};
  return py::cast(synced_uids_);
}

std::vector<std::uint32_t> EventStore::rows(const std::vector<std::int64_t>& uids) {
  const Turn turn{*this};
  const std::size_t size = sync()->trace().size();
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
