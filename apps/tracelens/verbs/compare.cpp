#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <tracelens/sinks.hpp>
#include <vector>

#include "page_flags.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

constexpr std::size_t kShownRows = 12;

// The name, by how much it changed, then the times themselves.
std::vector<std::string_view> changes_first(const Table& table) {
  std::vector<std::string_view> names, others;
  for (const Table::Column& column : table.columns())
    (names.empty() || is_change(column.spec()) ? names : others).push_back(column.spec().name);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace

class CompareVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("inputs", inputs_,
              "Two or more traces of any format, workbooks (.xlsx) or folders of CSV files; "
              "the first is the baseline");
    flags.add("-o,--output", output_,
              "Where to write: a file (.xlsx, .html, .md, .json) or a folder for CSV files (out/)");
    add_csv_raw(flags, csv_raw_);
    flags
        .add("--names", options_.names,
             "How the inputs are called in the columns, one each; by default their file names. "
             "What follows the last name is an input")
        .takes(1, Flag::kAnyNumber);
    flags
        .add("--sheets", options_.sheets,
             "What to compare: gpu_timeline, serving, ops_summary, kernel_summary, ops_all, "
             "roofline, all. Files and folders after them are inputs")
        .takes(1, Flag::kAnyNumber)
        .show_default();
    flags
        .add("--fail-if", options_.gates,
             "Gate, may be given several times: 'total_time > 5%', 'op:aten::mm > 0.2ms', "
             "'category:GEMM > 3% min 1ms', 'kernel:* > 10%', 'sheet:hlo_ops/dot.3 > 5%'")
        .repeatable();
    flags.add("--gate-results", gate_results_,
              "Also write the outcome of the gates: JUnit XML, or JSON for a name in .json");
    page_.declare(flags);
    captures_.declare(flags);
    pseudo_ops_.declare(flags);
    flags.footer(
        "The total comes first, then what explains it; -v also shows the kernels. A replaced op is "
        "one\n"
        "change: by the call trees of two traces, by category in reports. Exit status 1 when a gate "
        "fails.\n"
        "Examples:\n"
        "  tracelens compare base.json.gz new.json.gz -o cmp.xlsx\n"
        "  tracelens compare base.xlsx new.xlsx --names baseline candidate --sheets gpu_timeline "
        "ops_summary\n"
        "  tracelens compare base/ new/ --fail-if 'total_time > 5%' --gate-results gates.xml");
  }

  int run(Console& console) override {
    part_sheets_from_inputs();
    part_names_from_inputs();
    if (!output_.empty()) check_sink(output_);
    options_.report.page = page_.options(output_);
    captures_.check(inputs_.size());
    refuse_overwriting({output_, gate_results_}, inputs_, captures_.all());
    if (!gate_results_.empty() && options_.gates.empty())
      throw Error{"--gate-results", "there is no --fail-if whose outcome it could tell"};
    // Traces are read in the order of the inputs, of which two may be the same.
    auto next = inputs_.cbegin();
    options_.read = [&](const std::string& path) {
      next = std::find(next, inputs_.cend(), path);
      const auto which = static_cast<std::size_t>(next - inputs_.cbegin());
      if (next != inputs_.cend()) ++next;
      return pseudo_ops_.put_into(stitched(read_with_warnings(path, console), captures_.of(which),
                                           {.python_frames = false}, console));
    };
    Comparison comparison = compare_reports(inputs_, options_);
    comparison.report.csv_raw = csv_raw_;
    page_.set_title(comparison.report.title);
    // Before anything is printed: whoever reads it may go away.
    if (!output_.empty()) write_comparison(comparison, output_);
    if (!gate_results_.empty()) write_gates(comparison, gate_results_);
    if (!console.quiet && !comparison.conclusion.empty())
      console.print(wrapped_text(comparison.conclusion + "\n", console.style().width));
    // Kernels are many, and tell little that the ops do not: only when asked for.
    const bool with_kernels = console.verbose || comparison.key_tables.size() == 1 ||
                              options_.sheets != CompareOptions{}.sheets;
    for (const Table& table : comparison.key_tables)
      if (with_kernels || table.name() != "kernel_summary")
        console.show(table, kShownRows, changes_first(table));
    for (const std::string& sentence : comparison.report.warnings) console.warn(sentence);
    if (!output_.empty()) console.note(fmt::format("wrote {}", output_));
    return console.tell_gates(comparison.gates) ? kExitOk : kExitCheckFailed;
  }

 private:
  // --sheets takes all that follows it: what is no group but there to be read is an input.
  void part_sheets_from_inputs() {
    const auto is_input = [](const std::string& word) {
      std::error_code error;
      return std::ranges::find(compare_groups(), word) == compare_groups().end() &&
             std::filesystem::exists(word, error);
    };
    std::vector<std::string>& words = options_.sheets;
    const auto first_input =
        std::stable_partition(words.begin(), words.end(), std::not_fn(is_input));
    if (first_input == words.end()) return;
    if (!inputs_.empty())  // the order, and with it the baseline, is lost
      throw Error{*first_input, "this input follows --sheets, others do not: put all in one place"};
    inputs_.assign(first_input, words.end());
    words.erase(first_input, words.end());
    if (options_.sheets.empty()) options_.sheets = CompareOptions{}.sheets;
  }

  // --names takes all that follows it: with as many names as inputs, the second half are inputs.
  void part_names_from_inputs() {
    const std::size_t all = options_.names.size() + inputs_.size(), each = all / 2;
    if (all % 2 != 0 || options_.names.size() <= each) return;
    const auto first_input = options_.names.begin() + static_cast<std::ptrdiff_t>(each);
    inputs_.insert(inputs_.end(), first_input, options_.names.end());
    options_.names.erase(first_input, options_.names.end());
  }

  std::vector<std::string> inputs_;
  std::string output_, gate_results_;
  PageFlags page_;
  CaptureFolders captures_;
  PseudoOps pseudo_ops_;
  bool csv_raw_ = false;
  CompareOptions options_;
};

template std::unique_ptr<Verb> make_verb<CompareVerb>();

}  // namespace tracelens::app
