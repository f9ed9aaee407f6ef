// rank_columns.hpp: the columns of a wide table that each rank has for itself: rank_3_ts,
// rank_3_dur.
//   RankColumns columns;
//   columns.declare({ts, dur}, {wait});          // ts and dur of every rank of a row, then their
//   waits for (row) columns.see(run, row.members);     // columns appear as rows first need them
//   columns.add_columns(specs);
//   columns.clear_row();  columns.set(rank, {1.5, 2.0, 0.0});  columns.add_cells(cells);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

class RankColumns {
 public:
  void declare(std::vector<ColumnSpec> first, std::vector<ColumnSpec> second);
  void see(const CollectiveRun& run, std::span<const CollectiveMember> members);
  void add_columns(std::vector<ColumnSpec>& columns) const;

  // One row: a cell per declared column for each rank that takes part; the others stay empty.
  void clear_row();
  void set(std::int64_t rank, std::initializer_list<Cell> cells);
  void add_cells(RowCells& cells) const;

 private:
  struct Block {
    std::int64_t rank;
    bool is_second;
  };
  std::vector<ColumnSpec> first_, second_;
  std::vector<Block> blocks_;  // in column order
  std::map<std::int64_t, std::vector<Cell>> row_;
};

}  // namespace tracelens
