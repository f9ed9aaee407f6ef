#include "report/recipes/by_process.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "facts/job_processes.hpp"

namespace tracelens {
namespace {

// One table out of those that processes have of a name.
class JoinedTable {
 public:
  explicit JoinedTable(const Table& first)
      : name_{first.name()},
        description_{first.description()},
        columns_{{"process", Kind::kText, "", "machine and process"},
                 {"rank", Kind::kInteger, "id", "of the process in its job; empty when unknown"}} {}

  void add(const JobProcess& process, Table table) {
    for (const Table::Column& column : table.columns()) {
      const auto known = std::ranges::find(columns_, column.spec().name, &ColumnSpec::name);
      if (known == columns_.end()) columns_.push_back(column.spec());
    }
    parts_.emplace_back(&process, std::move(table));
  }

  [[nodiscard]] Table table() const {
    Table joined{name_, description_ + ", by process", columns_};
    std::vector<Cell> row;
    for (const auto& [process, part] : parts_)
      for (std::size_t i = 0; i < part.rows(); ++i) {
        row.assign(columns_.size(), Cell{kMissing});
        row[0] = process->name;
        if (process->rank) row[1] = *process->rank;
        for (std::size_t j = 0; j < part.columns().size(); ++j)
          row[place_of(part.columns()[j].spec())] = part.cell(i, j);
        if (is_of_the_process(*process, row)) joined.append(row);
      }
    return joined;
  }

 private:
  [[nodiscard]] std::size_t place_of(const ColumnSpec& column) const {
    // Behind the two in front, whatever the table itself calls its columns.
    const auto found =
        std::ranges::find(columns_.begin() + 2, columns_.end(), column.name, &ColumnSpec::name);
    return static_cast<std::size_t>(
        (found == columns_.end() ? std::ranges::find(columns_, column.name, &ColumnSpec::name)
                                 : found) -
        columns_.begin());
  }
  // Not all readers keep by process what is no event: the count of the file is nobody's then.
  [[nodiscard]] bool is_of_the_process(const JobProcess& process, std::vector<Cell>& row) const {
    if (name_ != "counts" || !std::holds_alternative<std::string>(row[2])) return true;
    const std::string& what = std::get<std::string>(row[2]);
    const auto take = [&row](std::optional<std::int64_t> count) {
      if (count) row[3] = *count;
      return count.has_value();
    };
    if (what == "streaming_counter_samples") return take(process.streaming_samples);
    if (what == "rows_not_events") return take(process.rows_not_events);
    return true;
  }

  std::string name_, description_;
  std::vector<ColumnSpec> columns_;
  std::vector<std::pair<const JobProcess*, Table>> parts_;
};

}  // namespace

bool has_several_processes(const Trace& trace) {
  const Value* const processes = trace.metadata("processes");
  return processes != nullptr && trace.metadata("streams") != nullptr &&
         processes->items().size() > 1;
}

void add_tables_by_process(const Trace& trace, const ReportOptions& options, Report& report) {
  const std::vector<JobProcess> processes = job_processes(trace);
  ReportOptions of_one = options;
  of_one.by_process = of_one.overview = false;
  of_one.page.reset();
  of_one.more_tables.clear();
  std::vector<JoinedTable> joined;
  std::map<std::string, std::size_t, std::less<>> by_name;
  for (const JobProcess& process : processes) {
    if (process.events.empty()) continue;
    Report part = make_report(TraceBuilder::excerpt(trace, process.events), of_one);
    for (Table& table : part.tables) {
      if (table.name() == "warnings" || table.name() == "counter_series") continue;  // of the file
      const auto [place, is_new] = by_name.try_emplace(table.name(), joined.size());
      if (is_new) joined.emplace_back(table);
      joined[place->second].add(process, std::move(table));
    }
  }
  for (const JoinedTable& table : joined) report.tables.push_back(table.table());
}

}  // namespace tracelens
