#include "readers/database/database.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "readers/database/connection.hpp"
#include "readers/database/lookup.hpp"
#include "readers/database/nvtx_payload.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void run(const std::string& path, const char* script) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, script, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

std::string make(const io::TemporaryFolder& folder, const char* name, const char* script) {
  const std::string path = folder.path(name);
  run(path, script);
  return path;
}

Trace read(const std::string& path) {
  io::Stream in = io::Stream::open(path);
  return read_database(in, {});
}

std::string error_of_reading(const std::string& path) {
  try {
    static_cast<void>(read(path));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kNsight = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, domainId INTEGER, globalTid INTEGER);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_ptsz_v7000'),(2,'gemm'),(3,'aten::mm, seq = 4, sizes = [[2, 3], [3, 4]]');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,0,117440513,5,1),(9,21,67,117440513,5,1),(11,12,67,117440513,6,1);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,50,0,7,5,117440512,2),(0,0,0,7,8,117440512,2),(70,60,0,7,8,117440512,2),(-9,-4,0,7,9,117440512,99);
INSERT INTO NVTX_EVENTS VALUES (5,NULL,59,NULL,3,0,117440513),(6,8,60,'loose',NULL,0,117440513),(7,NULL,34,'mark',NULL,0,117440513);
)";

std::int64_t count(const Trace& trace, Category category) {
  return std::ranges::count(trace.categories(), category);
}

TEST(Nsight, TwinsOfCallsAndRowsWithoutTimesAreNoEvents) {
  const io::TemporaryFolder folder;
  const Trace trace = read(make(folder, "x.sqlite", kNsight));
  EXPECT_EQ(count(trace, Category::kCudaRuntime), 2);  // a backtrace alone is the call
  EXPECT_EQ(count(trace, Category::kKernel), 2);
  EXPECT_EQ(trace.metadata("rows_not_events")->as_int(), 3);
  EXPECT_EQ(trace.name({0}), "cudaLaunchKernel");
}

// The upper 16 bits of globalTid say which machine it is: here 1 and 2, each with a process 7 that
// launched a kernel under number 5.
TEST(Nsight, ProcessesOfTwoMachinesMayHaveOnePid) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.sqlite", R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel'),(2,'gemm'),(3,'add');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,(1<<48)+(7<<24)+9,5,1),(110,120,(2<<48)+(7<<24)+9,5,1);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (130,150,1,7,5,(2<<48)+(7<<24),3),(30,50,0,7,5,(1<<48)+(7<<24),2);
)");
  const Trace trace = read(path);
  std::map<std::int64_t, std::set<std::int64_t>> starts;  // by launch
  for (const EventId event : trace.all_events())
    starts[trace.correlations()[event.row]].insert(trace.ts_ns()[event.row]);
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts.begin()->second, (std::set<std::int64_t>{10, 30}));
  EXPECT_EQ(starts.rbegin()->second, (std::set<std::int64_t>{110, 130}));
  const Value* const processes = trace.metadata("processes");
  ASSERT_EQ(processes->items().size(), 2U);
  for (const Value& process : processes->items()) EXPECT_EQ(process.find("own_pid")->as_int(), 7);
}

TEST(Nsight, ACallWithoutANumberHasNoTwin) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.sqlite", kNsight);
  run(path, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = NULL");
  EXPECT_EQ(count(read(path), Category::kCudaRuntime), 3);
}

TEST(Nsight, ARangeOfEmitNvtxIsAnOpAndEndsWithTheRecording) {
  const io::TemporaryFolder folder;
  const Trace trace = read(make(folder, "x.sqlite", kNsight));
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kCpuOp) continue;
    EXPECT_EQ(trace.name(event), "aten::mm");
    EXPECT_EQ(trace.end_ns(event), 50);  // as the last event, not as a row that is none
    EXPECT_EQ(trace.signature(trace.signatures()[event.row]).dims.items().size(), 2U);
    EXPECT_EQ(trace.sequence_numbers().at(event), 4);
    return;
  }
  FAIL() << "no op";
}

TEST(Nsight, AKernelWhoseNameIsLostKeepsItsPlace) {
  const io::TemporaryFolder folder;
  const Trace trace = read(make(folder, "x.sqlite", kNsight));
  bool found = false;
  for (const EventId event : trace.all_events()) found = found || trace.name(event) == "string_99";
  EXPECT_TRUE(found);
}

constexpr const char* kRpd = R"(
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_string VALUES (1,'hipLaunchKernel'),(2,'gemm'),(3,'KernelExecution'),(4,'UserMarker'),(5,'step'),(6,'Tracer::writeRows'),(7,''),(8,'FillBuffer');
INSERT INTO rocpd_api VALUES (4294967297,7,8,100,200,1,2),(4294967298,7,8,90,300,4,5),(4294967299,7,8,95,95,4,5),(4294967300,7,8,10,20,6,5);
INSERT INTO rocpd_op VALUES (1,0,1,250,400,2,3),(2,0,1,500,600,7,8);
INSERT INTO rocpd_api_ops VALUES (1,4294967297,1);
)";

TEST(Rpd, MarkersAreRangesOrMarksAndTheTracersOwnWorkIsOverhead) {
  const io::TemporaryFolder folder;
  const Trace trace = read(make(folder, "x.rpd", kRpd));
  EXPECT_EQ(count(trace, Category::kUserAnnotation), 1);
  EXPECT_EQ(count(trace, Category::kOverhead), 1);
  EXPECT_EQ(count(trace, Category::kGpuMemset), 1);
  EXPECT_EQ(trace.correlations()[0], trace.correlations()[trace.size() - 2]);
}

TEST(Rpd, ACopyOfARecordingIsReadOnce) {
  const io::TemporaryFolder folder;
  const std::string paths[] = {make(folder, "x.rpd", kRpd), make(folder, "y.rpd", kRpd)};
  const Trace trace = read_databases("job", paths, {});
  EXPECT_EQ(count(trace, Category::kKernel), 1);
  ASSERT_FALSE(trace.warnings().entries().empty());
  EXPECT_THAT(trace.warnings().entries().back().what, HasSubstr("was read once"));
}

TEST(Database, NamesAreFoundInAnyCase) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.rpd", kRpd);
  run(path,
      "ALTER TABLE rocpd_op RENAME COLUMN gpuId TO GPUID; ALTER TABLE rocpd_op RENAME TO other;"
      "ALTER TABLE other RENAME TO ROCPD_OP; ALTER TABLE ROCPD_OP RENAME COLUMN start TO Start");
  const Trace trace = read(path);
  EXPECT_EQ(count(trace, Category::kKernel), 1);
  EXPECT_TRUE(trace.devices().at({static_cast<std::uint32_t>(trace.size() - 2)}).has_value());
}

TEST(Database, RowsWithoutTimesAndTablesThatAreNoneAreTold) {
  const io::TemporaryFolder folder;
  const auto warnings_after = [&](const char* name, const char* change) {
    const std::string path = make(folder, name, kNsight);
    run(path, change);
    std::string all;
    const Trace trace = read(path);
    for (const Warnings::Entry& entry : trace.warnings().entries())
      all += entry.what + ": " + std::to_string(entry.count) + "\n";
    return all;
  };
  EXPECT_THAT(
      warnings_after("a.sqlite", ""),
      HasSubstr(
          "rows of table CUPTI_ACTIVITY_KIND_KERNEL without usable times are no events: 2\n"));
  EXPECT_THAT(warnings_after("b.sqlite", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN end"),
              HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL has no column end"));
  EXPECT_THAT(warnings_after("c.sqlite",
                             "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO kept;"
                             "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM kept"),
              HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL is a view or a virtual table"));
}

TEST(Database, OnlyRealTablesAreRead) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.db", R"(
    CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY);
    CREATE VIEW rocpd_op AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id FROM c;
  )");
  EXPECT_THAT(error_of_reading(path), HasSubstr("no trace this program knows (tables: rocpd_api)"));
  const DatabaseFile file = DatabaseFile::of_file(path);
  EXPECT_THROW((Statement{file.connect(), "SELECT * FROM rocpd_op"}), Error);
  EXPECT_THROW((Statement{file.connect(), "DELETE FROM rocpd_api"}), Error);
  EXPECT_THROW((Statement{file.connect(), "ATTACH 'other.db' AS other"}), Error);
}

TEST(Database, NothingAppearsBesideTheFile) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.rpd", kRpd);
  static_cast<void>(read(path));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{folder.path("")})
    ++files;
  EXPECT_EQ(files, 1U);
}

TEST(Database, ACutFileIsToldByItsHeader) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.rpd", kRpd);
  std::filesystem::resize_file(path, 4096);
  EXPECT_THAT(error_of_reading(path), HasSubstr("truncated: header says"));
  std::filesystem::resize_file(path, 50);
  EXPECT_THAT(error_of_reading(path), HasSubstr("truncated: a database has at least 100 bytes"));
}

constexpr const char* kRocpd = R"(
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER);
CREATE TABLE rocpd_event_a (id, category_id INTEGER, stack_id INTEGER, extdata TEXT);
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_string_a VALUES (1,'MARKER_CORE_RANGE_API'),(2,'roctxThreadRangeA');
INSERT INTO rocpd_event_a VALUES (3.5,1,1,'{}'),('x',1,1,'{}'),(1,1,7,'{"message":"step"}'),(2,1,8,'{}');
INSERT INTO rocpd_region_a VALUES (1,1,10,20,2,1),(2,1,30,40,2,2);
)";

TEST(Rocpd, EventsWhoseNumbersAreNoneAreLeftOut) {
  const io::TemporaryFolder folder;
  const Trace trace = read(make(folder, "x.db", kRocpd));
  ASSERT_EQ(count(trace, Category::kUserAnnotation), 2);
  EXPECT_EQ(trace.name({0}), "step");
  EXPECT_EQ(trace.name({1}), "roctxThreadRangeA");
}

TEST(Rocpd, AMissingColumnCostsItsFactsOnly) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.db", kRocpd);
  run(path, "ALTER TABLE rocpd_event_a DROP COLUMN category_id");
  EXPECT_EQ(count(read(path), Category::kCudaDriver), 2);  // calls, of nobody knows whom
}

TEST(Database, ALinkToAFileHasItsLog) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.rpd", kRpd), link = folder.path("link.rpd");
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(writer,
                         "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
                         "INSERT INTO rocpd_op VALUES (3,0,1,700,800,2,3)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  std::filesystem::create_symlink(path, link);
  EXPECT_EQ(count(read(path), Category::kKernel), 2);
  EXPECT_EQ(count(read(link), Category::kKernel), 2);
  sqlite3_close(writer);
}

TEST(Database, AJournalThatNamesAnotherFileIsNotPlayedBack) {
  const io::TemporaryFolder folder;
  const std::string path = make(folder, "x.rpd", kRpd), victim = folder.write("victim", "mine");
  static_cast<void>(folder.write(
      "x.rpd-journal", std::string(600, 'j') + victim + "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"));
  EXPECT_THAT(error_of_reading(path), HasSubstr("several databases"));
  EXPECT_EQ(folder.read("victim"), "mine");
}

TEST(TableRows, AColumnOfTheFilesOwnIsNotTakenForTheNumberOfTheRow) {
  const io::TemporaryFolder folder;
  const DatabaseFile file = DatabaseFile::of_file(make(folder, "x.db", R"(
    CREATE TABLE t ("ROWID" TEXT, a INTEGER); INSERT INTO t VALUES ('x', 1), ('y', 2);
    CREATE TABLE u (a INTEGER, rowid TEXT GENERATED ALWAYS AS ('z')); INSERT INTO u VALUES (3);
  )"));
  for (const char* const table : {"t", "u"})
    EXPECT_FALSE(TableColumns({file, table, {"a"}}).has_ranges());
}

TEST(ById, IdsFarApartTakeNoMoreThanTheyAre) {
  ById<std::string> texts;
  for (std::int64_t i = 0; i < 2'000; ++i) texts.set((i << 32) - 7, std::to_string(i));
  EXPECT_EQ(*texts.find((std::int64_t{1'999} << 32) - 7), "1999");
  EXPECT_EQ(texts.find((std::int64_t{1'999} << 32) - 8), nullptr);
  EXPECT_EQ(*texts.find(-7), "0");
  EXPECT_LE(texts.room(), 2'000U * 64);
}

TEST(TableRows, GapsBetweenRowNumbersCostNothing) {
  const io::TemporaryFolder folder;
  const DatabaseFile file = DatabaseFile::of_file(make(folder, "x.db", R"(
    CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER);
    INSERT INTO t VALUES (-5, 1), (3, 2), (4294967296, 3), (9223372036854775807, 4);
  )"));
  struct Piece {
    std::vector<std::int64_t> values;
    void add(const Statement& row) { values.push_back(row.integer(0)); }
    void complete(const Connection&) {}
  };
  std::vector<std::int64_t> all;
  const TableEnd end = read_table<Piece>(
      {file, "t", {"a", "not_there"}}, 3, [] { return Piece{}; },
      [&](Piece& piece) { all.insert(all.end(), piece.values.begin(), piece.values.end()); });
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(end.rows, 4U);
}

TEST(Statement, NumbersAreReadWhateverTheyWereStoredAs) {
  const io::TemporaryFolder folder;
  const DatabaseFile file = DatabaseFile::of_file(make(folder, "x.db", R"(
    CREATE TABLE t (a); INSERT INTO t VALUES (7), (8.0), (18446744073709549568.0), (1.5), ('9'), (NULL);
  )"));
  Statement rows{file.connect(), "SELECT a FROM t"};
  std::vector<std::int64_t> found;
  while (rows.step()) found.push_back(rows.integer(0));
  EXPECT_THAT(found, ElementsAre(7, 8, -2048, kAbsent, kAbsent, kAbsent));
}

TEST(NvtxSchemas, ReadNumbersByTheirPlaceAndNothingBeyondThePayload) {
  NvtxSchemas schemas;
  schemas.add_entry(4, {18, "size", 8});
  schemas.add_entry(4, {18, "beyond", 16});
  schemas.add_entry(4, {5, "root", 0});
  std::string blob(48, '\0');
  blob[0] = 1;
  blob[8] = 4;
  blob[16] = 16;
  blob[32] = blob[33] = blob[34] = blob[35] = '\xff';
  blob[41] = 2;
  EXPECT_EQ(schemas.read(blob).number("size"), 512);
  EXPECT_EQ(schemas.read(blob).number("root"), -1);
  EXPECT_EQ(schemas.read(blob).number("beyond"), std::nullopt);
  EXPECT_EQ(schemas.read(blob.substr(0, 20)).number("size"), std::nullopt);
}

}  // namespace
}  // namespace tracelens
