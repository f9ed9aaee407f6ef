// collectives.hpp: many ranks of one job: their communication, who waits for whom, and what it
// costs.
//   const auto files = find_rank_files({"traces/"});
//   const auto report = make_collective_report(files, {.gpus_per_node = 8});
//   write_report(*report, "collectives.xlsx");
// Implemented in src/readers (finding files) and src/report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct RankFile {
  std::string path;                       // "run.zip/rank0_trace.json" for a member of an archive
  std::optional<std::int64_t> rank = {};  // from its name; the trace itself may know better
};

// The traces that `inputs` stand for: files, folders, zip archives of several traces, and patterns
// with * or ? or ** (any number of folders, none included). Sorted by rank, then by path. Of a folder,
// given or matched by a pattern, those files count that look like traces by their names. Throws Error when an input does not exist or matches nothing.
[[nodiscard]] std::vector<RankFile> find_rank_files(const std::vector<std::string>& inputs);

// The format that a file's name speaks of, packed or not: "kineto", "jax", "perfetto", "rocprof", "rpd",
// "nsight", "database"; empty when traces are not called so. What is in a file decides when it is read.
[[nodiscard]] std::string_view format_by_name(const std::string& path);
// Whether a file is called as the trace of a rank: x.json, x.json.gz, x.xplane.pb, x.pftrace, ... Not so
// where only the content tells, as of .db and .zip, and not a table of kernels alone.
[[nodiscard]] bool has_trace_name(const std::string& path);

// How a rank is found in a path: the file's name first, then the whole path.
inline constexpr const char* kRankRegex = R"(rank[\[\-_/]?(?P<rank>\d+))";
// Nothing when the expression does not match. Throws Error when it is no regular expression.
[[nodiscard]] std::optional<std::int64_t> rank_in_path(const std::string& path,
                                                       const std::string& regex = kRankRegex);

// The traces of the ranks 0 to world_size - 1, found as the Python TraceLens finds them: each must
// be there, else Error. In a folder: rank<i>_trace.json, or the same packed: .json.gz.
[[nodiscard]] std::vector<RankFile> ranks_in_folder(const std::string& folder,
                                                    std::int64_t world_size);
// `pattern` has one * in the place of the rank.
[[nodiscard]] std::vector<RankFile> ranks_by_pattern(const std::string& pattern,
                                                     std::int64_t world_size);
// Files by a pattern of paths; `regex` finds the rank in each. Of two files of a rank the first
// counts, and other ranks are left out.
[[nodiscard]] std::vector<RankFile> ranks_by_glob(const std::string& glob, const std::string& regex,
                                                  std::int64_t world_size);

// The innermost folder that all files, at least one, are in.
[[nodiscard]] std::string common_folder(const std::vector<RankFile>& files);

struct CollectiveReportOptions {
  int threads = 0;  // 0: one per core. The result never depends on it.
  std::size_t memory_bytes = std::size_t{2} << 30;  // about as much for traces being read

  // --- the job ---
  std::optional<std::int64_t> world_size = {};     // none: what the traces say
  std::optional<std::int64_t> gpus_per_node = {};  // none: as many as the first trace lists
  std::optional<double> link_gbps = {};            // peak of a rank's link, 10^9 bytes per second
  // The rank of a file is its place in the list, whatever the trace says.
  bool rank_by_position = false;
  std::vector<std::int64_t> only_ranks = {};  // empty: all

  // --- what counts ---
  // Extended: more names and types, and tables beyond the Python TraceLens: verdict, timeline,
  // clocks ...
  Edition edition = Edition::kExtended;
  struct Pattern {
    std::string kernel_regex;
    std::string collective;
  };
  std::vector<Pattern> patterns = {};  // kernels of other libraries that are collectives
  // Take the estimated clock offsets out of all times; none: when those recorded cannot be true.
  std::optional<bool> correct_clocks = {};

  // --- tables ---
  std::vector<std::string> aggregates = {"mean", "median", "min", "max"};
  bool detailed = true;  // tables with a row per kernel or per collective
  bool heatmap = true;   // who sends how much to whom in uneven all-to-all exchanges
  std::optional<PageOptions> page = {};  // Report::page: what the GPU of each rank did

  std::function<void(std::size_t done, std::size_t of)> on_progress = nullptr;
  // What of each trace may be seen: redacted(). Then no file is named either.
  std::function<Trace(const Trace& trace)> shown = nullptr;
};

// The processes that work on one report together, started by mpirun or srun. Every process makes
// the same calls in the same order.
class Peers {
 public:
  virtual ~Peers() = default;
  [[nodiscard]] virtual int index() const = 0;  // this process; 0 writes the report
  [[nodiscard]] virtual int count() const = 0;
  // What process 0 gave, everywhere.
  [[nodiscard]] virtual std::string broadcast(std::string bytes) = 0;
  // Hands `bytes` to process 0. There: what each process handed over, in order; elsewhere: nothing.
  [[nodiscard]] virtual std::vector<std::string> gather(std::string bytes) = 0;
  // Hands bytes[i] to process i, and returns what each process handed to this one, in order.
  [[nodiscard]] virtual std::vector<std::string> exchange(std::vector<std::string> bytes) = 0;
  // This process cannot go on: ends the others too, which would wait for it.
  [[noreturn]] virtual void abandon() = 0;
};

// What another process handed over cannot be used. Unlike other errors this one is met by one process
// alone: the others go on, or wait for it.
class PeerError : public Error {
 public:
  using Error::Error;
};

// A file that cannot be read is named in the table `warnings`, and the rest is reported. Throws
// Error when nothing is left, or when an option is wrong. With `peers`, each process reads its
// share of the files and matches its share of the process groups, and all but the first get nothing.
[[nodiscard]] std::optional<Report> make_collective_report(const std::vector<RankFile>& files,
                                                           const CollectiveReportOptions& options,
                                                           Peers* peers = nullptr);

}  // namespace tracelens
