// script_output.hpp: what the scripts for ROCm traces share: where the tables go.
//   files_.declare(flags);
//   files_.write(tables, trace_base(path) + "_report.xlsx", console);
#pragma once

#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

#include "console.hpp"
#include "flags.hpp"

namespace tracelens::app {

// The path without its last suffix, or without .json.gz: what default output names begin with.
[[nodiscard]] std::string trace_base(const std::string& path);

class ScriptOutput {
 public:
  void declare(Flags& flags);  // --output_xlsx_path, --output_csvs_dir
  // Throws Error when the workbook would not be one, or replaces the trace. Call it first.
  void check(const std::string& trace, const std::string& default_workbook) const;
  // A folder of CSV files when one was named, else a workbook.
  void write(std::span<const Table> tables, const std::string& default_workbook,
             const Console& console) const;

 private:
  [[nodiscard]] const std::string& workbook(const std::string& default_workbook) const {
    return workbook_.empty() ? default_workbook : workbook_;
  }
  std::string workbook_, folder_;
};

// A warning when the profile has more than the one process that the scripts are about.
void warn_of_more_processes(const Trace& trace, const Console& console);

// `text` as a file, written beside and renamed.
void write_text_file(const std::string& path, std::string_view text, const Console& console);

}  // namespace tracelens::app
