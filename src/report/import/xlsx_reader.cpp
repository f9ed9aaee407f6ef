#include "report/import/xlsx_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <tracelens/error.hpp>
#include <utility>

#include "io/numbers.hpp"
#include "io/stream.hpp"
#include "io/zip_members.hpp"
#include "report/import/csv_kinds.hpp"
#include "report/import/xlsx_xml.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kWorkbookPart = "xl/workbook.xml";
constexpr const char* kRelationsPart = "xl/_rels/workbook.xml.rels";
constexpr const char* kTextsPart = "xl/sharedStrings.xml";
// Excel's own limits: cells beyond are not believed.
constexpr std::size_t kMaxRows = 1'048'576, kMaxColumns = 16'384;
// A cell holds up to 32,767 characters in Excel, each of which may be written as _xHHHH_.
constexpr std::size_t kMaxTextBytes = 7 * 32'767;
// A few bytes of XML can claim a cell far out; what lies before it takes memory.
constexpr std::size_t kMaxCells = std::size_t{1} << 26;

// The tabs of the workbook: name and relation id.
class TabHandler final : public XmlHandler {
 public:
  struct Tab {
    std::string name, relation;
  };
  std::vector<Tab> tabs;
  void on_start(std::string_view element, const Attributes& attribute) override {
    if (element == "sheet") tabs.push_back({std::string{attribute("name")}, relation(attribute)});
  }
  void on_end(std::string_view) override {}
  void on_text(std::string_view) override {}

 private:
  // r:id; sheetId is another attribute.
  static std::string relation(const Attributes& attribute) { return std::string{attribute("id")}; }
};

// Relation id -> part.
class RelationHandler final : public XmlHandler {
 public:
  std::map<std::string, std::string> targets;
  void on_start(std::string_view element, const Attributes& attribute) override {
    if (element == "Relationship")
      targets[std::string{attribute("Id")}] = std::string{attribute("Target")};
  }
  void on_end(std::string_view) override {}
  void on_text(std::string_view) override {}
};

// Text that Excel could not write plainly is _xHHHH_; only what stands for control characters and
// the underscore itself is undone, as others write such texts as they are.
std::string without_escapes(std::string text) {
  std::size_t kept = text.find("_x");
  if (kept == std::string::npos) return text;
  const auto escaped = [&text](std::size_t at) -> std::optional<char> {
    if (text.compare(at, 2, "_x") != 0 || at + 6 >= text.size() || text[at + 6] != '_')
      return std::nullopt;
    const std::string digits = text.substr(at + 2, 4);
    if (digits.find_first_not_of("0123456789ABCDEFabcdef") != std::string::npos)
      return std::nullopt;
    const unsigned long value = std::stoul(digits, nullptr, 16);
    return value < 0x20 || value == 0x5F ? std::optional{static_cast<char>(value)} : std::nullopt;
  };
  for (std::size_t at = kept; at < text.size(); ++kept) {
    const std::optional<char> meant = escaped(at);
    text[kept] = meant.value_or(text[at]);
    at += meant ? 7 : 1;
  }
  text.resize(kept);
  return text;
}

void append_text(std::string& cell, std::string_view more, const std::string& where) {
  if (cell.size() + more.size() > kMaxTextBytes)
    throw Error{where, "has a cell of more than the 32,767 characters that a workbook can hold"};
  cell += more;
}

// The shared texts: each <si> is the text of its <t>, without those of phonetic hints (<rPh>).
class SharedTexts final : public XmlHandler {
 public:
  explicit SharedTexts(std::string where) : where_{std::move(where)} {}
  std::vector<std::string> texts;
  void on_start(std::string_view element, const Attributes&) override {
    if (element == "si") {
      if (texts.size() == kMaxCells) throw Error{where_, "has more texts than a report can have"};
      texts.emplace_back();
    }
    if (element == "rPh") in_hint_ = true;
    if (element == "t") in_text_ = !in_hint_;
  }
  void on_end(std::string_view element) override {
    if (element == "t") in_text_ = false;
    if (element == "rPh") in_hint_ = false;
    if (element == "si" && !texts.empty()) texts.back() = without_escapes(std::move(texts.back()));
  }
  void on_text(std::string_view text) override {
    if (in_text_ && !texts.empty()) append_text(texts.back(), text, where_);
  }

 private:
  std::string where_;
  bool in_text_ = false, in_hint_ = false;
};

// "AB12" -> column 27; nothing when the cell does not say where it is, as it need not.
std::optional<std::size_t> column_of(std::string_view reference) {
  std::size_t column = 0, letters = 0;
  while (letters < reference.size() && reference[letters] >= 'A' && reference[letters] <= 'Z') {
    column = column * 26 + static_cast<std::size_t>(reference[letters++] - 'A') + 1;
    if (column > kMaxColumns) return kMaxColumns;
  }
  return letters == 0 ? std::nullopt : std::optional{column - 1};
}

class SheetHandler final : public XmlHandler {
 public:
  SheetHandler(std::string where, const std::vector<std::string>& texts)
      : where_{std::move(where)}, texts_{texts} {}

  void on_start(std::string_view element, const Attributes& attribute) override {
    if (element == "row") start_row(attribute("r"));
    if (element == "c") start_cell(attribute);
    if (element == "rPh") in_hint_ = true;
    in_value_ = element == "v" || (element == "t" && !in_hint_);
    run_ = value_.size();
  }
  void on_end(std::string_view element) override {
    if (element == "c") end_cell();
    if (element == "rPh") in_hint_ = false;
    // A code that is cut by the end of a run is none.
    if (element == "t" && in_value_)
      value_ = value_.substr(0, run_) + without_escapes(value_.substr(run_));
    in_value_ = false;
  }
  void on_text(std::string_view text) override {
    if (in_value_) append_text(value_, text, where_);
  }

  Table finish(std::string name) && {
    LooseTable loose{.name = std::move(name)};
    if (rows_.empty()) return typed_table(std::move(loose));
    for (const Cell& cell : rows_.front()) loose.header.push_back(header_text(cell));
    loose.columns.resize(loose.header.size());
    for (std::size_t row = 1; row < rows_.size(); ++row)
      for (std::size_t i = 0; i < loose.columns.size(); ++i)
        loose.columns[i].push_back(i < rows_[row].size() ? std::move(rows_[row][i]) : Cell{});
    return typed_table(std::move(loose));
  }

 private:
  void start_row(std::string_view number) {
    const auto at = io::parse_int64(number);
    const std::size_t row = at && *at > 0 ? static_cast<std::size_t>(*at) - 1 : rows_.size();
    if (row >= kMaxRows) throw Error{where_, "has a row beyond the last one of a sheet"};
    if (row < rows_.size() && !rows_.empty()) throw Error{where_, "has rows out of order"};
    rows_.resize(row + 1);
    next_column_ = 0;
  }

  void start_cell(const Attributes& attribute) {
    column_ = column_of(attribute("r")).value_or(next_column_);
    if (column_ >= kMaxColumns) throw Error{where_, "has a column beyond the last one of a sheet"};
    next_column_ = column_ + 1;
    type_ = attribute("t");
    value_.clear();
  }

  void end_cell() {
    Cell cell = cell_of(std::move(value_));
    value_.clear();
    if (rows_.empty() || std::holds_alternative<Missing>(cell)) return;
    std::vector<Cell>& row = rows_.back();
    if (row.size() <= column_) {
      cells_ += column_ + 1 - row.size();
      if (cells_ > kMaxCells) throw Error{where_, "has more cells than a report can have"};
      row.resize(column_ + 1);
    }
    row[column_] = std::move(cell);
  }

  [[nodiscard]] Cell cell_of(std::string value) const {
    if (type_ == "e") return Missing{};
    if (type_ == "b") return value == "1";
    if (type_ == "s") {
      const auto index = io::parse_int64(value);
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= texts_.size())
        throw Error{where_, "refers to a shared text that is not there"};
      return text_cell(texts_[static_cast<std::size_t>(*index)]);
    }
    if (type_ == "inlineStr") return text_cell(std::move(value));
    if (type_ == "str" || type_ == "d") return text_cell(without_escapes(std::move(value)));
    Cell number = cell_of_text(value);
    if (const auto* real = std::get_if<double>(&number)) return whole_or_real(*real);
    return number;
  }

  static Cell text_cell(const std::string& text) {
    return is_blank_text(text) ? Cell{Missing{}} : Cell{text};
  }

  // A sheet knows one kind of number; 12 and 12.0 and 1.2E1 are the same cell.
  static Cell whole_or_real(double value) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const auto whole = static_cast<std::int64_t>(std::abs(value) <= kExact ? value : 0.5);
    return static_cast<double>(whole) == value ? Cell{whole} : Cell{value};
  }

  static std::string header_text(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return io::shortest_double(*real);
    if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "True" : "False";
    return {};
  }

  std::string where_;
  const std::vector<std::string>& texts_;
  std::vector<std::vector<Cell>> rows_;
  std::size_t column_ = 0, next_column_ = 0, cells_ = 0;
  std::string type_, value_;
  std::size_t run_ = 0;  // where the text at hand begins in the value
  bool in_value_ = false, in_hint_ = false;
};

void parse_part(const std::string& path, const std::string& part, XmlHandler& handler) {
  const std::string where = path + "/" + part;
  io::Stream in = io::Stream::open(where);
  parse_xml([&in](std::span<char> into) { return in.read(into); }, where, handler);
  if (!in.damage().empty()) throw Error{where, in.damage()};
}

// "worksheets/sheet1.xml" is meant from the folder of the workbook, "/xl/..." from the top.
std::string part_of(std::string_view target) {
  return target.starts_with('/') ? std::string{target.substr(1)} : "xl/" + std::string{target};
}

}  // namespace

bool is_workbook(const std::string& path) {
  const std::vector<std::string> members = io::zip_members(path);
  return std::ranges::find(members, kWorkbookPart) != members.end();
}

XlsxBook::XlsxBook(std::string path) : path_{std::move(path)} {
  const std::vector<std::string> members = io::zip_members(path_);
  const auto has = [&](std::string_view part) {
    return std::ranges::find(members, part) != members.end();
  };
  if (!has(kWorkbookPart) || !has(kRelationsPart))
    throw Error{path_, "is no workbook: it has no xl/workbook.xml"};
  TabHandler tabs;
  RelationHandler relations;
  parse_part(path_, std::string{kWorkbookPart}, tabs);
  parse_part(path_, kRelationsPart, relations);
  for (TabHandler::Tab& tab : tabs.tabs) {
    const auto target = relations.targets.find(tab.relation);
    if (target == relations.targets.end() || !has(part_of(target->second)))
      throw Error{path_, "sheet '" + tab.name + "' is not in the workbook"};
    sheets_.push_back({std::move(tab.name), part_of(target->second)});
  }
  if (!has(kTextsPart)) return;
  SharedTexts shared{path_ + "/" + kTextsPart};
  parse_part(path_, kTextsPart, shared);
  texts_ = std::move(shared.texts);
}

std::vector<std::string> XlsxBook::sheets() const {
  std::vector<std::string> names;
  for (const Sheet& sheet : sheets_) names.push_back(sheet.name);
  return names;
}

Table XlsxBook::read(std::string_view sheet) const {
  const auto found = std::ranges::find(sheets_, sheet, &Sheet::name);
  if (found == sheets_.end()) throw Error{path_, "has no sheet named '" + std::string{sheet} + "'"};
  SheetHandler handler{path_ + "/" + found->part, texts_};
  parse_part(path_, found->part, handler);
  return std::move(handler).finish(found->name);
}

Table read_sheet_xml(std::string_view name, const std::string& where, std::string_view xml,
                     const std::vector<std::string>& texts) {
  SheetHandler handler{where, texts};
  parse_xml(
      [xml](std::span<char> into) mutable {
        const std::size_t count = std::min(into.size(), xml.size());
        std::memcpy(into.data(), xml.data(), count);
        xml.remove_prefix(count);
        return count;
      },
      where, handler);
  return std::move(handler).finish(std::string{name});
}

}  // namespace tracelens
