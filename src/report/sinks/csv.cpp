// csv.cpp: tables as CSV: UTF-8, "\n" line ends, a header row, quotes only where needed.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/sinks.hpp"
#include "report/sinks/unique_names.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

void write_line(std::string& line, io::OutputFile& file) {
  // A row whose only field is empty would be a blank line, which readers skip.
  if (line.empty()) line += "\"\"";
  line.push_back('\n');
  file.write(line);
  line.clear();
}

void write_csv(const Table& table, io::OutputFile& file) {
  std::string line;
  for (const Table::Column& column : table.columns()) {
    if (&column != &table.columns().front()) line.push_back(',');
    append_csv_text(line, column.spec().name);
  }
  write_line(line, file);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (const Table::Column& column : table.columns()) {
      if (&column != &table.columns().front()) line.push_back(',');
      append_csv_cell(line, column, row);
    }
    write_line(line, file);
  }
}

// A table's name as a file name: it cannot leave the folder or hide there.
std::string file_stem(std::string_view table_name) {
  std::string stem = single_line(table_name);
  for (char& c : stem)
    if (std::string_view{"/\\:*?\"<>|"}.find(c) != std::string_view::npos) c = '_';
  if (stem.empty() || stem.front() == '.') stem.insert(0, 1, '_');
  return stem;
}

class CsvFolderSink final : public Sink {
 public:
  explicit CsvFolderSink(const std::string& folder) : folder_{folder} {
    io::make_directories(folder);
  }

  void write(const Table& table) override {
    const std::string name = names_.add(file_stem(table.name())) + ".csv";
    files_.push_back(std::make_unique<io::OutputFile>((folder_ / name).string()));
    write_csv(table, *files_.back());
  }

  void finish() override {
    for (const auto& file : files_) file->commit();
    files_.clear();
  }

 private:
  std::filesystem::path folder_;
  UniqueNames names_{200};  // file systems take 255 bytes, with the extension
  std::vector<std::unique_ptr<io::OutputFile>> files_;
};

class CsvFileSink final : public Sink {
 public:
  explicit CsvFileSink(const std::string& output) : output_{output} {}

  void write(const Table& table) override {
    if (file_)
      throw Error{output_, "a CSV file holds one table; for several, name a folder (ending in /)"};
    file_.emplace(output_);
    write_csv(table, *file_);
  }

  void finish() override {
    if (!file_) throw Error{output_, "there is no table to write"};
    file_->commit();
  }

 private:
  std::string output_;
  std::optional<io::OutputFile> file_;
};

}  // namespace

std::unique_ptr<Sink> make_csv_folder_sink(const std::string& folder, const DocumentInfo&) {
  return std::make_unique<CsvFolderSink>(folder);
}

std::unique_ptr<Sink> make_csv_sink(const std::string& output, const DocumentInfo&) {
  return std::make_unique<CsvFileSink>(output);
}

}  // namespace tracelens
