// sinks.hpp: the makers of all sinks, for the table in sink.cpp. Others use make_sink().
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/output_file.hpp"
#include "report/sinks/folder_manifest.hpp"
#include "report/sinks/sink.hpp"

namespace tracelens {

enum class CsvTexts : bool { kGuarded, kAsTheyAre };  // see table/formula_text.hpp
// A table as CSV; returns what the file then holds.
ContentHash write_csv(const Table& table, io::OutputFile& file, CsvTexts texts);

// <table>.csv for each table in `folder`, which is made if need be. Tables that an earlier run wrote
// there go, other files stay.
std::unique_ptr<Sink> make_csv_folder_sink(const std::string& folder, const DocumentInfo& info);
// A single CSV file; takes exactly one table.
std::unique_ptr<Sink> make_csv_sink(const std::string& output, const DocumentInfo& info);
[[nodiscard]] std::string one_table_only(const std::string& output,
                                         std::string_view choose_one = {});
// One workbook with one sheet per table, after a cover sheet where there is an overview.
std::unique_ptr<Sink> make_xlsx_sink(const std::string& output, const DocumentInfo& info);
// One GitHub-flavoured Markdown file, shortened to fit into a comment.
std::unique_ptr<Sink> make_markdown_sink(const std::string& output, const DocumentInfo& info);
// One self-contained page whose tables can be sorted and searched.
std::unique_ptr<Sink> make_html_sink(const std::string& output, const DocumentInfo& info);
// One JSON document, see json_sink.cpp for its schema.
std::unique_ptr<Sink> make_json_sink(const std::string& output, const DocumentInfo& info);
// One SQLite file with a table for each, under plain names.
std::unique_ptr<Sink> make_database_sink(const std::string& output, const DocumentInfo& info);

}  // namespace tracelens
