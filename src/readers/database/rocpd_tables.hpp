// rocpd_tables.hpp: the tables of one process in a rocpd database: what rows of other tables mean.
//   const RocpdTables tables{file, "_0198..."};
//   tables.name("region")          // "rocpd_region_0198..."
//   tables.strings.find(row.name)
// Only what is small is kept; the long lists are read by rocpd.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"
#include "readers/database/lookup.hpp"

namespace tracelens {

struct RocpdAgent {
  std::string type;  // "GPU", "CPU"
  std::int64_t index = kAbsent;
  std::int64_t gpu = kAbsent;  // its number in the trace
  [[nodiscard]] std::string label() const;
};

// Where something ran. Rows name a track (schema 4.1), or each of these by itself.
struct RocpdPlace {
  std::int64_t thread = kAbsent, agent = kAbsent, queue = kAbsent, stream = kAbsent;
};

class RocpdTables {
 public:
  // `recording` is what the process is known by in other files.
  RocpdTables(const DatabaseFile& file, std::string suffix, const std::string& recording, Job& job);

  [[nodiscard]] std::string name(std::string_view table) const;
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const {
    return file_.has(name(table), column);
  }
  [[nodiscard]] const DatabaseFile& file() const { return file_; }

  // --- of the process ---
  [[nodiscard]] const std::string& guid() const { return guid_; }  // "" when it has none
  [[nodiscard]] std::int64_t process() const { return process_; }
  [[nodiscard]] std::int64_t space() const { return space_; }  // of its launches

  // --- look-ups ---
  [[nodiscard]] StringId text(std::int64_t id);
  [[nodiscard]] StringId category(std::int64_t id);  // of an event
  // Whether a category is one of the program's own markers; from any thread.
  [[nodiscard]] bool is_marker(std::int64_t category) const { return markers_.contains(category); }
  [[nodiscard]] TrackId thread(std::int64_t id);
  [[nodiscard]] const RocpdAgent& agent(std::int64_t id) const;
  // The GPU that a copy goes to or comes from; between memories of the host that of the source.
  [[nodiscard]] std::int64_t device_of_copy(const RocpdAgent& from, const RocpdAgent& to);
  [[nodiscard]] const RocpdPlace* track(std::int64_t id) const { return tracks_.find(id); }
  [[nodiscard]] std::int64_t time(std::int64_t id) const;  // of table timestamp
  struct Symbol {
    StringId name;
    std::string registers;  // its share of a kernel's details
  };
  [[nodiscard]] const Symbol& symbol(std::int64_t id);
  // Sums over the units of the GPU, by event; names of counters.
  struct Counter {
    std::string name;
    std::int64_t gpu = kAbsent;
  };
  using Counted = std::vector<std::pair<const Counter*, double>>;
  [[nodiscard]] const Counted* counters(std::int64_t event) const;
  // What was counted at a sample: each value by itself.
  [[nodiscard]] const Counted* streamed(std::int64_t sample) const;

 private:
  void read_versions();
  struct EventOwner {
    std::int64_t node = kAbsent, process = kAbsent;  // ids of their rows
  };
  [[nodiscard]] EventOwner owner_of_events() const;
  void read_process(const std::string& recording);
  // A JSON object that a row brings, packed or not; null when it cannot be read.
  [[nodiscard]] Value more_of(const Statement& row, int cell);
  void read_agents();
  void read_symbols();
  void read_counters();

  const DatabaseFile& file_;
  std::string suffix_, guid_, host_;
  std::string machine_;  // with its host: containers on one machine number their GPUs by themselves
  Job& job_;
  std::int64_t process_ = 0, space_ = 0;
  ById<StringId> strings_, categories_;
  std::unordered_set<std::int64_t> markers_;  // of either
  ById<std::int64_t> threads_, times_;
  ById<RocpdAgent> agents_;
  std::unordered_map<std::int64_t, RocpdAgent>
      agents_by_index_;  // for rows that name none by its id
  ById<RocpdPlace> tracks_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, Counter> counter_names_;  // by id
  std::unordered_map<std::int64_t, Counted> counters_, streamed_;
};

}  // namespace tracelens
