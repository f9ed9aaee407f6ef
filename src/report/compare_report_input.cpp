#include "report/compare_report_input.hpp"

#include <algorithm>
#include <filesystem>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

#include "io/text_file.hpp"
#include "report/csv_reader.hpp"
#include "report/xlsx_reader.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// Whether the comparison or a gate may look at a sheet; the others need not be read.
bool is_wanted(std::string_view sheet, const CompareOptions& options) {
  return !options.gates.empty() || std::ranges::any_of(options.sheets, [&](const auto& group) {
    return is_compared(sheet, group, options.more_sheets);
  });
}

std::vector<Table> read_folder(const fs::path& folder, const CompareOptions& options) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  if (files.empty()) throw Error{folder.string(), "has no CSV files: it is no report"};
  std::ranges::sort(files);
  std::vector<Table> tables;
  for (const fs::path& file : files)
    if (const std::string sheet = file.stem().string(); is_wanted(sheet, options))
      tables.push_back(read_csv_table(sheet, io::read_text_file(file.string())));
  return tables;
}

std::vector<Table> read_workbook(const std::string& path, const CompareOptions& options) {
  const XlsxBook book{path};
  std::vector<Table> tables;
  for (const std::string& sheet : book.sheets())
    if (is_wanted(sheet, options)) tables.push_back(book.read(sheet));
  return tables;
}

}  // namespace

std::string default_tag(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  fs::path tag = fs::path{name}.filename();
  const bool is_packed = tag.extension() == ".gz" || tag.extension() == ".zst";
  tag = tag.stem();
  if (is_packed && (tag.extension() == ".json" || tag.extension() == ".pb")) tag = tag.stem();
  return tag.string();
}

ComparedReport read_compared(const std::string& path, const std::string& tag,
                             const CompareOptions& options) {
  ComparedReport report{.tag = tag, .path = path};
  std::error_code ignored;
  report.is_folder = fs::is_directory(path, ignored);
  if (report.is_folder)
    report.tables = read_folder(path, options);
  else if (is_workbook(path))
    report.tables = read_workbook(path, options);
  else
    report.tables =
        make_report(options.read ? options.read(path) : read_trace(path), options.report).tables;
  return report;
}

}  // namespace tracelens
