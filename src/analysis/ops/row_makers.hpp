// row_makers.hpp: the rows of a table of grouped ops, each made by itself, by several threads where there are many calls.
//   KernelRoom room{input.kernels_per_table()};
//   for (group : groups) listed.push_back({group, share.next(time), room.next(calls_of(group), kernels_of)});
//   append_rows(table, columns, listed.size(), calls, input.threads, [&] { return Maker{*this}; });
// What a row has to know of those before it is found out first: its running share, and how much room they leave for
// its kernels. Maker::make(i) fills row i and gives it: a maker serves one thread, and keeps what it needs from row to row.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tracelens/table.hpp>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "io/parallel.hpp"

namespace tracelens {

// The kernels that the cells of a column may list. Each row in turn says which calls it is about, and is told how
// much those before it have left (KernelStats::set_room): with more kernels than that it lists none.
class KernelRoom {
 public:
  explicit KernelRoom(std::size_t kernels) : left_{kernels} {}
  // A row lists the kernels of the first call that has any: kernels_of(call).
  template <class KernelsOf>
  std::size_t next(std::span<const std::uint32_t> calls, const KernelsOf& kernels_of) {
    const std::size_t left = left_;
    for (const std::uint32_t call : calls) {
      const std::size_t kernels = kernels_of(call);
      if (kernels == 0) continue;
      if (kernels <= left_) left_ -= kernels;
      break;
    }
    return left;
  }

 private:
  std::size_t left_;
};

// A group that is to have a row.
struct ListedGroup {
  std::uint32_t group = 0;
  RunningShare::Cells share = {};
  std::size_t kernel_room = 0;
};

// Rows 0, 1, ... `rows` - 1, which are about so many calls in all.
template <class Row, class NewMaker>
void append_rows(Table& table, ColumnSet<Row>& columns, std::size_t rows, std::size_t calls,
                 int threads, const NewMaker& new_maker) {
  if (threads == 1 || calls < io::kManyItems) {
    auto maker = new_maker();
    for (std::size_t i = 0; i < rows; ++i) columns.append(table, maker.make(i));
    return;
  }
  // So many at a time that threads seldom wait for each other, and that their cells take little memory.
  constexpr std::size_t kRowsOfAThread = 64;
  const auto many = static_cast<std::size_t>(threads);
  std::vector<std::optional<decltype(new_maker())>> makers(std::min(rows, many));
  std::vector<RowCells> cells(std::min(rows, kRowsOfAThread * many));
  for (std::size_t first = 0; first < rows; first += cells.size()) {
    const std::size_t end = std::min(rows, first + cells.size());
    std::atomic<std::size_t> next = first;
    io::for_each_part(threads, makers.size(), [&](std::size_t own) {
      if (!makers[own]) makers[own].emplace(new_maker());
      for (std::size_t i = next++; i < end; i = next++) {
        cells[i - first].clear();
        columns.fill(makers[own]->make(i), cells[i - first]);
      }
    });
    for (std::size_t i = first; i < end; ++i) table.append(cells[i - first].cells());
  }
}

}  // namespace tracelens
