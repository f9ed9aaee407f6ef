// rank_columns.hpp: the columns of a wide table that each rank has for itself: rank_3_ts,
// rank_3_dur.
//   RankColumns<Kernel> per_rank{{{ts, &Kernel::ts_us}, {dur, &Kernel::dur_us}},   // of every rank
//                                {{wait, &Kernel::wait_us}}};                      // then their waits
//   for (row) per_rank.see(run, row.members);      // columns appear as rows first need them
//   per_rank.add_to(columns);
//   per_rank.clear_row();  per_rank.set(rank, kernel);  columns.append(table, row);
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

// Whether columns for every rank would be many cells that are mostly empty: of many groups, each
// row fills those of its few members, and the table grows with the square of the ranks. Then it is
// made without them, but for the reference edition. `rows` have a member `collective`.
template <class Rows>
[[nodiscard]] bool has_sparse_ranks(const CollectiveRun& run, const Rows& rows) {
  constexpr std::uint64_t kMostPlaces = 1 << 22, kLeastShare = 2;
  std::uint64_t filled = 0;
  for (const auto& row : rows) filled += run.matching().collectives[row.collective].member_count;
  const std::uint64_t places = std::uint64_t{rows.size()} * run.ranks().size();
  return run.edition() == Edition::kExtended && places > kMostPlaces &&
         filled < places / kLeastShare;
}

template <class RankRow>
class RankColumns {
 public:
  RankColumns(std::initializer_list<ColumnRow<RankRow>> first,
              std::initializer_list<ColumnRow<RankRow>> second)
      : columns_{first}, second_{first.size()} {
    columns_.insert(columns_.end(), second);
  }

  void see(const CollectiveRun& run, std::span<const CollectiveMember> members) {
    const std::size_t known = rows_.size();
    for (const CollectiveMember& member : members)
      if (slots_.try_emplace(run.rank(member), rows_.size()).second) {
        rows_.emplace_back();
        ranks_.push_back(run.rank(member));
      }
    for (const bool is_second : {false, true})
      for (std::size_t slot = known; slot < rows_.size(); ++slot)
        blocks_.push_back({static_cast<std::uint32_t>(slot), is_second});
  }

  // The columns read this object, which must outlive them.
  template <class Row>
  void add_to(ColumnSet<Row>& columns) {
    for (const auto& [slot, is_second] : blocks_)
      for (std::size_t i = is_second ? second_ : 0; i < (is_second ? columns_.size() : second_);
           ++i) {
        const std::string rank = std::to_string(ranks_[slot]);
        const ColumnSpec& spec = columns_[i].spec();
        columns.add({"rank_" + rank + "_" + spec.name, spec.kind, spec.unit,
                     spec.description + ", rank " + rank},
                    [this, at = Place{slot, static_cast<std::uint32_t>(i)}](const Row&) {
                      const std::span<Cell> cells = rows_[at.slot].cells();
                      return cells.empty() ? Cell{Missing{}} : cells[at.column];
                    });
      }
  }

  // One row: the cells of each rank that takes part; the others stay empty.
  void clear_row() {
    for (RowCells& cells : rows_) cells.clear();
  }
  void set(std::int64_t rank, RankRow row) {
    RowCells& cells = rows_[slots_.at(rank)];
    cells.clear();
    for (const ColumnRow<RankRow>& column : columns_) column.fill(&row, cells);
  }

 private:
  struct Place {
    std::uint32_t slot, column;
  };
  struct Block {
    std::uint32_t slot;
    bool is_second;
  };
  std::vector<ColumnRow<RankRow>> columns_;
  std::size_t second_;                         // where the second ones begin
  std::vector<Block> blocks_;                  // in column order
  std::map<std::int64_t, std::size_t> slots_;  // by rank
  std::vector<std::int64_t> ranks_;            // by slot
  std::vector<RowCells> rows_;                 // by slot: the row being made
};

}  // namespace tracelens
