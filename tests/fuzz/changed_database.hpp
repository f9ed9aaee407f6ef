// changed_database.hpp: databases of ours with changes that a fuzzer chose, and what is asked of their
// readers. The input is a list of changes, since bytes that are no database get no further than the
// first page: to pages (bytes, runs, pointers, pages in the place of others), to cells (another type),
// to the schema (columns and tables gone, renamed, views, roots of others), to the size.
//   static const std::string kBase = bytes_of("CREATE TABLE ...");
//   extern "C" int LLVMFuzzerTestOneInput(...) { check_reading(changed(kBase, {data, size})); return 0; }
// Include it in one file of a program: it also says how the changes are to be varied.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <vector>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/database/database.hpp"
#include "readers/kit/dump.hpp"

namespace tracelens::fuzz {

// A change is a word of so many bytes: its kind, and what it is about.
inline constexpr std::size_t kWord = 8;
using Word = std::array<std::uint8_t, kWord>;
enum Change : std::uint8_t { kByte, kRun, kPointer, kPage, kCell, kSchema, kSize, kChanges };

class MemoryDatabase {
 public:
  MemoryDatabase() { TL_CHECK(sqlite3_open(":memory:", &handle_) == SQLITE_OK); }
  explicit MemoryDatabase(std::string_view image) : MemoryDatabase() {
    auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
    TL_CHECK(copy != nullptr);
    std::memcpy(copy, image.data(), image.size());
    const auto size = static_cast<sqlite3_int64>(image.size());
    TL_CHECK(sqlite3_deserialize(handle_, "main", copy, size, size,
                                 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
             SQLITE_OK);
  }
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;
  ~MemoryDatabase() { sqlite3_close(handle_); }

  bool run(const std::string& sql) {
    return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& sql) const {
    std::vector<std::string> found;
    sqlite3_exec(
        handle_, sql.c_str(),
        [](void* into, int count, char** values, char**) {
          if (count > 0 && values[0] != nullptr)
            static_cast<std::vector<std::string>*>(into)->emplace_back(values[0]);
          return 0;
        },
        &found, nullptr);
    return found;
  }
  [[nodiscard]] std::string image() const {
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(handle_, "main", &size, 0);
    if (bytes == nullptr) return {};
    std::string image{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
    sqlite3_free(bytes);
    return image;
  }

 private:
  sqlite3* handle_ = nullptr;
};

inline std::string bytes_of(const char* script) {
  MemoryDatabase database;
  TL_CHECK(database.run("PRAGMA page_size=512"));  // small pages: changes hit more than text
  TL_CHECK(database.run(script));
  return database.image();
}

// Values that no column expects.
inline const std::string& odd_value(std::uint8_t which) {
  static const std::vector<std::string> kValues{"NULL",
                                                "-1",
                                                "0",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "1.5",
                                                "9e999",
                                                "-9e999",
                                                "18446744073709549568.0",
                                                "''",
                                                "'x'",
                                                "'aten::mm, seq = 1, sizes = [[2, 3], [3]]'",
                                                "'load, sizes = unknown'",
                                                "x'4c5a344600000000'",
                                                "zeroblob(700)",
                                                "char(0,255,55296)",
                                                "'{\"message\":\"a\",\"message\":'",
                                                "4294967296",
                                                "(SELECT max(rowid) FROM sqlite_schema)"};
  return kValues[which % kValues.size()];
}

inline std::string pick(const std::vector<std::string>& from, std::uint8_t which) {
  return from.empty() ? std::string{} : from[which % from.size()];
}

inline void change_rows(MemoryDatabase& database, const Word& word) {
  const std::string table =
      pick(database.texts("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY 1"), word[1]);
  const std::string column =
      pick(database.texts("SELECT name FROM pragma_table_info('" + table + "')"), word[2]);
  if (table.empty() || column.empty()) return;
  if (word[0] % kChanges == kCell) {
    database.run("UPDATE \"" + table + "\" SET \"" + column + "\"=" + odd_value(word[3]) +
                 " WHERE rowid IN (SELECT rowid FROM \"" + table + "\" LIMIT 1 OFFSET " +
                 std::to_string(word[4] % 4) + ")");
    return;
  }
  const std::vector<std::string> changes{
      "ALTER TABLE \"" + table + "\" DROP COLUMN \"" + column + "\"",
      "ALTER TABLE \"" + table + "\" RENAME COLUMN \"" + column + "\" TO \"rowid\"",
      "ALTER TABLE \"" + table + "\" RENAME TO \"gone\"",
      "ALTER TABLE \"" + table + "\" RENAME TO \"a\"\"b\"; CREATE VIEW \"" + table +
          "\" AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS \"" +
          column + "\" FROM c",
      "DELETE FROM \"" + table + "\"",
      "INSERT INTO \"" + table + "\" SELECT * FROM \"" + table + "\"",
      "CREATE INDEX i ON \"" + table + "\"(\"" + column + "\")",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=" +
          std::to_string(word[4] % 32) + " WHERE name='" + table + "'",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=sql||' WITHOUT ROWID' WHERE name='" +
          table + "'",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=substr(sql,1," +
          std::to_string(word[4]) + ") WHERE name='" + table + "'",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,'" + column +
          "','x AS (1)') WHERE name='" + table + "'",
      "PRAGMA encoding='UTF-16le'; VACUUM",
  };
  database.run(changes[word[3] % changes.size()]);
}

inline void change_bytes(std::string& bytes, const Word& word) {
  if (bytes.empty()) return;
  constexpr std::size_t kPageBytes = 512;
  const std::size_t at = (static_cast<std::size_t>(word[1]) << 8 | word[2]) % bytes.size();
  const std::size_t pages = bytes.size() / kPageBytes;
  switch (word[0] % kChanges) {
    case kByte:
      bytes[at] = static_cast<char>(word[3]);
      break;
    case kRun:
      for (std::size_t i = at; i < bytes.size() && i < at + word[3]; ++i)
        bytes[i] = static_cast<char>(word[4]);
      break;
    case kPointer:  // a cell's place, a child's or an overflow page's number
      for (std::size_t i = 0; i < 2 && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<char>(word[3 + i]);
      break;
    case kPage:
      if (pages > 1)
        std::memmove(bytes.data() + word[1] % pages * kPageBytes,
                     bytes.data() + word[2] % pages * kPageBytes, kPageBytes);
      break;
    case kSize:
      bytes.resize(word[3] % 2 == 0 ? at : bytes.size() + at);
      break;
    default:
      break;
  }
}

// Rows and schema first, as these go through SQLite, then bytes.
inline std::string changed(const std::string& base, std::span<const std::uint8_t> input) {
  std::vector<Word> words;
  for (std::size_t i = 0; i + kWord <= input.size() && words.size() < 64; i += kWord) {
    words.emplace_back();
    std::memcpy(words.back().data(), input.data() + i, kWord);
  }
  std::string bytes = base;
  bool has_sql = false;
  for (const Word& word : words)
    has_sql = has_sql || word[0] % kChanges == kCell || word[0] % kChanges == kSchema;
  if (has_sql) {
    MemoryDatabase database{base};
    for (const Word& word : words)
      if (word[0] % kChanges == kCell || word[0] % kChanges == kSchema) change_rows(database, word);
    bytes = database.image();
  }
  for (const Word& word : words) change_bytes(bytes, word);
  return bytes;
}

inline std::string dump_of(std::string_view bytes, int threads, bool salvage) {
  try {
    io::Stream in = io::Stream::over("input", bytes);
    return dump(read_database(in, {.threads = threads, .salvage = salvage}));
  } catch (const Error& error) {
    return error.what();
  }
}

// A trace or an Error, the same for any number of threads.
inline void check_reading(const std::string& bytes) {
  for (const bool salvage : {false, true})
    TL_CHECK(dump_of(bytes, 1, salvage) == dump_of(bytes, 3, salvage));
}

}  // namespace tracelens::fuzz

// Changes are added, taken away and varied whole.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  using tracelens::fuzz::kWord;
  std::minstd_rand random{seed};
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random()) % end; };
  size -= size % kWord;
  const std::size_t words = size / kWord;
  const std::size_t what = below(4);
  if (words == 0 || (what == 0 && size + kWord <= max_size)) {
    if (size + kWord > max_size) return size;
    for (std::size_t i = 0; i < kWord; ++i)
      data[size + i] = static_cast<std::uint8_t>(random() >> 8);
    return size + kWord;
  }
  std::uint8_t* const word = data + below(words) * kWord;
  if (what == 1 && words > 1) {
    std::memmove(word, data + size - kWord, kWord);
    return size - kWord;
  }
  word[below(kWord)] = static_cast<std::uint8_t>(random() >> 8);
  return size;
}
