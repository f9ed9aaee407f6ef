#include "analysis/compare/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tracelens/error.hpp>
#include <unordered_map>
#include <utility>

#include <tracelens/table_text.hpp>

#include "analysis/compare/key_cell.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxRows = 5'000'000;

std::size_t index_of(const Table& table, std::string_view name) {
  const auto columns = table.columns();
  const auto found = std::ranges::find(columns, name, [](const Table::Column& column) {
    return std::string_view{column.spec().name};
  });
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

TableJoin::TableJoin(std::vector<JoinSide> sides, JoinSpec spec, std::vector<std::string>& notes)
    : sides_{std::move(sides)}, spec_{std::move(spec)}, complete_(sides_.size(), true) {
  std::erase_if(spec_.metrics, [&](const std::string& metric) {
    for (const JoinSide& side : sides_)
      if (!side.table->has_column(metric) || !is_number(side.table->column(metric))) {
        notes.push_back(fmt::format("{}: {} has no numbers '{}', so they are not compared",
                                    side.table->name(), side.tag, metric));
        return true;
      }
    return false;
  });
  for (const JoinSide& side : sides_) {
    std::vector<std::size_t> keys, metrics;
    for (const std::string& key : spec_.keys) {
      keys.push_back(index_of(*side.table, key));
      static_cast<void>(side.table->column(key));  // throws when it is not there
    }
    for (const std::string& metric : spec_.metrics)
      metrics.push_back(index_of(*side.table, metric));
    key_columns_.push_back(std::move(keys));
    metric_columns_.push_back(std::move(metrics));
  }
  join_rows(notes);
  make_columns();
}

void TableJoin::find_text_keys(std::vector<std::string>& notes) {
  for (std::size_t k = 0; k < spec_.keys.size(); ++k) {
    bool numbers = false, texts = false, others = false;
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      const Table::Column& column = sides_[side].table->columns()[key_columns_[side][k]];
      if (is_blank(column)) continue;
      (is_number(column) ? numbers : texts) = true;
      others |= !tells_numbers(column);
    }
    if (numbers && others)
      notes.push_back(
          fmt::format("{}: '{}' is a number in one report and text in another; compared as text",
                      sides_.front().table->name(), spec_.keys[k]));
    keys_as_text_.push_back(others || (texts && !numbers));
  }
}

void TableJoin::join_rows(std::vector<std::string>& notes) {
  find_text_keys(notes);
  struct Group {
    std::vector<KeyCell> key;
    RowsBySide rows;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> group_of;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const Table& table = *sides_[side].table;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::vector<KeyCell> key(spec_.keys.size());
      for (std::size_t k = 0; k < key.size(); ++k) {
        const Table::Column& column = table.columns()[key_columns_[side][k]];
        if (!is_blank(column, row)) key[k] = key_cell(column, row, keys_as_text_[k]);
      }
      const auto [found, is_new] = group_of.try_emplace(bytes_of(key), groups.size());
      if (is_new) groups.push_back({std::move(key), RowsBySide(sides_.size())});
      groups[found->second].rows[side].push_back(static_cast<std::uint32_t>(row));
    }
  }
  std::ranges::stable_sort(
      groups, [](const Group& a, const Group& b) { return stands_before(a.key, b.key); });
  for (const Group& group : groups) add_rows(group.rows);
}

// The joined rows of one key: the first of each side, the second of each, ...; or all combinations.
void TableJoin::add_rows(const RowsBySide& rows_of) {
  std::size_t longest = 0, product = 1;
  for (const std::vector<std::uint32_t>& own : rows_of) {
    longest = std::max(longest, own.size());
    const std::size_t count = std::max<std::size_t>(own.size(), 1);
    product = product > kMaxRows / count ? kMaxRows + 1 : product * count;
  }
  const std::size_t count = spec_.in_order ? longest : product;
  if (rows() + count > kMaxRows)
    throw Error{sides_.front().table->name(),
                "its rows cannot be told apart by their keys: comparing every pair of equal rows "
                "would take millions of them"};
  const auto add = [&](std::size_t side, std::size_t place) {
    const std::vector<std::uint32_t>& own = rows_of[side];
    if (place >= own.size()) complete_[side] = false;
    rows_.push_back(place < own.size() ? own[place] : kNoRow);
  };
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t rest = n, stride = product;  // an odometer, the last side fastest
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      if (spec_.in_order) {  // then there may be more combinations than `product` tells
        add(side, n);
        continue;
      }
      stride /= std::max<std::size_t>(rows_of[side].size(), 1);
      add(side, rest / stride);
      rest %= stride;
    }
  }
}

ColumnSpec TableJoin::value_spec(std::size_t side, std::size_t index) const {
  ColumnSpec spec = sides_[side].table->columns()[index].spec();
  spec.name = sides_[side].tag + "::" + spec.name;
  if (spec.kind == Kind::kNested) spec.kind = Kind::kText;
  if (spec.kind == Kind::kInteger && !complete_[side]) spec.kind = Kind::kReal;
  if (spec.kind == Kind::kBool && !complete_[side]) spec.kind = Kind::kText;
  return spec;
}

void TableJoin::add_differences(std::size_t metric) {
  const std::string& name = spec_.metrics[metric];
  const auto is_whole = [&](std::size_t side) {
    return value_spec(side, metric_columns_[side][metric]).kind == Kind::kInteger;
  };
  for (std::size_t side = 1; side < sides_.size(); ++side) {
    const std::string& tag = sides_[side].tag;
    const std::string unit = value_spec(0, metric_columns_[0][metric]).unit;
    columns_.push_back({Role::kDifference,
                        side,
                        metric,
                        {fmt::format("{}__{}_diff", name, tag),
                         is_whole(0) && is_whole(side) ? Kind::kInteger : Kind::kReal, unit,
                         fmt::format("{} of {} minus that of {}", name, tag, sides_[0].tag)}});
    columns_.push_back({Role::kPercent,
                        side,
                        metric,
                        {fmt::format("{}__{}_pct", name, tag), Kind::kReal, "%",
                         fmt::format("the difference, in percent of {}", sides_[0].tag)}});
  }
}

void TableJoin::make_columns() {
  for (std::size_t k = 0; k < spec_.keys.size(); ++k) {
    bool whole = true;
    for (std::size_t side = 0; side < sides_.size(); ++side)
      whole &= tells_whole_numbers(sides_[side].table->columns()[key_columns_[side][k]]);
    ColumnSpec spec = sides_[0].table->columns()[key_columns_[0][k]].spec();
    spec.kind = keys_as_text_[k] ? Kind::kText : whole ? Kind::kInteger : Kind::kReal;
    columns_.push_back({Role::kKey, 0, k, std::move(spec)});
  }
  for (std::size_t metric = 0; metric < spec_.metrics.size(); ++metric) add_differences(metric);
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const auto columns = sides_[side].table->columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& name = columns[i].spec().name;
      const auto is_in = [&name](const std::vector<std::string>& names) {
        return std::ranges::find(names, name) != names.end();
      };
      if (!is_in(spec_.keys) && !is_in(sides_[side].dropped))
        columns_.push_back({Role::kValue, side, i, value_spec(side, i)});
    }
  }
}

std::optional<double> TableJoin::number(std::size_t row, std::size_t side,
                                        std::size_t metric) const {
  const std::uint32_t at = row_of(row, side);
  if (at == kNoRow) return std::nullopt;
  const Table::Column& column = sides_[side].table->columns()[metric_columns_[side][metric]];
  return column.is_missing(at) ? std::nullopt : std::optional{number_at(column, at)};
}

Cell TableJoin::cell(std::size_t row, const Column& column) const {
  if (column.role == Role::kDifference || column.role == Role::kPercent) {
    const auto base = number(row, 0, column.index), value = number(row, column.side, column.index);
    if (!base || !value) return Missing{};
    if (column.role == Role::kPercent)
      return *base == 0 ? Cell{Missing{}} : Cell{100 * ((*value - *base) / *base)};
    if (column.spec.kind == Kind::kInteger) return static_cast<std::int64_t>(*value - *base);
    return *value - *base;
  }
  std::size_t side = column.side, index = column.index;
  if (column.role == Role::kKey) {
    while (row_of(row, side) == kNoRow) ++side;
    index = key_columns_[side][column.index];
  }
  const std::uint32_t at = row_of(row, side);
  if (at == kNoRow) return Missing{};
  const Table::Column& from = sides_[side].table->columns()[index];
  if (is_blank(from, at)) return Missing{};
  if (column.spec.kind == Kind::kText) return plain_text(from, at);
  if (column.role == Role::kKey && !is_number(from))
    if (const auto told = number_told(from, at))
      return column.spec.kind == Kind::kInteger ? Cell{static_cast<std::int64_t>(*told)}
                                                : Cell{*told};
  return sides_[side].table->cell(at, index);
}

std::optional<std::size_t> TableJoin::metric_index(std::string_view metric) const {
  const auto found = std::ranges::find(spec_.metrics, metric);
  if (found == spec_.metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - spec_.metrics.begin());
}

void TableJoin::sort_rows(std::vector<std::size_t>& order, std::size_t side,
                          std::string_view metric) const {
  const auto index = metric_index(metric);
  if (!index) return;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto of_a = number(a, side, *index), of_b = number(b, side, *index);
    if (!of_a || !of_b) return of_a.has_value() && !of_b.has_value();
    return *of_a > *of_b;
  });
}

Table TableJoin::make_table(const std::string& name, const std::vector<std::size_t>& order,
                            const std::vector<const Column*>& columns) const {
  std::vector<ColumnSpec> specs;
  for (const Column* column : columns) specs.push_back(column->spec);
  Table table{name, sides_.front().table->description(), specs};
  std::vector<Cell> cells(columns.size());
  for (const std::size_t row : order) {
    for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = cell(row, *columns[i]);
    table.append(cells);
  }
  return table;
}

Table TableJoin::all(const std::string& name, std::string_view metric) const {
  std::vector<std::size_t> order(rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_rows(order, 0, metric);
  std::vector<const Column*> columns;
  for (const Column& column : columns_) columns.push_back(&column);
  return make_table(name, order, columns);
}

Table TableJoin::part(Part part, std::size_t variant, const std::string& name,
                      std::string_view metric) const {
  std::vector<std::size_t> order;
  for (std::size_t row = 0; row < rows() && !spec_.metrics.empty(); ++row) {
    const bool in_base = number(row, 0, 0).has_value();
    const bool in_variant = number(row, variant, 0).has_value();
    if (in_base == (part != Part::kOnlyVariant) && in_variant == (part != Part::kOnlyBaseline))
      order.push_back(row);
  }
  sort_rows(order, part == Part::kOnlyVariant ? variant : 0, metric);

  const auto is_wanted = [&](const Column& column) {
    if (column.role == Role::kKey) return true;
    if (column.role != Role::kValue) return column.side == variant && part != Part::kOnlyBaseline;
    return (column.side == 0 && part != Part::kOnlyVariant) ||
           (column.side == variant && part != Part::kOnlyBaseline);
  };
  std::vector<const Column*> columns;
  for (const Column& column : columns_)
    if (is_wanted(column) && std::ranges::any_of(order, [&](std::size_t row) {
          return !std::holds_alternative<Missing>(cell(row, column));
        }))
      columns.push_back(&column);
  return make_table(name, order, columns);
}

}  // namespace tracelens
