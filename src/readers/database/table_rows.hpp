// table_rows.hpp: all rows of a table, in pieces that several threads read, put together in order.
//   struct Calls { std::vector<Call> rows; void add(const Statement& row); void complete(const Connection&); };
//   const TableEnd end = read_table<Calls>({file, "rocpd_region", {"start", "end"}}, threads,
//                                          [] { return Calls{}; }, [&](Calls& piece) { ... });
// A piece is filled without any lock, completed (look-ups in other tables), and accepted in its turn:
// by one thread at a time, in the order of the rows. No piece is larger than kPieceRows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"
#include "readers/kit/ordered_work.hpp"

namespace tracelens {

inline constexpr std::int64_t kPieceRows = 16'384;

struct TableColumns {
  const DatabaseFile& file;
  std::string table;
  std::vector<std::string_view> columns;  // one that the table does not have is NULL in every row

  // The rows, or those where `condition` holds.
  [[nodiscard]] Statement select(const Connection& connection,
                                 std::string_view condition = {}) const;
  // By numbers of rows, where the table has them.
  [[nodiscard]] bool has_ranges() const;
};

struct [[nodiscard]] TableEnd {
  std::uint64_t rows = 0;
  bool is_damaged = false;  // the rows behind are lost
};

// Tells the job of rows that could not be read.
inline void note(Job& job, std::string_view table, const TableEnd& end) {
  if (end.is_damaged) job.lost_rows(table, end.rows);
}

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

 private:
  Statement next_row_;
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  bool is_over_ = false, is_damaged_ = false;
};

template <class Piece, class MakePiece, class Accept>
TableEnd read_table(const TableColumns& table, int threads, const MakePiece& make_piece,
                    const Accept& accept) {
  TableEnd end;
  if (!table.file.has(table.table)) return end;
  const auto take_in = [&](Piece& piece, std::uint64_t rows, bool is_damaged) {
    if (end.is_damaged) return;
    accept(piece);
    end.rows += rows;
    end.is_damaged = is_damaged;
  };
  if (!table.has_ranges()) {
    const Connection connection = table.file.connect();
    Statement rows = table.select(connection);
    for (bool more = true; more;) {
      Piece piece = make_piece();
      std::int64_t count = 0;
      while (count < kPieceRows && (more = rows.step())) {
        piece.add(rows);
        ++count;
      }
      piece.complete(connection);
      take_in(piece, static_cast<std::uint64_t>(count), rows.is_damaged());
    }
    return end;
  }
  struct Worker {
    Connection connection;
    Statement statement;
    Piece piece;
    RowRanges::Range range = {};
    std::uint64_t rows = 0;
    bool is_damaged = false;
  };
  RowRanges ranges{table};
  OrderedWork work{[&](Worker& worker) { return ranges.next(worker.range); },
                   [&](Worker& worker) {
                     worker.piece = make_piece();
                     worker.rows = 0;
                     worker.statement.bind(1, worker.range.first);
                     worker.statement.bind(2, worker.range.last);
                     while (worker.statement.step()) {
                       worker.piece.add(worker.statement);
                       ++worker.rows;
                     }
                     worker.is_damaged = worker.statement.is_damaged();
                     worker.piece.complete(worker.connection);
                   },
                   [&](Worker& worker) { take_in(worker.piece, worker.rows, worker.is_damaged); }};
  work.run(threads, [&] {
    const Connection connection = table.file.connect();
    return Worker{connection, table.select(connection, " WHERE rowid BETWEEN ?1 AND ?2"),
                  make_piece()};
  });
  end.is_damaged = end.is_damaged || ranges.is_damaged();
  return end;
}

// The same row by row, for tables that are small: `use` gets each as a Statement. Rows that cannot be
// read are told to the job.
template <class Use>
void for_each_row(Job& job, const TableColumns& table, const Use& use) {
  if (!table.file.has(table.table)) return;
  Statement rows = table.select(table.file.connect());
  TableEnd end;
  for (; rows.step(); ++end.rows) use(rows);
  end.is_damaged = rows.is_damaged();
  note(job, table.table, end);
}

}  // namespace tracelens
