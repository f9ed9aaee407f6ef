// TraceLens_compare_perf_reports_pytorch: its flags as our options.
#include <fmt/format.h>

#include <tracelens/compare.hpp>

#include "scripts/script_output.hpp"
#include "verb.hpp"

namespace tracelens::app {

class CompareScript : public Verb {
 public:
  void declare(Flags& flags) override {
    options_.edition = Edition::kReference;
    flags
        .add("reports", reports_,
             "Reports (.xlsx) or folders of CSV files; the first is the baseline")
        .required();
    flags.add("-o,--output", workbook_, "Workbook to write").show_default();
    flags.add("--output_csvs_dir", folder_, "Folder for one CSV file per sheet");
    flags.add("--names", options_.names, "One tag per report").takes(0, Flag::kAnyNumber);
    flags.add("--sheets", options_.sheets, "Groups of sheets to compare")
        .takes(1, Flag::kAnyNumber);
  }

  int run(Console& console) override {
    refuse_overwriting({workbook_, folder_}, reports_);
    const Comparison comparison = compare_reports(reports_, options_);
    for (const std::string& sentence : comparison.report.warnings) console.warn(sentence);
    if (!folder_.empty()) {
      write_comparison(comparison, as_folder(folder_));
      for (const Table& table : comparison.report.tables)
        console.print(fmt::format("Wrote '{}.csv' with {} rows × {} columns\n", table.name(),
                                  table.rows(), table.columns().size()));
    }
    check_workbook_name(workbook_);
    write_comparison(comparison, workbook_);
    for (const Table& table : comparison.report.tables) {
      if (table.rows() == 0)
        console.print(fmt::format("Sheet '{}' is empty (no matching rows)\n", table.name()));
      console.print(fmt::format("Wrote sheet '{}' with {} rows × {} columns\n", table.name(),
                                table.rows(), table.columns().size()));
    }
    return kExitOk;
  }

 private:
  std::vector<std::string> reports_;
  std::string workbook_ = "comparison.xlsx", folder_;
  CompareOptions options_;
};

template std::unique_ptr<Verb> make_verb<CompareScript>();

}  // namespace tracelens::app
