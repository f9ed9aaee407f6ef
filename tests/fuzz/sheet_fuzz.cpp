// Any bytes are a CSV file, and printing what was read gives the same table again; any bytes are
// the XML of a sheet or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>

#include "io/check.hpp"
#include "report/import/csv_reader.hpp"
#include "report/import/xlsx_reader.hpp"
#include "table/formula_text.hpp"

namespace {

// As files are written: texts that a spreadsheet would run have a quote in front, which reading takes away.
std::string csv_text(const tracelens::Table& table) {
  std::string text;
  for (const auto& column : table.columns()) {
    if (&column != &table.columns().front()) text += ',';
    tracelens::append_csv_text(text, tracelens::guarded_text(column.spec().name));
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    text += '\n';
    const std::size_t start = text.size();
    for (const auto& column : table.columns()) {
      if (&column != &table.columns().front()) text += ',';
      if (column.spec().kind == tracelens::Kind::kText && !column.is_missing(row))
        tracelens::append_csv_text(text, tracelens::guarded_text(column.texts()[row]));
      else
        tracelens::append_csv_cell(text, column, row);
    }
    if (text.size() == start) text += "\"\"";  // a blank line would be no row
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  // Once printed, bytes that were no UTF-8 and blanks by another name are gone for good.
  const std::string once = csv_text(tracelens::read_csv_table("t", bytes));
  const std::string twice = csv_text(tracelens::read_csv_table("t", once));
  TL_CHECK(twice == csv_text(tracelens::read_csv_table("t", twice)));
  try {
    static_cast<void>(csv_text(tracelens::read_sheet_xml("t", "t.xml", bytes, {"a", "b"})));
  } catch (const tracelens::Error&) {
    return 0;
  }
  return 0;
}
