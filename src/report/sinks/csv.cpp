// csv.cpp: tables as CSV: UTF-8, "\n" line ends, a header row, quotes only where needed. Our own
// have no text that a spreadsheet would run, unless asked for; those of the reference are as Python
// writes them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/folder_manifest.hpp"
#include "report/sinks/output_folder.hpp"
#include "report/sinks/sinks.hpp"
#include "report/sinks/unique_names.hpp"
#include "table/formula_text.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

// A table's name as a file name: it cannot leave the folder or hide there.
std::string file_stem(std::string_view table_name) {
  std::string stem = single_line(table_name);
  for (char& c : stem)
    if (std::string_view{"/\\:*?\"<>|"}.find(c) != std::string_view::npos) c = '_';
  if (stem.empty() || stem.front() == '.') stem.insert(0, 1, '_');
  return stem;
}

CsvTexts texts_of(const DocumentInfo& info) {
  return info.csv_raw || info.edition == Edition::kReference ? CsvTexts::kAsTheyAre
                                                             : CsvTexts::kGuarded;
}

// The folder is one document: tables of an earlier run that this one does not have are taken away.
class CsvFolderSink final : public Sink {
 public:
  CsvFolderSink(const std::string& folder, const DocumentInfo& info)
      : texts_{texts_of(info)}, folder_{folder, info.edition} {}

  void write(const Table& table) override {
    const std::string name = names_.add(file_stem(table.name())) + ".csv";
    folder_.keep(write_csv(table, folder_.make(name), texts_).of(name));
  }

  void finish() override { folder_.finish(); }

 private:
  CsvTexts texts_;
  OutputFolder folder_;
  UniqueNames names_{200};  // file systems take 255 bytes, with the extension
};

class CsvFileSink final : public Sink {
 public:
  CsvFileSink(const std::string& output, const DocumentInfo& info)
      : output_{output}, texts_{texts_of(info)} {}

  void write(const Table& table) override {
    if (file_) throw Error{output_, one_table_only(output_)};
    file_.emplace(output_);
    write_csv(table, *file_, texts_);
  }

  void finish() override {
    if (!file_) throw Error{output_, "there is no table to write"};
    file_->commit();
  }

 private:
  std::string output_;
  CsvTexts texts_;
  std::optional<io::OutputFile> file_;
};

}  // namespace

ContentHash write_csv(const Table& table, io::OutputFile& file, CsvTexts texts) {
  const bool is_exact = texts == CsvTexts::kAsTheyAre;
  ContentHash content;
  std::string line;
  const auto end_line = [&] {
    // A row whose only field is empty would be a blank line, which readers skip.
    if (line.empty()) line += "\"\"";
    line.push_back('\n');
    file.write(line);
    content.add(line);
    line.clear();
  };
  for (const Table::Column& column : table.columns()) {
    if (&column != &table.columns().front()) line.push_back(',');
    append_csv_text(line, is_exact ? column.spec().name : guarded_text(column.spec().name));
  }
  end_line();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (const Table::Column& column : table.columns()) {
      if (&column != &table.columns().front()) line.push_back(',');
      const Kind kind = column.spec().kind;
      if (is_exact || (kind != Kind::kText && kind != Kind::kNested))
        append_csv_cell(line, column, row);
      else
        append_csv_text(line, guarded_text(plain_text(column, row)));
    }
    end_line();
  }
  return content;
}

std::unique_ptr<Sink> make_csv_folder_sink(const std::string& folder, const DocumentInfo& info) {
  return std::make_unique<CsvFolderSink>(folder, info);
}

std::string one_table_only(const std::string& output, std::string_view choose_one) {
  return fmt::format("a CSV file holds one table; {}{}name a folder for all of them: {}/",
                     choose_one, choose_one.empty() ? "" : ", or ",
                     std::filesystem::path{output}.replace_extension().string());
}

std::unique_ptr<Sink> make_csv_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<CsvFileSink>(output, info);
}

}  // namespace tracelens
