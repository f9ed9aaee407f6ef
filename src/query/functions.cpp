#include "query/functions.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <tracelens/error.hpp>
#include <utility>
#include <vector>

#include "query/args_table.hpp"
#include "query/virtual_table.hpp"
#include "table/utf8.hpp"

namespace tracelens::query {
namespace {

using Values = sqlite3_value**;

constexpr FunctionDef kFunctions[] = {
    {"extract_arg(arg_set_id, key)", "an argument of an event: extract_arg(id, 'args.stream')"},
    {"trace_start()", "start of the first event, in ns"},
    {"trace_end()", "end of the last event, in ns"},
    {"trace_dur()", "from one to the other, in ns"},
    {"median(x)", "the middle value"},
    {"percentile(x, p)", "the value below which p percent lie, linear between ranks"},
    {"regexp(pattern, text)", "text REGEXP pattern: found anywhere (RE2)"},
    {"shorten(text, n)", "at most n characters, cut in the middle"},
    {"ms(ns)", "milliseconds"},
    {"us(ns)", "microseconds"},
    {"path_of(node)", "names from the root of the call tree to a node"},
};

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void set_copy(sqlite3_context* to, std::string_view text) {
  sqlite3_result_text64(to, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

template <class Run>
void guarded_call(sqlite3_context* to, const Run& run) {
  try {
    run();
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(to);
  } catch (const std::exception& error) {
    sqlite3_result_error(to, error.what(), -1);
  }
}

// --- median, percentile ---
// Values are kept in SQLite's memory, so that its limit counts them.
struct Samples {
  double* values;
  sqlite3_uint64 count, room;
  double percent;
};

void add_sample(sqlite3_context* to, int count, Values values) {
  auto* const samples = static_cast<Samples*>(sqlite3_aggregate_context(to, sizeof(Samples)));
  if (samples == nullptr) return sqlite3_result_error_nomem(to);
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  samples->percent = count > 1 ? sqlite3_value_double(values[1]) : 50;
  if (samples->count == samples->room) {
    const sqlite3_uint64 room = samples->room == 0 ? 64 : 2 * samples->room;
    void* const grown = sqlite3_realloc64(samples->values, room * sizeof(double));
    if (grown == nullptr) return sqlite3_result_error_nomem(to);
    samples->values = static_cast<double*>(grown);
    samples->room = room;
  }
  samples->values[samples->count++] = sqlite3_value_double(values[0]);
}

void finish_samples(sqlite3_context* to) {
  auto* const samples = static_cast<Samples*>(sqlite3_aggregate_context(to, 0));
  if (samples == nullptr || samples->values == nullptr) return;
  if (samples->percent >= 0 && samples->percent <= 100) {
    std::span values{samples->values, static_cast<std::size_t>(samples->count)};
    std::ranges::sort(values);
    const double place = samples->percent / 100 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double part = place - static_cast<double>(below);
    sqlite3_result_double(to, values[below] + part * (values[above] - values[below]));
  } else {
    sqlite3_result_error(to, "percentile(x, p): p is from 0 to 100", -1);
  }
  sqlite3_free(samples->values);
  samples->values = nullptr;
}

// --- texts and times ---

void call_regexp(sqlite3_context* to, int /*count*/, Values values) {
  guarded_call(to, [&] {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
        sqlite3_value_type(values[1]) == SQLITE_NULL)
      return;
    auto* pattern = static_cast<const RE2*>(sqlite3_get_auxdata(to, 0));
    std::unique_ptr<RE2> made;
    if (pattern == nullptr) {
      RE2::Options options{RE2::Quiet};
      options.set_max_mem(8 << 20);
      made = std::make_unique<RE2>(std::string{text_of(values[0])}, options);
      if (!made->ok()) throw Error{"regexp", made->error()};
      pattern = made.get();
    }
    const std::string_view text = text_of(values[1]);
    sqlite3_result_int(
        to, RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, *pattern) ? 1 : 0);
    if (made)
      sqlite3_set_auxdata(to, 0, made.release(), [](void* re) { delete static_cast<RE2*>(re); });
  });
}

void call_shorten(sqlite3_context* to, int /*count*/, Values values) {
  guarded_call(to, [&] {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    const std::int64_t width = std::clamp<std::int64_t>(sqlite3_value_int64(values[1]), 1, 1 << 20);
    set_copy(to, shorten_middle(text_of(values[0]), static_cast<std::size_t>(width)));
  });
}

template <int divisor>
void call_divide(sqlite3_context* to, int /*count*/, Values values) {
  if (sqlite3_value_type(values[0]) != SQLITE_NULL)
    sqlite3_result_double(to, sqlite3_value_double(values[0]) / divisor);
}

// --- functions that ask the database ---

// A statement that is the function: its arguments are ?1, ?2, its first cell the result.
void call_statement(sqlite3_context* to, int count, Values values, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3* const database = sqlite3_context_db_handle(to);
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK)
    return sqlite3_result_error(to, sqlite3_errmsg(database), -1);
  for (int i = 0; i < count; ++i) sqlite3_bind_value(statement, i + 1, values[i]);
  const int status = sqlite3_step(statement);
  if (status == SQLITE_ROW)
    sqlite3_result_value(to, sqlite3_column_value(statement, 0));
  else if (status != SQLITE_DONE)
    sqlite3_result_error_code(to, status);
  sqlite3_finalize(statement);
}

constexpr char kStartSql[] = "SELECT start_ts FROM trace_bounds";
constexpr char kEndSql[] = "SELECT end_ts FROM trace_bounds";
constexpr char kDurSql[] = "SELECT end_ts - start_ts FROM trace_bounds";
constexpr char kArgSql[] =
    "SELECT coalesce(int_value, real_value, string_value) FROM args WHERE arg_set_id = ?1 AND "
    "key = ?2";
constexpr char kPathSql[] =
    "WITH RECURSIVE up(node, parent, name, depth) AS (SELECT node, parent, name, depth FROM tree "
    "WHERE node = ?1 UNION ALL SELECT t.node, t.parent, t.name, t.depth FROM up CROSS JOIN tree t "
    "ON t.node = up.parent) SELECT group_concat(name, ' > ') FROM (SELECT name FROM up ORDER BY "
    "depth)";

template <const char* sql>
void call_sql(sqlite3_context* to, int count, Values values) {
  call_statement(to, count, values, sql);
}

// The same as kArgSql, of the trace itself.
void call_extract_arg(sqlite3_context* to, int /*count*/, Values values) {
  guarded_call(to, [&] {
    TraceView& view = **static_cast<std::shared_ptr<TraceView>*>(sqlite3_user_data(to));
    const std::int64_t event = sqlite3_value_int64(values[0]);
    if (sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER || event < 0 ||
        event >= static_cast<std::int64_t>(view.trace().size()))
      return;
    const auto row = static_cast<std::uint32_t>(event);
    const std::string_view key = text_of(values[1]);
    const auto found_in = [&](const std::vector<ArgLeaf>& leaves) {
      const auto leaf = std::ranges::find(leaves, key, &ArgLeaf::key);
      if (leaf != leaves.end()) set_result(to, leaf->value);
      return leaf != leaves.end();
    };
    thread_local std::vector<ArgLeaf> own;
    own.clear();
    view.column_args(row, own);
    if (found_in(own)) return;
    const SignatureId signature = view.trace().signatures()[row];
    if (signature.valid() && found_in(view.signature_args(signature))) return;
    if (const auto details = view.trace().detail_texts().at(EventId{row}))
      (void)found_in(view.detail_args(*details));
  });
}

constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

void add_scalar(const db::Database& database, const char* name, int arguments,
                void (*call)(sqlite3_context*, int, Values), int flags = kFlags) {
  sqlite3_create_function_v2(database.handle(), name, arguments, flags, nullptr, call, nullptr,
                             nullptr, nullptr);
}

}  // namespace

std::span<const FunctionDef> functions() { return kFunctions; }

void add_functions(const db::Database& database, std::shared_ptr<TraceView> view) {
  for (const auto& [name, arguments] : {std::pair{"median", 1}, {"percentile", 2}})
    sqlite3_create_function_v2(database.handle(), name, arguments, kFlags, nullptr, nullptr,
                               add_sample, finish_samples, nullptr);
  add_scalar(database, "regexp", 2, call_regexp);
  add_scalar(database, "shorten", 2, call_shorten);
  add_scalar(database, "ms", 1, call_divide<1'000'000>);
  add_scalar(database, "us", 1, call_divide<1'000>);
  // These ask tables; a view of somebody else's file must not.
  constexpr int kAsks = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  add_scalar(database, "trace_start", 0, call_sql<kStartSql>, kAsks);
  add_scalar(database, "trace_end", 0, call_sql<kEndSql>, kAsks);
  add_scalar(database, "trace_dur", 0, call_sql<kDurSql>, kAsks);
  add_scalar(database, "path_of", 1, call_sql<kPathSql>, kAsks);
  if (view == nullptr) {
    add_scalar(database, "extract_arg", 2, call_sql<kArgSql>, kAsks);
    return;
  }
  sqlite3_create_function_v2(
      database.handle(), "extract_arg", 2, kFlags, new std::shared_ptr<TraceView>{std::move(view)},
      call_extract_arg, nullptr, nullptr,
      [](void* held) { delete static_cast<std::shared_ptr<TraceView>*>(held); });
}

}  // namespace tracelens::query
