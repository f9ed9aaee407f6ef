// diff: two traces aligned call by call.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/compare.hpp>
#include <tracelens/tree.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kDiffArguments[] = {
    {.name = "base", .is_required = true},
    {.name = "new", .is_required = true},
    {.name = "note", .kind = ArgumentKind::kBool},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 200, .otherwise = 15},
};

struct LinkedWork {
  double ms = 0;
  std::size_t events = 0;
};

LinkedWork linked_work(const Trace& trace, const ReportOptions& options) {
  const Tree tree = build_tree(trace, {.link_by_correlation = options.link_by_correlation});
  std::int64_t ns = 0;
  for (const EventId event : tree.linked_gpu_events()) ns += trace.dur_ns()[event.row];
  return {static_cast<double>(ns) / 1e6, tree.linked_gpu_events().size()};
}

// Line by line, without what could end the block.
std::string fenced(std::string_view note, std::size_t bytes) {
  std::string text = "```markdown\n";
  while (!note.empty() && text.size() < bytes) {
    const std::size_t end = note.find('\n');
    std::string line = clean_text(note.substr(0, end));
    std::ranges::replace(line, '`', '\'');
    text += line + "\n";
    note.remove_prefix(end == note.npos ? note.size() : end + 1);
  }
  return text + (note.empty() ? "" : "... cut: a higher max_tokens shows more\n") + "```\n";
}

Answer answer_of_diff(const Call& call, const Trace& base, const Trace& other) {
  const ReportOptions options = call.options();
  const TraceDiff diff = diff_traces(base, other, {.edition = Edition::kExtended});
  const LinkedWork before = linked_work(base, options), after = linked_work(other, options);
  Answer answer;
  answer.lead = fmt::format(
      "GPU time {:.4g} -> {:.4g} ms ({:+.4g} ms) in {} -> {} linked GPU events.\n{}\n", before.ms,
      after.ms, after.ms - before.ms, before.events, after.events,
      diff.aligned ? "" : "The traces cannot be aligned: kernels and categories are compared.\n");
  const auto total = [](const LinkedWork& work) {
    return object({{"gpu_ms", work.ms}, {"gpu_events", count_value(work.events)}});
  };
  answer.more = {{"base", total(before)}, {"new", total(after)}, {"aligned", diff.aligned}};
  if (const Table* const ops = diff.report.find("ops_diff")) {
    answer.title = "Ops, the largest change first; verdict: change, noise or unknown (few calls)";
    answer.grid = grid_of(*ops, excerpt_of(*ops, "diff").columns);
  } else if (!diff.report.tables.empty()) {
    const Table& first = diff.report.tables.front();
    answer.title = first.description();
    answer.grid = grid_of(first, excerpt_of(first, "diff").columns);
  }
  constexpr std::size_t kSubstitutions = 6;
  if (const Table* const found = diff.report.find("substitutions"); found && found->rows() > 0)
    answer.sections.push_back(
        {"substitutions", "What took the place of what", "tracelens diff -o folder/ writes all",
         grid_of(*found, excerpt_of(*found, "diff").columns, kSubstitutions)});
  if (call.flag("note"))
    answer.tail = fenced(diff.note, static_cast<std::size_t>(call.integer("max_tokens")) * 3 / 2);
  for (const std::string& sentence : diff.report.warnings)
    answer.notes.push_back(quoted_note(call.workshop().folders.without_paths(sentence)));
  return answer;
}

Value run_diff(Call& call) {
  const OpenFile base = call.open_file(call.text("base")), other = call.open_file(call.text("new"));
  return call.paged_result([&] {
    const auto before = call.trace_of(base);
    const auto after = call.trace_of(other);
    return answer_of_diff(call, *before, *after);
  });
}

Members diff_output() {
  return {{"base", type_schema("object")},
          {"new", type_schema("object")},
          {"substitutions", grid_schema()}};
}

}  // namespace

const Tool kDiffTool{
    .name = "diff",
    .title = "Align two traces",
    .description =
        "Two traces aligned call by call: slower and faster ops with a verdict (change, "
        "noise), what took the place of what. Use it after compare.",
    .arguments = {kDiffArguments, page_arguments()},
    .more_output = diff_output,
    .run = run_diff};

}  // namespace tracelens::mcp
