#include "report/recipes/diff_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tracelens/info.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "table/markup.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestName = 90;
// Properties that say something about the file, not about the run.
constexpr std::string_view kOfTheFile[] = {"packing",       "size",     "packed size", "events",
                                           "schemaVersion", "trace_id", "traceName"};

std::string plain_cell(const std::string& text) {
  return text.empty() ? "-" : as_markdown(shorten(single_line(text), kLongestName));
}

// Property and value of both runs, in the order in which they are first seen.
class RunProperties {
 public:
  void add(std::size_t run, const std::string& property, const std::string& value) {
    const auto [entry, is_new] = values_.try_emplace(property);
    if (is_new) order_.push_back(property);
    entry->second[run] = value;
  }
  void add(std::size_t run, const Trace& trace, const Tree& tree) {
    for (const Table& table : trace_info(trace, tree)) {
      if (table.name() == "trace")
        for (std::size_t row = 0; row < table.rows(); ++row)
          if (const std::string& property = table.columns()[0].texts()[row];
              std::ranges::find(kOfTheFile, property) == std::end(kOfTheFile))
            add(run, property, table.columns()[1].texts()[row]);
      if (table.name() == "devices" && table.rows() > 0)
        add(run, "GPU", fmt::format("{} x {}", table.rows(), plain_text(table.column("name"), 0)));
    }
  }
  [[nodiscard]] std::string rows() const {
    std::string out;
    for (const std::string& property : order_) {
      const auto& [first, second] = values_.at(property);
      out += fmt::format("| {} | {} | {} | {} |\n", plain_cell(property), plain_cell(first),
                         plain_cell(second), first == second ? "" : "differs");
    }
    return out;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::array<std::string, 2>> values_;
};

std::string row_text(const std::string& name, const TimedRow& row) {
  const auto ms = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : std::string{"-"};
  };
  const std::string change = row.is_one_sided(1) ? std::string{row.ms[0] ? "gone" : "new"}
                             : row.ms[0].value_or(0) == 0
                                 ? std::string{"-"}
                                 : percent_text(row.difference(1), *row.ms[0]);
  return fmt::format("| {} | {} | {} | {:+.3f} | {} |\n", name, ms(row.ms[0]), ms(row.ms[1]),
                     row.difference(1), change);
}

constexpr const char* kChangeHeader =
    " | before (ms) | after (ms) | change (ms) | change |\n| --- | ---: | ---: | ---: | ---: |\n";

}  // namespace

std::string quoted(const std::string& name) {
  std::string text = shorten(single_line(name), kLongestName);
  std::ranges::replace(text, '|', '/');
  std::ranges::replace(text, '`', '\'');
  return "`" + text + "`";
}

std::string percent_text(double difference, double before) {
  return before == 0 ? "new" : fmt::format("{:+.1f}%", 100 * difference / before);
}

double timeline_ms(const TimedSheet& timeline, const std::string& row, std::size_t run) {
  const auto found = std::ranges::find(timeline.rows, row, &TimedRow::name);
  return found == timeline.rows.end() ? 0 : found->ms[run].value_or(0);
}

std::string runs_section(const ComparedRuns& runs, std::span<const RunProperty> more) {
  RunProperties properties;
  properties.add(0, runs.first.trace(), runs.first.tree());
  properties.add(1, runs.second.trace(), runs.second.tree());
  for (const auto& [property, values] : more)
    for (const std::size_t run : {0U, 1U}) properties.add(run, property, values[run]);
  return "\n## The two runs\n\n| | before | after | |\n| --- | --- | --- | --- |\n" +
         properties.rows();
}

std::string bottleneck(const TimedSheet& timeline, std::size_t run) {
  const auto share = [&, total = timeline_ms(timeline, "total_time", run)](const char* row) {
    return total > 0 ? 100 * timeline_ms(timeline, row, run) / total : 0;
  };
  if (share("busy_time") <= 0) return "no GPU work";
  const double idle = share("idle_time") + share("idle");  // a timeline has one of them
  if (idle > 30) return fmt::format("the GPU idles {:.0f}% of the time", idle);
  if (share("exposed_comm_time") > 20)
    return fmt::format("communication is exposed {:.0f}% of the time", share("exposed_comm_time"));
  return fmt::format("the GPU is busy {:.0f}% of the time", share("busy_time"));
}

std::string timeline_section(const TimedSheet& timeline) {
  std::string out = "\n## GPU timeline\n\n| ";
  out += kChangeHeader;
  for (const TimedRow& row : timeline.rows)
    if (!row.is_one_sided(1)) out += row_text(row.name, row);  // else of another kind of timeline
  return out;
}

std::string changes_section(const std::string& title, const TimedSheet& sheet) {
  std::string rows;
  std::size_t shown = 0;
  for (const TimedRow& row : sheet.rows)
    if ((row.difference(1) != 0 || row.is_one_sided(1)) && shown++ < kEvidenceRows)
      rows += row_text(quoted(row.name), row);
  if (rows.empty()) return {};
  return fmt::format("\n## {}\n\n| name", title) + kChangeHeader + rows;
}

}  // namespace tracelens
