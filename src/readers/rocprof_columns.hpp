// rocprof_columns.hpp: rocprofv3's records as the events of a trace, with names looked up in the
// tables of their process.
//   RocprofColumns columns{builder};
//   columns.set_strings(strings); columns.add_symbol(symbol); ...
//   columns.add(list, record);            // in file order
//   columns.finish();
// A record is appended at once when the tables it refers to are known, as they are in files of
// rocprofv3; when they stand behind the records, the records wait for them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "readers/rocprof_record.hpp"
#include "trace/builder.hpp"

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
  explicit RocprofColumns(TraceBuilder& builder) : builder_{builder} {}

  // --- the tables of the process; call each once, even when its list is empty ---
  void set_metadata(const Value& metadata);
  void set_agents(const std::vector<Value>& agents);
  void set_strings(const Value& strings);
  void add_symbol(const Value& symbol);
  void symbols_done() { known_ |= kSymbols; }

  void add(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  void finish();  // appends what waited

 private:
  struct Agent {
    std::string label;        // "GPU-0"
    std::int64_t number = 0;  // among the agents of its type
    bool is_gpu = false;
  };
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

  void append(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  EventId append_event(RocprofList list, const RocprofRecord& record, std::uint64_t byte,
                       StringId name, TrackId track);
  [[nodiscard]] Agent agent(std::int64_t handle) const;
  void number_gpu(std::int64_t handle);
  [[nodiscard]] Agent agent_of(const RocprofRecord& dispatch) const;
  [[nodiscard]] std::string name_of(RocprofList list, const RocprofRecord& record) const;
  StringId call_name(RocprofList list, const RocprofRecord& record);
  StringId kernel_name(std::int64_t kernel_id);
  StringId dispatch_details(const RocprofRecord& record);
  [[nodiscard]] std::string dispatch_text(const RocprofRecord& record) const;
  void append_dispatch(const RocprofRecord& record, std::uint64_t byte);
  void append_copy(const RocprofRecord& record, std::uint64_t byte);
  void append_call(RocprofList list, const RocprofRecord& record, std::uint64_t byte);
  TrackId track(std::int64_t pid, std::int64_t tid);

  static constexpr unsigned kMetadata = 1, kAgents = 2, kStrings = 4, kSymbols = 8, kAll = 15;
  TraceBuilder& builder_;
  unsigned known_ = 0;
  std::int64_t pid_ = 0;
  std::unordered_map<std::int64_t, Agent> agents_;         // by handle
  std::int64_t next_gpu_ = 0;                              // number of a GPU that is not listed
  std::unordered_map<std::int64_t, Symbol> symbols_;       // by kernel id
  std::vector<std::vector<std::string>> operations_;       // by kind, by operation
  std::unordered_map<std::int64_t, std::string> markers_;  // by correlation id
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> tracks_;
  // Texts that were made before.
  std::unordered_map<std::int64_t, StringId> kernel_names_;  // by kernel id
  std::map<std::tuple<RocprofList, std::int64_t, std::int64_t>, StringId> call_names_;
  IdIndex config_index_;
  std::vector<Config> configs_;
  std::vector<StringId> config_texts_;
  std::vector<Waiting> waiting_;
};

}  // namespace tracelens
