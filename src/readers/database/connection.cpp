#include "readers/database/connection.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <system_error>
#include <tracelens/error.hpp>

#include "io/ascii.hpp"

namespace tracelens {
namespace database_file {

// What tells that a file was written to.
struct Stamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_s = 0, modified_ns = 0;
  std::uint32_t changes = 0;  // the database's own count
  bool operator==(const Stamp&) const = default;
};

// A folder of one's own that goes with its last user.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string path =
        ((error ? std::filesystem::path{"/tmp"} : parent) / "tracelens-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr)
      throw Error{path, "cannot make a folder for a copy of the database, see TMPDIR: " +
                            std::generic_category().message(errno)};
    path_ = path;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace database_file

namespace {

using database_file::PrivateFolder;
using database_file::Stamp;

namespace fs = std::filesystem;

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

std::string head_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::string head(kHeaderBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

Stamp stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const std::string head = head_of(path);
  return {static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
          head.size() == kHeaderBytes ? big_endian(head, 24, 4) : 0};
}

// SQLite itself finds out only when it reads beyond the cut.
void check_size(const std::string& name, std::string_view head, std::uint64_t bytes) {
  if (head.size() < kHeaderBytes)
    throw Error{name, fmt::format("truncated: a database has at least {} bytes, the file has {}",
                                  kHeaderBytes, bytes)};
  std::uint64_t page = big_endian(head, 16, 2);
  if (page == 1) page = 65536;
  const std::uint64_t pages = big_endian(head, 28, 4);
  const bool is_told = big_endian(head, 24, 4) == big_endian(head, 92, 4);
  if (is_told && pages * page > bytes)
    throw Error{name,
                fmt::format("truncated: header says {} bytes, file has {}", pages * page, bytes)};
}

bool has_bytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size > 0;
}

// A journal may name another file at its end, which SQLite would then play back and delete, wherever it is.
bool names_another_file(const std::string& journal) {
  constexpr std::string_view kMark{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};
  std::ifstream in{journal, std::ios::binary | std::ios::ate};
  if (in.tellg() < std::streamoff{8}) return false;
  std::string end(kMark.size(), '\0');
  in.seekg(-static_cast<std::streamoff>(kMark.size()), std::ios::end);
  in.read(end.data(), static_cast<std::streamsize>(end.size()));
  return end == kMark;
}

std::string uri_of(const std::string& path, std::string_view parameters) {
  std::string uri = "file:";
  std::error_code error;
  for (const char c : fs::absolute(path, error).string()) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return uri.append("?").append(parameters);
}

// Statements of ours read tables; nothing of the file's may do anything else.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION
             ? SQLITE_OK
             : SQLITE_DENY;
}

void run(sqlite3* connection, const char* sql) {
  sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
}

void disarm(sqlite3* connection) {
  constexpr std::array<std::pair<int, int>, 5> kSwitches{
      {{SQLITE_DBCONFIG_DEFENSIVE, 1},
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}}};
  for (const auto& [what, value] : kSwitches)
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
}

// Puts the copy into the state before the change that the journal tells of.
void roll_back(const std::string& path, const std::string& copy) {
  if (names_another_file(copy + "-journal"))
    throw Error{
        path,
        "its journal is part of a change to several databases: open it once with the program that writes it"};
  sqlite3* writer = nullptr;
  const int status = sqlite3_open_v2(copy.c_str(), &writer, SQLITE_OPEN_READWRITE, nullptr);
  if (status == SQLITE_OK) {
    disarm(writer);
    run(writer, "PRAGMA schema_version");  // the first look rolls back
  }
  sqlite3_close(writer);
  if (status != SQLITE_OK) throw Error{path, "cannot be opened as a database"};
}

}  // namespace

struct DatabaseFile::State {
  std::string name;
  std::string path;        // where the bytes are; "" when they are in memory
  std::string parameters;  // of the address to open
  std::string memory;      // of a packed file
  std::uint64_t bytes = 0;
  Stamp stamp;
  std::unique_ptr<PrivateFolder> copy;
  int descriptor = -1;
  std::map<std::string, Columns, std::less<>> tables;
  std::set<std::string, std::less<>> without_row_numbers;
  std::map<std::string, std::string, std::less<>>
      row_numbers;  // the column that is the number of the row
  std::mutex mutex;
  std::vector<sqlite3*> idle;

  ~State() {
    for (sqlite3* const connection : idle) sqlite3_close(connection);
    if (descriptor >= 0) ::close(descriptor);
  }

  [[nodiscard]] sqlite3* open() {
    sqlite3* connection = nullptr;
    const std::string uri = path.empty() ? "file::memory:" : uri_of(path, parameters);
    const int flags = (path.empty() ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                      SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int status = sqlite3_open_v2(uri.c_str(), &connection, flags, nullptr);
    if (status == SQLITE_OK && path.empty())
      status = sqlite3_deserialize(
          connection, "main", reinterpret_cast<unsigned char*>(memory.data()),
          static_cast<sqlite3_int64>(memory.size()), static_cast<sqlite3_int64>(memory.size()),
          SQLITE_DESERIALIZE_READONLY);
    if (status != SQLITE_OK) {
      const std::string reason = sqlite3_errmsg(connection);
      sqlite3_close(connection);
      throw Error{name, "cannot be opened as a database: " + reason};
    }
    disarm(connection);
    return connection;
  }
};

DatabaseFile::DatabaseFile(std::shared_ptr<State> state) : state_{std::move(state)} {}

DatabaseFile DatabaseFile::of_file(const std::string& path) {
  auto state = std::make_shared<State>();
  state->name = state->path = path;
  state->stamp = stamp_of(path);
  state->bytes = state->stamp.bytes;
  const bool has_log = has_bytes(path + "-wal"), has_journal = has_bytes(path + "-journal");
  if (!has_log && !has_journal) {
    // No locks, no files beside it, read-only media: whatever mode the header names.
    check_size(path, head_of(path), state->bytes);
    state->parameters = "immutable=1";
  } else {
    // Rows that are still in the log, or pages that a killed writer has half changed: SQLite puts a
    // copy right, since the original may not be written to.
    state->copy = std::make_unique<PrivateFolder>();
    const fs::path copy = state->copy->path() / "copy.db";
    std::error_code error;
    fs::copy_file(path, copy, error);
    for (const char* const beside : {"-wal", "-journal"})
      if (!error && has_bytes(path + beside))
        fs::copy_file(path + beside, copy.string() + beside, error);
    if (error)
      throw Error{path,
                  "part of it is in a log beside it, and there is no room for a copy of both (" +
                      error.message() + "); whoever owns it can write the log back: sqlite3 '" +
                      path + "' 'pragma wal_checkpoint(truncate)'"};
    for (const fs::path& file : {copy, fs::path{copy.string() + "-journal"}})
      fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, error);
    if (has_journal) roll_back(path, copy.string());
    check_size(path, head_of(copy.string()), fs::file_size(copy, error));
    state->path = copy.string();
    state->parameters = "mode=ro";
  }
  DatabaseFile file{std::move(state)};
  file.learn_tables();
  return file;
}

DatabaseFile DatabaseFile::of_bytes(std::string name, std::string bytes) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->memory = std::move(bytes);
  state->bytes = state->memory.size();
  check_size(state->name, std::string_view{state->memory}.substr(0, kHeaderBytes), state->bytes);
  // Memory has no log: a database that says it has one cannot be opened there.
  for (const std::size_t at : {std::size_t{18}, std::size_t{19}})
    if (state->memory[at] == 2) state->memory[at] = 1;
  DatabaseFile file{std::move(state)};
  file.learn_tables();
  return file;
}

DatabaseFile DatabaseFile::of_descriptor(std::string name, int descriptor) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->descriptor = descriptor;
  state->path = fmt::format("/proc/self/fd/{}", descriptor);
  state->parameters = "immutable=1";
  state->bytes = stamp_of(state->path).bytes;
  check_size(state->name, head_of(state->path), state->bytes);
  DatabaseFile file{std::move(state)};
  file.learn_tables();
  return file;
}

const std::string& DatabaseFile::name() const { return state_->name; }
std::uint64_t DatabaseFile::bytes() const { return state_->bytes; }

Connection DatabaseFile::connect() const {
  sqlite3* connection = nullptr;
  {
    const std::lock_guard lock{state_->mutex};
    if (!state_->idle.empty()) {
      connection = state_->idle.back();
      state_->idle.pop_back();
    }
  }
  if (connection == nullptr) {
    connection = state_->open();
    sqlite3_set_authorizer(connection, only_reading, nullptr);
  }
  return {connection, [state = state_](sqlite3* returned) {
            const std::lock_guard lock{state->mutex};
            state->idle.push_back(returned);
          }};
}

void DatabaseFile::learn_tables() {
  // The only statements that ask for more than rows; the connection is not used for anything else.
  const Connection connection{state_->open(), sqlite3_close};
  Statement list{connection, "PRAGMA main.table_list"};
  std::vector<std::string> names;
  constexpr std::size_t kMostTables = 100'000;
  while (list.step() && names.size() < kMostTables) {
    const std::string_view name = list.text(1);
    if (list.text(2) != "table" || name.starts_with("sqlite_")) continue;
    names.emplace_back(name);
    if (list.integer(4) != 0) state_->without_row_numbers.emplace(name);
  }
  if (list.is_damaged())
    throw Error{state_->name,
                std::string{"not a sound database: "} + sqlite3_errmsg(connection.get())};
  for (const std::string& name : names) {
    Columns& columns = state_->tables[name];
    Statement info{connection, "PRAGMA main.table_xinfo(" + quoted_name(name) + ")"};
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

const std::map<std::string, DatabaseFile::Columns, std::less<>>& DatabaseFile::tables() const {
  return state_->tables;
}

bool DatabaseFile::has(std::string_view table) const { return state_->tables.contains(table); }

bool DatabaseFile::has(std::string_view table, std::string_view column) const {
  const auto found = state_->tables.find(table);
  return found != state_->tables.end() && found->second.contains(column);
}

bool DatabaseFile::has_row_numbers(std::string_view table) const {
  return !state_->without_row_numbers.contains(table);
}

bool DatabaseFile::is_row_number(std::string_view table, std::string_view column) const {
  const auto found = state_->row_numbers.find(table);
  return found != state_->row_numbers.end() && found->second == column;
}

std::string DatabaseFile::change() const {
  if (state_->stamp.bytes == 0 || stamp_of(state_->name) == state_->stamp) return "";
  return "the database changed while it was read";
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

bool is_sqlite(std::string_view head) { return head.starts_with(kMagic); }

Statement::Statement(Connection connection, const std::string& sql)
    : connection_{std::move(connection)} {
  sqlite3_stmt* made = nullptr;
  const int status = sqlite3_prepare_v2(connection_.get(), sql.c_str(),
                                        static_cast<int>(sql.size()), &made, nullptr);
  held_.reset(made);
  if (status == SQLITE_OK) return;
  const char* const file = sqlite3_db_filename(connection_.get(), "main");
  throw Error{file == nullptr || *file == '\0' ? "database" : file,
              std::string{"not a sound database: "} + sqlite3_errmsg(connection_.get())};
}

void Statement::bind(int parameter, std::int64_t value) {
  sqlite3_reset(held_.get());
  is_damaged_ = false;
  sqlite3_bind_int64(held_.get(), parameter, value);
}

bool Statement::step() {
  if (is_damaged_) return false;
  const int status = sqlite3_step(held_.get());
  if (status == SQLITE_ROW) return true;
  is_damaged_ = status != SQLITE_DONE;
  return false;
}

std::int64_t Statement::other_integer(int column) const {
  if (sqlite3_column_type(held_.get(), column) != SQLITE_FLOAT) return kAbsent;
  const double value = sqlite3_column_double(held_.get(), column);
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value) || std::trunc(value) != value || value < -kTwo63 || value >= 2 * kTwo63)
    return kAbsent;
  if (value < kTwo63) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

double Statement::real(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return std::numeric_limits<double>::quiet_NaN();
  const int type = sqlite3_column_type(held_.get(), column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(held_.get(), column);
}

std::string_view Statement::text(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return {};
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(held_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(held_.get(), column))};
}

std::string_view Statement::blob(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return {};
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(held_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(held_.get(), column))};
}

}  // namespace tracelens
