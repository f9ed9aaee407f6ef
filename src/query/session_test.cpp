#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <tracelens/query.hpp>
#include <tracelens/read_trace.hpp>
#include <vector>

#include "io/temporary_folder.hpp"
#include "query/dialect.hpp"
#include "query/hints.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An op that launches two kernels, and a copy that nobody launched.
constexpr std::string_view kTrace = R"({"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 40,
 "args": {"External id": 7, "Input Dims": [[8, 16], [16, 4]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
 "args": {"correlation": 11}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 3,
 "args": {"correlation": 12}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
 "args": {"correlation": 11, "device": 0, "stream": 7, "grid": [3, 1, 1]}},
{"ph": "X", "cat": "kernel", "name": "reduce", "pid": 0, "tid": 7, "ts": 30, "dur": 2,
 "args": {"correlation": 12, "device": 0, "stream": 7}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 8, "ts": 40, "dur": 4,
 "args": {"correlation": 99, "device": 0, "stream": 8, "bytes": 4000}},
{"ph": "s", "id": 11, "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 11, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"},
{"ph": "s", "id": 12, "pid": 1, "tid": 1, "ts": 10, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 12, "pid": 0, "tid": 7, "ts": 30, "cat": "ac2g", "name": "ac2g", "bp": "e"},
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main thread"}}
]})";

std::shared_ptr<const Trace> small_trace() {
  return std::make_shared<const Trace>(read_trace_bytes("small.json", kTrace));
}

std::string text_of(const QueryCell& cell) {
  if (const auto* const integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* const real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* const text = std::get_if<std::string_view>(&cell)) return std::string{*text};
  return "NULL";
}

// "a|b" for each row.
std::vector<std::string> rows_of(QuerySession& session, std::string_view sql,
                                 std::span<const QueryParam> params = {}) {
  std::vector<std::string> rows;
  session.run(sql,
              {.on_row =
                   [&](std::span<const QueryCell> row) {
                     std::string line;
                     for (const QueryCell& cell : row)
                       line += (line.empty() ? "" : "|") + text_of(cell);
                     rows.push_back(line);
                     return true;
                   }},
              params);
  return rows;
}

std::string error_of(QuerySession& session, std::string_view sql) {
  try {
    (void)rows_of(session, sql);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class Query : public testing::Test {
 protected:
  Query() { session_.add(small_trace()); }
  std::vector<std::string> rows(std::string_view sql) { return rows_of(session_, sql); }
  std::string error(std::string_view sql) { return error_of(session_, sql); }
  QuerySession session_;
};

TEST_F(Query, SlicesAreEventsWithADurationNestedByTimeOnTheirTrack) {
  EXPECT_THAT(rows("SELECT id, name, ts, dur, depth, parent_id FROM slice WHERE category <> "
                   "'kernel' ORDER BY id"),
              ElementsAre("0|ProfilerStep#1|0|100000|0|NULL", "1|aten::mm|1000|40000|1|0",
                          "2|cudaLaunchKernel|2000|3000|2|1", "3|cudaLaunchKernel|10000|3000|2|1",
                          "6|Memcpy HtoD|40000|4000|0|NULL"));
  EXPECT_THAT(rows("SELECT name FROM ancestor_slice(2) ORDER BY depth DESC"),
              ElementsAre("aten::mm", "ProfilerStep#1"));
  EXPECT_THAT(rows("SELECT count(*) FROM descendant_slice(0)"), ElementsAre("3"));
}

TEST_F(Query, GpuEventsKnowTheirLaunchOpAndStep) {
  EXPECT_THAT(
      rows("SELECT id, kind, stream, launch_id, op, step, bytes FROM gpu_event ORDER BY id"),
      ElementsAre("4|kernel|7|2|aten::mm|ProfilerStep#1|NULL",
                  "5|kernel|7|3|aten::mm|ProfilerStep#1|NULL", "6|memcpy|8|NULL|NULL|NULL|4000"));
  EXPECT_THAT(rows("SELECT call_id, gpu_id, latency, queue FROM launch ORDER BY gpu_id"),
              ElementsAre("2|4|18000|15000", "3|5|20000|17000"));
  EXPECT_THAT(rows("SELECT step, gpu_ns FROM step"), ElementsAre("ProfilerStep#1|7000"));
}

TEST_F(Query, ArgumentsHaveTheKeysOfPerfetto) {
  EXPECT_THAT(
      rows("SELECT key, display_value FROM args WHERE arg_set_id = 1 ORDER BY id"),
      ElementsAre("args.External id|7", "args.Input Dims[0][0]|8", "args.Input Dims[0][1]|16",
                  "args.Input Dims[1][0]|16", "args.Input Dims[1][1]|4", "args.Input type[0]|float",
                  "args.Input type[1]|float"));
  EXPECT_THAT(rows("SELECT extract_arg(arg_set_id, 'args.grid[0]') FROM slice WHERE id = 4"),
              ElementsAre("3"));
}

TEST_F(Query, ReportTablesAreMadeWhenNamedAndKnowTheirTitles) {
  EXPECT_THAT(rows("SELECT time_ms FROM gpu_timeline WHERE type = 'total_time'"),
              ElementsAre("0.012"));
  EXPECT_THAT(rows("SELECT \"time ms\" FROM gpu_timeline WHERE type = 'total_time'"),
              ElementsAre("0.012"));
  EXPECT_THAT(rows("SELECT rows FROM table_info WHERE \"table\" = 'gpu_timeline'"),
              ElementsAre(testing::Ne("NULL")));
  EXPECT_THAT(error("SELECT * FROM GEMM_bwd_kl_overlap_x"), HasSubstr("no such table"));
}

TEST_F(Query, MistakesGetAHint) {
  EXPECT_THAT(error("SELECT nam FROM slice"), HasSubstr("did you mean name"));
  EXPECT_THAT(error("SELECT * FROM slic"), HasSubstr("did you mean slice"));
  EXPECT_THAT(error("SELECT * FROM slice WHERE name = \"x y\""),
              HasSubstr("strings take single quotes"));
  EXPECT_THAT(error("SELECT :limit"), HasSubstr(":limit has no value"));
  EXPECT_EQ(query::marked_line("SELECT nam FROM slice", 7), "  SELECT nam FROM slice\n         ^");
}

TEST_F(Query, PlansUseIdNameAndTime) {
  const auto plan = [&](std::string_view sql) {
    const auto lines = rows(fmt::format("EXPLAIN QUERY PLAN {}", sql));
    return lines.empty() ? std::string{} : lines.front();
  };
  EXPECT_THAT(plan("SELECT * FROM slice WHERE id = 3"), HasSubstr("INDEX 0:r0"));
  EXPECT_THAT(plan("SELECT * FROM slice WHERE name = 'a'"), HasSubstr("INDEX 0:v7"));
  EXPECT_THAT(plan("SELECT * FROM slice WHERE ts BETWEEN 1 AND 2"), HasSubstr("INDEX 0:t2"));
  EXPECT_THAT(plan("SELECT name, count(*) FROM slice GROUP BY name"), HasSubstr("INDEX 0:g7"));
  EXPECT_EQ(rows("EXPLAIN QUERY PLAN SELECT name, count(*) FROM slice GROUP BY name").size(), 1U)
      << "no sorter";
}

// Every value is compared by SQLite itself where it stands inside an expression.
TEST_F(Query, WhatIsFoundByListsIsWhatSqliteFinds) {
  std::mt19937 random{7};
  const std::vector<std::string> columns{"id",       "ts",       "dur",       "name",
                                         "category", "track_id", "parent_id", "depth"};
  const std::vector<std::string> ops{"=", "<", "<=", ">", ">=", "IS", "<>"};
  const std::vector<std::string> values{
      "0",        "2",      "7",     "10000",  "'aten::mm'",
      "'kernel'", "'none'", "NULL",  "2.5",    "'2'",
      "-1",       "20000",  "1e300", "x'00'",  "-9223372036854775808",
      "2.0",      "1e4",    "-0.0",  "9.3e18", "-9.223372036854775808e18"};
  const auto any = [&](const std::vector<std::string>& of) { return of[random() % of.size()]; };
  for (int i = 0; i < 600; ++i) {
    const std::string a = any(columns), b = any(columns), op_a = any(ops), op_b = any(ops);
    const std::string x = any(values), y = any(values);
    const std::string order = any({"", " ORDER BY ts", " ORDER BY id", " ORDER BY name"});
    const std::string found = fmt::format("SELECT id FROM slice WHERE {} {} {} AND {} {} {}{}", a,
                                          op_a, x, b, op_b, y, order);
    // +column keeps the type's affinity and hides the column from the table.
    const std::string scanned = fmt::format(
        "SELECT id FROM (SELECT * FROM slice LIMIT -1 OFFSET 0) WHERE {} {} {} AND {} "
        "{} {}{}",
        a, op_a, x, b, op_b, y, order);
    std::vector<std::string> first = rows(found), second = rows(scanned);
    if (!order.ends_with("ts") && !order.ends_with("id")) {
      std::ranges::sort(first);
      std::ranges::sort(second);
    }
    EXPECT_EQ(first, second) << found;
  }
}

TEST_F(Query, StatementsCannotChangeAnythingOrReadFiles) {
  for (const std::string_view sql :
       {"ATTACH 'x.db' AS x", "DETACH main", "PRAGMA writable_schema=1",
        "SELECT load_extension('x')", "INSERT INTO slice(id) VALUES (1)", "CREATE TABLE main.x(a)",
        "VACUUM INTO 'x.db'", "DROP TABLE slice", "DELETE FROM thread", "PRAGMA journal_mode=WAL",
        "BEGIN", "CREATE VIRTUAL TABLE temp.x USING tl_columns(0, slice)",
        "ALTER TABLE slice RENAME TO x",
        "CREATE TEMP TRIGGER x AFTER INSERT ON slice BEGIN SELECT 1; END"}) {
    EXPECT_NE(error(sql), "") << sql;
    EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("7")) << sql;
  }
  EXPECT_THAT(
      rows("CREATE TEMP TABLE k AS SELECT * FROM kernel; SELECT count(*) FROM k; DROP TABLE k"),
      ElementsAre("2"));
  QuerySession reads_only{{.select_only = true}};
  reads_only.add(small_trace());
  EXPECT_NE(error_of(reads_only, "CREATE TEMP TABLE k AS SELECT 1"), "");
}

// SQLite must go on counting its memory, whatever else is set up in it.
TEST_F(Query, SortingEndsAtTheLimitOfMemory) {
  session_.set_limits({.seconds = 60, .memory_bytes = 32 << 20});
  EXPECT_THAT(error("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5000) "
                    "SELECT x, zeroblob(100000) FROM n ORDER BY -x"),
              HasSubstr("needs more memory than 32 MB"));
}

TEST_F(Query, StatementsEndInTimeAndMemory) {
  session_.set_limits({.seconds = 0.2, .memory_bytes = 32 << 20});
  constexpr std::string_view kEndless =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
  EXPECT_THAT(error(kEndless), HasSubstr("stopped after 0.2 seconds"));
  const QueryLimits patient{.seconds = 600, .memory_bytes = 32 << 20};
  session_.set_limits(patient);
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("7"));
  EXPECT_NE(error("SELECT length(zeroblob(1000000000))"), "");
  session_.set_limits({.seconds = 0.2, .memory_bytes = 32 << 20});
  EXPECT_THAT(
      error("SELECT median(x) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
            "FROM n LIMIT 1000000000) SELECT x FROM n)"),
      testing::AnyOf(HasSubstr("memory"), HasSubstr("stopped")));
  session_.set_limits(patient);
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("7"));
  session_.set_limits({.seconds = 0});
  // Again and again: one that comes before the statement begins is for the one before.
  const std::jthread other{[&](const std::stop_token& is_over) {
    while (!is_over.stop_requested()) {
      session_.cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }};
  EXPECT_THAT(error(kEndless), HasSubstr("stopped"));
}

// Each look at table_info makes it anew, and what another one has found in it must stay.
TEST_F(Query, ATableIsAskedWhileItIsAsked) {
  (void)rows("SELECT count(*) FROM gpu_timeline; SELECT count(*) FROM kernel_summary");
  EXPECT_THAT(rows("SELECT count(*) FROM table_info a WHERE a.\"rows\" = (SELECT \"rows\" FROM "
                   "table_info WHERE \"table\" = 'gpu_timeline') AND (SELECT count(*) FROM "
                   "table_info b WHERE b.\"rows\" = a.\"rows\") = 0"),
              ElementsAre("0"));
}

TEST_F(Query, ParametersAndPerfettosStatements) {
  const std::vector<QueryParam> params{parse_query_param("name=gemm"), parse_query_param("n=1")};
  EXPECT_THAT(rows_of(session_, "SELECT id FROM slice WHERE name = :name LIMIT :n", params),
              ElementsAre("4"));
  EXPECT_THAT(
      rows("INCLUDE PERFETTO MODULE slices.with_context; SELECT thread_name FROM thread_slice "
           "WHERE id = 1"),
      ElementsAre("main thread"));
  EXPECT_THAT(rows("CREATE OR REPLACE PERFETTO VIEW v(id INT) AS SELECT id FROM kernel; SELECT "
                   "count(*) FROM v"),
              ElementsAre("2"));
  EXPECT_THAT(error("INCLUDE PERFETTO MODULE android.startup"), HasSubstr("known are"));
  EXPECT_THAT(error("CREATE PERFETTO FUNCTION f() RETURNS INT AS SELECT 1"),
              HasSubstr("not supported"));
}

TEST_F(Query, OtherTracesAreOtherSchemas) {
  session_.add(small_trace());
  EXPECT_THAT(rows("SELECT count(*) FROM slice a JOIN t2.slice b USING (id)"), ElementsAre("7"));
  EXPECT_THAT(rows("SELECT time_ms FROM t2.gpu_timeline WHERE type = 'total_time'"),
              ElementsAre("0.012"));
  EXPECT_THAT(rows("SELECT schema, source FROM trace_info"),
              ElementsAre("main|small.json", "t2|small.json"));
}

TEST_F(Query, AFileGivesTheSameRows) {
  const io::TemporaryFolder folder;
  const std::string path = folder.path("report.db");
  const auto trace = small_trace();
  write_database(make_report(*trace), trace, {}, path);
  QuerySession file;
  file.add_database(path);
  for (const std::string_view sql :
       {"SELECT * FROM slice ORDER BY id", "SELECT * FROM event ORDER BY id",
        "SELECT * FROM gpu_event ORDER BY id", "SELECT * FROM launch ORDER BY gpu_id",
        "SELECT * FROM op ORDER BY id", "SELECT * FROM tree ORDER BY node",
        "SELECT * FROM args ORDER BY id", "SELECT * FROM flow ORDER BY id",
        "SELECT * FROM thread_slice ORDER BY id", "SELECT * FROM string ORDER BY id",
        "SELECT * FROM gpu_timeline", "SELECT \"time ms\" FROM gpu_timeline",
        "SELECT * FROM ancestor_slice(2)", "SELECT extract_arg(4, 'args.grid[0]'), trace_dur()"})
    EXPECT_EQ(rows_of(file, sql), rows(sql)) << sql;
  EXPECT_NE(error_of(file, "DELETE FROM event_data"), "");
}

TEST(QueryFile, OnlyFilesOfTraceLensAreOpened) {
  const io::TemporaryFolder folder;
  const std::string path =
      folder.write("other.db", std::string{"SQLite format 3"} + '\0' + std::string(4096, 'x'));
  EXPECT_FALSE(is_database(path)) << "may be a trace";
  QuerySession session;
  EXPECT_THROW(session.add_database(path), Error);
}

TEST(QueryDialect, StatementsEndOutsideOfQuotesAndComments) {
  std::string_view text = "-- a;\nSELECT ';' /* ; */, \"x;\"; SELECT 2";
  EXPECT_EQ(query::next_statement(text), "SELECT ';' /* ; */, \"x;\"");
  EXPECT_EQ(query::next_statement(text), "SELECT 2");
  EXPECT_EQ(query::next_statement(text), std::nullopt);
}

TEST(QueryExamples, AllRun) {
  QuerySession session;
  session.add(std::make_shared<const Trace>(read_trace("tests/data/h200_gpt_train_amp.json.gz")));
  for (const QueryExample& example : query_examples())
    EXPECT_EQ(error_of(session, example.sql), "") << example.question;
}

}  // namespace
}  // namespace tracelens
