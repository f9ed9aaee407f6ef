#include "analysis/ranks/rank_columns.hpp"

#include <string>
#include <utility>

namespace tracelens {

void RankColumns::declare(std::vector<ColumnSpec> first, std::vector<ColumnSpec> second) {
  first_ = std::move(first);
  second_ = std::move(second);
}

void RankColumns::see(const CollectiveRun& run, std::span<const CollectiveMember> members) {
  std::vector<std::int64_t> fresh;
  for (const CollectiveMember& member : members)
    if (row_.try_emplace(run.rank(member)).second) fresh.push_back(run.rank(member));
  for (const bool is_second : {false, true})
    for (const std::int64_t rank : fresh) blocks_.push_back({rank, is_second});
}

void RankColumns::add_columns(std::vector<ColumnSpec>& columns) const {
  for (const Block& block : blocks_) {
    const std::string rank = std::to_string(block.rank);
    for (const ColumnSpec& spec : block.is_second ? second_ : first_)
      columns.push_back({"rank_" + rank + "_" + spec.name, spec.kind, spec.unit,
                         spec.description + ", rank " + rank});
  }
}

void RankColumns::clear_row() {
  for (auto& [rank, cells] : row_) cells.clear();
}

void RankColumns::set(std::int64_t rank, std::initializer_list<Cell> cells) {
  row_.at(rank).assign(cells.begin(), cells.end());
}

void RankColumns::add_cells(RowCells& cells) const {
  for (const Block& block : blocks_) {
    const std::vector<Cell>& row = row_.at(block.rank);
    const std::size_t begin = block.is_second ? first_.size() : 0;
    const std::size_t count = block.is_second ? second_.size() : first_.size();
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (row.empty())
        cells.add(kMissing);
      else
        cells.add(row[i]);
    }
  }
}

}  // namespace tracelens
