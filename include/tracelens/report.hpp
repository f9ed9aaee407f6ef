// report.hpp: the performance report of one trace: which tables, in which order. In src/report.
//   const Report report = make_report(read_trace("rank0.json.gz"), {.micro_idle_us = 5});
//   write_report(report, "report.xlsx");       // or .html, .md, .json, or a folder for CSV files
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/model.hpp>
#include <tracelens/overview.hpp>
#include <tracelens/page.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

// Tables of one's own in a report.
struct MoreTables {
  // Called once per report, with the tree that build_tree(trace) gives. What it throws leaves
  // make_report().
  std::function<std::vector<Table>(const Trace& trace, const Tree& tree)> make;
  // The table they stand after; at the end, but before `warnings`, when the report has none of
  // this name.
  std::string after = {};
};

struct ReportOptions {
  int threads = 0;  // 0: one per core. The result never depends on it.
  Edition edition = Edition::kExtended;

  // --- the GPU, for the roofline columns ---
  std::string gpu = {};       // "MI300X"; empty: the one the trace names, if it is known
  std::string gpu_file = {};  // its figures from a JSON file instead; empty: none
  bool gpu_from_trace = true;
  bool achievable_peaks = false;  // the reachable instead of the datasheet rates, where known

  // --- what the user adds; files, see docs/how-to ---
  const ModelSet* models =
      nullptr;  // op models from code, asked before those of the file; not owned
  // The category of an op by its name and that of the first kernel it launches, if any. Comes before
  // models and rules; empty: they decide. Several threads may ask at once.
  std::function<std::string(std::string_view op, std::string_view first_kernel)> category_of =
      nullptr;
  std::vector<MoreTables> more_tables = {};
  std::string models_file = {};        // models of ops TraceLens does not know
  std::string kernel_rules_file = {};  // kernel-name rules that come before the built-in ones

  // How the graph launches of the trace fared, for table graph_stitching; not owned. None: they were
  // not stitched.
  const GraphStitching* stitching = nullptr;

  // --- what counts ---
  bool include_unlinked = false;  // GPU events whose launch is not in the trace count as well
  // Link GPU events to calls that only share their correlation id (ROCm fills have no flow).
  bool link_by_correlation = false;
  std::optional<std::int64_t> micro_idle_us = {};  // split idle time at this gap length
  bool recompute = false;  // tell activation recomputation apart (needs Python stacks)

  // --- which tables: by name, or by group as `tracelens report --list-tables` shows them ---
  std::vector<std::string> tables = {};   // exactly these; empty: those that are on by default
  std::vector<std::string> also = {};     // with those that are made on request: {"by-module"}
  std::vector<std::string> without = {};  // but not these
  // Of a ROCm trace: "activity", "api", "memcpy"; all when empty.
  std::vector<std::string> views = {};
  // Of a job in one trace (databases of several processes): every table by process.
  bool by_process = false;
  bool overview = true;  // Report::overview, for which a few steps are diagnosed
  // Report::page, and the tables that a page draws; none: what only a page shows is not made.
  std::optional<PageOptions> page = {};

  // Of the reference's edition: the sheets of its report of serving traces, which has no backward
  // pass and knows the steps of all attention.
  bool inference = false;

  // --- columns and rows that are not always wanted ---
  bool call_stack = false;             // columns of unified_perf_summary (needs Python stacks)
  bool group_by_kernel_count = false;  // calls that launched another number of kernels apart
  bool group_by_module = false;        // and those in another class of nn.Module; tables of ops
  bool first_occurrence = false;       // column first_occurrence_time of ops_unique_args
  double short_kernel_us = 10;
  int histogram_bins = 100;
  std::optional<std::size_t> top_short_kernels = {};  // rows; all when absent
  std::optional<std::size_t> top_ops = {};  // rows of ops_unique_args and of each family's sheet
  // Table kernel_sequences: only below ops, modules and ranges whose name has this in it.
  std::string sequences_of = {};
  bool sequences_as_hta =
      false;  // counted as Holistic Trace Analysis does; see docs/differences.md
  // What the profiler wrote as "raw" memory timeline of the run: its categories are the true ones.
  std::string memory_timeline_file = {};
  // Of a JAX profile: only kernels whose HLO op has one of these words in its metadata.
  std::vector<std::string> op_keywords = {};
  // Of a JAX profile: tables with a row for each kernel are not made with more rows than this, and a
  // warning says so.
  std::optional<std::size_t> most_rows = {};
};

struct Report {
  std::string title;
  std::string trace_name;     // where it came from
  std::string gpu;            // whose figures the roofline columns use; may be empty
  std::vector<Table> tables;  // in report order; gpu_timeline is the first of a whole report
  std::vector<std::string> warnings;      // sentences about what the report had to make do with
  std::optional<Overview> overview = {};  // of a whole report in our own edition, if asked for
  std::shared_ptr<const Page> page = {};  // what a page shows beside the tables, if asked for
  Edition edition = Edition::kExtended;
  bool csv_raw = false;                                           // as in DocumentInfo
  int threads = 0;                                                // as in DocumentInfo
  [[nodiscard]] const Table* find(std::string_view table) const;  // nullptr: not in this report
};

// What a person reads first of a table.
struct Excerpt {
  std::string_view table;
  std::size_t rows;
  std::vector<std::string_view> columns;  // the most important first; empty: all are alike
};
// Of which tables, in that order, when a verb has made the report: report, collectives or diff.
[[nodiscard]] std::vector<Excerpt> first_tables(const Report& report,
                                                std::string_view verb = "report");
// Of any table; `verb` tells tables of one name apart.
[[nodiscard]] Excerpt excerpt_of(const Table& table, std::string_view verb = "report");

// Every table there is: its name, what it says, for which traces, when it is made and by what.
[[nodiscard]] Table table_list();

// Groups of tables that are made on request only (ReportOptions::also), with a line about each.
struct TableFlag {
  std::string_view group;
  std::string_view help;
};
[[nodiscard]] std::span<const TableFlag> table_flags();

// Throws what make_report() would throw about the options alone: for telling a mistake before a
// large trace is read.
void check_options(const ReportOptions& options);

// Throws Error when a table, a view or the GPU asked for is not known, or a file the options name
// cannot be read or understood.
[[nodiscard]] Report make_report(const Trace& trace, const ReportOptions& options = {});

// What a sheet of a workbook holds beside its header.
struct SheetLimits {
  std::size_t rows = 1'048'575, columns = 16'384;
  std::size_t text = 32'767;  // UTF-16 units in a cell
};

// Tables beyond the limits go, and a warning of the report says so for each: a run of a thousand
// ranks has more kernels than a sheet has rows. Cells that a workbook will cut get a warning too.
void leave_out_what_excel_cannot_hold(Report& report, const SheetLimits& limits = {});

// The kind of document follows the name of the output. Throws Error when it cannot be written;
// a file is replaced only when the new one is complete. `verb` as of first_tables().
void write_report(const Report& report, const std::string& output,
                  std::string_view verb = "report");

}  // namespace tracelens
