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
  RocpdTables(const DatabaseFile& file, std::string suffix, Job& job);

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
  [[nodiscard]] TrackId thread(std::int64_t id);
  [[nodiscard]] const RocpdAgent& agent(std::int64_t id) const;
  [[nodiscard]] const RocpdPlace* track(std::int64_t id) const { return tracks_.find(id); }
  [[nodiscard]] std::int64_t time(std::int64_t id) const;  // of table timestamp
  struct Symbol {
    StringId name;
    std::string registers;  // its share of a kernel's details
  };
  [[nodiscard]] const Symbol& symbol(std::int64_t id);
  // Sums over the units of the GPU, by event; names of counters.
  using Counted = std::vector<std::pair<std::string, double>>;
  [[nodiscard]] const Counted* counters(std::int64_t event) const;
  [[nodiscard]] bool is_streamed(std::int64_t sample) const { return streamed_.contains(sample); }

 private:
  void read_process();
  void read_agents();
  void read_symbols();
  void read_counters();

  const DatabaseFile& file_;
  std::string suffix_, guid_, host_, machine_;
  Job& job_;
  std::int64_t process_ = 0, space_ = 0;
  ById<StringId> strings_, categories_;
  ById<std::int64_t> threads_, times_;
  ById<RocpdAgent> agents_;
  ById<RocpdPlace> tracks_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, Counted> counters_;
  std::set<std::int64_t> streamed_;
};

}  // namespace tracelens
