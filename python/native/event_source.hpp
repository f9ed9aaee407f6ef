// event_source.hpp: what the keys of a trace's events are: from its columns, its tree, and the text of
// its file, which is read once more when it is first needed. Shared by all events of a store.
// All functions need the interpreter's lock; nullptr and false mean that an exception is set.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/raw_events.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event_types.hpp"
#include "handle.hpp"

namespace tracelens::python {

// How a tree is built and which of its keys events get.
struct TreeSettings {
  bool python_frames = false;
  bool link_by_correlation = false;
  bool mark_non_gpu_paths = true;
  bool link_autograd = true;
};

class EventSource {
 public:
  explicit EventSource(std::shared_ptr<TraceHandle> handle);
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  void retain() { ++users_; }
  void release() {
    if (--users_ == 0) delete this;
  }

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const std::shared_ptr<TraceHandle>& handle() const { return handle_; }
  [[nodiscard]] const Tree* tree() const { return tree_.get(); }  // nullptr: none was built
  [[nodiscard]] const TreeSettings& settings() const { return settings_; }
  // Builds it, or takes the one that the trace has; the events made so far keep the keys they have.
  void set_tree(const TreeSettings& settings);

  // The UIDs of rows, where they are not the rows themselves.
  void set_uids(std::vector<std::int64_t> uids) { uids_ = std::move(uids); }
  [[nodiscard]] std::int64_t uid(EventId event) const {
    return uids_.empty() ? std::int64_t{event.row} : uids_[event.row];
  }
  [[nodiscard]] PyObject* uid_list(std::span<const EventId> events) const;
  // The event as it is written; empty when nobody has asked for texts, or there are none.
  [[nodiscard]] std::string_view raw_text(EventId event) const {
    return raw_ && event.row < raw_->size() ? raw_->text(event) : std::string_view{};
  }

  // --- one event ---
  enum class Answer : std::uint8_t { kValue, kAbsent, kUnknown };
  // A key of an event that is not filled. kUnknown: it must be filled to know.
  Answer look_up(EventObject& event, PyObject* key, PyObject*& value);
  // Reads the file once more, unless that was done. Lets other threads run meanwhile.
  [[nodiscard]] bool load_texts();
  [[nodiscard]] bool fill_event(EventObject& event);
  [[nodiscard]] bool fill_args(EventObject& args);
  // Puts the keys that come from the tree onto a dict, in place of those that are there.
  [[nodiscard]] bool write_tree_keys(PyObject* dict, std::uint32_t row);
  // Whether the lists of an event that is not filled, which somebody may have, are still what the
  // tree says.
  [[nodiscard]] bool has_own_lists(EventObject& event);

  [[nodiscard]] PyObject* uid_key() const { return keys_[kUid]; }
  [[nodiscard]] PyObject* text(StringId id);  // a new reference to the one text
  [[nodiscard]] PyObject* pid(TrackId track);
  [[nodiscard]] PyObject* tid(TrackId track);
  // Whether an event is of those that call stacks are made of.
  [[nodiscard]] bool is_host_event(std::uint32_t row) const;
  // The position of an event among those of its stream, by start; for events that have a stream.
  [[nodiscard]] std::uint32_t stream_index(std::uint32_t row);
  // GPU events in the order of their launches in the file.
  [[nodiscard]] std::vector<EventId> by_launch(std::span<const EventId> gpu_events) const;

 private:
  enum Key : std::uint8_t {
    kName,
    kCat,
    kTs,
    kDur,
    kPid,
    kTid,
    kPh,
    kUid,
    kEnd,
    kTree,
    kParent,
    kChildren,
    kGpuEvents,
    kNonGpuPath,
    kModuleStack,
    kOpRoot,
    kForward,
    kBackward,
    kArgs,
    kStream,
    kStreamIndex,
    kKeyCount,
  };
  static constexpr Key kFirstTreeKey = kTree, kLastTreeKey = kBackward;
  // How the numbers of the file are written.
  struct TimeStyle {
    bool is_known = false, has_integers = false, has_reals = false, has_small_parts = false;
  };

  ~EventSource();
  Answer raw_value(Key key, std::uint32_t row, PyObject*& value);
  Answer time_value(Key key, std::uint32_t row, PyObject*& value);
  Answer tree_value(Key key, std::uint32_t row, PyObject*& value);
  PyObject* time(std::int64_t ns);  // nullptr without an exception: only the text knows
  PyObject* category(std::uint32_t row);
  [[nodiscard]] PyObject* new_uid(EventId event) const { return PyLong_FromLongLong(uid(event)); }
  PyObject* children(NodeId node);
  PyObject* module_stack(NodeId node);
  [[nodiscard]] PyObject* new_module_stack(NodeId module);
  void forget_modules();
  [[nodiscard]] bool fill_from_text(PyObject* dict, std::uint32_t row, std::string_view text);
  [[nodiscard]] bool fill_from_columns(PyObject* dict, std::uint32_t row);
  [[nodiscard]] PyObject* args_from_columns(std::uint32_t row);
  void learn_time_style();

  long users_ = 0;
  std::shared_ptr<TraceHandle> handle_;
  const Trace& trace_;
  std::shared_ptr<const Tree> tree_;
  TreeSettings settings_;
  std::vector<bool> op_roots_;
  std::vector<std::int64_t> uids_;  // empty: the rows
  std::optional<RawEvents> raw_;
  bool has_loaded_ = false, has_begins_ = false;
  TimeStyle style_;
  bool has_style_ = false;
  std::array<PyObject*, kKeyCount> keys_{};
  std::vector<PyObject*> texts_;          // by StringId
  std::vector<PyObject*> module_labels_;  // by StringId
  std::vector<NodeId> modules_;           // by node: the nn.Module above; empty until asked for
  std::unordered_map<std::uint32_t, PyObject*> module_stacks_;  // lists, by innermost module
  std::vector<PyObject*> pids_, tids_;                          // by TrackId
  std::array<PyObject*, kCategoryCount> categories_{};
  std::array<PyObject*, 6> phases_{};          // by Phase; the letter
  std::vector<std::uint32_t> stream_indices_;  // by place among trace.streams()
  std::vector<RawMember> members_;
};

// Keeps a source alive, for what lets other threads or code of the user's run meanwhile.
class SourceRef {
 public:
  SourceRef() = default;
  explicit SourceRef(EventSource* source) : source_{source} { source_->retain(); }
  SourceRef(const SourceRef& other) : source_{other.source_} {
    if (source_ != nullptr) source_->retain();
  }
  SourceRef(SourceRef&& other) noexcept : source_{std::exchange(other.source_, nullptr)} {}
  SourceRef& operator=(SourceRef other) noexcept {
    std::swap(source_, other.source_);
    return *this;
  }
  ~SourceRef() {
    if (source_ != nullptr) source_->release();
  }
  EventSource* operator->() const { return source_; }
  EventSource& operator*() const { return *source_; }

 private:
  EventSource* source_ = nullptr;
};

}  // namespace tracelens::python
