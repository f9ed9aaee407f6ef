// sparse_cursor.hpp: the values of a sparse column for events that are asked about in file order.
//   SparseCursor streams{trace.streams()};
//   for (const EventId event : in_file_order) use(streams.at(event));
// SparseColumn::at() searches the whole column each time; this goes on from where it was.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>

namespace tracelens {

template <class T>
class SparseCursor {
 public:
  explicit SparseCursor(const SparseColumn<T>& column)
      : rows_{column.rows()}, values_{column.values()} {}

  [[nodiscard]] std::optional<T> at(EventId event) {
    while (next_ < rows_.size() && rows_[next_] < event.row) ++next_;
    if (next_ == rows_.size() || rows_[next_] != event.row) return std::nullopt;
    return values_[next_];
  }

 private:
  std::span<const std::uint32_t> rows_;
  std::span<const T> values_;
  std::size_t next_ = 0;
};

}  // namespace tracelens
