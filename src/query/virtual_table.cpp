#include "query/virtual_table.hpp"

#include <exception>
#include <new>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <utility>

namespace tracelens::query {
namespace {

struct Module {
  MakeTable make;
  bool& trusted;
};

struct TableHandle {
  sqlite3_vtab base{};  // what SQLite sees: it must come first
  std::unique_ptr<VirtualTable> table;
};
struct CursorHandle {
  sqlite3_vtab_cursor base{};
  std::unique_ptr<VirtualCursor> cursor;
};

VirtualTable& table_of(sqlite3_vtab* handle) {
  return *reinterpret_cast<TableHandle*>(handle)->table;
}
VirtualCursor& cursor_of(sqlite3_vtab_cursor* handle) {
  return *reinterpret_cast<CursorHandle*>(handle)->cursor;
}

// Runs it; an exception becomes a status and its text the message.
template <class Run>
int guarded(char** message, const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& error) {
    sqlite3_free(*message);
    *message = sqlite3_mprintf("%s", error.what());
    return SQLITE_ERROR;
  }
}

int connect_table(sqlite3* database, void* aux, int count, const char* const* words,
                  sqlite3_vtab** made, char** message) {
  return guarded(message, [&] {
    std::vector<std::string> given;
    for (int i = 3; i < count; ++i) given.emplace_back(words[i]);
    auto handle = std::make_unique<TableHandle>();
    const Module& module = *static_cast<const Module*>(aux);
    handle->table = module.make(given);
    const bool before = std::exchange(module.trusted, true);
    const int status = sqlite3_declare_vtab(database, handle->table->declaration().c_str());
    module.trusted = before;
    if (status != SQLITE_OK) throw Error{words[2], sqlite3_errmsg(database)};
    // They change nothing, so that views may use them.
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    *made = &handle.release()->base;
    return SQLITE_OK;
  });
}

// Another function than connect_table, so that SQLite does not offer the module as a table.
int create_table(sqlite3* database, void* aux, int count, const char* const* words,
                 sqlite3_vtab** made, char** message) {
  return connect_table(database, aux, count, words, made, message);
}

int disconnect_table(sqlite3_vtab* handle) {
  delete reinterpret_cast<TableHandle*>(handle);
  return SQLITE_OK;
}

int best_index_of(sqlite3_vtab* handle, sqlite3_index_info* info) {
  return guarded(&handle->zErrMsg, [&] { return table_of(handle).best_index(*info); });
}

int open_cursor(sqlite3_vtab* handle, sqlite3_vtab_cursor** made) {
  return guarded(&handle->zErrMsg, [&] {
    auto cursor = std::make_unique<CursorHandle>();
    cursor->cursor = table_of(handle).open();
    *made = &cursor.release()->base;
    return SQLITE_OK;
  });
}

int close_cursor(sqlite3_vtab_cursor* handle) {
  delete reinterpret_cast<CursorHandle*>(handle);
  return SQLITE_OK;
}

int filter_cursor(sqlite3_vtab_cursor* handle, int plan, const char* text, int count,
                  sqlite3_value** values) {
  return guarded(&handle->pVtab->zErrMsg, [&] {
    cursor_of(handle).filter(plan, text, {values, static_cast<std::size_t>(count)});
    return SQLITE_OK;
  });
}

int next_row(sqlite3_vtab_cursor* handle) {
  return guarded(&handle->pVtab->zErrMsg, [&] {
    cursor_of(handle).next();
    return SQLITE_OK;
  });
}

int is_at_end(sqlite3_vtab_cursor* handle) { return cursor_of(handle).done() ? 1 : 0; }

int column_value(sqlite3_vtab_cursor* handle, sqlite3_context* to, int column) {
  return guarded(&handle->pVtab->zErrMsg, [&] {
    cursor_of(handle).column(to, column);
    return SQLITE_OK;
  });
}

int row_number(sqlite3_vtab_cursor* handle, sqlite3_int64* row) {
  *row = cursor_of(handle).rowid();
  return SQLITE_OK;
}

sqlite3_module module_with(bool eponymous) {
  sqlite3_module module{};
  module.iVersion = 0;
  module.xCreate = eponymous ? nullptr : create_table;
  module.xConnect = connect_table;
  module.xBestIndex = best_index_of;
  module.xDisconnect = disconnect_table;
  module.xDestroy = disconnect_table;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter_cursor;
  module.xNext = next_row;
  module.xEof = is_at_end;
  module.xColumn = column_value;
  module.xRowid = row_number;
  return module;
}

}  // namespace

void add_module(const db::Database& database, const std::string& name, MakeTable make,
                bool& trusted, bool eponymous) {
  static const sqlite3_module kCreated = module_with(false), kEponymous = module_with(true);
  const int status = sqlite3_create_module_v2(
      database.handle(), name.c_str(), eponymous ? &kEponymous : &kCreated,
      new Module{std::move(make), trusted}, [](void* aux) { delete static_cast<Module*>(aux); });
  if (status != SQLITE_OK) throw Error{name, sqlite3_errmsg(database.handle())};
}

void set_result(sqlite3_context* to, std::string_view text) {
  sqlite3_result_text64(to, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
}

void set_result(sqlite3_context* to, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return;
    case Value::Kind::kBool:
      return sqlite3_result_int(to, value.as_bool() ? 1 : 0);
    case Value::Kind::kInt:
      return sqlite3_result_int64(to, value.as_int());
    case Value::Kind::kReal:
      return sqlite3_result_double(to, value.as_real());
    case Value::Kind::kText:
      return sqlite3_result_text64(to, value.as_text().data(), value.as_text().size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8);
    case Value::Kind::kTuple:
    case Value::Kind::kList:
    case Value::Kind::kDict:
      break;
  }
  const std::string text = json_text(value);
  sqlite3_result_text64(to, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace tracelens::query
