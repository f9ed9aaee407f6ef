// columns.hpp: rocprofv3's records as the events of a trace, with names looked up in the
// tables of their process.
//   RocprofColumns columns{builder, run};  // one for each process; `run` is shared
//   columns.set_strings(strings); columns.add_symbol(symbol); ...
//   columns.add(list, record);             // in file order
//   columns.finish();
// A record is appended at once when the tables it refers to are known, as they are in files of
// rocprofv3; when they stand behind the records, the records wait for them. Hardware counters are
// joined to their dispatches at the end of the process; one whose dispatch is in no list becomes a
// dispatch itself, as profiles of nothing but counters need it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <tracelens/value.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "readers/rocprof/agents.hpp"
#include "readers/rocprof/counters.hpp"
#include "readers/rocprof/record.hpp"
#include "readers/rocprof/run.hpp"
#include "trace/string_table.hpp"

namespace tracelens {

// The lists of records that are read; the order is that of kRecordLists.
enum class RocprofList : std::uint8_t {
  kDispatch,
  kCopy,
  kHipApi,
  kHsaApi,
  kMarkerApi,
  kRcclApi,
  kRocdecodeApi,
  kRocjpegApi,
  kAllocation,
  kScratch,
};
// The key of the list in "buffer_records", which is also the category of its events.
[[nodiscard]] std::string_view list_name(RocprofList list);
[[nodiscard]] std::optional<RocprofList> list_of(std::string_view key);

class RocprofColumns {
 public:
  RocprofColumns(TraceBuilder& builder, RocprofRun& run)
      : builder_{builder}, run_{run}, agents_{run} {}

  // --- the tables of the process; call each once, even when its list is empty ---
  void set_metadata(const Value& metadata, std::uint64_t byte);
  void set_agents(std::vector<Value> agents);
  void set_strings(const Value& strings);
  void add_symbol(const Value& symbol);
  void symbols_done() { known_ |= kSymbols; }

  // --- its records ---
  void add(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  [[nodiscard]] RocprofCounters& counters() { return counters_; }
  // Dispatches need not be remembered for counters that do not come any more.
  void counters_done() { remembers_dispatches_ = !counters_.dispatches().empty(); }
  void finish();  // appends what waited, joins the counters

  [[nodiscard]] const RocprofProcess& process() const { return process_; }

 private:
  using Agent = RocprofAgents::Agent;
  struct Symbol {
    std::string name;
    std::string config;  // its share of a dispatch's details
  };
  // What the details of a dispatch are made of; dispatches with equal ones share the text.
  struct Config {
    std::int64_t kernel_id, agent, agent_node, queue, thread, private_bytes, group_bytes;
    std::array<std::int64_t, 3> grid, group;
    bool operator==(const Config&) const = default;
  };
  struct Waiting {
    RocprofList list;
    RocprofRecord record;
    std::uint64_t byte;
  };
  struct Dispatch {
    EventId event;
    std::int64_t id, correlation;  // as in the file
  };
  struct GpuTrack {
    TrackId id;
    std::int64_t stream;  // its number in the trace
  };

  void number_process();
  void append(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  EventId append_event(RocprofList list, const RocprofRecord& record, std::uint64_t byte,
                       StringId name, TrackId track);
  EventId append_gpu_event(RocprofList list, const RocprofRecord& record, std::uint64_t byte,
                           StringId name, const Agent& gpu);
  [[nodiscard]] Agent agent_of(const RocprofRecord& dispatch) const;
  [[nodiscard]] std::string name_of(RocprofList list, const RocprofRecord& record) const;
  StringId call_name(RocprofList list, const RocprofRecord& record);
  StringId kernel_name(std::int64_t kernel_id);
  StringId dispatch_details(const RocprofRecord& record);
  [[nodiscard]] std::string dispatch_text(const RocprofRecord& record) const;
  EventId append_dispatch(const RocprofRecord& record, std::uint64_t byte);
  void append_copy(const RocprofRecord& record, std::uint64_t byte);
  void append_call(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  std::optional<StringId> call_details(std::int64_t operation, std::int64_t bytes);
  const GpuTrack& gpu_track(std::int64_t gpu, std::int64_t stream);
  TrackId thread_track(std::int64_t thread);
  void join_counters();

  static constexpr unsigned kMetadata = 1, kAgents = 2, kStrings = 4, kSymbols = 8, kAll = 15;
  TraceBuilder& builder_;
  RocprofRun& run_;
  unsigned known_ = 0;
  bool is_numbered_ = false;  // process and agents have their numbers in the trace
  std::int64_t own_pid_ = 0;
  std::uint64_t metadata_byte_ = 0;
  RocprofProcess process_;
  std::vector<Value> agent_table_;
  RocprofAgents agents_;
  std::unordered_map<std::int64_t, Symbol> symbols_;                      // by kernel id
  std::vector<std::vector<std::string>> operations_;                      // by kind, by operation
  std::unordered_map<std::int64_t, std::string> markers_;                 // by correlation id
  std::map<std::pair<std::int64_t, std::int64_t>, GpuTrack> gpu_tracks_;  // by GPU and own stream
  std::unordered_map<std::int64_t, TrackId> thread_tracks_;
  RocprofCounters counters_;
  bool remembers_dispatches_ = true;
  std::vector<Dispatch> dispatches_;
  // Texts that were made before.
  std::unordered_map<std::int64_t, StringId> kernel_names_;  // by kernel id
  std::map<std::tuple<RocprofList, std::int64_t, std::int64_t>, StringId> call_names_;
  std::unordered_map<std::int64_t, StringId> operation_texts_;
  IdIndex config_index_;
  std::vector<Config> configs_;
  std::vector<StringId> config_texts_;
  std::vector<Waiting> waiting_;
};

}  // namespace tracelens
