#include "query/column_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "database/plain_names.hpp"
#include "database/table_writer.hpp"
#include "sqlite/names.hpp"

namespace tracelens::query {
namespace {

// Rows by the value of a column: those of value number i are rows[starts[i], starts[i + 1]).
// Values are numbered in SQL's order: NULL, then integers or texts, so that all rows in turn are sorted.
struct RowLists {
  std::unordered_map<std::int64_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> starts, rows;
  [[nodiscard]] std::span<const std::uint32_t> with(std::int64_t value) const {
    const auto found = numbers.find(value);
    if (found == numbers.end()) return {};
    const std::uint32_t at = found->second;
    return std::span{rows}.subspan(starts[at], starts[at + 1] - starts[at]);
  }
};

// Which rows a cursor walks over.
enum class Base : char {
  kAll = 'a',      // in the table's order
  kRow = 'r',      // the one whose key is the first value
  kValue = 'v',    // those with the first value in a column
  kGrouped = 'g',  // all, equal values of a column together
  kByTime = 't',   // in order of time, between bounds
};

// What a row must also fulfil. SQLite tests it again unless it is told not to.
struct Condition {
  int column = 0;
  int op = 0;
};

struct Plan {
  Base base = Base::kAll;
  int column = -1;
  std::vector<Condition> conditions;  // one for each value

  // "v3 2=0;": as text, which SQLite keeps for the statement.
  [[nodiscard]] std::string text() const {
    std::string out = fmt::format("{}{}", static_cast<char>(base), column);
    for (const Condition& each : conditions)
      fmt::format_to(std::back_inserter(out), " {} {}", each.column, each.op);
    return out;
  }
  static Plan of(const char* text) {
    Plan plan{.base = static_cast<Base>(*text), .column = -1, .conditions = {}};
    char* end = nullptr;
    plan.column = static_cast<int>(std::strtol(text + 1, &end, 10));
    while (*end != '\0') {
      const int column = static_cast<int>(std::strtol(end, &end, 10));
      const int op = static_cast<int>(std::strtol(end, &end, 10));
      plan.conditions.push_back({column, op});
    }
    return plan;
  }
};

bool is_range(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ||
         op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

// A value that an integer column is compared with. SQLite tells of 1e5 in a statement that it is an integer, as
// the column's affinity has it, and then hands over a real; kAbsent is left to it.
std::optional<std::int64_t> whole_number(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  std::int64_t number = kAbsent;
  if (type == SQLITE_INTEGER) {
    number = sqlite3_value_int64(value);
  } else if (type == SQLITE_FLOAT) {
    const double real = sqlite3_value_double(value);
    constexpr double kEnd = 9223372036854775808.0;  // 2^63, the first that does not fit
    if (real < -kEnd || real >= kEnd || real != std::trunc(real)) return std::nullopt;
    number = static_cast<std::int64_t>(real);
  }
  return number == kAbsent ? std::nullopt : std::optional{number};
}

class ColumnTable final : public VirtualTable {
 public:
  ColumnTable(std::shared_ptr<TraceView> view, const TableDef& def, bool pushdown)
      : view_{std::move(view)}, def_{def}, pushdown_{pushdown}, lists_(def.columns.size()) {}

  [[nodiscard]] std::string declaration() const override {
    std::string columns;
    for (const ColumnDef& column : def_.columns)
      fmt::format_to(std::back_inserter(columns), "{}{} {}", columns.empty() ? "" : ", ",
                     db::quoted_name(column.name), db::sql_type(column.kind));
    return fmt::format("CREATE TABLE x({})", columns);
  }

  int best_index(sqlite3_index_info& info) override;
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override;

  [[nodiscard]] TraceView& view() { return *view_; }
  [[nodiscard]] const ColumnDef& column(int number) const {
    return def_.columns[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const RowSet& rows() {
    if (!rows_) rows_ = def_.rows(*view_);
    return *rows_;
  }
  // The value of an integer or a text column as a number; kAbsent: NULL.
  [[nodiscard]] std::int64_t number(const ColumnDef& column, std::uint32_t row) {
    if (column.integer != nullptr) return column.integer(*view_, row);
    const TextCode code = column.text(*view_, row);
    return code == kNoText ? kAbsent : std::int64_t{code};
  }
  [[nodiscard]] const RowLists& lists(int number);
  [[nodiscard]] std::span<const std::uint32_t> by_time(int number);

 private:
  // Rows that equality with a value of the column leaves, about.
  [[nodiscard]] double rows_with(const ColumnDef& column) {
    const auto all = static_cast<double>(rows().count);
    return column.find == Find::kMany ? std::min(all, 20 + all / 1000) : all / 5;
  }
  [[nodiscard]] bool can_group(const sqlite3_index_info& info) const;

  std::shared_ptr<TraceView> view_;
  const TableDef& def_;
  bool pushdown_;
  std::optional<RowSet> rows_;
  std::vector<std::optional<RowLists>> lists_;  // by column
  std::vector<std::uint32_t> by_time_;
  int by_time_column_ = -1;
};

const RowLists& ColumnTable::lists(int number) {
  std::optional<RowLists>& made = lists_[static_cast<std::size_t>(number)];
  if (made) return *made;
  made.emplace();
  const ColumnDef& of = column(number);
  const RowSet& all = rows();
  // Numbers in the order of appearance, then in that of the values.
  std::vector<std::uint32_t> numbers(all.count);
  std::vector<std::int64_t> values;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const auto [entry, is_new] = made->numbers.try_emplace(
        this->number(of, all.at(i)), static_cast<std::uint32_t>(values.size()));
    if (is_new) values.push_back(entry->first);
    numbers[i] = entry->second;
  }
  std::vector<std::uint32_t> order(values.size()), place(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (of.integer != nullptr || values[a] == kAbsent || values[b] == kAbsent)
      return values[a] < values[b];  // kAbsent is the least
    return view_->text_of(static_cast<TextCode>(values[a])) <
           view_->text_of(static_cast<TextCode>(values[b]));
  });
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (auto& [value, value_number] : made->numbers) value_number = place[value_number];
  std::vector<std::uint32_t> counts(values.size());
  for (std::uint32_t& value_number : numbers) ++counts[value_number = place[value_number]];
  made->starts.assign(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), made->starts.begin() + 1);
  std::vector<std::uint32_t> next{made->starts.begin(), made->starts.end() - 1};
  made->rows.resize(all.count);
  for (std::uint32_t i = 0; i < all.count; ++i) made->rows[next[numbers[i]]++] = all.at(i);
  return *made;
}

std::span<const std::uint32_t> ColumnTable::by_time(int number) {
  if (by_time_column_ == number) return by_time_;
  const ColumnDef& of = column(number);
  const RowSet& all = rows();
  std::vector<std::pair<std::int64_t, std::uint32_t>> order(all.count);
  for (std::uint32_t i = 0; i < all.count; ++i)
    order[i] = {of.integer(*view_, all.at(i)), all.at(i)};
  const auto time = [](const auto& pair) { return pair.first; };
  if (!std::ranges::is_sorted(order, {}, time)) std::ranges::stable_sort(order, {}, time);
  by_time_.resize(order.size());
  std::ranges::transform(order, by_time_.begin(), [](const auto& pair) { return pair.second; });
  by_time_column_ = number;
  return by_time_;
}

// Whether all rows in the order of a list are what is asked for: sorted, which is grouped too.
bool ColumnTable::can_group(const sqlite3_index_info& info) const {
  if (info.nOrderBy != 1 || info.aOrderBy[0].iColumn < 0 || info.aOrderBy[0].desc != 0)
    return false;
  const ColumnDef& by = column(info.aOrderBy[0].iColumn);
  return by.find == Find::kFew || by.find == Find::kMany;
}

int ColumnTable::best_index(sqlite3_index_info& info) {
  const auto all = static_cast<double>(rows().count);
  info.estimatedCost = all + 1;
  info.estimatedRows = static_cast<sqlite3_int64>(all);
  if (!pushdown_) return SQLITE_OK;

  // --- the conditions that can be used, and the best way to begin ---
  int key = -1, value = -1, bounds = 0, time = -1;
  std::vector<int> used;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.usable == 0 || constraint.iColumn < 0) continue;
    const ColumnDef& of = column(constraint.iColumn);
    const bool equals = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (of.other != nullptr || (!equals && !(is_range(constraint.op) && of.integer != nullptr)))
      continue;
    if (of.text != nullptr &&
        std::strcmp(sqlite3_vtab_collation(&info, i), "BINARY") != 0)  // NOCASE finds more
      continue;
    used.push_back(i);
    if (of.find == Find::kTime) {
      time = constraint.iColumn;
      bounds += equals ? 2 : 1;
    }
    if (!equals) continue;
    if (of.find == Find::kKey && key < 0) key = i;
    if (of.find != Find::kFew && of.find != Find::kMany) continue;
    if (value < 0 || rows_with(of) < rows_with(column(info.aConstraint[value].iColumn))) value = i;
  }

  Plan plan;
  double found = all;
  const bool groups = can_group(info);
  const bool is_narrow = value >= 0 && column(info.aConstraint[value].iColumn).find == Find::kMany;
  if (key >= 0) {
    plan = {.base = Base::kRow, .column = info.aConstraint[key].iColumn, .conditions = {}};
    found = 1;
    info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  } else if (groups && !is_narrow) {
    plan = {.base = Base::kGrouped, .column = info.aOrderBy[0].iColumn, .conditions = {}};
    info.orderByConsumed = 1;
  } else if (value >= 0) {
    plan = {.base = Base::kValue, .column = info.aConstraint[value].iColumn, .conditions = {}};
    found = rows_with(column(plan.column));
  } else if (bounds > 0) {
    plan = {.base = Base::kByTime, .column = time, .conditions = {}};
    found = bounds > 1 ? all / 100 : all / 3;
  }
  if (plan.base == Base::kAll && info.nOrderBy == 1 && info.aOrderBy[0].iColumn >= 0 &&
      column(info.aOrderBy[0].iColumn).find == Find::kTime)
    plan = {.base = Base::kByTime, .column = info.aOrderBy[0].iColumn, .conditions = {}};
  if (info.nOrderBy == 1 && info.aOrderBy[0].iColumn >= 0 && info.aOrderBy[0].desc == 0) {
    const Find by = column(info.aOrderBy[0].iColumn).find;
    const bool in_order = plan.base == Base::kAll || plan.base == Base::kValue;
    if ((by == Find::kTime && plan.base == Base::kByTime &&
         plan.column == info.aOrderBy[0].iColumn) ||
        (by == Find::kKey && in_order))
      info.orderByConsumed = 1;
  }
  const bool starts_with_value = plan.base == Base::kRow || plan.base == Base::kValue;
  if (starts_with_value) {  // its value comes first
    const int first = plan.base == Base::kRow ? key : value;
    std::erase(used, first);
    used.insert(used.begin(), first);
  }
  for (const int i : used) {
    const auto& constraint = info.aConstraint[i];
    plan.conditions.push_back({constraint.iColumn, constraint.op});
    info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.conditions.size());
    sqlite3_value* constant = nullptr;
    const int type = sqlite3_vtab_rhs_value(&info, i, &constant) == SQLITE_OK
                         ? sqlite3_value_type(constant)
                         : SQLITE_NULL;
    const ColumnDef& of = column(constraint.iColumn);
    // Of the column's own type: what is found here is what SQLite would find.
    info.aConstraintUsage[i].omit =
        of.text != nullptr
            ? (type == SQLITE_TEXT ? 1 : 0)
            : (type == SQLITE_INTEGER && sqlite3_value_int64(constant) != kAbsent ? 1 : 0);
    if (i != key && i != value && of.find != Find::kTime) found = std::max(1.0, found / 2);
  }
  info.estimatedRows = static_cast<sqlite3_int64>(found) + 1;
  const bool reads_all = plan.base == Base::kAll || plan.base == Base::kGrouped;
  info.estimatedCost = found + 1 + (reads_all ? all / 1000 : 0);
  const std::string text = plan.text();
  info.idxStr = sqlite3_mprintf("%s", text.c_str());
  info.needToFreeIdxStr = 1;
  return info.idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

class ColumnCursor final : public VirtualCursor {
 public:
  explicit ColumnCursor(ColumnTable& table) : table_{table} {}

  void filter(int /*plan*/, const char* text, std::span<sqlite3_value* const> values) override {
    if (text != plan_text_) {  // the same for all calls of a statement
      plan_ = text == nullptr ? Plan{} : Plan::of(text);
      plan_text_ = text;
    }
    tests_.clear();
    list_ = {};
    at_ = end_ = 0;
    is_dense_ = false;
    std::size_t first_test = 0;
    switch (plan_.base) {
      case Base::kRow:
        first_test = 1;
        if (!start_at_row(values[0])) return;
        break;
      case Base::kValue: {
        const RowLists& lists =
            table_.lists(plan_.column);  // all texts of the column are known now
        const Wanted wanted = number_of(table_.column(plan_.column), values[0], true);
        if (wanted.known && wanted.number == kAbsent) return;
        if (wanted.known)
          start_with(lists.with(wanted.number));
        else
          start_with_all();
        first_test = 1;
        break;
      }
      case Base::kGrouped:
        start_with(table_.lists(plan_.column).rows);
        break;
      case Base::kByTime:
        start_between(values);
        break;
      case Base::kAll:
        start_with_all();
        break;
    }
    for (std::size_t i = first_test; i < plan_.conditions.size(); ++i)
      if (!add_test(plan_.conditions[i], values[i])) {
        at_ = end_;
        return;
      }
    skip();
  }

  [[nodiscard]] bool done() const override { return at_ >= end_; }
  void next() override {
    ++at_;
    skip();
  }
  [[nodiscard]] std::int64_t rowid() const override { return row(); }

  void column(sqlite3_context* to, int number) const override {
    const ColumnDef& column = table_.column(number);
    if (column.integer != nullptr) {
      const std::int64_t value = column.integer(table_.view(), row());
      if (value != kAbsent) sqlite3_result_int64(to, value);
    } else if (column.text != nullptr) {
      const TextCode code = column.text(table_.view(), row());
      if (code != kNoText) set_result(to, table_.view().text_of(code));
    } else {
      set_result(to, column.other(table_.view(), row()));
    }
  }

 private:
  struct Wanted {
    bool known = false;  // else SQLite has to compare
    std::int64_t number = kAbsent;
  };
  struct Test {
    const ColumnDef* column;
    int op;
    std::int64_t value;
  };

  // A value to compare with as lists() has it; kAbsent: equals nothing.
  Wanted number_of(const ColumnDef& column, sqlite3_value* value, bool all_are_met) {
    if (sqlite3_value_type(value) == SQLITE_NULL) return {true, kAbsent};
    if (column.text != nullptr) {
      if (sqlite3_value_type(value) != SQLITE_TEXT) return {};
      const std::string_view text{reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                  static_cast<std::size_t>(sqlite3_value_bytes(value))};
      const TextCode code = table_.view().find_text(text);
      if (code != kNoText) return {true, code};
      // Kinds and categories get their numbers when they are met.
      return all_are_met ? Wanted{true, kAbsent} : Wanted{true, table_.view().code_of(text)};
    }
    const auto number = whole_number(value);
    return number ? Wanted{true, *number} : Wanted{};
  }

  bool start_at_row(sqlite3_value* value) {
    const RowSet& all = table_.rows();
    const auto wanted = whole_number(value);
    if (!wanted) {
      start_with_all();
      return sqlite3_value_type(value) != SQLITE_NULL;
    }
    if (*wanted < 0 || *wanted >= kNoText) return false;
    const auto row = static_cast<std::uint32_t>(*wanted);
    if (all.is_dense) {
      if (row >= all.count) return false;
      is_dense_ = true;
      at_ = row;
      end_ = row + 1;
      return true;
    }
    const auto found = std::ranges::lower_bound(all.list, row);
    if (found == all.list.end() || *found != row) return false;
    start_with(all.list.subspan(static_cast<std::size_t>(found - all.list.begin()), 1));
    return true;
  }

  void start_with(std::span<const std::uint32_t> rows) {
    list_ = rows;
    at_ = 0;
    end_ = static_cast<std::uint32_t>(rows.size());
  }

  void start_with_all() {
    const RowSet& all = table_.rows();
    if (!all.is_dense) return start_with(all.list);
    is_dense_ = true;
    at_ = 0;
    end_ = all.count;
  }

  // Bounds that are no integers are left to SQLite.
  void start_between(std::span<sqlite3_value* const> values) {
    const std::span<const std::uint32_t> order = table_.by_time(plan_.column);
    const ColumnDef& of = table_.column(plan_.column);
    const auto time = [&](std::uint32_t row) { return of.integer(table_.view(), row); };
    auto first = order.begin(), last = order.end();
    for (std::size_t i = 0; i < plan_.conditions.size(); ++i) {
      const Condition& each = plan_.conditions[i];
      if (each.column != plan_.column) continue;
      const auto bound = whole_number(values[i]);
      if (!bound) continue;
      const auto below = std::ranges::lower_bound(order, *bound, {}, time);
      const auto above = std::ranges::upper_bound(order, *bound, {}, time);
      if (each.op == SQLITE_INDEX_CONSTRAINT_GT) first = std::max(first, above);
      if (each.op == SQLITE_INDEX_CONSTRAINT_GE || each.op == SQLITE_INDEX_CONSTRAINT_EQ)
        first = std::max(first, below);
      if (each.op == SQLITE_INDEX_CONSTRAINT_LT) last = std::min(last, below);
      if (each.op == SQLITE_INDEX_CONSTRAINT_LE || each.op == SQLITE_INDEX_CONSTRAINT_EQ)
        last = std::min(last, above);
    }
    if (first < last) start_with({first, last});
  }

  // Whether any row can pass.
  bool add_test(const Condition& condition, sqlite3_value* value) {
    const ColumnDef& column = table_.column(condition.column);
    const Wanted wanted = number_of(column, value, false);
    if (!wanted.known) return true;
    if (wanted.number == kAbsent) return false;
    tests_.push_back({&column, condition.op, wanted.number});
    return true;
  }

  [[nodiscard]] bool passes(std::uint32_t row) const {
    return std::ranges::all_of(tests_, [&](const Test& test) {
      const std::int64_t value = table_.number(*test.column, row);
      if (value == kAbsent) return false;
      switch (test.op) {
        case SQLITE_INDEX_CONSTRAINT_GT:
          return value > test.value;
        case SQLITE_INDEX_CONSTRAINT_GE:
          return value >= test.value;
        case SQLITE_INDEX_CONSTRAINT_LT:
          return value < test.value;
        case SQLITE_INDEX_CONSTRAINT_LE:
          return value <= test.value;
        default:
          return value == test.value;
      }
    });
  }

  void skip() {
    if (tests_.empty()) return;
    while (at_ < end_ && !passes(row())) ++at_;
  }

  [[nodiscard]] std::uint32_t row() const { return is_dense_ ? at_ : list_[at_]; }

  ColumnTable& table_;
  const char* plan_text_ = nullptr;
  Plan plan_;
  std::vector<Test> tests_;
  std::span<const std::uint32_t> list_;
  bool is_dense_ = false;
  std::uint32_t at_ = 0, end_ = 0;
};

std::unique_ptr<VirtualCursor> ColumnTable::open() { return std::make_unique<ColumnCursor>(*this); }

}  // namespace

std::unique_ptr<VirtualTable> column_table(std::shared_ptr<TraceView> view, const TableDef& def,
                                           bool pushdown) {
  return std::make_unique<ColumnTable>(std::move(view), def, pushdown);
}

Table description_of(const TableDef& def) {
  std::vector<ColumnSpec> columns;
  for (const ColumnDef& column : def.columns)
    columns.push_back({std::string{column.name}, column.kind, std::string{column.unit},
                       std::string{column.description}});
  return {std::string{def.name}, std::string{def.description}, columns};
}

}  // namespace tracelens::query
