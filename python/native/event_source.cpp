#include "event_source.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <new>
#include <numeric>
#include <string>
#include <tracelens/error.hpp>
#include <utility>

#include "errors.hpp"
#include "event_json.hpp"
#include "event_print.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// What a document of JSON would hold: lists where the core has tuples.
// NOLINTNEXTLINE(misc-no-recursion)
py::object as_json(py::object value) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) return value;
  py::list made;
  for (const py::handle item : value)
    made.append(as_json(py::reinterpret_borrow<py::object>(item)));
  return made;
}

constexpr std::array kKeyTexts = {
    "name",        "cat",       "ts",         "dur",          "pid",
    "tid",         "ph",        "UID",        "t_end",        "tree",
    "parent",      "children",  "gpu_events", "non_gpu_path", "nn_module_stack",
    "cpu_op_root", "fwd_event", "bwd_events", "args",         "stream",
    "stream_index"};

constexpr std::size_t kStyleSample = std::size_t{256} << 10;
constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;

PyObject* held(PyObject* object) {
  Py_XINCREF(object);
  return object;
}

PyObject* new_text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// Steals the value; false when it is nullptr or cannot be put there.
bool put(PyObject* dict, PyObject* key, PyObject* value) {
  if (value == nullptr) return false;
  const int result = PyDict_SetItem(dict, key, value);
  Py_DECREF(value);
  return result == 0;
}
bool put(PyObject* dict, const char* key, PyObject* value) {
  if (value == nullptr) return false;
  const int result = PyDict_SetItemString(dict, key, value);
  Py_DECREF(value);
  return result == 0;
}

// A list of numbers or texts: nothing in it can hold it. Looking at some hundred thousand of them again
// and again would cost the collector more than making them.
PyObject* without_collector(PyObject* list) {
  if (list != nullptr) PyObject_GC_UnTrack(list);
  return list;
}

// Microseconds, rounded once: what Python makes of the text.
double to_us(std::int64_t ns) {
  if (ns > -kExactInDouble && ns < kExactInDouble) return static_cast<double>(ns) / 1000.0;
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

// Sets the exception that a function of the module would raise; `path` is what is being read.
template <class Work>
bool guarded(const std::string& path, const Work& work) {
  try {
    or_input_error({path}, work);
    return true;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (...) {
    set_python_error(std::current_exception());
  }
  return false;
}

std::string_view without_number(std::string_view module) {
  std::size_t end = module.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(module[end - 1])) != 0) --end;
  if (end == module.size() || end == 0 || module[end - 1] != '_') return module;
  return module.substr(0, end - 1);
}

}  // namespace

EventSource::EventSource(std::shared_ptr<TraceHandle> handle)
    : handle_{std::move(handle)}, trace_{handle_->trace()} {
  static_assert(kKeyTexts.size() == kKeyCount);
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    keys_[i] = PyUnicode_InternFromString(kKeyTexts[i]);
    if (keys_[i] == nullptr) throw py::error_already_set{};
  }
  texts_.assign(trace_.string_count(), nullptr);
  module_labels_.assign(trace_.string_count(), nullptr);
  pids_.assign(trace_.track_table().size(), nullptr);
  tids_.assign(trace_.track_table().size(), nullptr);
  // Ends of begin/end pairs: their begins are complete events, and were not written as such.
  has_begins_ = std::ranges::find(trace_.phases(), Phase::kOther) != trace_.phases().end();
}

EventSource::~EventSource() {
  forget_modules();
  for (auto* const list : {&texts_, &module_labels_, &pids_, &tids_})
    for (PyObject* const object : *list) Py_XDECREF(object);
  for (PyObject* const object : keys_) Py_XDECREF(object);
  for (PyObject* const object : categories_) Py_XDECREF(object);
  for (PyObject* const object : phases_) Py_XDECREF(object);
}

void EventSource::set_tree(const TreeSettings& settings) {
  std::shared_ptr<const Tree> tree;
  {
    const py::gil_scoped_release unlocked;
    tree = handle_->tree({.python_frames = settings.python_frames,
                          .link_by_correlation = settings.link_by_correlation});
  }
  tree_ = std::move(tree);
  settings_ = settings;
  forget_modules();
  op_roots_.assign(trace_.size(), false);
  for (const EventId op : tree_->op_roots()) op_roots_[op.row] = true;
}

PyObject* EventSource::uid_list(std::span<const EventId> events) const {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(events.size()));
  if (list == nullptr) return nullptr;
  for (std::size_t i = 0; i < events.size(); ++i) {
    PyObject* const uid = new_uid(events[i]);
    if (uid == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), uid);
  }
  return without_collector(list);
}

PyObject* EventSource::text(StringId id) {
  PyObject*& text = texts_[id.row];
  if (text == nullptr) text = new_text(trace_.text(id));
  return held(text);
}

PyObject* EventSource::pid(TrackId track) {
  PyObject*& value = pids_[track.row];
  if (value == nullptr) value = python_value(trace_.track(track).pid).release().ptr();
  return held(value);
}

PyObject* EventSource::tid(TrackId track) {
  PyObject*& value = tids_[track.row];
  if (value == nullptr) value = python_value(trace_.track(track).tid).release().ptr();
  return held(value);
}

PyObject* EventSource::category(std::uint32_t row) {
  const Category category = trace_.category({row});
  if (category == Category::kNone) return held(Py_None);
  const std::string_view text = trace_.category_text({row});
  PyObject*& known = categories_[static_cast<std::size_t>(category)];
  if (known == nullptr) known = new_text(category_name(category));
  if (known == nullptr || text == category_name(category)) return held(known);
  PyObject* other = new_text(text);
  if (other != nullptr) PyUnicode_InternInPlace(&other);
  return other;
}

bool EventSource::is_host_event(std::uint32_t row) const {
  const Category category = trace_.category({row});
  return (category == Category::kCpuOp || is_runtime(category) ||
          (category == Category::kPythonFunction && settings_.python_frames)) &&
         trace_.phase({row}) == Phase::kComplete;
}

std::vector<EventId> EventSource::by_launch(std::span<const EventId> gpu_events) const {
  std::vector<EventId> events{gpu_events.begin(), gpu_events.end()};
  const auto launch = [this](EventId event) { return tree_->launch_of(event); };
  if (!std::ranges::is_sorted(events, {}, launch)) std::ranges::stable_sort(events, {}, launch);
  return events;
}

std::uint32_t EventSource::stream_index(std::uint32_t row) {
  const std::span<const std::uint32_t> rows = trace_.streams().rows();
  if (stream_indices_.size() != rows.size()) {
    const std::span<const std::int64_t> streams = trace_.streams().values();
    std::vector<std::uint32_t> places(rows.size());
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, {}, [&](std::uint32_t place) {
      return std::pair{streams[place], trace_.ts_ns()[rows[place]]};
    });
    stream_indices_.assign(rows.size(), 0);
    for (std::size_t i = 1; i < places.size(); ++i)
      if (streams[places[i]] == streams[places[i - 1]])
        stream_indices_[places[i]] = stream_indices_[places[i - 1]] + 1;
  }
  return stream_indices_[static_cast<std::size_t>(std::ranges::lower_bound(rows, row) -
                                                  rows.begin())];
}

// --- keys of events that are not filled ---

void EventSource::learn_time_style() {
  has_style_ = true;
  std::string head;
  try {
    const py::gil_scoped_release unlocked;
    head = handle_->text_head(kStyleSample);
  } catch (const std::exception&) {
    return;  // the file is gone: filling an event will say so
  }
  const auto see = [&](std::string_view key) {
    for (std::size_t at = head.find(key); at != std::string::npos; at = head.find(key, at + 1)) {
      std::size_t from = at + key.size();
      while (from < head.size() && (head[from] == ':' || head[from] == ' ')) ++from;
      const std::size_t to = head.find_first_not_of("-0123456789.eE+", from);
      if (to == std::string::npos || to == from) continue;
      const std::string_view number = std::string_view{head}.substr(from, to - from);
      const std::size_t point = number.find_first_of(".eE");
      style_.is_known = true;
      if (point == std::string_view::npos) {
        style_.has_integers = true;
      } else {
        style_.has_reals = true;
        if (number[point] != '.' || number.size() - point > 4 ||
            number.find_first_of("eE") != std::string_view::npos)
          style_.has_small_parts = true;
      }
    }
  };
  see("\"ts\"");
  see("\"dur\"");
}

// Times are whole nanoseconds here. Whether 12 or 12.0 was written, and whether there were more
// digits, is seen from the beginning of the file.
PyObject* EventSource::time(std::int64_t ns) {
  if (!has_style_) learn_time_style();
  if (!style_.is_known || style_.has_small_parts) return nullptr;
  if (ns % 1000 != 0) return PyFloat_FromDouble(to_us(ns));
  if (style_.has_integers && style_.has_reals) return nullptr;
  if (style_.has_reals) return PyFloat_FromDouble(to_us(ns));
  return PyLong_FromLongLong(ns / 1000);
}

EventSource::Answer EventSource::time_value(Key key, std::uint32_t row, PyObject*& value) {
  const std::int64_t ts = trace_.ts_ns()[row], dur = trace_.dur_ns()[row];
  // A length of 0 may be what a negative one became, and one of a begin was not written.
  const bool is_usable =
      ts != kAbsent && (key == kTs || (dur != kAbsent && dur != 0 && !has_begins_));
  if (!is_usable) return Answer::kUnknown;
  if (key == kTs || key == kDur) {
    value = time(key == kTs ? ts : dur);
  } else if (PyObject* const start = time(ts)) {
    if (PyObject* const length = time(dur)) {
      value = PyNumber_Add(start, length);
      Py_DECREF(length);
    }
    Py_DECREF(start);
  }
  return value == nullptr ? Answer::kUnknown : Answer::kValue;
}

EventSource::Answer EventSource::raw_value(Key key, std::uint32_t row, PyObject*& value) {
  const Phase phase = trace_.phase({row});
  if (phase == Phase::kDamaged) return Answer::kUnknown;
  switch (key) {
    case kName:
      if (trace_.name({row}).empty()) return Answer::kUnknown;
      value = text(trace_.names()[row]);
      break;
    case kCat:
      value = category(row);
      break;
    case kTs:
    case kDur:
    case kEnd:
      return time_value(key, row, value);
    case kPid:
    case kTid: {
      const Track& track = trace_.track(EventId{row});
      const Value& part = key == kPid ? track.pid : track.tid;
      if (!part.is_int() && !part.is_text()) return Answer::kUnknown;
      value = key == kPid ? pid(trace_.tracks()[row]) : tid(trace_.tracks()[row]);
      break;
    }
    case kPh: {
      constexpr std::array<const char*, 6> kLetters = {"X", "s", "f", nullptr, "M", nullptr};
      const auto place = static_cast<std::size_t>(phase);
      if (kLetters[place] == nullptr || (phase == Phase::kComplete && has_begins_))
        return Answer::kUnknown;
      if (phases_[place] == nullptr) phases_[place] = PyUnicode_InternFromString(kLetters[place]);
      value = held(phases_[place]);
      break;
    }
    default:
      return Answer::kUnknown;
  }
  return value == nullptr ? Answer::kUnknown : Answer::kValue;
}

PyObject* EventSource::children(NodeId node) {
  std::vector<EventId> events;
  for (NodeId child{node.row + 1}; child != tree_->end(node); child = tree_->end(child))
    events.push_back(tree_->event(child));
  return uid_list(events);
}

// The labels of a module and of those around it, outermost first.
PyObject* EventSource::new_module_stack(NodeId module) {
  PyObject* const list = PyList_New(0);
  if (list == nullptr) return nullptr;
  bool done = true;
  for (; done && module.valid(); module = modules_[module.row]) {
    const StringId name = trace_.names()[tree_->event(module).row];
    PyObject*& label = module_labels_[name.row];
    if (label == nullptr) label = new_text(without_number(trace_.text(name)));
    done = label != nullptr && PyList_Append(list, label) == 0;
  }
  if (done && PyList_GET_SIZE(list) == 0) {
    PyObject* const root = PyUnicode_InternFromString("root");
    done = root != nullptr && PyList_Append(list, root) == 0;
    Py_XDECREF(root);
  } else if (done) {
    done = PyList_Reverse(list) == 0;
  }
  if (done) return list;
  Py_DECREF(list);
  return nullptr;
}

PyObject* EventSource::module_stack(NodeId node) {
  if (modules_.empty()) {
    modules_.resize(tree_->size());
    for (std::uint32_t row = 0; row < modules_.size(); ++row) {
      const NodeId above = tree_->parent(NodeId{row});
      if (above.valid()) modules_[row] = tree_->is_module(above) ? above : modules_[above.row];
    }
  }
  PyObject*& stack = module_stacks_[modules_[node.row].row];
  if (stack == nullptr) stack = new_module_stack(modules_[node.row]);
  // A copy: a program may change the list it is given.
  return stack == nullptr ? nullptr
                          : without_collector(PyList_GetSlice(stack, 0, PyList_GET_SIZE(stack)));
}

void EventSource::forget_modules() {
  modules_.clear();
  for (const auto& [module, stack] : module_stacks_) Py_XDECREF(stack);
  module_stacks_.clear();
}

EventSource::Answer EventSource::tree_value(Key key, std::uint32_t row, PyObject*& value) {
  if (tree_ == nullptr) return Answer::kAbsent;
  const NodeId node = tree_->node({row});
  const bool is_node = node.valid();
  const bool is_gpu_event = is_gpu(trace_.category({row}));
  bool is_there = false;
  switch (key) {
    case kTree:
      is_there = is_node || is_host_event(row);
      if (is_there) value = held(Py_True);
      break;
    case kParent:
      is_there = is_node && tree_->parent(node).valid();
      if (is_there) value = new_uid(tree_->event(tree_->parent(node)));
      break;
    case kChildren:
      is_there = is_node && tree_->end(node).row != node.row + 1;
      if (is_there) value = children(node);
      break;
    case kGpuEvents:
      is_there = is_node && !is_gpu_event && tree_->gpu_count(node) > 0;
      if (is_there) value = uid_list(by_launch(tree_->gpu_events(node)));
      break;
    case kNonGpuPath:
      is_there =
          settings_.mark_non_gpu_paths && !is_gpu_event && !(is_node && tree_->gpu_count(node) > 0);
      if (is_there) value = held(Py_True);
      break;
    case kModuleStack:
      is_there = is_node && !is_gpu_event;
      if (is_there) value = module_stack(node);
      break;
    case kOpRoot:
      is_there = op_roots_[row];
      if (is_there) value = held(Py_True);
      break;
    case kForward: {
      const EventId forward = settings_.link_autograd ? tree_->forward_of({row}) : EventId{};
      is_there = forward.valid();
      if (is_there) value = new_uid(forward);
      break;
    }
    case kBackward: {
      const std::span<const EventId> backward = tree_->backward_of({row});
      is_there = settings_.link_autograd && !backward.empty();
      if (is_there) value = uid_list(backward);
      break;
    }
    default:
      return Answer::kUnknown;
  }
  if (!is_there) return Answer::kAbsent;
  return value == nullptr ? Answer::kUnknown : Answer::kValue;
}

EventSource::Answer EventSource::look_up(EventObject& event, PyObject* key, PyObject*& value) {
  // Literals are interned; any other text that is equal is found when the event is filled.
  const auto found = std::ranges::find(keys_, key);
  const auto place = static_cast<Key>(found - keys_.begin());
  if (place == kUid) {
    value = held(PyDict_GetItemWithError(reinterpret_cast<PyObject*>(&event), key));
    return value == nullptr ? Answer::kUnknown : Answer::kValue;
  }
  if (place < kFirstTreeKey) return raw_value(place, event.row, value);
  if (place > kLastTreeKey) return Answer::kUnknown;
  auto* const dict = reinterpret_cast<PyObject*>(&event);
  if (PyDict_GET_SIZE(dict) > 1) {
    value = held(PyDict_GetItemWithError(dict, key));
    if (value != nullptr) return Answer::kValue;
  }
  const Answer answer = tree_value(place, event.row, value);
  // A list that was handed out is the event's from then on.
  if (answer == Answer::kValue && PyList_CheckExact(value) &&
      PyDict_SetItem(dict, key, value) != 0) {
    Py_CLEAR(value);
    return Answer::kUnknown;
  }
  return answer;
}

bool EventSource::has_own_lists(EventObject& event) {
  auto* const dict = reinterpret_cast<PyObject*>(&event);
  PyObject* key = nullptr;
  PyObject* list = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &list) != 0;) {
    const auto place = static_cast<Key>(std::ranges::find(keys_, key) - keys_.begin());
    if (place < kFirstTreeKey || place > kLastTreeKey) continue;
    PyObject* fresh = nullptr;
    Py_INCREF(list);  // what somebody put into it may compare by code of its own
    const bool is_same = tree_value(place, event.row, fresh) == Answer::kValue &&
                         PyObject_RichCompareBool(fresh, list, Py_EQ) == 1;
    Py_DECREF(list);
    Py_XDECREF(fresh);
    if (!is_same) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

// --- filling ---

bool EventSource::load_texts() {
  if (has_loaded_) return true;
  std::optional<RawEvents> raw;
  const bool done = guarded(trace_.source().name, [&] {
    const py::gil_scoped_release unlocked;
    raw = handle_->raw_events();
    // Events may have been added to those of the file.
    if (raw && raw->size() != trace_.size() && raw->size() != trace_.recorded())
      throw Error{trace_.source().name, "the file was changed after it was read"};
  });
  if (!done) return false;
  if (!has_loaded_) raw_ = std::move(raw);  // another thread may have been faster
  has_loaded_ = true;
  return true;
}

bool EventSource::fill_from_text(PyObject* dict, std::uint32_t row, std::string_view text) {
  bool has_category = false;
  py::object start, length;
  bool has_end = false;
  // Its memory is used again, but not while it is in use: the collector may run anything.
  std::vector<RawMember> members = std::exchange(members_, {});
  if (split_object(text, members)) {
    for (const auto& [raw_key, raw] : members) {
      PyObject* const key = decode_json_key(raw_key);
      if (key == nullptr) return false;
      PyObject* value = nullptr;
      if (key == keys_[kArgs] && raw.starts_with('{'))
        value = new_lazy_args(*this, row, raw);
      else if (key == keys_[kName] && raw.starts_with('"'))
        value = this->text(trace_.names()[row]);
      else if (raw.size() >= 2 && raw.starts_with('"'))
        value = decode_json_text(raw.substr(1, raw.size() - 2));
      else
        value = decode_json(raw);
      if (key == keys_[kCat]) has_category = true;
      if (key == keys_[kTs]) start = py::reinterpret_borrow<py::object>(value);
      if (key == keys_[kDur]) length = py::reinterpret_borrow<py::object>(value);
      if (key == keys_[kEnd]) has_end = true;
      const bool done = put(dict, key, value);
      Py_DECREF(key);
      if (!done) return false;
    }
  }
  members_ = std::move(members);
  if (!has_category && PyDict_SetItem(dict, keys_[kCat], Py_None) != 0) return false;
  if (!put(dict, keys_[kUid], new_uid({row}))) return false;
  if (start && length && !has_end && PyNumber_Check(start.ptr()) != 0 &&
      PyNumber_Check(length.ptr()) != 0)
    return put(dict, keys_[kEnd], PyNumber_Add(start.ptr(), length.ptr()));
  return true;
}

// Of formats whose events are no texts, the keys that Chrome's would have.
bool EventSource::fill_from_columns(PyObject* dict, std::uint32_t row) {
  constexpr std::array<const char*, 7> kLetters = {"X", "s", "f", "i", "M", "C", ""};
  const std::int64_t ts = trace_.ts_ns()[row], dur = trace_.dur_ns()[row];
  bool done =
      put(dict, keys_[kPh],
          PyUnicode_InternFromString(kLetters[static_cast<std::size_t>(trace_.phase({row}))])) &&
      put(dict, keys_[kCat], category(row)) && put(dict, keys_[kName], text(trace_.names()[row])) &&
      put(dict, keys_[kPid], pid(trace_.tracks()[row])) &&
      put(dict, keys_[kTid], tid(trace_.tracks()[row]));
  if (done && ts != kAbsent) done = put(dict, keys_[kTs], PyFloat_FromDouble(to_us(ts)));
  if (done && dur != kAbsent) done = put(dict, keys_[kDur], PyFloat_FromDouble(to_us(dur)));
  if (done) done = put(dict, keys_[kArgs], args_from_columns(row));
  if (done) done = put(dict, keys_[kUid], new_uid({row}));
  if (done && ts != kAbsent && dur != kAbsent)
    done = put(dict, keys_[kEnd], PyFloat_FromDouble(to_us(ts) + to_us(dur)));
  return done;
}

PyObject* EventSource::args_from_columns(std::uint32_t row) {
  const EventId event{row};
  PyObject* const args = PyDict_New();
  if (args == nullptr) return nullptr;
  const bool done = guarded(trace_.source().name, [&] {
    const auto put_number = [&](const char* key, std::optional<std::int64_t> value) {
      if (value && *value != kAbsent && !put(args, key, PyLong_FromLongLong(*value)))
        throw py::error_already_set{};
    };
    const auto put_value = [&](const char* key, const Value& value) {
      if (!value.is_null() && !put(args, key, as_json(python_value(value)).release().ptr()))
        throw py::error_already_set{};
    };
    put_number("External id", trace_.external_ids().at(event));
    put_number("Sequence number", trace_.sequence_numbers().at(event));
    put_number("Fwd thread id", trace_.forward_threads().at(event));
    put_number("correlation", trace_.correlations()[row]);
    put_number("device", trace_.devices().at(event));
    put_number("stream", trace_.streams().at(event));
    if (const SignatureId id = trace_.signatures()[row]; id.valid()) {
      const Signature& signature = trace_.signature(id);
      put_value("Input Dims", signature.dims);
      put_value("Input type", signature.types);
      put_value("Input Strides", signature.strides);
      put_value("Concrete Inputs", signature.concrete);
    }
    if (const auto stack = trace_.call_stacks().at(event))
      if (!put(args, "Call stack", text(*stack))) throw py::error_already_set{};
    const Value details = trace_.details(event);
    for (std::size_t i = 0; i < details.keys().size(); ++i)
      put_value(details.keys()[i].c_str(), details.items()[i]);
  });
  if (done) return args;
  Py_DECREF(args);
  return nullptr;
}

bool EventSource::write_tree_keys(PyObject* dict, std::uint32_t row) {
  for (int i = kFirstTreeKey; i <= kLastTreeKey; ++i) {
    const auto key = static_cast<Key>(i);
    PyObject* value = nullptr;
    switch (tree_value(key, row, value)) {
      case Answer::kValue:
        if (!put(dict, keys_[key], value)) return false;
        break;
      case Answer::kAbsent:
        if (PyDict_GetItemWithError(dict, keys_[key]) != nullptr &&
            PyDict_DelItem(dict, keys_[key]) != 0)
          return false;
        break;
      case Answer::kUnknown:
        break;
    }
    if (PyErr_Occurred() != nullptr) return false;
  }
  return true;
}

bool EventSource::fill_event(EventObject& event) {
  auto* const dict = reinterpret_cast<PyObject*>(&event);
  const std::uint32_t row = event.row;
  // The lists that were handed out stay the event's own.
  std::vector<std::pair<Key, PyObject*>> handed_out;
  bool is_untouched = true;
  if (PyDict_GET_SIZE(dict) > 1) {
    is_untouched = has_own_lists(event);
    for (int key = kFirstTreeKey; key <= kLastTreeKey; ++key)
      if (PyObject* const list =
              PyDict_GetItemWithError(dict, keys_[static_cast<std::size_t>(key)]))
        handed_out.push_back({static_cast<Key>(key), held(list)});
  }
  PyDict_Clear(dict);
  bool done = raw_ && row < raw_->size() ? fill_from_text(dict, row, raw_->text({row}))
                                         : fill_from_columns(dict, row);
  for (int i = kFirstTreeKey; done && i <= kLastTreeKey; ++i) {
    const auto key = static_cast<Key>(i);
    const auto own = std::ranges::find(handed_out, key, &std::pair<Key, PyObject*>::first);
    PyObject* value = nullptr;
    if (own != handed_out.end())
      done = put(dict, keys_[key], held(own->second));
    else if (tree_value(key, row, value) == Answer::kValue)
      done = put(dict, keys_[key], value);
    done = done && PyErr_Occurred() == nullptr;
  }
  for (const auto& [key, list] : handed_out) Py_DECREF(list);
  if (!done) {
    // As it was, so that it can be tried again.
    PyObject *type = nullptr, *error = nullptr, *where = nullptr;
    PyErr_Fetch(&type, &error, &where);
    PyDict_Clear(dict);
    if (!put(dict, keys_[kUid], new_uid({row}))) PyErr_Clear();
    PyErr_Restore(type, error, where);
    return false;
  }
  event.print = print_of_event(dict) + (is_untouched ? 0 : 1);
  return true;
}

bool EventSource::fill_args(EventObject& args) {
  auto* const dict = reinterpret_cast<PyObject*>(&args);
  PyDict_Clear(dict);
  if (!decode_json_members({args.text, args.size}, dict)) return false;
  PyObject* const stream = PyDict_GetItemWithError(dict, keys_[kStream]);
  if (stream != nullptr && stream != Py_None && trace_.streams().at({args.row}).has_value() &&
      !put(dict, keys_[kStreamIndex], PyLong_FromUnsignedLong(stream_index(args.row))))
    return false;
  args.print = print_of_args(dict);
  return true;
}

}  // namespace tracelens::python
