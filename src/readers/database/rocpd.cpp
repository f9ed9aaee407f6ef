// Rows of the long lists name an event, which has the category and the launch.
#include "readers/database/rocpd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tracelens/json.hpp>
#include <vector>

#include "io/ascii.hpp"
#include "io/numbers.hpp"
#include "readers/database/rocpd_events.hpp"
#include "readers/database/rocpd_tables.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens {
namespace {

// The columns that every list begins with: where and when, in the words of all schemas.
constexpr std::array<std::string_view, 10> kPlaceColumns{
    "track_id", "tid", "agent_id", "queue_id", "stream_id",
    "start",    "end", "start_id", "end_id",   "event_id"};

constexpr std::uint32_t kNoMessage = 0xffffffff;

template <std::size_t kOwn>
struct ListRow {
  std::int64_t track, start_ns, end_ns, start_id, end_id, event;
  RocpdPlace place;
  EventFacts facts;
  std::array<std::int64_t, kOwn> own;
  std::uint32_t message = kNoMessage;  // of a marker: ListRows::messages
};

template <std::size_t kOwn>
struct ListRows {
  using Row = ListRow<kOwn>;
  const RocpdEvents* events = nullptr;
  std::vector<Row> rows;
  const RocpdTables* tables = nullptr;
  std::vector<std::optional<std::string>> messages = {};
  bool is_whole = true;  // its events could be read
  void add(const Statement& row) {
    Row made{row.integer(0),
             row.integer(5),
             row.integer(6),
             row.integer(7),
             row.integer(8),
             row.integer(9),
             {row.integer(1), row.integer(2), row.integer(3), row.integer(4)},
             {},
             {},
             kNoMessage};
    for (std::size_t i = 0; i < kOwn; ++i)
      made.own[i] = row.integer(static_cast<int>(kPlaceColumns.size() + i));
    rows.push_back(made);
  }
  void complete(const Connection& connection) {
    is_whole = events->find(connection, rows);
    if constexpr (kOwn != 1) return;
    std::optional<Statement> extdata;
    for (Row& row : rows) {
      if (!tables->is_marker(row.facts.category)) continue;
      row.message = static_cast<std::uint32_t>(messages.size());
      messages.push_back(events->message(connection, extdata, row.event, is_whole));
    }
  }
};

bool is_nesting_range(std::string_view call) {
  return call == "roctxThreadRangeA" || call == "roctxRangePushA";
}

class RocpdReader {
 public:
  RocpdReader(RocpdTables& tables, Job& job, int threads)
      : tables_{tables},
        job_{job},
        threads_{threads},
        events_{tables.file(), tables.name("event")} {}

  void read() {
    expect_rows(job_, tables_.file(),
                std::array{tables_.name("region"), tables_.name("kernel_dispatch"),
                           tables_.name("memory_copy")});
    read_list<1>("region", {"name_id"}, [this](const ListRow<1>& row, const ListRows<1>& piece) {
      add_region(row, row.message == kNoMessage ? std::nullopt : piece.messages[row.message]);
    });
    read_list<13>(
        "kernel_dispatch",
        {"kernel_id", "private_segment_size", "group_segment_size", "workgroup_size_x",
         "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
         "graph_exec_id", "graph_node_id", "dispatch_id", "region_name_id"},
        [this](const ListRow<13>& row, const auto&) { add_dispatch(row); });
    read_list<4>("memory_copy", {"name_id", "src_agent_id", "dst_agent_id", "size"},
                 [this](const ListRow<4>& row, const auto&) { add_copy(row); });
    read_allocations();
    read_samples();
    if (lost_events_ || events_.is_damaged())
      job_.lost("table " + tables_.name("event") +
                " is damaged: calls and GPU work are without their category or link");
  }

 private:
  template <std::size_t kOwn, class Add>
  void read_list(const char* list, std::array<std::string_view, kOwn> own, const Add& add) {
    TableColumns columns{
        tables_.file(), tables_.name(list), {kPlaceColumns.begin(), kPlaceColumns.end()}};
    columns.columns.insert(columns.columns.end(), own.begin(), own.end());
    const TableEnd end = read_table<ListRows<kOwn>>(
        columns, threads_,
        [this] {
          return ListRows<kOwn>{&events_, {}, &tables_};
        },
        [&](ListRows<kOwn>& piece) {
          lost_events_ = lost_events_ || !piece.is_whole;
          for (ListRow<kOwn>& row : piece.rows) {
            resolve(row);
            add(row, piece);
          }
        });
    note(job_, columns, end);
  }

  template <class Row>
  void resolve(Row& row) const {
    if (row.track != kAbsent)
      if (const RocpdPlace* const place = tables_.track(row.track)) row.place = *place;
    if (row.start_id != kAbsent) row.start_ns = tables_.time(row.start_id);
    if (row.end_id != kAbsent) row.end_ns = tables_.time(row.end_id);
  }
  [[nodiscard]] std::string_view text(StringId id) { return job_.builder().text(id); }
  [[nodiscard]] std::int64_t correlation(const EventFacts& facts) {
    return job_.correlation(tables_.space(), facts.stack);
  }

  void add_region(const ListRow<1>& row, const std::optional<std::string>& message) {
    const StringId category = tables_.category(row.facts.category), name = tables_.text(row.own[0]);
    const TrackId track = tables_.thread(row.place.thread);
    const std::string_view domain = text(category);
    if (!domain.starts_with("MARKER_")) {
      job_.add_call(
          {.category = domain.starts_with("HIP_") ? Category::kCudaRuntime : Category::kCudaDriver,
           .domain = category,
           .name = name,
           .track = track,
           .start_ns = row.start_ns,
           .end_ns = row.end_ns,
           .correlation = correlation(row.facts)});
      return;
    }
    if (text(name) == "roctxGetThreadId" || domain == "MARKER_CONTROL_API" ||
        domain == "MARKER_NAME_API")
      return;
    const std::string_view said = message ? std::string_view{*message} : text(name);
    const Job::Range range{track, {}, said, row.start_ns, row.end_ns};
    is_nesting_range(text(name)) ? job_.add_range(range) : job_.add_loose_range(range);
  }

  void add_dispatch(const ListRow<13>& row) {
    const RocpdTables::Symbol& symbol = tables_.symbol(row.own[0]);
    // The marker around the launch, where kernels are to be called by it.
    StringId name = symbol.name;
    if (job_.options().rename_kernels && row.own[12] != kAbsent)
      if (const StringId marker = tables_.text(row.own[12]); !text(marker).empty()) name = marker;
    Job::GpuEvent event{.name = name,
                        .process = tables_.process(),
                        .gpu = tables_.agent(row.place.agent).gpu,
                        .stream = row.place.stream,
                        .start_ns = row.start_ns,
                        .end_ns = row.end_ns,
                        .correlation = correlation(row.facts)};
    const RocpdTables::Counted* const counted = tables_.counters(row.event);
    if (counted != nullptr) {
      std::string members = dispatch_members(row, symbol) + ",\"counters\":";
      std::string counters;
      for (const auto& [counter, value] : *counted)
        counters += counter_member(counter->name, value);
      event.details = job_.intern(object_of(members + object_of(counters)));
    } else {
      std::array<std::int64_t, 13> key{};
      std::copy_n(row.own.begin(), 11, key.begin());
      key[11] = row.place.queue;
      event.details =
          details_.of(key, [&] { return job_.intern(object_of(dispatch_members(row, symbol))); });
    }
    job_.add_gpu_event(event);
  }
  static std::string counter_member(std::string_view name, double value) {
    std::string member = ",";
    append_json_text(member, name);
    return member + ":" + io::shortest_double(value);
  }

  // rocprofv3 counts work-items where others count blocks.
  static std::string dispatch_members(const ListRow<13>& row, const RocpdTables::Symbol& symbol) {
    std::array<std::int64_t, 3> blocks{};
    bool is_known = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t group = row.own[3 + i], grid = row.own[6 + i];
      is_known = is_known && group > 0 && grid >= 0;
      blocks[i] = !is_known || grid == 0 ? 0 : (grid - 1) / group + 1;
    }
    std::string members;
    if (is_known)
      members = fmt::format(R"(,"grid":[{},{},{}],"block":[{},{},{}])", blocks[0], blocks[1],
                            blocks[2], row.own[3], row.own[4], row.own[5]);
    members += symbol.registers + number_member("shared memory", row.own[2]) +
               number_member("scratch", row.own[1]) + number_member("queue", row.place.queue);
    if (row.own[9] > 0)
      members += number_member("graph", row.own[9]) + number_member("graph node", row.own[10]);
    return members;
  }

  void add_copy(const ListRow<4>& row) {
    const RocpdAgent &from = tables_.agent(row.own[1]), &to = tables_.agent(row.own[2]);
    const StringId name = tables_.text(row.own[0]);
    std::string_view kind = text(name);
    if (constexpr std::string_view kPrefix = "MEMORY_COPY_"; kind.starts_with(kPrefix))
      kind.remove_prefix(kPrefix.size());
    const std::string members = text_member("kind", kind) + text_member("src", from.label()) +
                                text_member("dst", to.label()) + number_member("bytes", row.own[3]);
    job_.add_gpu_event({.category = Category::kGpuMemcpy,
                        .name = name,
                        .process = tables_.process(),
                        .gpu = tables_.device_of_copy(from, to),
                        .stream = row.place.stream,
                        .start_ns = row.start_ns,
                        .end_ns = row.end_ns,
                        .correlation = correlation(row.facts),
                        .details = job_.intern(object_of(members))});
  }

  void read_allocations() {
    const std::string table = tables_.name("memory_allocate");
    TableColumns columns{tables_.file(), table, {kPlaceColumns.begin(), kPlaceColumns.end()}};
    for (const std::string_view own : {"type", "level", "address", "size"})
      columns.columns.push_back(own);
    for_each_row(job_, columns, [this](const Statement& row) {
      ListRow<0> place{row.integer(0),
                       row.integer(5),
                       row.integer(6),
                       row.integer(7),
                       row.integer(8),
                       kAbsent,
                       {row.integer(1), row.integer(2), row.integer(3), row.integer(4)},
                       {},
                       {},
                       kNoMessage};
      resolve(place);
      job_.add_allocation({.track = tables_.thread(place.place.thread),
                           .what = row.text(10),
                           .level = row.text(11),
                           .gpu = tables_.agent(place.place.agent).gpu,
                           .address = row.integer(12),
                           .bytes = row.integer(13) == kAbsent ? 0 : row.integer(13),
                           .start_ns = place.start_ns,
                           .end_ns = place.end_ns});
    });
  }

  void read_samples() {
    const std::string table = tables_.name("sample");
    const Connection connection = tables_.file().connect();
    std::optional<Statement> extdata;
    for_each_row(
        job_, {tables_.file(), table, {"id", "track_id", "timestamp", "timestamp_id", "event_id"}},
        [&](const Statement& row) {
          const RocpdPlace* const place = tables_.track(row.integer(1));
          const std::int64_t at = row.is_null(3) ? row.integer(2) : tables_.time(row.integer(3));
          const RocpdTables::Counted* counted = tables_.streamed(row.integer(0));
          if (counted == nullptr) counted = tables_.counters(row.integer(4));
          if (counted != nullptr) {
            for (const auto& [counter, value] : *counted)
              job_.add_sample(counter->name, counter->gpu, at, value);
            return;
          }
          bool is_whole = true;
          const std::optional<std::string> message =
              events_.message(connection, extdata, row.integer(4), is_whole);
          lost_events_ = lost_events_ || !is_whole;
          job_.add_mark({tables_.thread(place == nullptr ? kAbsent : place->thread),
                         {},
                         message ? std::string_view{*message} : "mark",
                         at,
                         at});
        });
  }

  RocpdTables& tables_;
  Job& job_;
  int threads_;
  RocpdEvents events_;
  bool lost_events_ = false;
  TextsByNumbers details_;
};

std::vector<std::string> suffixes_of(const DatabaseFile& file) {
  constexpr std::string_view kPrefix = "rocpd_metadata";
  std::vector<std::string> found;
  for (const auto& [table, columns] : file.tables()) {
    if (!io::lower_case(table).starts_with(kPrefix)) continue;
    const std::string suffix = table.substr(kPrefix.size());
    if (file.has("rocpd_info_process" + suffix) || file.has("rocpd_kernel_dispatch" + suffix))
      found.push_back(suffix);
  }
  return found;
}

// By what a process is known again in another file: its guid, which is the suffix as a rule. Tables
// without suffix and guid are those of one machine and process that have as many rows from the same
// time on.
std::string process_identity(const DatabaseFile& file, const std::string& suffix, Job& job) {
  if (!suffix.empty()) return suffix;
  std::string guid;
  for_each_row(job, {file, "rocpd_metadata", {"tag", "value"}}, [&](const Statement& row) {
    if (row.text(0) == "guid") guid = row.text(1);
  });
  std::ranges::replace(guid, '-', '_');
  if (!guid.empty()) return "_" + guid;
  std::string key;
  const auto add = [&](const char* table, const char* column) {
    const TableColumns columns{file, table, {column}};
    key += fmt::format("/{}:", columns.expected_rows());
    if (!file.has(table)) return;
    Statement first = columns.select(file.connect(), " LIMIT 1");
    if (first.step()) key += first.text(0);
  };
  add("rocpd_info_node", "machine_id");
  add("rocpd_info_node", "hostname");
  add("rocpd_info_process", "pid");
  for (const char* const list : {"rocpd_kernel_dispatch", "rocpd_region", "rocpd_memory_copy"})
    add(list, file.has(list, "start_id") ? "start_id" : "start");
  return key;
}

}  // namespace

bool is_rocpd(const DatabaseFile& file) { return !suffixes_of(file).empty(); }

void read_rocpd(const DatabaseFile& file, Job& job, int threads, std::set<std::string>& seen) {
  for (const std::string& suffix : suffixes_of(file)) {
    const std::string recording = process_identity(file, suffix, job);
    if (!seen.insert(recording).second) {
      job.warn("a process that is in several files was read once");
      continue;
    }
    RocpdTables tables{file, suffix, recording, job};
    RocpdReader{tables, job, threads}.read();
  }
}

}  // namespace tracelens
