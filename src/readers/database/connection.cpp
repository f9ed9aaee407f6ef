#include "readers/database/connection.hpp"

#include <array>
#include <mutex>
#include <tracelens/error.hpp>
#include <utility>

#include "io/ascii.hpp"
#include "sqlite/names.hpp"

namespace tracelens {
namespace {

// Statements of ours read tables; nothing of the file's may do anything else.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION
             ? SQLITE_OK
             : SQLITE_DENY;
}

void run(sqlite3* connection, const char* sql) {
  sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
}

// `is_cut`: SQLite refuses a file that is shorter than its header says, unless the schema may be
// written to. The file itself is opened for reading alone in any case.
void disarm(sqlite3* connection, bool is_cut) {
  const std::array<std::pair<int, int>, 5> switches{{{SQLITE_DBCONFIG_DEFENSIVE, is_cut ? 0 : 1},
                                                     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                     {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}}};
  for (const auto& [what, value] : switches)
    sqlite3_db_config(connection, what, value, static_cast<int*>(nullptr));
  constexpr int kLongestValue = 64 << 20;
  constexpr std::array<std::pair<int, int>, 6> kLimits{{{SQLITE_LIMIT_LENGTH, kLongestValue},
                                                        {SQLITE_LIMIT_ATTACHED, 0},
                                                        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
                                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                        {SQLITE_LIMIT_VARIABLE_NUMBER, 16},
                                                        {SQLITE_LIMIT_WORKER_THREADS, 0}}};
  for (const auto& [what, value] : kLimits) sqlite3_limit(connection, what, value);
  run(connection, "PRAGMA cell_size_check=ON");
  run(connection, "PRAGMA query_only=ON");
  run(connection, "PRAGMA temp_store=MEMORY");
  if (is_cut) run(connection, "PRAGMA writable_schema=ON");
}

}  // namespace

struct DatabaseFile::State {
  std::string name;
  OpenedFile opened;
  std::string memory;  // the bytes, when they are in no file
  DatabaseOptions options;
  std::map<std::string, Columns, LessIgnoringCase> tables;
  std::set<std::string, LessIgnoringCase> without_row_numbers, views;
  std::map<std::string, std::string, LessIgnoringCase>
      row_numbers;                 // the column that is the number of the row
  std::uint64_t stored_bytes = 0;  // of tables that were read to their end
  std::mutex mutex;
  std::vector<db::DatabaseHandle> idle;  // closed before the memory goes

  static int is_over(void* state) {
    return std::chrono::steady_clock::now() > static_cast<State*>(state)->options.until ? 1 : 0;
  }

  [[nodiscard]] db::DatabaseHandle open() {
    const bool in_memory = opened.address.empty();
    const int flags = (in_memory ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI |
                      SQLITE_OPEN_NOMUTEX;
    db::DatabaseHandle handle = db::open(name, in_memory ? "file::memory:" : opened.address, flags);
    if (in_memory &&
        sqlite3_deserialize(handle.get(), "main", reinterpret_cast<unsigned char*>(memory.data()),
                            static_cast<sqlite3_int64>(memory.size()),
                            static_cast<sqlite3_int64>(memory.size()),
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
      throw Error{name,
                  std::string{"cannot be opened as a database: "} + sqlite3_errmsg(handle.get())};
    disarm(handle.get(), !opened.cut.empty());
    constexpr int kSteps = 100'000;
    if (options.until != std::chrono::steady_clock::time_point::max())
      sqlite3_progress_handler(handle.get(), kSteps, is_over, this);
    return handle;
  }
};

DatabaseFile::DatabaseFile(std::shared_ptr<State> state) : state_{std::move(state)} {
  try {
    learn_tables();
  } catch (const Error& error) {
    if (state_->opened.cut.empty()) throw renamed(error, state_->name);
    throw Error{state_->name, state_->opened.cut + "; the list of its tables is in the lost part"};
  }
}

DatabaseFile DatabaseFile::of_file(const std::string& path, const DatabaseOptions& options) {
  auto state = std::make_shared<State>();
  state->name = path;
  state->options = options;
  state->opened = open_in_place(path, options.salvage);
  return DatabaseFile{std::move(state)};
}

DatabaseFile DatabaseFile::of_bytes(std::string name, std::string bytes,
                                    const DatabaseOptions& options) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->options = options;
  state->memory = std::move(bytes);
  state->opened.bytes = state->memory.size();
  state->opened.cut =
      cut_by_header(state->name, std::string_view{state->memory}.substr(0, kDatabaseHeaderBytes),
                    state->memory.size());
  if (!state->opened.cut.empty() && !options.salvage) throw Error{state->name, state->opened.cut};
  // Memory has no log: a database that says it has one cannot be opened there.
  for (const std::size_t at : {std::size_t{18}, std::size_t{19}})
    if (state->memory[at] == 2) state->memory[at] = 1;
  return DatabaseFile{std::move(state)};
}

DatabaseFile DatabaseFile::of_descriptor(std::string name, Descriptor file,
                                         const DatabaseOptions& options) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->options = options;
  state->opened = open_unnamed(state->name, std::move(file), options.salvage);
  return DatabaseFile{std::move(state)};
}

const std::string& DatabaseFile::name() const { return state_->name; }
std::uint64_t DatabaseFile::bytes() const { return state_->opened.bytes; }

Connection DatabaseFile::connect() const {
  db::DatabaseHandle connection;
  {
    const std::lock_guard lock{state_->mutex};
    if (!state_->idle.empty()) {
      connection = std::move(state_->idle.back());
      state_->idle.pop_back();
    }
  }
  if (connection == nullptr) {
    connection = state_->open();
    sqlite3_set_authorizer(connection.get(), only_reading, nullptr);
  }
  return {connection.release(), [state = state_](sqlite3* returned) {
            const std::lock_guard lock{state->mutex};
            state->idle.emplace_back(returned);
          }};
}

void DatabaseFile::learn_tables() {
  // The only statements that ask for more than rows; the connection is not used for anything else.
  const Connection connection{state_->open()};
  Statement list{connection, "PRAGMA main.table_list"};
  std::vector<std::string> names;
  constexpr std::size_t kMostTables = 100'000;
  while (list.step() && names.size() < kMostTables) {
    const std::string_view name = list.text(1);
    if (name.starts_with("sqlite_")) continue;
    if (list.text(2) != "table") {
      if (state_->views.size() < kMostTables) state_->views.emplace(name);
      continue;
    }
    names.emplace_back(name);
    if (list.integer(4) != 0) state_->without_row_numbers.emplace(name);
  }
  if (list.is_damaged())
    throw Error{state_->name,
                std::string{"not a sound database: "} + sqlite3_errmsg(connection.get())};
  for (const std::string& name : names) {
    Columns& columns = state_->tables[name];
    Statement info{connection, "PRAGMA main.table_xinfo(" + db::quoted_name(name) + ")"};
    std::string key;
    int keys = 0;
    while (info.step()) {
      // A column of this name, hidden or not, takes the place of the number of the row.
      if (io::lower_case(info.text(1)) == "rowid") state_->without_row_numbers.insert(name);
      if (info.integer(6) != 0) continue;  // hidden or generated
      columns.emplace(info.text(1));
      if (info.integer(5) == 0) continue;
      ++keys;
      if (io::lower_case(info.text(2)) == "integer") key = info.text(1);
    }
    if (keys == 1 && !key.empty() && has_row_numbers(name)) state_->row_numbers[name] = key;
  }
}

const std::map<std::string, DatabaseFile::Columns, LessIgnoringCase>& DatabaseFile::tables() const {
  return state_->tables;
}

bool DatabaseFile::has(std::string_view table) const { return state_->tables.contains(table); }

bool DatabaseFile::has(std::string_view table, std::string_view column) const {
  const auto found = state_->tables.find(table);
  return found != state_->tables.end() && found->second.contains(column);
}

bool DatabaseFile::has_view(std::string_view name) const { return state_->views.contains(name); }

bool DatabaseFile::has_row_numbers(std::string_view table) const {
  return !state_->without_row_numbers.contains(table);
}

bool DatabaseFile::is_row_number(std::string_view table, std::string_view column) const {
  const auto found = state_->row_numbers.find(table);
  return found != state_->row_numbers.end() &&
         io::lower_case(found->second) == io::lower_case(column);
}

bool DatabaseFile::salvages() const { return state_->options.salvage; }
const std::string& DatabaseFile::cut() const { return state_->opened.cut; }

bool DatabaseFile::has_changed() const {
  return state_->opened.stamp.bytes != 0 && stamp_of(state_->name) != state_->opened.stamp;
}

std::uint64_t DatabaseFile::most_stored_bytes() const {
  // Texts of two bytes a letter grow when they become UTF-8.
  return 2 * state_->opened.bytes + (std::uint64_t{1} << 20);
}

void DatabaseFile::add_stored_bytes(std::uint64_t count) const { state_->stored_bytes += count; }

bool DatabaseFile::is_overfull() const {
  constexpr std::uint64_t kReadings = 8;  // a table may be read more than once
  return state_->stored_bytes > kReadings * most_stored_bytes();
}

}  // namespace tracelens
