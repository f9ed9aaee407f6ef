// What is left of databases whose pages are damaged, or whose end is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "readers/database/database.hpp"
#include "readers/database/table_rows.hpp"
#include "readers/kit/dump.hpp"

namespace tracelens {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = 512;

// 2,000 operations; with pages of this size about a dozen rows each.
std::string many_operations(const io::TemporaryFolder& folder) {
  const std::string path = folder.path("many.rpd");
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, R"(
    PRAGMA page_size=512;
    CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER);
    CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
    INSERT INTO rocpd_string VALUES (1,'gemm'),(2,'KernelExecution');
    CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<2000)
      INSERT INTO rocpd_op SELECT x,0,1,x*100,x*100+50,1,2 FROM c;
  )",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  return path;
}

std::string with_bytes(const io::TemporaryFolder& folder, std::string bytes) {
  return folder.write("changed.rpd", std::move(bytes));
}

Trace read(const std::string& path, bool salvage, int threads = 1) {
  io::Stream in = io::Stream::open(path);
  return read_database(in, {.threads = threads, .salvage = salvage});
}

std::string damaged_in_the_middle(const io::TemporaryFolder& folder) {
  static_cast<void>(many_operations(folder));
  std::string bytes = folder.read("many.rpd");
  const std::size_t page = bytes.size() / kPage / 2;
  bytes.replace(page * kPage, 64, std::string(64, '\xa5'));
  return with_bytes(folder, std::move(bytes));
}

TEST(DamagedDatabase, RowsBeforeTheDamageAreReadAndTheLastOneIsTold) {
  const io::TemporaryFolder folder;
  const Trace trace = read(damaged_in_the_middle(folder), false);
  EXPECT_GT(trace.size(), 100U);
  EXPECT_LT(trace.size(), 1'900U);
  EXPECT_TRUE(trace.source().cut_short);
  ASSERT_EQ(trace.warnings().entries().size(), 1U);
  EXPECT_THAT(trace.warnings().entries()[0].what,
              HasSubstr("table rocpd_op is damaged behind its row " + std::to_string(trace.size()) +
                        " (number " + std::to_string(trace.size()) + ")"));
}

TEST(DamagedDatabase, SalvageReadsOnBehindTheBadPage) {
  const io::TemporaryFolder folder;
  const Trace trace = read(damaged_in_the_middle(folder), true);
  EXPECT_GT(trace.size(), 1'950U);  // a page has no more rows than that
  EXPECT_LT(trace.size(), 2'000U);
  EXPECT_THAT(trace.warnings().entries()[0].what, HasSubstr("is damaged in 1 place"));
}

TEST(DamagedDatabase, WhatIsReadDoesNotDependOnTheThreads) {
  const io::TemporaryFolder folder;
  static_cast<void>(many_operations(folder));
  const std::string sound = folder.read("many.rpd");
  for (std::size_t page = 1; page < sound.size() / kPage; page += 7)
    for (const bool salvage : {false, true}) {
      std::string bytes = sound;
      bytes.replace(page * kPage + 8, 6, std::string(6, '\x01'));  // cells where none can be
      const std::string path = with_bytes(folder, std::move(bytes));
      const auto text = [&](int threads) {
        try {
          return dump(read(path, salvage, threads));
        } catch (const Error& error) {
          return std::string{error.what()};
        }
      };
      EXPECT_EQ(text(1), text(4)) << "page " << page;
    }
}

std::size_t root_of(const std::string& path, const std::string& table) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::size_t root = 0;
  sqlite3_exec(
      database, ("SELECT rootpage FROM sqlite_schema WHERE name='" + table + "'").c_str(),
      [](void* into, int, char** values, char**) {
        *static_cast<std::size_t*>(into) = std::stoul(values[0]);
        return 0;
      },
      &root, nullptr);
  sqlite3_close(database);
  return root;
}

TEST(DamagedDatabase, NamesThatAreLostAreTold) {
  const io::TemporaryFolder folder;
  const std::string path = folder.path("x.sqlite");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, R"(
    PRAGMA page_size=512;
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
    INSERT INTO StringIds VALUES (1,'gemm');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,50,0,7,5,117440512,1);
  )",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  const std::size_t page = root_of(path, "StringIds");
  ASSERT_GT(page, 1U);
  std::string bytes = folder.read("x.sqlite");
  bytes.replace((page - 1) * kPage, 16, std::string(16, '\xa5'));
  const Trace trace = read(with_bytes(folder, std::move(bytes)), false);
  EXPECT_EQ(trace.name({0}), "string_1");
  EXPECT_TRUE(trace.source().cut_short);
  EXPECT_THAT(trace.warnings().entries()[0].what, HasSubstr("StringIds is damaged"));
}

// SQLite takes a page that it has found damaged for a good one when it sees it again.
TEST(DamagedDatabase, AConnectionReadsTheSameTheSecondTime) {
  const io::TemporaryFolder folder;
  static_cast<void>(many_operations(folder));
  const std::string sound = folder.read("many.rpd");
  std::size_t damaged = 0;
  for (std::size_t page = 5; page < sound.size() / kPage; page += 3) {
    std::string bytes = sound;
    bytes.replace(page * kPage + 8, 2, "\x01\xff");  // a cell that would reach beyond the page
    const DatabaseFile file = DatabaseFile::of_bytes("x", std::move(bytes));
    const Connection connection = file.connect();
    const auto rows = [&] {
      Statement all{connection, "SELECT id FROM rocpd_op"};
      std::size_t count = 0;
      while (all.step()) ++count;
      damaged += all.is_damaged() ? 1 : 0;
      return count;
    };
    const std::size_t first = rows();
    EXPECT_EQ(first, rows()) << "page " << page;
  }
  EXPECT_GT(damaged, 20U);
}

TEST(DamagedDatabase, OfACutFileSalvageReadsWhatIsLeft) {
  const io::TemporaryFolder folder;
  const std::string path = many_operations(folder);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4 * kPage);
  EXPECT_THROW(static_cast<void>(read(path, false)), Error);
  const Trace trace = read(path, true);
  EXPECT_GT(trace.size(), 1'500U);
  EXPECT_LT(trace.size(), 2'000U);
  EXPECT_TRUE(trace.source().cut_short);
  EXPECT_THAT(trace.warnings().entries()[0].what, HasSubstr("truncated: header says"));
}

TEST(DamagedDatabase, PagesThatAreUsedOverAndOverEndTheTable) {
  const io::TemporaryFolder folder;
  static_cast<void>(many_operations(folder));
  std::string bytes = folder.read("many.rpd");
  // Every child of the root of the operations is made the same page, over and over.
  const std::size_t root = root_of(folder.path("many.rpd"), "rocpd_op");
  ASSERT_GT(root, 1U);
  const std::size_t page = (root - 1) * kPage;
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) << 8 |
           static_cast<unsigned char>(bytes[at + 1]);
  };
  ASSERT_EQ(bytes[page], 5);  // a page that points to others
  const std::string child = bytes.substr(page + number(page + 12), 4);
  for (std::size_t i = 0; i < number(page + 3); ++i)
    bytes.replace(page + number(page + 12 + 2 * i), 4, child);
  for (const bool salvage : {false, true})
    EXPECT_LE(read(with_bytes(folder, bytes), salvage).size(), 2'000U);
}

TEST(BehindDamage, FindsTheFirstPlaceThatWorks) {
  for (const std::int64_t good : {1, 2, 16, 17, 100, 5'000}) {
    const auto found = behind_damage(0, 1'000'000, [&](std::int64_t at) { return at >= good; });
    EXPECT_EQ(found, good);
  }
  EXPECT_EQ(behind_damage(0, 1'000, [](std::int64_t) { return false; }), std::nullopt);
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(behind_damage(kFirst, kLastRow, [](std::int64_t at) { return at >= 7; }), 7);
}

}  // namespace
}  // namespace tracelens
