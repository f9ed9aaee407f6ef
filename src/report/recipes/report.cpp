// The report of any trace: the tables the registry has for its kind, as far as they are asked for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/tables.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/tables/context.hpp"
#include "analysis/tables/registry.hpp"
#include "analysis/tables/warnings.hpp"
#include "facts/trace_kind.hpp"
#include "io/helpers.hpp"
#include "io/threads.hpp"
#include "report/recipes/by_process.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "report/recipes/folded_columns.hpp"
#include "report/recipes/overview.hpp"
#include "report/recipes/report_page.hpp"

namespace tracelens {
namespace {

constexpr std::string_view title_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::kPyTorch:
      break;
    case TraceKind::kJax:
      return "TraceLens JAX performance report";
    case TraceKind::kRocmTimeline:
      return "TraceLens report of a ROCm timeline";
    case TraceKind::kRocprof:
      return "TraceLens report of a rocprofv3 profile";
    case TraceKind::kDatabase:
      return "TraceLens report of a profiler's database";
  }
  return "TraceLens performance report";
}

// A producer, and where its tables stand in the report.
struct Job {
  std::vector<Table> (*make)(TableContext& context);
  bool in_background, is_heavy, has_own_ops;
  std::vector<Table> made = {};
};

// The tables of ops share what each of them changes, TableContext::ops(): a PyTorch trace has them, and
// so has a database.
std::vector<Job> jobs_of(TraceKind kind, const Selection& selection) {
  const bool has_ops = kind == TraceKind::kPyTorch || kind == TraceKind::kDatabase;
  std::vector<Job> jobs;
  for (const TableInfo* const table : selection.rows())
    if (table->make != nullptr && (jobs.empty() || jobs.back().make != table->make))
      jobs.push_back(
          {table->make, table->in_background || !has_ops, table->is_heavy, table->has_own_ops});
  return jobs;
}

void run(Job& job, TableContext& context) {
  job.made = job.make(context);
  std::erase_if(job.made, [&](const Table& table) { return !context.wants(table.name()); });
}

// Takes jobs until none is left; several threads may do so at once.
void run_next(std::span<Job* const> jobs, std::atomic<std::size_t>& next, TableContext& context) {
  while (true) {
    const std::size_t index = next++;
    if (index >= jobs.size()) return;
    run(*jobs[index], context);
  }
}

// Those that must be made one after the other are made by this thread, the others by all threads.
// The first helper begins with the causes, which take longer than any table.
void run_all(std::span<Job> jobs, const std::future<Causes>& causes, TableContext& context) {
  const int threads = io::thread_count(context.options.threads);
  for (Job& job : jobs)
    job.in_background = job.in_background || (job.is_heavy && context.has_many_threads()) ||
                        (job.has_own_ops && context.has_ops_apart());
  std::vector<Job*> others, own;
  for (Job& job : jobs) (job.in_background ? others : own).push_back(&job);
  // By then this thread has found what all tables of ops begin with.
  std::ranges::stable_sort(others, {}, [](const Job* job) {
    return job->is_heavy ? 0 : job->has_own_ops ? 2 : 1;
  });
  std::atomic<std::size_t> next = 0;
  const auto helpers =
      std::min(others.size() + (causes.valid() ? 1 : 0), static_cast<std::size_t>(threads - 1));
  io::work_together(helpers, [&](std::size_t seat) {
    if (seat == 0)
      for (Job* job : own) run(*job, context);
    if (seat == 1 && causes.valid()) causes.wait();
    run_next(others, next, context);
  });
  context.drop_inputs();
}

// More than there is work for would only get in each other's way.
int threads_for(std::size_t events, int wanted) {
  constexpr std::size_t kEventsOfAThread = 1 << 15;
  const auto most = static_cast<int>(std::min<std::size_t>(events / kEventsOfAThread, 1000));
  return std::min(io::thread_count(wanted), std::max(2, 1 + most));
}

// Tables are worth having without findings.
Causes causes_or_warn(std::future<Causes>& found, Report& report) {
  try {
    return found.get();
  } catch (const Error& error) {
    report.warnings.push_back(fmt::format("no findings: {}", error.what()));
    return {};
  }
}

void add_more_tables(Report& report, const Trace& trace, std::span<const MoreTables> more) {
  const Tree tree = build_tree(trace);
  for (const MoreTables& each : more) {
    std::vector<Table> made = each.make(trace, tree);
    auto place = std::ranges::find(report.tables, each.after, &Table::name);
    if (place != report.tables.end()) ++place;
    report.tables.insert(place, std::make_move_iterator(made.begin()),
                         std::make_move_iterator(made.end()));
  }
}

}  // namespace

const Table* Report::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

void check_options(const ReportOptions& options) {
  check_table_names(options);
  TableContext::check_files(options);
}

Report make_report(const Trace& trace, const ReportOptions& given) {
  ReportOptions options = given;
  options.threads = threads_for(trace.size(), given.threads);
  const TraceKind kind = trace_kind(trace);
  const Selection selection{kind, options};
  TableContext context{trace, options, selection};
  Report report{.title = std::string{title_of(kind)},
                .trace_name = trace.source().name,
                .gpu = context.gpu_name(),
                .tables = {},
                .warnings = {},
                .edition = options.edition,
                .threads = options.threads};
  const bool by_process = options.by_process && has_several_processes(trace);
  const bool wants_overview =
      options.overview && context.is_extended() && options.tables.empty() && !by_process;
  std::future<Causes> found;
  if (wants_overview)
    found = std::async(std::launch::deferred, [&context] { return find_causes(context); });
  std::vector<Job> jobs;
  if (!by_process) jobs = jobs_of(kind, selection);
  run_all(jobs, found, context);
  for (Job& job : jobs) std::ranges::move(job.made, std::back_inserter(report.tables));
  report.warnings = context.warnings();
  if (by_process) add_tables_by_process(trace, options, report);
  if (options.by_process && !by_process)
    report.warnings.emplace_back("--by-process: the trace does not tell of several processes");
  std::ranges::move(selection.missing(report.tables), std::back_inserter(report.warnings));
  std::optional<Page> page;
  if (options.page && options.tables.empty() && !by_process) page = add_page_parts(context, report);
  if (!options.more_tables.empty()) add_more_tables(report, trace, options.more_tables);
  if (selection.wants("warnings"))
    if (auto table = warnings_table(trace, report.warnings))
      report.tables.push_back(*std::move(table));
  if (wants_overview) {
    Causes causes = causes_or_warn(found, report);
    report.overview = trace_overview(context, report, std::move(causes.overview));
    if (page) {
      page->findings = std::move(causes.findings);
      page->finding_steps = causes.steps;
      if (!causes.notes.empty()) report.tables.push_back(quality_table(causes.notes));
    }
  }
  if (page) report.page = std::make_shared<const Page>(*std::move(page));
  return report;
}

std::optional<Table> make_table(const Trace& trace, std::string_view name,
                                const ReportOptions& options) {
  ReportOptions only = options;
  only.tables = {std::string{name}};
  only.more_tables.clear();
  Report report = make_report(trace, only);
  const auto found = std::ranges::find(report.tables, name, &Table::name);
  if (found == report.tables.end()) return std::nullopt;
  return std::move(*found);
}

void write_report(const Report& report, const std::string& output, std::string_view verb) {
  const bool is_ours = report.edition == Edition::kExtended;
  std::vector<std::string> first;
  for (const Excerpt& excerpt : first_tables(report, verb)) first.emplace_back(excerpt.table);
  first.emplace_back("warnings");
  write_tables(report.tables, output,
               {.title = report.title,
                .subtitle = report.gpu.empty() ? "" : "Roofline figures: " + report.gpu,
                .source = {report.trace_name},
                .version = kVersion,
                .verb = std::string{verb},
                .threads = report.threads,
                .is_folded = is_ours ? is_folded_in_report : nullptr,
                .overview = report.overview ? &*report.overview : nullptr,
                .page = report.page.get(),
                .first_tables = std::move(first),
                .edition = report.edition,
                .csv_raw = report.csv_raw});
}

}  // namespace tracelens
