#include "scripts/script_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/rocm.hpp>
#include <tracelens/sinks.hpp>

#include "verb.hpp"

namespace tracelens::app {

std::string trace_base(const std::string& path) {
  constexpr std::string_view kPacked = ".json.gz";
  if (path.ends_with(kPacked)) return path.substr(0, path.size() - kPacked.size());
  return std::filesystem::path{path}.replace_extension().string();
}

std::string beside_or_here(const std::string& path, const Console& console) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
  // Of a folder that is not there the trace has more to say.
  if (!std::filesystem::is_directory(folder, error) || can_write(path)) return path;
  std::string here = std::filesystem::path{path}.filename().string();
  console.warn(
      fmt::format("{}: cannot be written; writing {} in the current folder instead", path, here));
  return here;
}

std::string as_folder(std::string path) {
  if (!path.ends_with('/')) path += '/';
  return path;
}

void check_workbook_name(const std::string& path) {
  if (!path.ends_with(".xlsx")) throw Error{path, "expected a name that ends in .xlsx"};
}

void ScriptOutput::declare(Flags& flags, const std::string& folder_help) {
  flags.add("--output_xlsx_path", workbook_, "Workbook to write");
  flags.add("--output_csvs_dir", folder_, folder_help);
}

std::string ScriptOutput::workbook(const std::string& by_default) const {
  if (!folder_.empty() && folder_is_ == Folder::kInstead) return {};
  std::string path = workbook_.empty() && folder_.empty() ? by_default : workbook_;
  if (!path.empty()) check_workbook_name(path);
  return path;
}

std::string ScriptOutput::default_workbook(const std::string& beside_trace,
                                           const Console& console) const {
  const bool is_named = !workbook_.empty() || !folder_.empty();
  return is_named ? beside_trace : beside_or_here(beside_trace, console);
}

void ScriptOutput::check(const std::vector<std::string>& inputs,
                         const std::string& default_workbook) const {
  refuse_overwriting({workbook(default_workbook), folder_}, inputs);
}

template <class Write>
void ScriptOutput::write_both(std::span<const Table> tables, const std::string& default_workbook,
                              const Console& console, const Write& write_to) const {
  if (!folder_.empty()) {
    const std::string folder = as_folder(folder_);
    write_to(folder);
    for (const Table& table : tables)
      console.print(fmt::format("DataFrame '{0}' written to {1}{0}.csv\n", table.name(), folder));
  }
  if (const std::string path = workbook(default_workbook); !path.empty()) {
    write_to(path);
    console.print(fmt::format("DataFrames successfully written to {}\n", path));
  }
}

void ScriptOutput::write(std::span<const Table> tables, const std::string& default_workbook,
                         const Console& console) const {
  write_both(tables, default_workbook, console, [&](const std::string& output) {
    write_tables(tables, output, {.edition = Edition::kReference});
  });
}

void ScriptOutput::write(const Report& report, const std::string& default_workbook,
                         const Console& console) const {
  write_both(report.tables, default_workbook, console,
             [&](const std::string& output) { write_report(report, output); });
}

void warn_of_more_processes(const Trace& trace, const Console& console) {
  if (const std::size_t processes = process_count(trace); processes > 1)
    console.warn(
        fmt::format("{}: the tables are about the first of {} processes, as in the Python "
                    "TraceLens; tracelens report is about all",
                    trace.source().name, processes));
}

void write_text_file(const std::string& path, std::string_view text, const Console& console) {
  tracelens::write_text_file(path, text);
  console.print(fmt::format("Written to {}\n", path));
}

}  // namespace tracelens::app
