#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/query.hpp>
#include <tracelens/report.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/table_text.hpp>
#include <tracelens/version.hpp>

#include "page_flags.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

// runs/rank0.pt.trace.json.gz -> rank0.pt.trace
std::string stem_of(const std::string& trace_name) {
  std::filesystem::path name = std::filesystem::path{trace_name}.filename();
  for (const auto extension :
       {".gz", ".zip", ".zst", ".json", ".pb", ".xplane", ".db", ".rpd", ".sqlite"})
    if (name.extension() == extension) name = name.stem();
  return name.empty() || trace_name == kStandardInput ? "trace" : name.string();
}

// A line for what a table says, and one for where it is found and what it takes: beside its name, or
// where the terminal has no room for that, below it.
std::string list_text(const Table& list, std::size_t width) {
  constexpr std::size_t kNames = 37, kRoom = 40;  // columns
  const bool is_narrow = width != 0 && width < kNames + kRoom;
  const std::size_t indent = is_narrow ? 2 : kNames;
  const auto cell = [&list](const char* column, std::size_t row) -> const std::string& {
    return list.column(column).texts()[row];
  };
  std::string text;
  for (std::size_t row = 0; row < list.rows(); ++row) {
    text += is_narrow ? fmt::format("{}\n  ", cell("table", row))
                      : fmt::format("{:<36} ", cell("table", row));
    text += fmt::format("{}\n{:{}}{}: {}", cell("description", row), "", indent,
                        cell("traces", row), cell("made", row));
    if (!cell("needs", row).empty()) text += fmt::format("; needs {}", cell("needs", row));
    text += '\n';
  }
  return wrapped_text(text, width, indent);
}

}  // namespace

class ReportVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    flags.add(
        "-o,--output", output_,
        "Where to write: a file (.xlsx, .html, .md, .json, .db) or a folder for CSV files (out/); "
        "by default <trace>_report.xlsx in the current folder");
    add_csv_raw(flags, csv_raw_);
    flags.add("--tables-only", tables_only_, "Into a .db file the tables alone, without events");
    page_.declare(flags);
    page_.declare_redact(flags);
    flags.add("--gpu", options_.gpu,
              "GPU whose peaks the roofline columns use, e.g. MI300X; by default the trace's");
    flags.add("--gpu-arch", options_.gpu_file, "The same from a JSON file").check(existing_file());
    input_.declare_ops(flags);
    flags.add("--models", options_.models_file,
              "Your own op models, see docs/how-to/own-models.md");
    flags.add("--kernel-rules", options_.kernel_rules_file,
              "Your own kernel-name rules, asked before the built-in ones");
    flags
        .add("--categories", categories_,
             "Op categories and models: extended (all that are known) or reference (those of "
             "the Python TraceLens)")
        .check(one_of({"extended", "reference"}))
        .show_default();
    for (const TableFlag& flag : table_flags())
      flags.add_action(
          fmt::format("--{}", flag.group),
          [this, &flag] { options_.also.emplace_back(flag.group); }, std::string{flag.help});
    flags.add("--tables", options_.tables, "Only these tables, by name: a,b,c")
        .repeatable()
        .separated_by(',');
    flags.add("--list-tables", list_tables_, "Show the names of all tables, and read nothing");
    flags.add("--by-process", options_.by_process,
              "Databases of several processes: every table by process");
    flags.add("--strict", strict_, "End with status 2 when part of the trace could not be read");
    flags.add("--phases", phases_,
              "Also show prefill, mixed and decode of a serving run side by side");
    flags.add(
        "--memory-timeline", options_.memory_timeline_file,
        "The raw memory timeline the profiler wrote of the run: the tables of memory are made "
        "of it");
    flags.add("--sequences-of", options_.sequences_of,
              "In table kernel_sequences only ops and modules with this in their name");
    flags.add("--hta-sequences", options_.sequences_as_hta,
              "Table kernel_sequences as Holistic Trace Analysis counts, see docs/differences.md");
    flags.add("--call-stack", options_.call_stack,
              "Call stacks in unified_perf_summary (needs Python stacks in the trace)");
    flags.add("--group-by-kernel-count", options_.group_by_kernel_count,
              "Calls that launched another number of kernels in rows of their own");
    flags.add("--first-occurrence", options_.first_occurrence,
              "When each row of ops_unique_args was first called");
    flags
        .add("--top-ops", options_.top_ops,
             "Rows of ops_unique_args and of each family's sheet; all by default")
        .check(count_from(1));
    flags.add("--include-unlinked", options_.include_unlinked,
              "Also count GPU events whose launch is not in the trace");
    flags.add("--link-by-correlation", options_.link_by_correlation,
              "Link GPU events to calls that share their correlation id, flow or not");
    flags
        .add("--micro-idle", options_.micro_idle_us,
             "Split idle time into gaps below and above this many microseconds")
        .check(count_from(0));
    flags.add("--recompute", options_.recompute,
              "Tell recomputed activations apart (needs Python stacks in the trace)");
    flags
        .add("--views", options_.views,
             "Parts of the report of a ROCm trace: activity, api, memcpy; all by default")
        .separated_by(',')
        .check(one_of({"activity", "api", "memcpy"}));
    flags
        .add("--short-kernel-us", options_.short_kernel_us,
             "Kernels below this many microseconds are short")
        .check(number_above(0))
        .show_default();
    flags.add("--histogram-bins", options_.histogram_bins, "Bins of the short-kernel histogram")
        .check(between(1, 100'000))
        .show_default();
    flags
        .add("--top-short-kernels", options_.top_short_kernels,
             "Rows of the short-kernel table; all by default")
        .check(count_from(1));
    flags.footer(
        "Examples:\n"
        "  tracelens report trace.json.gz                   summary here, all tables in "
        "trace_report.xlsx\n"
        "  tracelens report trace.json.gz -o tables/        one CSV file per table\n"
        "  tracelens report trace.json.gz -o report.html    a page to look at, in one file\n"
        "  tracelens report trace.json.gz -o report.md      for a pull request or an issue\n"
        "  tracelens report trace.json.gz -o report.db      for SQL: tables and events\n"
        "  tracelens report rank0.db rank1.db --by-process   the databases of a job\n"
        "  tracelens report serve.json.gz --capture captures/   ops inside graph launches\n"
        "  zcat trace.json.gz | tracelens report - -o r.json --quiet");
  }

  int run(Console& console) override {
    if (list_tables_) {
      const Table list = table_list();
      if (output_.empty())
        console.print(list_text(list, console.style().width));
      else
        write_tables({&list, 1}, output_,
                     {.title = "Tables of a report", .version = kVersion, .csv_raw = csv_raw_});
      return kExitOk;
    }
    std::vector<std::string> inputs = input_.paths();
    for (const std::string& file : {options_.gpu_file, options_.models_file,
                                    options_.kernel_rules_file, options_.memory_timeline_file})
      inputs.push_back(file);
    refuse_overwriting({output_}, inputs, {input_.captures()});
    if (!output_.empty() && options_.tables.size() == 1) check_sink(output_);
    if (!output_.empty() && options_.tables.size() != 1)
      check_sink_for_several(output_, "choose it with --tables NAME");
    check_options(options_);
    options_.page = page_.options(output_);
    const bool is_workbook = output_.empty() || output_.ends_with(".xlsx");
    if (is_workbook && options_.tables.empty()) options_.most_rows = SheetLimits{}.rows;
    Trace trace = page_.shown(input_.read(console));
    const bool is_incomplete =
        trace.source().cut_short ||
        std::ranges::find(trace.phases(), Phase::kDamaged) != trace.phases().end();
    options_.threads = input_.threads();
    GraphStitching stitching;
    if (!input_.captures().empty()) {
      StitchedTrace stitched =
          stitch_graphs(std::move(trace), input_.captures(),
                        {.threads = options_.threads, .python_frames = uses_frames()});
      trace = std::move(stitched.trace);
      stitching = std::move(stitched.stitching);
      options_.stitching = &stitching;
    }
    if (categories_ == "reference") options_.edition = Edition::kReference;
    if (options_.edition == Edition::kExtended)
      trace = input_.pseudo_ops().put_into(std::move(trace));
    // Its cells go with the program: to free them one by one takes a millisecond of bench/run's report.
    static Report* kept = nullptr;
    Report& report = *(kept = new Report{make_report(trace, options_)});
    report.csv_raw = csv_raw_;
    page_.set_title(report.title);
    if (!options_.tables.empty() && report.tables.empty())
      throw Error{trace.source().name, fmt::format("gives none of the tables asked for: {}",
                                                   fmt::join(report.warnings, ". "))};
    const std::string output =
        output_.empty() ? stem_of(trace.source().name) + "_report.xlsx" : output_;
    refuse_overwriting({output}, inputs, {input_.captures()});  // the default one
    if (output.ends_with(".xlsx")) leave_out_what_excel_cannot_hold(report);
    for (const std::string& sentence : report.warnings) console.warn(sentence);
    std::future<void> cleared;
    if (output.ends_with(".db") && !tables_only_) {
      write_database(report, std::make_shared<const Trace>(std::move(trace)), options_, output);
    } else {
      // To give gigabytes back takes a while: beside the writing.
      if (options_.threads != 1)
        cleared = std::async(std::launch::async | std::launch::deferred,
                             [trace = std::move(trace)]() mutable { trace = {}; });
      write_report(report, output);
    }
    console.show(report, options_.tables.empty() ? "report" : "");
    if (phases_) show_phases(report, console);
    console.note_written(report, output);
    if (strict_ && is_incomplete) {
      console.warn("part of the trace could not be read, see above (--strict)");
      return kExitBadInput;
    }
    return kExitOk;
  }

 private:
  // The tables of serving runs that are shown first anyway where all are.
  void show_phases(const Report& report, const Console& console) const {
    constexpr std::string_view kTables[] = {"serving_phases", "serving_ops_by_phase",
                                            "context_growth"};
    if (report.find(kTables[0]) == nullptr)
      console.warn("the trace has no steps of a serving engine: no phases");
    if (console.verbose || !options_.tables.empty()) return;
    for (const std::string_view name : kTables)
      if (const Table* const table = report.find(name); table != nullptr) {
        const Excerpt excerpt = excerpt_of(*table);
        console.show(*table, excerpt.rows, excerpt.columns);
      }
  }

  // Most reports do without the Python frames of captures, which are most of them.
  [[nodiscard]] bool uses_frames() const {
    return options_.call_stack || options_.recompute || !options_.also.empty() ||
           !options_.tables.empty();
  }

  TraceInput input_;
  PageFlags page_;
  std::string output_, categories_ = "extended";
  bool list_tables_ = false, phases_ = false, csv_raw_ = false, tables_only_ = false,
       strict_ = false;
  ReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<ReportVerb>();

}  // namespace tracelens::app
