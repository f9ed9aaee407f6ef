// sink.cpp: every kind of document TraceLens writes, and the choice between them.
#include "report/sink.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tracelens/error.hpp>

#include "io/ascii.hpp"
#include "report/sinks.hpp"

namespace tracelens {
namespace {

constexpr SinkKind kSinks[] = {
    {".xlsx", make_xlsx_sink},
    {".csv", make_csv_sink},
    {".md", make_markdown_sink},
    {".json", make_json_sink},
};

bool is_folder(const std::string& output) {
  std::error_code ignored;
  return output.ends_with('/') || std::filesystem::is_directory(output, ignored);
}

std::string lower_extension(const std::string& output) {
  return io::lower_case(std::filesystem::path{output}.extension().string());
}

std::string known_extensions() {
  std::string names;
  for (const SinkKind& kind : kSinks) names.append(kind.extension).append(", ");
  return names;
}

}  // namespace

std::span<const SinkKind> sink_kinds() { return kSinks; }

std::unique_ptr<Sink> make_sink(const std::string& output, const DocumentInfo& info) {
  if (is_folder(output)) return make_csv_folder_sink(output, info);
  const std::string extension = lower_extension(output);
  for (const SinkKind& kind : kSinks)
    if (kind.extension == extension) return kind.make(output, info);
  throw Error{output, "unknown kind of output; expected a name ending in " + known_extensions() +
                          "or a folder for CSV files (ending in /)"};
}

void write_tables(std::span<const Table> tables, const std::string& output,
                  const DocumentInfo& info) {
  const std::unique_ptr<Sink> sink = make_sink(output, info);
  for (const Table& table : tables) sink->write(table);
  sink->finish();
}

}  // namespace tracelens
