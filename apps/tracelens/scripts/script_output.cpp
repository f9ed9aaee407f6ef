#include "scripts/script_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <tracelens/error.hpp>

#include "analysis/rocm/rocprof_processes.hpp"
#include "io/output_file.hpp"
#include "report/sinks/sink.hpp"
#include "verb.hpp"

namespace tracelens::app {

std::string trace_base(const std::string& path) {
  constexpr std::string_view kPacked = ".json.gz";
  if (path.ends_with(kPacked)) return path.substr(0, path.size() - kPacked.size());
  return std::filesystem::path{path}.replace_extension().string();
}

void ScriptOutput::declare(Flags& flags) {
  flags.add("--output_xlsx_path", workbook_, "Workbook to write");
  flags.add("--output_csvs_dir", folder_, "Folder for one CSV file per sheet instead");
}

void ScriptOutput::check(const std::string& trace, const std::string& default_workbook) const {
  if (!folder_.empty()) return;
  if (!workbook(default_workbook).ends_with(".xlsx"))
    throw Error{workbook(default_workbook), "expected a name that ends in .xlsx"};
  refuse_same_file(trace, workbook(default_workbook));
}

void ScriptOutput::write(std::span<const Table> tables, const std::string& default_workbook,
                         const Console& console) const {
  if (folder_.empty()) {
    write_tables(tables, workbook(default_workbook), {});
    console.print(
        fmt::format("DataFrames successfully written to {}\n", workbook(default_workbook)));
    return;
  }
  const std::string folder = folder_.ends_with('/') ? folder_ : folder_ + '/';
  write_tables(tables, folder, {});
  for (const Table& table : tables)
    console.print(fmt::format("DataFrame '{0}' written to {1}{0}.csv\n", table.name(), folder));
}

void warn_of_more_processes(const Trace& trace, const Console& console) {
  if (const std::size_t processes = profiled_processes(trace).size(); processes > 1)
    console.warn(
        fmt::format("{}: the tables are about the first of {} processes, as in the Python "
                    "TraceLens; tracelens report is about all",
                    trace.source().name, processes));
}

void write_text_file(const std::string& path, std::string_view text, const Console& console) {
  io::OutputFile file{path};
  file.write(text);
  file.commit();
  console.print(fmt::format("Written to {}\n", path));
}

}  // namespace tracelens::app
