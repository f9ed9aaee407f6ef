// script_output.hpp: where the tables of a script go: a workbook, a folder of CSV files, or both.
//   ScriptOutput output_{ScriptOutput::Folder::kInstead};
//   output_.declare(flags, "Folder for one CSV file per sheet instead");
//   const std::string workbook = output_.default_workbook(trace_base(trace_) + ".xlsx", console);
//   output_.check({trace_}, workbook);                            // before anything is read
//   output_.write(tables, workbook, console);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "console.hpp"
#include "flags.hpp"

namespace tracelens::app {

// The path without its last suffix, or without .json.gz: what default output names begin with.
[[nodiscard]] std::string trace_base(const std::string& path);

class ScriptOutput {
 public:
  // A folder that was named takes the place of the workbook, or stands beside one that was named.
  enum class Folder { kInstead, kToo };
  explicit ScriptOutput(Folder folder) : folder_is_{folder} {}

  void declare(Flags& flags, const std::string& folder_help);  // --output_xlsx_path, ..._csvs_dir
  // The workbook to write; empty: none. Throws Error when it is named as if it were none.
  [[nodiscard]] std::string workbook(const std::string& by_default) const;
  // `beside_trace`, or where nothing can be written there the same name in the current folder.
  [[nodiscard]] std::string default_workbook(const std::string& beside_trace,
                                             const Console& console) const;
  // As named; empty: none.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Throws Error when the workbook would not be one, or an output replaces what is read.
  void check(const std::vector<std::string>& inputs, const std::string& default_workbook) const;

  // Writes the folder, then the workbook, and says so as the Python TraceLens does.
  void write(std::span<const Table> tables, const std::string& default_workbook,
             const Console& console) const;
  void write(const Report& report, const std::string& default_workbook,
             const Console& console) const;

 private:
  template <class Write>
  void write_both(std::span<const Table> tables, const std::string& default_workbook,
                  const Console& console, const Write& write_to) const;

  Folder folder_is_;
  std::string workbook_, folder_;
};

// A default output stands beside the trace, as the Python TraceLens has it. Where nothing can be
// written there (a shared or read-only folder) it is the file of the same name in the current one.
[[nodiscard]] std::string beside_or_here(const std::string& path, const Console& console);

// "out" as "out/": a sink takes a name that ends so for a folder.
[[nodiscard]] std::string as_folder(std::string path);

// Throws Error when it is no name of a workbook.
void check_workbook_name(const std::string& path);

// A warning when the profile has more than the one process that the scripts are about.
void warn_of_more_processes(const Trace& trace, const Console& console);

// `text` as a file, written beside and renamed.
void write_text_file(const std::string& path, std::string_view text, const Console& console);

}  // namespace tracelens::app
