// The ops of a report's table, which was written as a CSV file or a sheet of a workbook.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/json.hpp>
#include <tracelens/replay.hpp>
#include <unordered_map>
#include <unordered_set>

#include "report/import/csv_reader.hpp"
#include "report/import/xlsx_reader.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kArguments[] = {"name", "Input Dims", "Input type", "Input Strides",
                                           "Concrete Inputs"};

bool has_arguments(const Table& table) {
  return std::ranges::all_of(kArguments, [&](auto column) { return table.has_column(column); });
}

bool is_csv(const std::string& path) { return std::filesystem::path{path}.extension() == ".csv"; }

// ('float', (8, 4), None) -> ["float", [8, 4], null]: what tables print, as JSON.
std::string json_of_literal(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto is_word = [&](std::string_view word) {
      return text.substr(at).starts_with(word) && (at += word.size() - 1, true);
    };
    if (c == '\'' || c == '"') {
      std::string inside;
      for (++at; at < text.size() && text[at] != c; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        inside += text[at];
      }
      append_json_text(out, inside);
    } else if (c == '(' || c == ')') {
      out += c == '(' ? '[' : ']';
    } else if (is_word("None")) {
      out += "null";
    } else if (is_word("True")) {
      out += "true";
    } else if (is_word("False")) {
      out += "false";
    } else {
      out += c;
    }
  }
  return out;
}

class Sheet {
 public:
  explicit Sheet(const Table& table) : table_{table} {}

  [[nodiscard]] std::string text(std::string_view column, std::size_t row) const {
    const Table::Column& cells = table_.column(column);
    return cells.spec().kind == Kind::kText ? cells.texts()[row] : std::string{};
  }
  // An empty list where the cell is none.
  [[nodiscard]] Value list(std::string_view column, std::size_t row) const {
    const std::optional<Value> value = parse_json_value(json_of_literal(text(column, row)));
    return value && value->is_sequence() ? *value : Value::list({});
  }
  [[nodiscard]] double number(std::string_view column, std::size_t row, double otherwise) const {
    if (!table_.has_column(column)) return otherwise;
    const Table::Column& cells = table_.column(column);
    if (cells.is_missing(row)) return otherwise;
    if (cells.spec().kind == Kind::kInteger) return static_cast<double>(cells.integers()[row]);
    return cells.spec().kind == Kind::kReal ? cells.reals()[row] : otherwise;
  }

 private:
  const Table& table_;
};

// Whole and within what a count or a time can be.
std::int64_t whole(double value) { return static_cast<std::int64_t>(std::clamp(value, 0.0, 9e15)); }

ReplayRecord record_of(const Sheet& sheet, std::size_t row) {
  ReplayRecord record{.call = {.op = sheet.text("name", row),
                               .types = sheet.list("Input type", row),
                               .dims = sheet.list("Input Dims", row),
                               .strides = sheet.list("Input Strides", row),
                               .concrete = sheet.list("Concrete Inputs", row)}};
  record.uid = static_cast<std::uint64_t>(whole(sheet.number("ex_UID", row, 0)));
  record.count = static_cast<std::uint64_t>(
      std::max<std::int64_t>(whole(sheet.number("operation_count", row, 1)), 1));
  record.kernel_ns =
      whole(1e3 * sheet.number("total_subtree_kernel_time_sum", row,
                               sheet.number("total_direct_kernel_time_sum", row, 0)));
  return record;
}

std::string key_of(const ReplayArguments& call) {
  return json_text(Value::list({call.op, call.types, call.dims, call.strides, call.concrete}));
}

Table arguments_table(const std::string& path) {
  if (is_csv(path)) return read_csv_table("sheet", read_text_file(path));
  const XlsxBook book{path};
  for (const std::string& name : book.sheets())
    if (Table table = book.read(name); has_arguments(table)) return table;
  throw Error{path, fmt::format("no sheet has the columns {}", fmt::join(kArguments, ", "))};
}

}  // namespace

bool is_replay_sheet(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  if (std::filesystem::path{path}.extension() == ".xlsx") return is_workbook(path);
  if (!is_csv(path)) return false;
  const std::string text = read_text_file(path);
  return has_arguments(read_csv_table("header", std::string_view{text}.substr(0, text.find('\n'))));
}

Replay choose_replay_from_sheet(const std::string& path, const ReplayChoice& choice) {
  if (choice.subtree || !choice.module.empty())
    throw Error{path, "a table has no call tree: --subtree and --module need the trace"};
  const Table table = arguments_table(path);
  const Sheet sheet{table};
  Replay replay;
  const auto has = [](const auto& list, const auto& item) {
    return list.empty() || std::ranges::find(list, item) != list.end();
  };
  std::unordered_map<std::string, std::size_t> by_arguments;
  std::unordered_set<std::string> ops;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ReplayRecord record = record_of(sheet, row);
    ops.insert(record.call.op);
    if (record.call.types.items().empty() || !has(choice.names, record.call.op) ||
        !has(choice.uids, record.uid))
      continue;
    // Tables may have a row for each thread.
    const auto [entry, is_new] =
        by_arguments.try_emplace(key_of(record.call), replay.records.size());
    if (is_new) {
      replay.records.push_back(std::move(record));
    } else {
      ReplayRecord& known = replay.records[entry->second];
      known.count += record.count;
      known.kernel_ns = plus_ns(known.kernel_ns, record.kernel_ns);
    }
  }
  for (const std::string& name : choice.names)
    if (!ops.contains(name))
      replay.warnings.push_back(fmt::format("no op '{}' in the table", name));
  std::ranges::stable_sort(replay.records, std::ranges::greater{}, &ReplayRecord::kernel_ns);
  if (choice.top && replay.records.size() > *choice.top) replay.records.resize(*choice.top);
  if (replay.records.empty())
    throw Error{path, replay.warnings.empty() ? "no op with recorded arguments is left to replay"
                                              : replay.warnings.front()};
  return replay;
}

}  // namespace tracelens
