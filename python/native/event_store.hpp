// event_store.hpp: the events of a trace as Python has them: a list of dicts, which programs look at
// and change. In Python, as tracelens._native.EventStore:
//
//   store = EventStore(trace, *, python_frames=False, link_by_correlation=False,
//                      mark_non_gpu_paths=True, link_fwd_bwd=True)      # of a trace that was read
//   store = import_events(dicts, *, event_to_category=None, name="memory", metadata=None)
//   store.build(python_frames=..., link_by_correlation=..., mark_non_gpu_paths=..., link_fwd_bwd=...)
//                                    # builds the tree (again): its keys replace those on the events
//   store.is_built                   # import_events leaves that to be done
//
//   store.events                     # a real list, made on first use; may be assigned
//   store.events_by_uid              # a real dict of the same objects
//   store.event(uid)                 # KeyError(uid); integers of NumPy and whole floats will do
//   len(store)                       # of the events, without making any
//   store.parent(event)              # the event's links, by what the dicts say: an event or None,
//   store.children(event)            #   a list of events,
//   store.gpu_events(event)          #   a list of events
//   store.find_external(id, pid, tid)  # the first event with that "External id" there, or None
//   store.materialize()              # fills every event
//
//   store.cpu_root_nodes, name2event_uids, metadata, seq_num2event_uids_map, dict_stream_index2event,
//   linking_key, runtime_event_uids, ac2g_event_map, pid_tid_event_map, linking_id_to_gpu_events
//                                    # as in the Python TraceLens; each made once, on first use
//
//   store.dirty()                    # whether an event was changed since the trace was made
//   store.synced()                   # the Trace for native calls: the one that was read, or, after
//                                    # changes, one made of the dicts, links as they stand there
//   store.tree()                     # the Tree of synced(), as build() was told
//   store.uids()                     # of the rows of synced(): None where they are the row numbers
//   store.rows(uids)                 # the rows of synced() with these UIDs; KeyError
//
// Filled events keep what analyses and users put on them; keys of the user's own never count as
// changes.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event_source.hpp"
#include "handle.hpp"

namespace tracelens::python {

class EventStore {
 public:
  // Of a trace that was read.
  EventStore(std::shared_ptr<TraceHandle> handle, const TreeSettings& settings);
  // Of dicts, copied; their args are shared. Throws KeyError for an event without a phase, and for
  // metadata of an unknown kind.
  EventStore(const pybind11::iterable& dicts, pybind11::object event_to_category, std::string name,
             const pybind11::object& metadata, bool end_times);
  EventStore(const EventStore&) = delete;
  EventStore& operator=(const EventStore&) = delete;

  void build(const TreeSettings& settings);
  [[nodiscard]] bool is_built() const { return source_->tree() != nullptr; }
  [[nodiscard]] std::size_t size() const;

  [[nodiscard]] pybind11::list events();
  void set_events(pybind11::list events) { events_ = std::move(events); }
  [[nodiscard]] pybind11::dict events_by_uid();
  void set_events_by_uid(pybind11::dict events) { by_uid_ = std::move(events); }
  [[nodiscard]] pybind11::object event(const pybind11::object& uid);
  [[nodiscard]] pybind11::object parent(const pybind11::dict& event);
  [[nodiscard]] pybind11::list linked(const pybind11::dict& event, const char* key);
  [[nodiscard]] pybind11::object find_external(const pybind11::object& id,
                                               const pybind11::object& pid,
                                               const pybind11::object& tid);
  void materialize();

  [[nodiscard]] pybind11::list cpu_root_nodes();
  void set_cpu_root_nodes(pybind11::list roots) { roots_ = std::move(roots); }
  [[nodiscard]] pybind11::object name2event_uids();
  [[nodiscard]] pybind11::dict metadata();
  [[nodiscard]] pybind11::dict sequences();
  [[nodiscard]] pybind11::dict stream_events();
  [[nodiscard]] std::string linking_key() const { return linking_key(source_->trace()); }
  [[nodiscard]] pybind11::list runtime_uids() const;
  [[nodiscard]] pybind11::dict flow_events();
  [[nodiscard]] pybind11::dict linked_by_place();
  [[nodiscard]] pybind11::dict gpu_events_by_link();

  [[nodiscard]] bool dirty();
  [[nodiscard]] std::shared_ptr<TraceHandle> synced();
  [[nodiscard]] TreeHandle tree();
  [[nodiscard]] pybind11::object uids();
  [[nodiscard]] std::vector<std::uint32_t> rows(const std::vector<std::int64_t>& uids);

  // For the collector.
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  using Dicts = std::vector<pybind11::object>;
  // What stands at one place of the list of events.
  struct Item {
    pybind11::object dict;  // null: an event nobody has asked for
    std::int64_t row = -1;  // of the source's trace; -1: not one of its events
    bool is_changed = false;
  };
  // A trace made of dicts, before it becomes the store's.
  struct Import {
    Dicts dicts;
    SourceRef source;
  };
  // Reading the dicts lets other threads run: one of them at a time makes a trace of a store's. Waits
  // without the interpreter's lock; throws when the thread reads the store already.
  class Turn {
   public:
    explicit Turn(EventStore& store);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EventStore& store_;
  };

  [[nodiscard]] PyObject* made(std::uint32_t row);  // borrowed
  void make_all();
  void forget_answers();
  // What follows, up to put_event(), is for who has the turn.
  [[nodiscard]] std::shared_ptr<TraceHandle> sync();
  // 0 while nothing was changed; else a number of what the dicts say.
  [[nodiscard]] std::uint64_t state();
  [[nodiscard]] std::vector<Item> items();
  [[nodiscard]] bool is_changed(PyObject* dict, std::size_t row) const;
  [[nodiscard]] std::vector<std::int64_t> uids_of(const std::vector<Item>& items) const;
  // Of dicts alone, or with what nobody has touched as it stands in the source.
  [[nodiscard]] std::string document_of(const std::vector<Item>& items, bool of_dicts);
  // The caller of every event that has a place in the tree.
  [[nodiscard]] std::vector<std::pair<EventId, EventId>> links_of(const std::vector<Item>& items);
  [[nodiscard]] Import import_dicts(Dicts dicts, const std::string& name);
  // From now on the events are these dicts, whatever the trace was.
  void take(Import import);
  void put_event(std::string& out, const pybind11::object& dict) const;
  [[nodiscard]] static std::string linking_key(const Trace& trace);
  [[nodiscard]] static pybind11::object link_value(const Trace& trace, std::uint32_t row);

  SourceRef source_;
  bool is_imported_ = false;
  pybind11::object event_to_category_ = pybind11::none{};
  std::string name_;                   // of dicts: stands in for the path in messages
  std::string metadata_text_;          // of dicts: members of the document besides the events
  Dicts made_;                         // by row; null: not made yet
  std::vector<std::uint64_t> prints_;  // of dicts, by row
  pybind11::object events_, by_uid_, roots_, names_, metadata_, sequences_, streams_, flows_,
      by_place_, by_link_;  // null until asked for
  std::shared_ptr<TraceHandle> synced_;
  std::uint64_t synced_state_ = 0;
  std::vector<std::int64_t> synced_uids_;                        // empty: the rows
  std::unordered_map<std::int64_t, std::uint32_t> synced_rows_;  // by UID; empty: the same number
  std::mutex turn_;
  std::thread::id reader_;  // who has the turn
};

}  // namespace tracelens::python
