// ranks TRACES...: how busy each rank of a job was, one trace in memory at a time, and what their
// communication says together.
#include <cstdio>
#include <string>
#include <tracelens/tracelens.hpp>
#include <vector>

using namespace tracelens;

int main(int argc, char** argv) try {
  const std::vector<RankFile> files = find_rank_files({argv + 1, argv + argc});
  const ColumnSpec columns[] = {{"rank", Kind::kInteger, "id", "rank, by the file's name"},
                                {"busy", Kind::kReal, "%", "share of GPU time not idle"},
                                {"verdict", Kind::kText, "", "whether the trace is complete"}};
  Table table{"ranks", "How busy each rank was", columns};
  for (const RankFile& file : files) {
    const Trace trace = read_trace(file.path);
    const Table timeline = make_table(trace, "gpu_timeline").value();
    std::optional<double> busy;
    for (std::size_t row = 0; row < timeline.rows(); ++row)
      if (timeline.column("type").texts()[row] == "busy_time")
        busy = timeline.column("percent").reals()[row];
    const TraceCheck check = check_trace(trace, build_tree(trace));
    table.add_row(file.rank, busy, check.verdict == Verdict::kFail ? "cannot be used" : "usable");
  }
  std::fputs(render_terminal(table, {}).c_str(), stdout);

  if (const auto report = make_collective_report(files, {.gpus_per_node = 8})) {
    std::printf("%zu tables about the ranks together\n", report->tables.size());
    write_report(*report, "ranks.json");
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
