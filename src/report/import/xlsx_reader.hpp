// xlsx_reader.hpp: the sheets of a workbook, as this program, openpyxl and Excel write them.
//   const XlsxBook book{"report.xlsx"};
//   for (const std::string& sheet : book.sheets()) use(book.read(sheet));
// The first row of a sheet is its header. Cells keep their own types (number, truth value, text);
// formulas give the value stored with them, an error cell is blank, styles and dates are not looked
// at. Sheets are parsed as a stream: memory grows with the cells, not with the XML.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

// Whether the file is a zip archive with a workbook in it. Throws Error when it cannot be opened.
[[nodiscard]] bool is_workbook(const std::string& path);

class XlsxBook {
 public:
  // Throws Error when the file is no workbook or is damaged.
  explicit XlsxBook(std::string path);

  [[nodiscard]] std::vector<std::string> sheets() const;  // names, in the order of the tabs
  // Throws Error when there is no such sheet or it is damaged.
  [[nodiscard]] Table read(std::string_view sheet) const;

 private:
  struct Sheet {
    std::string name, part;  // "xl/worksheets/sheet1.xml"
  };
  std::string path_;
  std::vector<Sheet> sheets_;
  std::vector<std::string> texts_;  // the shared ones
};

// The table in the XML of one sheet; `texts` are the shared ones. Throws Error, with `where`, when
// it is not well-formed.
// Reached through XlsxBook; on its own for the fuzzer.
[[nodiscard]] Table read_sheet_xml(std::string_view name, const std::string& where,
                                   std::string_view xml, const std::vector<std::string>& texts);

}  // namespace tracelens
