#include "mcp/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tracelens/table_text.hpp>
#include <utility>

#include "database/plain_names.hpp"
#include "mcp/clean_text.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::size_t kShortName = 80, kShortestName = 48;
constexpr std::size_t kShortestText = 32;  // where not even one row has room
constexpr std::size_t kAllColumns = std::numeric_limits<std::size_t>::max();

struct Stage {
  std::size_t name_length;
  bool with_extra;
  std::size_t text_length = kLongestName;  // of sentences and whatever else there is
  std::size_t columns = kAllColumns;       // from the left
};

bool is_structured(const Value& value) { return value.is_sequence() || is_object(value); }

std::string four_digits_of(double value) {
  std::string text = four_digits(value);
  std::erase(text, ',');
  return text;
}

std::string cell_text(const Value& value, bool from_trace) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return {};
    case Value::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Value::Kind::kInt:
      return fmt::format("{}", value.as_int());
    case Value::Kind::kReal:
      return four_digits_of(value.as_real());
    case Value::Kind::kText:
      return from_trace ? quoted_cell(value.as_text()) : clean_sentence(value.as_text());
    default:
      return quoted_cell(compact_json(value));
  }
}

// With every text in it cleaned, names of members too.
Value cleaned(const Value& value) {
  if (value.is_text()) return clean_text(value.as_text());
  std::vector<Value> items;
  for (const Value& item : value.items()) items.push_back(cleaned(item));
  if (!is_object(value)) return value.is_sequence() ? array(std::move(items)) : value;
  Members members;
  for (std::size_t i = 0; i < items.size(); ++i)
    members.emplace_back(clean_text(value.keys()[i]), std::move(items[i]));
  return object(std::move(members));
}

// One grid with names of a certain length, ready to be written both ways.
class DrawnGrid {
 public:
  using RowLine = std::string (*)(const std::vector<Value>& row);
  DrawnGrid(const Grid& grid, const Stage& stage, const Fit& fit, RowLine row_line = nullptr)
      : row_line_{row_line} {
    for (std::size_t column = 0; column < grid.columns.size(); ++column)
      if (stage.with_extra || !grid.columns[column].is_extra) shown_.push_back(column);
    if (shown_.size() > stage.columns) shown_.resize(stage.columns);
    std::vector<AnswerColumn> columns;
    for (const std::size_t column : shown_) {
      columns.push_back(grid.columns[column]);
      columns.back().name = shortened(columns.back().name, stage.text_length);
    }
    rows_.resize(grid.rows.size());
    for (std::size_t row = 0; row < grid.rows.size(); ++row)
      for (const std::size_t column : shown_)
        rows_[row].push_back(cell(grid.rows[row][column], grid.columns[column], stage));
    if (was_cut_ && stage.text_length == kLongestName && fit.string_id) add_ids(grid, fit, columns);
    draw(columns, grid.columns.size());
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool was_cut() const { return was_cut_; }
  [[nodiscard]] const std::vector<std::size_t>& shown() const { return shown_; }
  [[nodiscard]] std::size_t fixed_text() const { return head_text_.size(); }
  [[nodiscard]] std::size_t fixed_json() const { return compact_json(columns_json_).size(); }
  [[nodiscard]] std::size_t text_bytes(std::size_t row) const { return row_texts_[row].size(); }
  [[nodiscard]] std::size_t json_bytes(std::size_t row) const { return row_json_[row]; }
  [[nodiscard]] std::size_t all_text() const { return sum_of(true); }
  [[nodiscard]] std::size_t all_json() const { return sum_of(false); }

  [[nodiscard]] const Value& columns() const { return columns_json_; }
  [[nodiscard]] Value rows(std::size_t count) const {
    std::vector<Value> rows;
    for (std::size_t row = 0; row < count; ++row) rows.push_back(array(rows_[row]));
    return array(std::move(rows));
  }
  [[nodiscard]] std::string text(std::size_t count) const {
    std::string text = head_text_;
    for (std::size_t row = 0; row < count; ++row) text += row_texts_[row];
    return text + (row_line_ == nullptr ? "" : "```\n");
  }

 private:
  [[nodiscard]] std::size_t sum_of(bool of_text) const {
    std::size_t sum = of_text ? fixed_text() : fixed_json();
    for (std::size_t row = 0; row < size(); ++row)
      sum += of_text ? text_bytes(row) : json_bytes(row);
    return sum;
  }

  Value cell(const Value& value, const AnswerColumn& column, const Stage& stage) {
    const std::size_t longest = column.from_trace && !column.is_sentence
                                    ? std::min(stage.name_length, stage.text_length)
                                    : stage.text_length;
    if (value.kind() == Value::Kind::kReal && !std::isfinite(value.as_real())) return {};
    if (!value.is_text() && !is_structured(value)) return value;
    const std::string clean = clean_text(value.is_text() ? value.as_text() : compact_json(value));
    const std::string cut = shortened(clean, longest);
    if (cut == clean && !value.is_text()) return cleaned(value);
    was_cut_ = was_cut_ || cut != clean;
    return cut;
  }

  // Of columns with cut names: the numbers by which the whole names are found.
  void add_ids(const Grid& grid, const Fit& fit, std::vector<AnswerColumn>& columns) {
    const std::size_t drawn = shown_.size();
    for (std::size_t i = 0; i < drawn; ++i) {
      const AnswerColumn column = grid.columns[shown_[i]];
      const std::string name = column.name + "_id";
      if (!column.from_trace ||
          std::ranges::find(columns, name, &AnswerColumn::name) != columns.end())
        continue;
      std::vector<Value> ids(rows_.size());
      bool is_any = false;
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        const Value& whole = grid.rows[row][shown_[i]];
        if (!whole.is_text() || rows_[row][i].as_text() == clean_text(whole.as_text())) continue;
        if (const auto id = fit.string_id(whole.as_text())) {
          ids[row] = *id;
          is_any = true;
        }
      }
      if (!is_any) continue;
      columns.push_back({.name = name, .unit = "id"});
      for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row].push_back(ids[row]);
    }
  }

  void draw(const std::vector<AnswerColumn>& columns, std::size_t of_grid) {
    std::vector<Value> described;
    std::string rule = "|";
    head_text_ = "|";
    for (const AnswerColumn& column : columns) {
      described.push_back(object(
          {{"name", column.name}, {"unit", column.unit}, {"from_trace", column.from_trace}}));
      std::string name = clean_sentence(column.name);
      const bool tells_unit = column.unit.empty() || column.unit == "id" || column.unit == "text" ||
                              name.find(column.unit) != name.npos ||
                              name.find(db::plain_name(column.unit)) != name.npos;
      head_text_ +=
          fmt::format(" {}{} |", name, tells_unit ? "" : fmt::format(" ({})", column.unit));
      rule += " --- |";
    }
    columns_json_ = array(std::move(described));
    head_text_ += "\n" + rule + "\n";
    if (row_line_ != nullptr) head_text_ = "```text\n";
    for (const std::vector<Value>& row : rows_) {
      std::string line = row_line_ == nullptr ? "|" : row_line_(with_gaps(row, of_grid));
      for (std::size_t i = 0; i < row.size() && row_line_ == nullptr; ++i)
        line += " " + cell_text(row[i], columns[i].from_trace) + " |";
      row_texts_.push_back(line + "\n");
      row_json_.push_back(compact_json(array(row)).size() + 1);
    }
  }

  // With null for the columns that are not shown.
  [[nodiscard]] std::vector<Value> with_gaps(const std::vector<Value>& row,
                                             std::size_t columns) const {
    std::vector<Value> whole(columns);
    for (std::size_t i = 0; i < shown_.size(); ++i) whole[shown_[i]] = row[i];
    return whole;
  }

  RowLine row_line_;
  std::vector<std::size_t> shown_;
  std::vector<std::vector<Value>> rows_;
  std::vector<std::string> row_texts_;
  std::vector<std::size_t> row_json_;
  std::string head_text_;
  Value columns_json_;
  bool was_cut_ = false;
};

class Fitting {
 public:
  Fitting(Answer answer, const Fit& fit)
      : answer_{std::move(answer)}, fit_{fit}, budget_{fit.max_tokens * 3} {}

  Value result() {
    if (answer_.grid.rows.size() > fit_.limit) answer_.grid.rows.resize(fit_.limit);
    const std::vector<Stage> stages =
        fit_.full_names
            ? std::vector<Stage>{{kLongestName, true}, {kLongestName, false}}
            : std::vector<Stage>{{kShortName, true}, {kShortestName, true}, {kShortestName, false}};
    for (const Stage& stage : stages) {
      const bool is_last = &stage == &stages.back();
      const DrawnGrid grid{answer_.grid, stage, fit_, answer_.row_line};
      std::vector<DrawnGrid> sections;
      for (const Section& section : answer_.sections)
        sections.emplace_back(section.grid, stage, fit_);
      if (is_last) leave_sections_out(sections, budget_ / 2);
      const std::size_t count = rows_that_fit(grid, sections);
      if (is_last ? count > 0 || (grid.size() == 0 && fits(grid, sections))
                  : count == grid.size() && fits(grid, sections))
        return written(grid, sections, count, stage);
    }
    return one_row();
  }

 private:
  // Room that is not for rows: the envelope, the notes that may come, the cursor.
  static constexpr std::size_t kEnvelope = 420;

  // As many rows as fit when each takes as little room as it can.
  Value one_row() {
    std::vector<DrawnGrid> sections;
    for (const Section& section : answer_.sections)
      sections.emplace_back(section.grid, Stage{kShortestName, false}, fit_);
    leave_sections_out(sections, 0);
    leave_notes_out();
    for (std::string* text : {&answer_.lead, &answer_.tail}) cut_lines(*text, budget_ / 4);
    Stage stage{fit_.full_names ? kLongestName : kShortestName, false};
    for (;;) {
      if (stage.text_length > kShortestText) stage.text_length /= 2;
      const DrawnGrid grid{answer_.grid, stage, fit_, answer_.row_line};
      const std::size_t drawn = grid.shown().size();
      const std::size_t count = rows_that_fit(grid, sections);
      const bool is_enough = count > 0 || (grid.size() == 0 && fits(grid, sections));
      if (!is_enough && stage.text_length > kShortestText) continue;
      if (is_enough || drawn <= answer_.fewest_columns)
        return written(grid, sections, std::max(count, std::min<std::size_t>(grid.size(), 1)),
                       stage);
      stage.columns = std::max(drawn - std::max<std::size_t>(drawn / 4, 1), answer_.fewest_columns);
    }
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> fixed(
      const DrawnGrid& grid, const std::vector<DrawnGrid>& sections) const {
    std::size_t text = kEnvelope + answer_.lead.size() + answer_.tail.size() +
                       answer_.title.size() + grid.fixed_text();
    std::size_t json = kEnvelope + compact_json(object(answer_.more)).size() + grid.fixed_json();
    for (const std::string& note : answer_.notes) {
      text += note.size() + 3;
      json += note.size() + 3;
    }
    for (std::size_t i = 0; i < sections.size(); ++i) {
      text += sections[i].all_text() + answer_.sections[i].title.size() + 8;
      json += sections[i].all_json() + answer_.sections[i].name.size() + 30;
    }
    return {text, json};
  }

  [[nodiscard]] std::size_t rows_that_fit(const DrawnGrid& grid,
                                          const std::vector<DrawnGrid>& sections) const {
    auto [text, json] = fixed(grid, sections);
    std::size_t count = 0;
    for (; count < grid.size(); ++count) {
      text += grid.text_bytes(count);
      json += grid.json_bytes(count);
      if (std::max(text, json) > budget_) break;
    }
    return count;
  }

  [[nodiscard]] bool fits(const DrawnGrid& grid, const std::vector<DrawnGrid>& sections) const {
    const auto [text, json] = fixed(grid, sections);
    return std::max(text, json) <= budget_;
  }

  // The first table matters most: the others may take so many bytes.
  void leave_sections_out(std::vector<DrawnGrid>& sections, std::size_t room) {
    const auto takes = [&] {
      std::size_t text = 0, json = 0;
      for (const DrawnGrid& section : sections) {
        text += section.all_text();
        json += section.all_json();
      }
      return std::max(text, json);
    };
    while (!sections.empty() && takes() + kEnvelope > room) {
      answer_.notes.push_back(fmt::format("no room for {}: {}", answer_.sections.back().title,
                                          answer_.sections.back().whole_by));
      sections.pop_back();
      answer_.sections.pop_back();
    }
  }

  // Behind the last line that has room; a block ends where it ends.
  static void cut_lines(std::string& text, std::size_t most) {
    if (text.size() <= most || text.find("```") != text.npos) return;
    const std::size_t end = text.rfind('\n', most);
    text.resize(end == text.npos ? 0 : end + 1);
    text += "...\n\n";
  }

  // The first say the most.
  void leave_notes_out() {
    constexpr std::size_t kKept = 1;
    if (answer_.notes.size() <= kKept + 1) return;
    const std::size_t more = answer_.notes.size() - kKept;
    answer_.notes.resize(kKept);
    answer_.notes.push_back(fmt::format("no room for {} more notes: raise `max_tokens`", more));
  }

  void note_what_is_cut(const DrawnGrid& grid, bool was_cut, const Stage& stage) {
    std::vector<std::string> names;
    for (std::size_t column = 0; column < answer_.grid.columns.size(); ++column)
      if (std::ranges::find(grid.shown(), column) == grid.shown().end())
        names.push_back(
            shortened(clean_sentence(answer_.grid.columns[column].name), kShortestText));
    if (!names.empty()) {
      const std::size_t kNamed = stage.text_length < kLongestName ? 3 : 8;
      const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
      names.resize(names.size() - more);
      answer_.notes.push_back(
          fmt::format("no room for the columns {}{}: {}", fmt::join(names, ", "),
                      more > 0 ? fmt::format(" and {} more", more) : "",
                      stage.columns == kAllColumns ? "ask for them by `columns`"
                                                   : "ask for fewer, or raise `max_tokens`"));
    }
    if (was_cut && stage.text_length < stage.name_length)
      answer_.notes.push_back(
          fmt::format("texts are cut to {} characters: raise `max_tokens`", stage.text_length));
    else if (was_cut && !fit_.full_names)
      answer_.notes.push_back(fmt::format(
          "names are cut to {} characters: `names: full` gives them whole", stage.name_length));
  }

  Value written(const DrawnGrid& grid, const std::vector<DrawnGrid>& sections, std::size_t count,
                const Stage& stage) {
    note_what_is_cut(grid, grid.was_cut() || std::ranges::any_of(sections, &DrawnGrid::was_cut),
                     stage);
    const std::size_t end = answer_.offset + count;
    const bool has_more = answer_.total ? end < *answer_.total : count < grid.size();
    Value next;
    if (has_more && fit_.cursor_at) next = fit_.cursor_at(end);
    if (has_more || answer_.offset > 0) {
      const std::string of = answer_.total ? fmt::format(" of {}", *answer_.total) : "";
      answer_.notes.insert(answer_.notes.begin(), answer_.offset == 0
                                                      ? fmt::format("showing {}{} rows", count, of)
                                                      : fmt::format("showing rows {} to {}{}",
                                                                    answer_.offset + 1, end, of));
    }
    Members structure;
    if (!answer_.trace.empty()) structure.emplace_back("trace", clean_text(answer_.trace));
    structure.emplace_back("columns", grid.columns());
    structure.emplace_back("rows", grid.rows(count));
    structure.emplace_back("returned", count_value(count));
    structure.emplace_back("total", answer_.total ? count_value(*answer_.total) : Value{});
    structure.emplace_back("next", next);
    structure.emplace_back("notes", array(answer_.notes));
    for (auto& each : answer_.more) structure.push_back(std::move(each));
    for (std::size_t i = 0; i < sections.size(); ++i)
      structure.emplace_back(answer_.sections[i].name,
                             object({{"columns", sections[i].columns()},
                                     {"rows", sections[i].rows(sections[i].size())}}));
    return object({{"content", text_block(text(grid, sections, count, next))},
                   {"structuredContent", object(std::move(structure))},
                   {"isError", false}});
  }

  [[nodiscard]] std::string text(const DrawnGrid& grid, const std::vector<DrawnGrid>& sections,
                                 std::size_t count, const Value& next) const {
    std::string text;
    if (!answer_.trace.empty()) text += fmt::format("Trace {}\n\n", in_quotes(answer_.trace));
    text += answer_.lead;
    if (!answer_.grid.columns.empty()) {
      if (!answer_.title.empty()) text += answer_.title + ":\n\n";
      text += count > 0 ? grid.text(count) : std::string{"no rows\n"};
    }
    for (std::size_t i = 0; i < sections.size(); ++i)
      text += fmt::format("\n{}:\n\n{}", answer_.sections[i].title,
                          sections[i].text(sections[i].size()));
    if (!answer_.tail.empty()) text += "\n" + answer_.tail;
    if (!answer_.notes.empty()) text += "\n";
    for (const std::string& note : answer_.notes) text += fmt::format("- {}\n", note);
    if (next.is_text()) text += fmt::format("- next page: cursor `{}`\n", next.as_text());
    return text;
  }

  Answer answer_;
  const Fit& fit_;
  std::size_t budget_;  // bytes
};

}  // namespace

Value result_of(Answer answer, const Fit& fit) { return Fitting{std::move(answer), fit}.result(); }

Value output_schema(const Members& more) {
  const auto of = [](const char* type) { return object({{"type", type}}); };
  Members properties{
      {"trace", of("string")},
      {"columns", object({{"type", "array"}, {"items", of("object")}})},
      {"rows", object({{"type", "array"}, {"items", of("array")}})},
      {"returned", of("integer")},
      {"total", object({{"type", array(std::vector<std::string>{"integer", "null"})}})},
      {"next", object({{"type", array(std::vector<std::string>{"string", "null"})}})},
      {"notes", object({{"type", "array"}, {"items", of("string")}})}};
  for (const auto& each : more) properties.push_back(each);
  return object({{"type", "object"},
                 {"properties", object(std::move(properties))},
                 {"required", array(std::vector<std::string>{"columns", "rows", "returned", "total",
                                                             "next", "notes"})}});
}

Value value_of(const Cell& cell) {
  struct Visitor {
    Value operator()(Missing) const { return {}; }
    Value operator()(bool value) const { return value; }
    Value operator()(std::int64_t value) const { return value; }
    Value operator()(double value) const { return std::isfinite(value) ? Value{value} : Value{}; }
    Value operator()(const std::string& value) const { return value; }
    Value operator()(const Value& value) const { return value; }
  };
  return std::visit(Visitor{}, cell);
}

Grid grid_of(const Table& table, const std::vector<std::string_view>& shown, std::size_t rows) {
  const std::vector<std::string> names = db::plain_names(table);
  std::vector<std::size_t> order;
  for (const std::string_view name : shown)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (table.columns()[i].spec().name == name) order.push_back(i);
  if (order.empty())
    for (std::size_t i = 0; i < names.size(); ++i) order.push_back(i);
  Grid grid;
  for (const std::size_t column : order) {
    const ColumnSpec& spec = table.columns()[column].spec();
    grid.columns.push_back({.name = names[column],
                            .unit = spec.unit,
                            .from_trace = spec.kind == Kind::kText || spec.kind == Kind::kNested});
  }
  for (std::size_t row = 0; row < std::min(rows, table.rows()); ++row) {
    std::vector<Value>& cells = grid.rows.emplace_back();
    for (const std::size_t column : order) cells.push_back(value_of(table.cell(row, column)));
  }
  return grid;
}

}  // namespace tracelens::mcp
