// sink.cpp: every kind of document TraceLens writes, and the choice between them.
#include "report/sinks/sink.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <tracelens/error.hpp>

#include "io/ascii.hpp"
#include "report/sinks/sinks.hpp"

namespace tracelens {
namespace {

constexpr SinkKind kSinks[] = {
    {".xlsx", make_xlsx_sink},   {".csv", make_csv_sink},   {".html", make_html_sink},
    {".md", make_markdown_sink}, {".json", make_json_sink}, {".db", make_database_sink},
};

bool is_folder(const std::string& output) {
  std::error_code ignored;
  return output.ends_with('/') || std::filesystem::is_directory(output, ignored);
}

std::string lower_extension(const std::string& output) {
  return io::lower_case(std::filesystem::path{output}.extension().string());
}

const SinkKind& kind_of(const std::string& output, std::string_view also = {}) {
  const auto* const kind = std::ranges::find(kSinks, lower_extension(output), &SinkKind::extension);
  if (kind != std::end(kSinks)) return *kind;
  std::string known;
  if (!also.empty()) known.append(also).append(", ");
  for (const SinkKind& each : kSinks) known.append(each.extension).append(", ");
  throw Error{output, "unknown kind of output; expected a name ending in " + known +
                          "or a folder for CSV files (ending in /)"};
}

}  // namespace

std::span<const SinkKind> sink_kinds() { return kSinks; }

std::unique_ptr<Sink> make_sink(const std::string& output, const DocumentInfo& info) {
  if (is_folder(output)) return make_csv_folder_sink(output, info);
  return kind_of(output).make(output, info);
}

void check_sink(const std::string& output, std::string_view also) {
  if (is_folder(output)) return;
  (void)kind_of(output, also);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path{output}.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    throw Error{output, "cannot be created: there is no folder " + folder.string()};
}

void check_sink_for_several(const std::string& output, std::string_view choose_one) {
  check_sink(output);
  if (!is_folder(output) && kind_of(output).make == make_csv_sink)
    throw Error{output, one_table_only(output, choose_one)};
}

void write_tables(std::span<const Table> tables, const std::string& output,
                  const DocumentInfo& info) {
  const std::unique_ptr<Sink> sink = make_sink(output, info);
  for (const Table& table : tables) sink->write(table);
  sink->finish();
}

}  // namespace tracelens
