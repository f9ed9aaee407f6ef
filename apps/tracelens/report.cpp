#include <fmt/format.h>

#include <filesystem>
#include <tracelens/report.hpp>
#include <tracelens/version.hpp>

#include "flag_values.hpp"
#include "report/sinks/sink.hpp"
#include "verbs.hpp"

namespace tracelens::app {
namespace {

// runs/rank0.pt.trace.json.gz -> rank0.pt.trace
std::string stem_of(const std::string& trace_name) {
  std::filesystem::path name = std::filesystem::path{trace_name}.filename();
  for (const auto extension : {".gz", ".zip", ".zst", ".json", ".pb", ".xplane"})
    if (name.extension() == extension) name = name.stem();
  return name.empty() || trace_name == "standard input" ? "trace" : name.string();
}

// A line for what a table says, and one for where it is found and what it takes.
std::string list_text(const Table& list) {
  const auto cell = [&list](const char* column, std::size_t row) -> const std::string& {
    return list.column(column).texts()[row];
  };
  std::string text;
  for (std::size_t row = 0; row < list.rows(); ++row) {
    text += fmt::format("{:<36} {}\n{:36} {}: {}", cell("table", row), cell("description", row), "",
                        cell("traces", row), cell("made", row));
    if (!cell("needs", row).empty()) text += fmt::format("; needs {}", cell("needs", row));
    text += '\n';
  }
  return text;
}

class ReportVerb : public Verb {
 public:
  void declare(CLI::App& verb) override {
    input_.declare(verb);
    verb.add_option(
        "-o,--output", output_,
        "Where to write: a file (.xlsx, .html, .md, .json) or a folder for CSV files (out/); "
        "by default <trace>_report.xlsx in the current folder");
    verb.add_option(
        "--gpu", options_.gpu,
        "GPU whose peaks the roofline columns use, e.g. MI300X; by default the trace's");
    verb.add_option("--gpu-arch", options_.gpu_file, "The same from a JSON file")
        ->check(CLI::ExistingFile);
    verb.add_option("--models", options_.models_file,
                    "Your own op models, see docs/how-to/own-models.md");
    verb.add_option("--kernel-rules", options_.kernel_rules_file,
                    "Your own kernel-name rules, asked before the built-in ones");
    verb.add_option(
            "--categories", categories_,
            "Op categories and models: extended (all that are known) or reference (those of "
            "the Python TraceLens)")
        ->check(CLI::IsMember({"extended", "reference"}))
        ->capture_default_str();
    for (const TableFlag& flag : table_flags())
      verb.add_flag_callback(
          fmt::format("--{}", flag.group),
          [this, &flag] { options_.also.emplace_back(flag.group); }, std::string{flag.help});
    verb.add_option("--tables", options_.tables, "Only these tables, by name: a,b,c")
        ->delimiter(',');
    verb.add_flag("--list-tables", list_tables_, "Show the names of all tables, and read nothing");
    verb.add_flag("--call-stack", options_.call_stack,
                  "Call stacks in unified_perf_summary (needs Python stacks in the trace)");
    verb.add_flag("--group-by-kernel-count", options_.group_by_kernel_count,
                  "Calls that launched another number of kernels in rows of their own");
    verb.add_flag("--first-occurrence", options_.first_occurrence,
                  "When each row of ops_unique_args was first called");
    verb.add_option("--top-ops", options_.top_ops,
                    "Rows of ops_unique_args and of each family's sheet; all by default")
        ->check(count_from(1));
    verb.add_flag("--include-unlinked", options_.include_unlinked,
                  "Also count GPU events whose launch is not in the trace");
    verb.add_flag("--link-by-correlation", options_.link_by_correlation,
                  "Link GPU events to calls that share their correlation id, flow or not");
    verb.add_option("--micro-idle", options_.micro_idle_us,
                    "Split idle time into gaps below and above this many microseconds")
        ->check(count_from(0));
    verb.add_flag("--recompute", options_.recompute,
                  "Tell recomputed activations apart (needs Python stacks in the trace)");
    verb.add_option("--views", options_.views,
                    "Parts of the report of a ROCm trace: activity, api, memcpy; all by default")
        ->delimiter(',')
        ->check(CLI::IsMember({"activity", "api", "memcpy"}));
    verb.add_option("--short-kernel-us", options_.short_kernel_us,
                    "Kernels below this many microseconds are short")
        ->check(number_above(0))
        ->capture_default_str();
    verb.add_option("--histogram-bins", options_.histogram_bins,
                    "Bins of the short-kernel histogram")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    verb.add_option("--top-short-kernels", options_.top_short_kernels,
                    "Rows of the short-kernel table; all by default")
        ->check(count_from(1));
    verb.footer(
        "Examples:\n"
        "  tracelens report trace.json.gz                   summary here, all tables in "
        "trace_report.xlsx\n"
        "  tracelens report trace.json.gz -o tables/        one CSV file per table\n"
        "  tracelens report trace.json.gz -o report.md      for a pull request or an issue\n"
        "  zcat trace.json.gz | tracelens report - -o r.json --quiet");
  }

  int run(Console& console) override {
    if (list_tables_) {
      const Table list = table_list();
      if (output_.empty())
        console.print(list_text(list));
      else
        write_tables({&list, 1}, output_, {.title = "Tables of a report", .version = kVersion});
      return kExitOk;
    }
    input_.check_output(output_);
    if (!output_.empty()) check_sink(output_);
    check_options(options_);
    const Trace trace = input_.read(console);
    options_.threads = input_.threads();
    if (categories_ == "reference") options_.edition = Edition::kReference;
    const Report report = make_report(trace, options_);
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    const std::string output =
        output_.empty() ? stem_of(trace.source().name) + "_report.xlsx" : output_;
    write_report(report, output);
    for (const auto [name, rows] : first_tables(report)) console.show(*report.find(name), rows);
    console.note(fmt::format("wrote {} tables to {}", report.tables.size(), output));
    return kExitOk;
  }

 private:
  TraceInput input_;
  std::string output_, categories_ = "extended";
  bool list_tables_ = false;
  ReportOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_report_verb() { return std::make_unique<ReportVerb>(); }

}  // namespace tracelens::app
