// session.cpp: statements of a user against traces, reports and files, and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tracelens/near_names.hpp>
#include <tracelens/query.hpp>

#include "database/plain_names.hpp"
#include "database/table_writer.hpp"
#include "io/ascii.hpp"
#include "query/args_table.hpp"
#include "query/column_table.hpp"
#include "query/dialect.hpp"
#include "query/functions.hpp"
#include "query/heap_limit.hpp"
#include "query/hints.hpp"
#include "query/schema.hpp"
#include "query/statement_table.hpp"
#include "query/table_rows.hpp"
#include "query/trace_tables.hpp"
#include "sqlite/names.hpp"

namespace tracelens {
namespace {

using namespace query;

// Words of SQL that are completed; the others are short or rare.
constexpr std::string_view kSqlWords[] = {
    "BETWEEN",      "COUNT",     "CREATE", "DISTINCT",  "EXPLAIN",   "FILTER", "FROM",     "GLOB",
    "GROUP BY",     "HAVING",    "INNER",  "LEFT JOIN", "LIMIT",     "NULL",   "ORDER BY", "OVER",
    "PARTITION BY", "RECURSIVE", "REGEXP", "SELECT",    "UNION ALL", "USING",  "WHERE",    "WITH"};

constexpr std::array kPragmas = {"table_info", "table_xinfo", "table_list"};
constexpr std::array kDeniedFunctions = {"load_extension", "fts3_tokenizer"};

bool is_one_of(const char* word, std::span<const char* const> words) {
  return word != nullptr && std::ranges::any_of(words, [&](const char* each) {
           return sqlite3_stricmp(each, word) == 0;
         });
}

// 'no such table: t2.slice' -> "t2.slice"; nothing when the message is another.
std::optional<std::string> named_after(std::string_view message, std::string_view start) {
  if (!message.starts_with(start)) return std::nullopt;
  return std::string{message.substr(start.size())};
}

}  // namespace

class QuerySession::Engine {
 public:
  explicit Engine(const QueryLimits& limits) : limits_{limits} {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void add(std::shared_ptr<const Trace> trace, const ReportOptions& options);
  void add(Report report);
  void add_database(const std::string& path);
  void provide(std::span<const std::shared_ptr<const Table>> tables) {
    if (!sources_.empty()) sources_.front()->provide(tables);
  }
  void run(std::string_view sql, const QueryRows& rows, std::span<const QueryParam> params);
  void cancel() noexcept { cancelled_ = true; }
  void set_limits(const QueryLimits& limits) { limits_ = limits; }
  [[nodiscard]] Table tables();
  [[nodiscard]] Table columns(const std::string& table);
  [[nodiscard]] std::vector<std::string> words();

 private:
  using Clock = std::chrono::steady_clock;

  // --- setting up ---
  void open(const std::string& name, int flags);
  std::string next_schema();
  void attach(const std::string& schema, const std::string& name);
  void create(const std::string& schema, std::string_view table, std::string_view module);
  void create_catalog();
  void check_file(const std::string& schema, const std::string& path);
  [[nodiscard]] std::shared_ptr<const Table> catalog(bool of_columns);

  // --- running ---
  struct Prepared {
    std::string sql;
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{nullptr, sqlite3_finalize};
  };
  void start_clock();
  Prepared prepare(std::string sql);
  bool make_table(const std::string& name);
  void bind(const Prepared& prepared, std::span<const QueryParam> params);
  void execute(const Prepared& prepared, const QueryRows& rows);
  [[noreturn]] void fail(const std::string& sql);
  std::string hint(const std::string& message, const std::string& sql);
  std::vector<std::string> first_column(const std::string& sql);

  static int authorize(void* self, int action, const char* a, const char* b, const char* schema,
                       const char* inner);
  [[nodiscard]] bool allows(int action, const char* a, const char* b, const char* schema) const;
  static int keep_going(void* self);

  // What we do ourselves is not asked about.
  class Trusted {
   public:
    explicit Trusted(Engine& engine) : engine_{engine}, before_{engine.trusted_} {
      engine.trusted_ = true;
    }
    Trusted(const Trusted&) = delete;
    Trusted& operator=(const Trusted&) = delete;
    ~Trusted() { engine_.trusted_ = before_; }

   private:
    Engine& engine_;
    bool before_;
  };

  QueryLimits limits_;
  std::vector<std::unique_ptr<Schema>> sources_;
  std::unique_ptr<db::Database> database_;  // closed before the sources go
  std::atomic<bool> cancelled_ = false;
  bool trusted_ = false, out_of_time_ = false;
  Clock::time_point deadline_;
};

// --- setting up ---

void QuerySession::Engine::open(const std::string& name, int flags) {
  database_ = std::make_unique<db::Database>(
      name, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE);
  sqlite3* const handle = database_->handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  // A mistyped title in double quotes would be a constant text, and the answer wrong in silence.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  database_->run("PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 50);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 5'000'000);
  add_module(
      *database_, "tl_columns",
      [this](std::span<const std::string> words) {
        const Schema& source = *sources_.at(std::stoul(words[0]));
        if (words[1] == "args") return args_table(source.view());
        const auto defs = column_tables();
        return column_table(source.view(), *std::ranges::find(defs, words[1], &TableDef::name));
      },
      trusted_);
  add_module(
      *database_, "tl_table",
      [this](std::span<const std::string> words) {
        std::shared_ptr<const Table> table = sources_.at(std::stoul(words[0]))->table(words[1]);
        return table_rows([table = std::move(table)] { return table; });
      },
      trusted_);
  add_module(
      *database_, "tl_catalog",
      [this](std::span<const std::string> words) {
        if (words[0] == "trace_info")
          return table_rows(
              [this] { return std::make_shared<const Table>(trace_info_of(sources_)); });
        return table_rows(
            [this, of_columns = words[0] == "column_info"] { return catalog(of_columns); });
      },
      trusted_);
  add_statement_tables(*database_, trusted_);
  sqlite3_set_authorizer(handle, authorize, this);
  // Few: one step may be a function of a text of megabytes. In the midst of one nobody is asked.
  constexpr int kSteps = 100;
  sqlite3_progress_handler(handle, kSteps, keep_going, this);
}

std::string QuerySession::Engine::next_schema() {
  if (sources_.size() > 10) throw Error{"query", "at most 11 traces can be asked at once"};
  return sources_.empty() ? "main" : fmt::format("t{}", sources_.size() + 1);
}

void QuerySession::Engine::attach(const std::string& schema, const std::string& name) {
  const Trusted trusted{*this};
  database_->run(fmt::format("ATTACH {} AS {}", db::quoted_text(name), schema));
}

void QuerySession::Engine::create(const std::string& schema, std::string_view table,
                                  std::string_view module) {
  const Trusted trusted{*this};
  database_->run(fmt::format("CREATE VIRTUAL TABLE {}.{} USING {}({}, {})", schema,
                             db::quoted_name(table), module, sources_.size() - 1, table));
}

void QuerySession::Engine::create_catalog() {
  const Trusted trusted{*this};
  for (const char* const name : {"trace_info", "table_info", "column_info"})
    database_->run(fmt::format("CREATE VIRTUAL TABLE main.{0} USING tl_catalog({0})", name));
}

void QuerySession::Engine::add(std::shared_ptr<const Trace> trace, const ReportOptions& options) {
  const std::string schema = next_schema();
  auto view = std::make_shared<TraceView>(std::move(trace), options);
  const bool is_first = sources_.empty();
  if (is_first) {
    open(":memory:", SQLITE_OPEN_READWRITE);
    add_functions(*database_, view);
  } else {
    attach(schema, ":memory:");
  }
  sources_.push_back(std::make_unique<Schema>(schema, std::move(view)));
  if (is_first) create_catalog();
  for (const TableDef& def : column_tables()) create(schema, def.name, "tl_columns");
  create(schema, "args", "tl_columns");
  create(schema, "trace_bounds", "tl_table");  // functions ask for it while a statement runs
  const Trusted trusted{*this};
  for (const ViewDef& def : views())
    database_->run(fmt::format("CREATE VIEW {}.{} AS {}", schema, def.name, def.sql));
}

void QuerySession::Engine::add(Report report) {
  const std::string schema = next_schema();
  const bool is_first = sources_.empty();
  if (is_first) {
    open(":memory:", SQLITE_OPEN_READWRITE);
    add_functions(*database_, nullptr);
  } else {
    attach(schema, ":memory:");
  }
  std::vector<std::string> names;
  for (const Table& table : report.tables) names.push_back(table.name());
  sources_.push_back(std::make_unique<Schema>(schema, std::move(report)));
  if (is_first) create_catalog();
  for (const std::string& name : names) create(schema, name, "tl_table");
}

void QuerySession::Engine::check_file(const std::string& schema, const std::string& path) {
  const Trusted trusted{*this};
  const auto number = [&](const char* pragma) {
    db::Statement statement{*database_, fmt::format("PRAGMA {}.{}", schema, pragma)};
    return statement.step() ? statement.integer(0) : 0;
  };
  if (number("application_id") != db::kApplicationId)
    throw Error{path, "a SQLite file, but not one that TraceLens wrote"};
  if (number("user_version") != db::kLayoutVersion)
    throw Error{path, "written by another version of TraceLens: make it again"};
  constexpr std::uintmax_t kCheckedBytes = 64 << 20;
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) > kCheckedBytes) return;
  db::Statement check{*database_, fmt::format("PRAGMA {}.quick_check(1)", schema)};
  if (check.step() && check.text(0) != "ok")
    throw Error{path, fmt::format("damaged: {}", check.text(0))};
}

void QuerySession::Engine::add_database(const std::string& path) {
  const std::string schema = next_schema();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) throw Error{path, "cannot be opened"};
  // What it holds cannot change while it is open.
  const std::string uri = db::address_of_file(path, "mode=ro&immutable=1");
  try {
    if (sources_.empty()) {
      open(uri, SQLITE_OPEN_READONLY);
      add_functions(*database_, nullptr);
    } else {
      attach(schema, uri);
    }
    check_file(schema, path);
  } catch (const Error& error) {  // under the name that the user gave
    const std::string_view what = error.what();
    if (!what.starts_with(uri)) throw;
    throw Error{path, what.substr(uri.size() + 2)};
  }
  sources_.push_back(std::make_unique<Schema>(schema, path));
}

std::shared_ptr<const Table> QuerySession::Engine::catalog(bool of_columns) {
  Table tables = db::table_info(), columns = db::column_info();
  sources_.front()->list(tables, columns);
  for (const StatementTableDef& def : statement_tables())
    tables.add_row(fmt::format("{}(id)", def.name), def.description, kMissing);
  return std::make_shared<const Table>(of_columns ? std::move(columns) : std::move(tables));
}

// --- what is allowed ---

bool QuerySession::Engine::allows(int action, const char* a, const char* b,
                                  const char* schema) const {
  const bool is_temporary = schema != nullptr && std::strcmp(schema, "temp") == 0;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return true;
    case SQLITE_FUNCTION:
      return !is_one_of(b, kDeniedFunctions);
    case SQLITE_PRAGMA:
      return is_one_of(a, kPragmas);
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
      return !limits_.select_only;
    case SQLITE_INSERT:
    case SQLITE_DELETE:
    case SQLITE_UPDATE:
    case SQLITE_REINDEX:
      return is_temporary && !limits_.select_only;
    default:
      return false;
  }
}

int QuerySession::Engine::authorize(void* self, int action, const char* a, const char* b,
                                    const char* schema, const char* /*inner*/) {
  const Engine& engine = *static_cast<const Engine*>(self);
  return engine.trusted_ || engine.allows(action, a, b, schema) ? SQLITE_OK : SQLITE_DENY;
}

int QuerySession::Engine::keep_going(void* self) {
  Engine& engine = *static_cast<Engine*>(self);
  if (engine.trusted_) return 0;
  engine.out_of_time_ = engine.limits_.seconds > 0 && Clock::now() > engine.deadline_;
  const bool is_unwanted = engine.limits_.stop != nullptr && *engine.limits_.stop;
  return engine.out_of_time_ || engine.cancelled_ || is_unwanted ? 1 : 0;
}

// --- running ---

void QuerySession::Engine::start_clock() {
  const std::chrono::duration<double> seconds{limits_.seconds};
  out_of_time_ = false;
  deadline_ = limits_.seconds > 0
                  ? Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds)
                  : Clock::time_point::max();
}

bool QuerySession::Engine::make_table(const std::string& name) {
  const std::size_t dot = name.find('.');
  const std::string schema = dot == name.npos ? "main" : name.substr(0, dot);
  const std::string table = dot == name.npos ? name : name.substr(dot + 1);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i]->schema() != schema) continue;
    std::shared_ptr<const Table> made = sources_[i]->table(table);
    std::string shown = made == nullptr ? std::string{} : made->name();
    // One that has the name of a table of events is the second of this name, as in a file.
    if (constexpr std::string_view kSecond = "_2"; made == nullptr && table.ends_with(kSecond)) {
      made = sources_[i]->table(table.substr(0, table.size() - kSecond.size()));
      if (made != nullptr) shown = made->name() + std::string{kSecond};
    }
    if (made == nullptr) return false;
    const Trusted trusted{*this};
    database_->run(fmt::format("CREATE VIRTUAL TABLE {}.{} USING tl_table({}, {})", schema,
                               db::quoted_name(shown), i, made->name()));
    return true;
  }
  return false;
}

QuerySession::Engine::Prepared QuerySession::Engine::prepare(std::string sql) {
  Prepared prepared{.sql = std::move(sql)};
  const std::string original = prepared.sql;
  bool is_renamed = false;
  for (;;) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_->handle(), prepared.sql.data(),
                           static_cast<int>(prepared.sql.size()), &statement,
                           nullptr) == SQLITE_OK) {
      prepared.statement.reset(statement);
      return prepared;
    }
    const std::string message = sqlite3_errmsg(database_->handle());
    // A table of the report, which is made when it is first named.
    if (const auto table = named_after(message, "no such table: "))
      if (make_table(*table)) continue;
    // A column by its title.
    if (const auto column = named_after(message, "no such column: ")) {
      const std::size_t dot = column->rfind('.');
      for (const std::string& title :
           {*column, column->substr(dot == column->npos ? 0 : dot + 1)}) {
        const std::string plain = db::plain_name(title);
        auto renamed = plain == title ? std::nullopt : with_name(prepared.sql, title, plain);
        if (!renamed) continue;
        prepared.sql = *std::move(renamed);
        is_renamed = true;
        break;
      }
      if (std::exchange(is_renamed, false)) continue;
    }
    // About what the user wrote.
    if (original != prepared.sql)
      (void)sqlite3_prepare_v2(database_->handle(), original.data(),
                               static_cast<int>(original.size()), &statement, nullptr);
    fail(original);
  }
}

std::vector<std::string> QuerySession::Engine::first_column(const std::string& sql) {
  start_clock();
  std::vector<std::string> names;
  db::Statement statement{*database_, sql};
  while (statement.step()) names.emplace_back(statement.text(0));
  return names;
}

std::string QuerySession::Engine::hint(const std::string& message, const std::string& sql) {
  if (const auto name = named_after(message, "no such table: ")) {
    std::vector<std::string> tables = first_column("SELECT \"table\" FROM table_info");
    const std::size_t dot = name->rfind('.');
    const auto text = did_you_mean(name->substr(dot == name->npos ? 0 : dot + 1), tables);
    return text.empty() ? "; --schema lists the tables" : text;
  }
  const auto column = named_after(message, "no such column: ");
  if (!column) return {};
  const std::size_t dot = column->rfind('.');
  const std::string name = column->substr(dot == column->npos ? 0 : dot + 1);
  std::string text = did_you_mean(db::plain_name(name),
                                  first_column("SELECT DISTINCT \"column\" FROM column_info"));
  if (sql.find(db::quoted_name(name)) != sql.npos) text += " (strings take single quotes)";
  return text;
}

void QuerySession::Engine::fail(const std::string& sql) {
  sqlite3* const handle = database_->handle();
  const int status = sqlite3_errcode(handle);
  const std::string message = sqlite3_errmsg(handle);
  const std::string place = marked_line(sql, sqlite3_error_offset(handle));
  if (status == SQLITE_INTERRUPT)
    throw QueryError{out_of_time_ ? fmt::format("stopped after {:g} seconds", limits_.seconds)
                                  : std::string{"stopped"},
                     {}};
  if (status == SQLITE_NOMEM)
    throw QueryError{fmt::format("needs more memory than {} MB", limits_.memory_bytes >> 20), {}};
  if (status == SQLITE_AUTH)
    throw QueryError{
        fmt::format("{}: statements can only read{}", message,
                    limits_.select_only ? "" : ", and create temporary tables and views"),
        place};
  std::string more;
  try {
    more = hint(message, sql);
  } catch (const Error&) {  // somebody else's file: there is nothing to look names up in
  }
  throw QueryError{message + more, place};
}

void QuerySession::Engine::bind(const Prepared& prepared, std::span<const QueryParam> params) {
  sqlite3_stmt* const statement = prepared.statement.get();
  for (int place = 1; place <= sqlite3_bind_parameter_count(statement); ++place) {
    const char* const name = sqlite3_bind_parameter_name(statement, place);
    const auto param =
        name == nullptr ? params.end() : std::ranges::find(params, name + 1, &QueryParam::name);
    if (param == params.end())
      throw QueryError{fmt::format("{} has no value: give it one with --param",
                                   name == nullptr ? "a ? without a name" : name),
                       {}};
    if (const auto* const integer = std::get_if<std::int64_t>(&param->value))
      sqlite3_bind_int64(statement, place, *integer);
    else if (const auto* const real = std::get_if<double>(&param->value))
      sqlite3_bind_double(statement, place, *real);
    else
      sqlite3_bind_text64(statement, place, std::get<std::string>(param->value).data(),
                          std::get<std::string>(param->value).size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

void QuerySession::Engine::execute(const Prepared& prepared, const QueryRows& rows) {
  sqlite3_stmt* const statement = prepared.statement.get();
  const int count = sqlite3_column_count(statement);
  std::vector<QueryCell> cells(static_cast<std::size_t>(count));
  if (count > 0 && rows.on_columns) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.emplace_back(sqlite3_column_name(statement, i));
    rows.on_columns(names);
  }
  const auto cell = [&](int i) -> QueryCell {
    const auto size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement, i)); };
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER:
        return sqlite3_column_int64(statement, i);
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, i);
      case SQLITE_TEXT: {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        return std::string_view{text == nullptr ? "" : text, text == nullptr ? 0 : size()};
      }
      case SQLITE_BLOB: {
        const auto* const bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement, i));
        return std::span<const std::byte>{bytes, bytes == nullptr ? 0 : size()};
      }
      default:
        return std::monostate{};
    }
  };
  int status = SQLITE_OK;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < count; ++i) cells[static_cast<std::size_t>(i)] = cell(i);
    if (rows.on_row && !rows.on_row(cells)) break;
  }
  if (status != SQLITE_ROW && status != SQLITE_DONE) fail(prepared.sql);
  if (count > 0 && rows.on_end) rows.on_end();
}

void QuerySession::Engine::run(std::string_view sql, const QueryRows& rows,
                               std::span<const QueryParam> params) {
  if (sources_.empty()) throw Error{"query", "there is no trace to ask about"};
  if (sql.size() > std::size_t{1} << 20) throw QueryError{"longer than 1 MiB", {}};
  const HeapLimit limit{limits_.memory_bytes};
  cancelled_ = false;
  while (const auto statement = next_statement(sql)) {
    const std::string plain = plain_sql(*statement);
    std::string_view parts = plain;
    while (const auto part = next_statement(parts)) {
      // Making tables of the report takes no time of the statement.
      deadline_ = Clock::time_point::max();
      const Prepared prepared = prepare(std::string{*part});
      bind(prepared, params);
      start_clock();
      execute(prepared, rows);
    }
  }
}

// --- what can be asked ---

Table QuerySession::Engine::tables() {
  Table tables = db::table_info();
  start_clock();
  db::Statement statement{*database_, "SELECT \"table\", description, \"rows\" FROM table_info"};
  while (statement.step())
    tables.add_row(statement.text(0), statement.text(1),
                   sqlite3_column_type(statement.get(), 2) == SQLITE_NULL
                       ? Cell{kMissing}
                       : Cell{statement.integer(2)});
  return tables;
}

Table QuerySession::Engine::columns(const std::string& table) {
  Table columns = db::column_info();
  const Prepared prepared =
      prepare(fmt::format("SELECT * FROM {} LIMIT 0", db::quoted_name(table)));
  start_clock();
  db::Statement statement{*database_,
                          "SELECT \"table\", \"column\", title, kind, unit, description FROM "
                          "column_info WHERE \"table\" = ?1 COLLATE NOCASE"};
  statement.bind(1, std::string_view{table});
  while (statement.step())
    columns.add_row(statement.text(0), statement.text(1), statement.text(2), statement.text(3),
                    statement.text(4), statement.text(5));
  if (columns.rows() > 0) return columns;
  // Views, and tables of the user.
  sqlite3_stmt* const described = prepared.statement.get();
  for (int i = 0; i < sqlite3_column_count(described); ++i)
    columns.add_row(table, sqlite3_column_name(described, i), kMissing,
                    sqlite3_column_decltype(described, i) == nullptr
                        ? Cell{kMissing}
                        : Cell{io::lower_case(sqlite3_column_decltype(described, i))},
                    kMissing, kMissing);
  return columns;
}

std::vector<std::string> QuerySession::Engine::words() {
  std::vector<std::string> words = first_column("SELECT \"table\" FROM table_info");
  std::ranges::move(first_column("SELECT DISTINCT \"column\" FROM column_info"),
                    std::back_inserter(words));
  for (const FunctionDef& def : functions())
    words.emplace_back(def.usage.substr(0, def.usage.find('(') + 1));
  for (const std::string_view word : kSqlWords) words.emplace_back(word);
  for (std::string& word : words)  // ancestor_slice(id): up to the bracket
    if (const std::size_t bracket = word.find('('); bracket != word.npos) word.resize(bracket + 1);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// --- the interface ---

QuerySession::QuerySession(const QueryLimits& limits) : engine_{std::make_unique<Engine>(limits)} {}
QuerySession::QuerySession(QuerySession&&) noexcept = default;
QuerySession& QuerySession::operator=(QuerySession&&) noexcept = default;
QuerySession::~QuerySession() = default;

void QuerySession::add(std::shared_ptr<const Trace> trace, const ReportOptions& options) {
  engine_->add(std::move(trace), options);
}
void QuerySession::add(Report report) { engine_->add(std::move(report)); }
void QuerySession::add_database(const std::string& path) { engine_->add_database(path); }
void QuerySession::provide(std::span<const std::shared_ptr<const Table>> tables) {
  engine_->provide(tables);
}
void QuerySession::run(std::string_view sql, const QueryRows& rows,
                       std::span<const QueryParam> params) {
  engine_->run(sql, rows, params);
}
void QuerySession::cancel() noexcept { engine_->cancel(); }
void QuerySession::set_limits(const QueryLimits& limits) { engine_->set_limits(limits); }
Table QuerySession::tables() { return engine_->tables(); }
Table QuerySession::columns(const std::string& table) { return engine_->columns(table); }
std::vector<std::string> QuerySession::words() { return engine_->words(); }

QueryParam parse_query_param(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) throw Error{text, "expected a parameter as name=value"};
  const std::string_view value = text.substr(equals + 1);
  QueryParam param{std::string{text.substr(0, equals)}, std::string{value}};
  const char* const end = value.data() + value.size();
  std::int64_t integer = 0;
  double real = 0;
  if (const auto [stop, error] = std::from_chars(value.data(), end, integer);
      error == std::errc{} && stop == end)
    param.value = integer;
  else if (const auto [last, wrong] = std::from_chars(value.data(), end, real);
           wrong == std::errc{} && last == end)
    param.value = real;
  return param;
}

bool is_database(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  unsigned char head[100] = {};
  std::ifstream{path, std::ios::binary}.read(reinterpret_cast<char*>(head), sizeof head);
  if (std::memcmp(head, "SQLite format 3", 16) != 0) return false;
  // Not a trace of another profiler, which may be a SQLite file too.
  constexpr std::size_t kMark = 68;  // where a header has the application's id
  std::uint32_t mark = 0;
  for (std::size_t i = kMark; i < kMark + 4; ++i) mark = mark << 8 | head[i];
  return mark == static_cast<std::uint32_t>(db::kApplicationId);
}

}  // namespace tracelens
