#include <fmt/format.h>

#include <algorithm>
#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <vector>

#include "report/sink.hpp"
#include "verbs.hpp"

namespace tracelens::app {
namespace {

// What the terminal shows: the sheets a person reads first, and of each the keys and differences.
constexpr std::pair<std::string_view, std::size_t> kShown[] = {
    {"gpu_timeline", 20},     {"ops_summary_by_category", 12},
    {"ops_summary", 15},      {"hlo_ops_by_kind", 12},
    {"hlo_ops", 15},          {"kernel_summary_by_category", 12},
    {"category_summary", 12}, {"kernel_summary", 12},
};

// Keys, differences and percentages; the values themselves are in the written document.
Table without_values(const Table& table) {
  std::vector<ColumnSpec> specs;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const ColumnSpec& spec = table.columns()[i].spec();
    if (spec.name.find("::") != std::string::npos) continue;
    specs.push_back(spec);
    kept.push_back(i);
  }
  Table shown{table.name(), table.description(), specs};
  std::vector<Cell> row(kept.size());
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t i = 0; i < kept.size(); ++i) row[i] = table.cell(r, kept[i]);
    shown.append(row);
  }
  return shown;
}

class CompareVerb : public Verb {
 public:
  void declare(CLI::App& verb) override {
    verb.add_option("inputs", inputs_,
                    "Two or more traces of any format, workbooks (.xlsx) or folders of CSV files; "
                    "the first is the baseline")
        ->required()
        ->expected(2, -1);
    verb.add_option("-o,--output", output_,
                    "Where to write: a file (.xlsx, .md, .json) or a folder for CSV files (out/)");
    verb.add_option(
            "--names", options_.names,
            "How the inputs are called in the columns, one each; by default their file names")
        ->expected(1, -1);
    verb.add_option(
            "--sheets", options_.sheets,
            "What to compare: gpu_timeline, ops_summary, kernel_summary, ops_all, roofline, "
            "all")
        ->expected(1, -1)
        ->capture_default_str();
    verb.add_option("--fail-if", options_.gates,
                    "Gate, may be given several times: 'total_time > 5%', 'op:aten::mm > 0.2ms', "
                    "'category:GEMM > 3% min 1ms', 'kernel:* > 10%', 'sheet:hlo_ops/dot.3 > 5%'")
        ->allow_extra_args(false);
    verb.add_option("--gate-results", gate_results_,
                    "Also write the outcome of the gates: JUnit XML, or JSON for a name in .json");
    verb.footer(
        "Exit status 1 when a gate fails.\n"
        "Examples:\n"
        "  tracelens compare base.json.gz new.json.gz -o cmp.xlsx\n"
        "  tracelens compare base.xlsx new.xlsx --names baseline candidate --sheets gpu_timeline "
        "ops_summary\n"
        "  tracelens compare base/ new/ --fail-if 'total_time > 5%' --gate-results gates.xml");
  }

  int run(Console& console) override {
    if (!output_.empty()) check_sink(output_);
    for (const std::string& input : inputs_) refuse_same_file(input, output_);
    if (!gate_results_.empty() && options_.gates.empty())
      throw Error{"--gate-results", "there is no --fail-if whose outcome it could tell"};
    options_.read = [&console](const std::string& path) {
      return read_with_warnings(path, console);
    };
    const Comparison comparison = compare_reports(inputs_, options_);
    for (const std::string& sentence : comparison.report.warnings) console.warn(sentence);
    if (!output_.empty()) {
      write_comparison(comparison, output_);
      console.note(fmt::format("wrote {}", output_));
    }
    for (const auto& [name, rows] : kShown)
      if (const Table* const table = comparison.report.find(name))
        console.show(without_values(*table), rows);
    return tell_gates(comparison, console);
  }

 private:
  int tell_gates(const Comparison& comparison, Console& console) const {
    if (!gate_results_.empty()) write_gates(comparison, gate_results_);
    for (const GateOutcome& gate : comparison.gates) {
      if (gate.passed) {
        console.note(fmt::format("ok: {} ({})", gate.gate, gate.summary));
        continue;
      }
      console.error(fmt::format("gate failed: {}", gate.gate));
      for (const std::string& sentence : gate.evidence) console.error("  " + sentence);
    }
    return comparison.passed() ? kExitOk : kExitCheckFailed;
  }

  std::vector<std::string> inputs_;
  std::string output_, gate_results_;
  CompareOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_compare_verb() { return std::make_unique<CompareVerb>(); }

}  // namespace tracelens::app
