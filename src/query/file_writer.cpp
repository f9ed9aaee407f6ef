// file_writer.cpp: a report and the events of its trace as one SQLite file. Texts are numbers there
// (table string_data); views under the names of the tables put them back.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tracelens/json.hpp>
#include <tracelens/query.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "database/plain_names.hpp"
#include "database/table_writer.hpp"
#include "query/args_table.hpp"
#include "query/schema.hpp"
#include "query/trace_tables.hpp"
#include "sqlite/names.hpp"

namespace tracelens {
namespace {

using namespace query;

// Views of others: of event_data, of string_data.
constexpr std::string_view kDerived[] = {"slice", "instant", "string"};

constexpr std::string_view kSliceView =
    "CREATE VIEW slice AS SELECT e.id AS id, 'internal_slice' AS type, e.ts AS ts, e.dur AS dur, "
    "e.track_id AS track_id, c.text AS category, c.text AS cat, n.text AS name, e.slice_depth AS "
    "depth, e.slice_parent AS parent_id, e.id AS arg_set_id, e.id AS slice_id, NULL AS stack_id, "
    "NULL AS parent_stack_id, NULL AS thread_ts, NULL AS thread_dur, NULL AS "
    "thread_instruction_count, NULL AS thread_instruction_delta FROM event_data e LEFT JOIN "
    "string_data c ON c.id = e.category_code LEFT JOIN string_data n ON n.id = e.name_id WHERE "
    "e.slice_depth IS NOT NULL";

// The arguments in columns of events have the first slots, in this order: TraceView::column_args().
struct ColumnArg {
  std::string_view key, column;
};
constexpr ColumnArg kColumnArgs[] = {{"args.correlation", "correlation"},
                                     {"args.External id", "external_id"},
                                     {"args.Sequence number", "sequence"},
                                     {"args.Fwd thread id", "forward_thread"},
                                     {"args.stream", "stream"},
                                     {"args.device", "device"}};

constexpr std::string_view kIndexes =
    "CREATE INDEX gpu_event_by_ts ON gpu_event_data(ts);"
    "CREATE INDEX event_by_category ON event_data(category_code, ts);"
    "CREATE INDEX slice_by_parent ON event_data(slice_parent) WHERE slice_parent IS NOT NULL;"
    "CREATE INDEX op_by_name ON op_data(event_name_id);"
    "CREATE INDEX tree_by_parent ON tree_data(parent);"
    "CREATE INDEX arg_leaf_by_owner ON arg_leaf(owner);";

class EventWriter {
 public:
  EventWriter(db::FileWriter& file, TraceView& view) : file_{file}, view_{view} {}

  void write() {
    for (const TableDef& def : column_tables())
      if (std::ranges::find(kDerived, def.name) == std::end(kDerived)) write_table(def);
    write_args();
    write_strings();
    run(std::string{kSliceView});
    run(
        fmt::format("CREATE VIEW instant AS SELECT e.ts AS ts, e.track_id AS track_id, n.text AS "
                    "name, e.id AS arg_set_id FROM event_data e LEFT JOIN string_data n ON n.id = "
                    "e.name_id WHERE e.phase_code = {} AND e.ts IS NOT NULL",
                    view_.code_of("instant")));
    for (const TableDef& def : column_tables()) file_.tell_of(description_of(def), def.name);
    file_.tell_of(args_description(), "args");
    for (const ViewDef& def : views()) run(fmt::format("CREATE VIEW {} AS {}", def.name, def.sql));
    run(std::string{kIndexes});
  }

 private:
  void run(const std::string& sql) const { file_.database().run(sql); }

  // A column as it is stored, and as the view gives it.
  struct Stored {
    const ColumnDef* column;
    std::string name;  // empty: not stored
  };

  // The number of a text; of the name itself tables have it as a column.
  static std::string code_name(std::string_view column) {
    return column == "name" ? "name_id" : fmt::format("{}_code", column);
  }

  // What is there twice is stored once, what is the event's own not at all. Ops are found by name all
  // the same.
  static std::vector<Stored> stored_columns(const TableDef& def) {
    std::vector<Stored> stored;
    for (const ColumnDef& column : def.columns) {
      std::string name{column.name};
      if (column.text != nullptr) name = code_name(name);
      if (column.of_event) name.clear();
      const bool is_there = std::ranges::find(stored, name, &Stored::name) != stored.end();
      stored.push_back({&column, is_there ? std::string{} : std::move(name)});
    }
    return stored;
  }

  void write_table(const TableDef& def) {
    const std::vector<Stored> stored = stored_columns(def);
    const bool is_event = def.name == "event", is_op = def.name == "op";
    std::string columns, places;
    const auto has_key = std::ranges::any_of(stored, [](const Stored& each) {
      return each.column->find == Find::kKey && !each.name.empty();
    });
    if (!has_key) columns = "row INTEGER PRIMARY KEY";
    for (const Stored& each : stored) {
      if (each.name.empty()) continue;
      const bool is_key = each.column->find == Find::kKey;
      fmt::format_to(std::back_inserter(columns), "{}{} {}{}", columns.empty() ? "" : ", ",
                     db::quoted_name(each.name),
                     each.column->text != nullptr ? "INTEGER" : db::sql_type(each.column->kind),
                     is_key ? " PRIMARY KEY" : "");
    }
    if (is_event) columns += ", slice_depth INTEGER, slice_parent INTEGER";
    if (is_op) columns += ", event_name_id INTEGER";
    const auto count = std::ranges::count(columns, ',') + 1;
    for (std::ptrdiff_t i = 0; i < count; ++i) places += i == 0 ? "?" : ",?";
    run(fmt::format("CREATE TABLE {}_data ({})", def.name, columns));
    db::Statement insert{file_.database(),
                         fmt::format("INSERT INTO {}_data VALUES ({})", def.name, places)};
    if (is_event) view_.need_nesting();
    const std::vector<std::uint32_t>& slices = view_.slices().rows;
    auto slice = slices.begin();
    const RowSet rows = def.rows(view_);
    for (std::uint32_t i = 0; i < rows.count; ++i) {
      const std::uint32_t row = rows.at(i);
      int place = 1;
      const auto bind = [&](std::int64_t value) {
        if (value == kAbsent)
          insert.bind_null(place++);
        else
          insert.bind(place++, value);
      };
      const auto bind_code = [&](TextCode code) { bind(code == kNoText ? kAbsent : code); };
      if (!has_key) bind(i);
      for (const Stored& each : stored) {
        if (each.name.empty()) continue;
        if (each.column->integer != nullptr)
          bind(each.column->integer(view_, row));
        else if (each.column->text != nullptr)
          bind_code(each.column->text(view_, row));
        else
          insert.bind(place++, each.column->other(view_, row).as_real());
      }
      if (is_event) {
        const bool is_slice = slice != slices.end() && *slice == row;
        slice += is_slice ? 1 : 0;
        bind(is_slice ? std::int64_t{view_.slices().depth[row]} : kAbsent);
        bind_code(is_slice ? view_.slices().parent[row] : kNoText);
      }
      if (is_op) bind_code(view_.trace().names()[row].row);
      insert.run();
    }
    create_view(def, stored);
  }

  void create_view(const TableDef& def, const std::vector<Stored>& stored) const {
    const bool needs_event =
        std::ranges::any_of(stored, [](const Stored& each) { return each.column->of_event; });
    const bool is_op = def.name == "op";
    std::string columns, joins;
    if (needs_event)
      joins = fmt::format(" LEFT JOIN event_data e ON e.id = d.{}", is_op ? "id" : "event_id");
    int texts = 0;
    for (const Stored& each : stored) {
      const std::string_view name = each.column->name;
      const char* const from = each.column->of_event && !is_op_name(def, name) ? "e" : "d";
      std::string value = fmt::format("{}.{}", from, db::quoted_name(name));
      if (each.column->text != nullptr) {
        const std::string code = is_op_name(def, name) ? "event_name_id" : code_name(name);
        value = fmt::format("s{}.text", ++texts);
        fmt::format_to(std::back_inserter(joins),
                       " LEFT JOIN string_data s{0} ON s{0}.id = {1}.{2}", texts, from,
                       db::quoted_name(code));
      }
      fmt::format_to(std::back_inserter(columns), "{}{} AS {}", columns.empty() ? "" : ", ", value,
                     db::quoted_name(name));
    }
    run(fmt::format("CREATE VIEW {0} AS SELECT {1} FROM {0}_data d{2}", def.name, columns, joins));
  }
  static bool is_op_name(const TableDef& def, std::string_view column) {
    return def.name == "op" && column == "name";
  }

  // The leaves of signatures and of details, each once; events tell which they have.
  void write_args() {
    run("CREATE TABLE arg_leaf (owner INTEGER, slot INTEGER, key TEXT, flat_key TEXT, int_value "
        "INTEGER, string_value TEXT, real_value REAL, value_type TEXT, display_value TEXT)");
    db::Statement insert{file_.database(), "INSERT INTO arg_leaf VALUES (?,?,?,?,?,?,?,?,?)"};
    const auto write = [&](std::int64_t owner, const std::vector<ArgLeaf>& leaves) {
      for (const ArgLeaf& leaf : leaves) {
        const Value& value = leaf.value;
        const bool is_bool = value.kind() == Value::Kind::kBool;
        const std::string shown = value.is_text() ? value.as_text() : python_repr(value);
        for (int place = 1; place <= 9; ++place) insert.bind_null(place);
        insert.bind(1, owner);
        insert.bind(2, std::int64_t{leaf.slot});
        insert.bind(3, std::string_view{leaf.key});
        insert.bind(4, std::string_view{leaf.flat_key});
        if (value.is_int() || is_bool)
          insert.bind(5, is_bool ? std::int64_t{value.as_bool()} : value.as_int());
        if (value.is_text()) insert.bind(6, std::string_view{value.as_text()});
        if (value.kind() == Value::Kind::kReal) insert.bind(7, value.as_real());
        insert.bind(8, value_type(value));
        insert.bind(9, std::string_view{shown});
        insert.run();
      }
    };
    for (std::uint32_t i = 0; i < view_.trace().signature_table().size(); ++i)
      write(-1 - std::int64_t{i}, view_.signature_args(SignatureId{i}));
    std::vector<bool> is_written(view_.trace().string_count());
    for (const StringId details : view_.trace().detail_texts().values()) {
      if (is_written[details.row]) continue;
      is_written[details.row] = true;
      write(details.row, view_.detail_args(details));
    }
    std::string parts;
    for (std::size_t slot = 0; slot < std::size(kColumnArgs); ++slot)
      fmt::format_to(std::back_inserter(parts),
                     "SELECT id * {0} + {1} AS id, id AS arg_set_id, '{2}' AS key, '{2}' AS "
                     "flat_key, {3} AS int_value, NULL AS string_value, NULL AS real_value, 'int' "
                     "AS value_type, CAST({3} AS TEXT) AS display_value FROM event_data WHERE {3} "
                     "IS NOT NULL UNION ALL ",
                     kSlots, slot, kColumnArgs[slot].key, kColumnArgs[slot].column);
    const auto leaves = [](std::string_view owner) {
      return fmt::format(
          "SELECT e.id * {} + l.slot, e.id, l.key, l.flat_key, l.int_value, l.string_value, "
          "l.real_value, l.value_type, l.display_value FROM event_data e JOIN arg_leaf l ON l.owner "
          "= {}",
          kSlots, owner);
    };
    run(fmt::format("CREATE VIEW args AS {}{} UNION ALL {}", parts, leaves("-1 - e.signature_id"),
                    leaves("e.details_code")));
  }

  void write_strings() {
    run("CREATE TABLE string_data (id INTEGER PRIMARY KEY, text TEXT)");
    db::Statement insert{file_.database(), "INSERT INTO string_data VALUES (?,?)"};
    for (TextCode code = 0; code < view_.text_count(); ++code) {
      insert.bind(1, std::int64_t{code});
      insert.bind(2, view_.text_of(code));
      insert.run();
    }
    // Those of kinds and categories that are in no event's text come last.
    run(fmt::format("CREATE VIEW string AS SELECT id, text FROM string_data WHERE id < {}",
                    view_.trace().string_count()));
  }

  db::FileWriter& file_;
  TraceView& view_;
};

}  // namespace

void write_database(const Report& report, std::shared_ptr<const Trace> trace,
                    const ReportOptions& options, const std::string& output) {
  db::FileWriter file{output};
  auto view = std::make_shared<TraceView>(std::move(trace), options);
  for (const SmallTable& small : small_tables()) file.add(small.make(*view, small));
  for (const TableDef& def : column_tables()) file.reserve(def.name);
  for (const Table& table : report.tables) file.add(table);
  EventWriter{file, *view}.write();
  std::vector<std::unique_ptr<Schema>> sources;
  sources.push_back(std::make_unique<Schema>("main", std::move(view)));
  file.add(trace_info_of(sources));
  file.finish();
}

}  // namespace tracelens
