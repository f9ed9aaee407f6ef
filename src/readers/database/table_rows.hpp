// table_rows.hpp: all rows of a table, in pieces that several threads read, put together in order.
//   struct Calls { std::vector<Call> rows; void add(const Statement& row); void complete(const Connection&); };
//   const TableEnd end = read_table<Calls>({file, "rocpd_region", {"start", "end"}}, threads,
//                                          [] { return Calls{}; }, [&](Calls& piece) { ... });
// A piece is filled without any lock, completed (look-ups in other tables), and accepted in its turn:
// by one thread at a time, in the order of the rows. No piece is larger than kPieceRows. Where pages
// are damaged, the rows before them are what the table has; a file that is to be salvaged is read on
// behind them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"
#include "readers/kit/ordered_work.hpp"

namespace tracelens {

inline constexpr std::int64_t kPieceRows = 16'384;
// So that threads read on while one of them puts pieces together.
inline constexpr std::size_t kSparePieces = 2;
inline constexpr std::int64_t kLastRow = std::numeric_limits<std::int64_t>::max();

struct TableColumns {
  const DatabaseFile& file;
  std::string table;
  std::vector<std::string_view> columns;  // one that the table does not have is NULL in every row

  // The rows, or those where `condition` holds. `with_number`: the number of the row is the last
  // column of the result, behind the cells.
  [[nodiscard]] Statement select(const Connection& connection, std::string_view condition = {},
                                 bool with_number = false) const;
  // How many of the columns there are.
  [[nodiscard]] int stored_columns() const;
  // By numbers of rows, where the table has them.
  [[nodiscard]] bool has_ranges() const;
  // About how many rows there are, as the first and the last number tell; 0 when they do not.
  [[nodiscard]] std::size_t expected_rows() const;
};

struct [[nodiscard]] TableEnd {
  std::uint64_t rows = 0;
  bool is_damaged = false;          // the rows behind are lost
  std::uint64_t gaps = 0;           // places where rows were passed over
  std::int64_t last_row = kAbsent;  // number of the last row before the damage
  std::uint64_t stored_bytes = 0;
};

// Tells the job what came of a table: rows that could not be read, rows that are no events for want of
// a time, and a table that is none, or has no times at all.
void note(Job& job, const TableColumns& table, const TableEnd& end);

// Where reading works again: the least number behind `from` and up to `last` for which `works` is true,
// as far as it can be found by steps that grow, and then back by halves.
template <class Works>
[[nodiscard]] std::optional<std::int64_t> behind_damage(std::int64_t from, std::int64_t last,
                                                        const Works& works) {
  const auto at = [from](std::uint64_t offset) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + offset);
  };
  const std::uint64_t room = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(from);
  std::uint64_t bad = 0;
  for (std::uint64_t step = 1; bad<room; step = step> room / 16 ? room : step * 16) {
    std::uint64_t good = std::min(step, room);
    if (!works(at(good))) {
      bad = good;
      continue;
    }
    while (good - bad > 1) {
      const std::uint64_t middle = bad + (good - bad) / 2;
      (works(at(middle)) ? good : bad) = middle;
    }
    return at(good);
  }
  return std::nullopt;
}

// The rows of a range of numbers, one after the other.
class RangeRows {
 public:
  RangeRows(const TableColumns& table, const Connection& connection);
  void start(std::int64_t first, std::int64_t last);
  bool step();
  [[nodiscard]] const Statement& row() const { return rows_; }
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }
  [[nodiscard]] std::uint64_t stored_bytes() const { return passed_bytes_ + rows_.stored_bytes(); }

 private:
  [[nodiscard]] bool go_to(std::int64_t first);
  Statement rows_;
  int number_column_;
  bool salvages_;
  std::int64_t next_ = 0, last_ = 0;
  std::uint64_t most_bytes_, passed_bytes_ = 0, gaps_ = 0;
  bool is_damaged_ = false;
};

// Ranges of row numbers that hold rows: numbers may have gaps of any size.
class RowRanges {
 public:
  explicit RowRanges(const TableColumns& table);
  struct Range {
    std::int64_t first = 0, last = 0;
  };
  // False when there are no more.
  [[nodiscard]] bool next(Range& range);
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }

 private:
  // The first row from `from` on; nothing when there is none, or when it cannot be told.
  [[nodiscard]] std::optional<std::int64_t> row_from(std::int64_t from);
  Statement next_row_;
  bool salvages_, is_told_ = true;  // whether the last look could tell
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t gaps_ = 0;
  bool is_over_ = false, is_damaged_ = false;
};

// The number of the last row that can be read from `first` on; kAbsent when there is none.
[[nodiscard]] std::int64_t last_sound_row(const TableColumns& table, std::int64_t first);

// An empty piece, in the memory of the last one where it can be.
template <class Piece, class MakePiece>
void start_over(Piece& piece, const MakePiece& make_piece) {
  if constexpr (requires { piece.clear(); })
    piece.clear();
  else
    piece = make_piece();
}

template <class Piece, class MakePiece, class Accept>
TableEnd read_table(const TableColumns& table, int threads, const MakePiece& make_piece,
                    const Accept& accept) {
  TableEnd end;
  if (!table.file.has(table.table)) return end;
  end.is_damaged = table.file.is_overfull();
  if (end.is_damaged) return end;
  std::int64_t damaged_from = std::numeric_limits<std::int64_t>::min();
  const auto take_in = [&](Piece& piece, const TableEnd& part, std::int64_t first) {
    if (end.is_damaged) return;
    accept(piece);
    end.rows += part.rows;
    end.gaps += part.gaps;
    end.stored_bytes += part.stored_bytes;
    end.is_damaged = part.is_damaged || end.stored_bytes > table.file.most_stored_bytes();
    damaged_from = first;
  };
  const auto finish = [&] {
    if (end.is_damaged && table.has_ranges()) end.last_row = last_sound_row(table, damaged_from);
    table.file.add_stored_bytes(end.stored_bytes);
    return end;
  };
  if (!table.has_ranges()) {
    const Connection connection = table.file.connect();
    Statement rows = table.select(connection);
    for (bool more = true; more;) {
      Piece piece = make_piece();
      TableEnd part;
      const std::uint64_t before = rows.stored_bytes();
      while (part.rows < kPieceRows && (more = rows.step())) {
        piece.add(rows);
        ++part.rows;
        more = rows.stored_bytes() <= table.file.most_stored_bytes();
        if (!more) break;
      }
      piece.complete(connection);
      part.stored_bytes = rows.stored_bytes() - before;
      part.is_damaged = rows.is_damaged();
      take_in(piece, part, damaged_from);
    }
    return finish();
  }
  struct Worker {
    Connection connection;
    RangeRows rows;
    Piece piece;
    RowRanges::Range range = {};
    TableEnd part = {};
  };
  RowRanges ranges{table};
  OrderedWork work{[&](Worker& worker) { return ranges.next(worker.range); },
                   [&](Worker& worker) {
                     start_over(worker.piece, make_piece);
                     worker.part = {};
                     worker.rows.start(worker.range.first, worker.range.last);
                     while (worker.rows.step()) {
                       worker.piece.add(worker.rows.row());
                       ++worker.part.rows;
                     }
                     worker.part.is_damaged = worker.rows.is_damaged();
                     worker.part.gaps = worker.rows.gaps();
                     worker.part.stored_bytes = worker.rows.stored_bytes();
                     worker.piece.complete(worker.connection);
                   },
                   [&](Worker& worker) { take_in(worker.piece, worker.part, worker.range.first); }};
  work.run(
      threads,
      [&] {
        const Connection connection = table.file.connect();
        return Worker{connection, RangeRows{table, connection}, make_piece()};
      },
      kSparePieces);
  end.is_damaged = end.is_damaged || ranges.is_damaged();
  end.gaps += ranges.gaps();
  return finish();
}

// Room for the events of these tables, so that columns do not grow step by step, which takes twice the
// memory.
inline void expect_rows(Job& job, const DatabaseFile& file, std::span<const std::string> tables) {
  std::size_t events = job.builder().size();
  for (const std::string& table : tables) events += TableColumns{file, table, {}}.expected_rows();
  job.builder().reserve(events);
}

// Rows of whole numbers alone, as a piece.
template <std::size_t kColumns>
struct NumberRows {
  std::vector<std::array<std::int64_t, kColumns>> rows;
  void add(const Statement& row) { row.integers(rows.emplace_back()); }
  void complete(const Connection&) {}
  void clear() { rows.clear(); }
};

// Such rows, one after the other; those that cannot be read are told to the job.
template <std::size_t kColumns, class Use>
void for_each_numbers(Job& job, const DatabaseFile& file, const char* table,
                      const std::string_view (&columns)[kColumns], int threads, const Use& use) {
  const TableColumns from{file, table, {std::begin(columns), std::end(columns)}};
  note(job, from,
       read_table<NumberRows<kColumns>>(
           from, threads, [] { return NumberRows<kColumns>{}; },
           [&](NumberRows<kColumns>& piece) {
             for (const auto& row : piece.rows) use(row);
           }));
}

// The same row by row, for tables that are small: `use` gets each as a Statement. Rows that cannot be
// read are told to the job.
template <class Use>
void for_each_row(Job& job, const TableColumns& table, const Use& use) {
  TableEnd end;
  if (!table.file.has(table.table)) return note(job, table, end);
  end.is_damaged = table.file.is_overfull();
  if (end.is_damaged) return note(job, table, end);
  const Connection connection = table.file.connect();
  if (table.file.salvages() && table.has_ranges()) {
    RangeRows rows{table, connection};
    rows.start(std::numeric_limits<std::int64_t>::min(), kLastRow);
    for (; rows.step(); ++end.rows) use(rows.row());
    end.is_damaged = rows.is_damaged();
    end.gaps = rows.gaps();
    end.stored_bytes = rows.stored_bytes();
  } else {
    Statement rows = table.select(connection);
    for (; !end.is_damaged && rows.step(); ++end.rows) {
      use(rows);
      end.is_damaged = rows.stored_bytes() > table.file.most_stored_bytes();
    }
    end.is_damaged = end.is_damaged || rows.is_damaged();
    end.stored_bytes = rows.stored_bytes();
    if (end.is_damaged && table.has_ranges())
      end.last_row = last_sound_row(table, std::numeric_limits<std::int64_t>::min());
  }
  table.file.add_stored_bytes(end.stored_bytes);
  note(job, table, end);
}

}  // namespace tracelens
