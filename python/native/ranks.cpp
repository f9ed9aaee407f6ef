// ranks.cpp: many ranks of one job: their files, their communication, their traces as one.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/fuse.hpp>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "parts.hpp"
#include "report_options.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

using Files = std::vector<std::pair<std::string, std::optional<std::int64_t>>>;
using Ranks = std::vector<std::int64_t>;

std::vector<RankFile> rank_files(const Files& files) {
  std::vector<RankFile> all;
  for (const auto& [path, rank] : files) all.push_back({path, rank});
  return all;
}

std::vector<std::string> paths_of(const Files& files) {
  std::vector<std::string> paths;
  for (const auto& [path, rank] : files) paths.push_back(path);
  return paths;
}

Files find_files(const std::vector<std::string>& inputs) {
  Files all;
  for (RankFile& file : or_input_error(inputs, [&] { return find_rank_files(inputs); }))
    all.emplace_back(std::move(file.path), file.rank);
  return all;
}

std::shared_ptr<Report> collectives(
    const Files& files, std::optional<std::int64_t> world_size,
    std::optional<std::int64_t> gpus_per_node, std::optional<double> link_gbps,
    bool rank_by_position, Ranks only_ranks,
    const std::vector<std::pair<std::string, std::string>>& patterns,
    std::optional<bool> correct_clocks, std::vector<std::string> aggregates, bool detailed,
    bool heatmap, bool page, std::size_t memory_bytes, const std::string& edition, int threads) {
  CollectiveReportOptions options{.threads = threads,
                                  .memory_bytes = memory_bytes,
                                  .world_size = world_size,
                                  .gpus_per_node = gpus_per_node,
                                  .link_gbps = link_gbps,
                                  .rank_by_position = rank_by_position,
                                  .only_ranks = std::move(only_ranks),
                                  .edition = edition_of(edition),
                                  .correct_clocks = correct_clocks,
                                  .aggregates = std::move(aggregates),
                                  .detailed = detailed,
                                  .heatmap = heatmap};
  for (const auto& [regex, collective] : patterns) options.patterns.push_back({regex, collective});
  if (page) options.page.emplace();
  const py::gil_scoped_release unlocked;
  return std::make_shared<Report>(or_input_error(paths_of(files), [&] {
    return std::move(*make_collective_report(rank_files(files), options));
  }));
}

py::tuple fuse(const Files& files, const std::string& output, bool python, std::string only,
               std::vector<std::string> categories, Ranks only_ranks,
               std::optional<std::pair<std::int64_t, std::int64_t>> window_ns, bool align_clocks,
               std::optional<std::int64_t> gpus_per_node) {
  FuseOptions options{.python = python,
                      .only = std::move(only),
                      .categories = std::move(categories),
                      .only_ranks = std::move(only_ranks),
                      .align_clocks = align_clocks,
                      .gpus_per_node = gpus_per_node};
  if (window_ns) options.window = {window_ns->first, window_ns->second};
  FuseResult result;
  {
    const py::gil_scoped_release unlocked;
    std::vector<std::string> inputs = paths_of(files);
    inputs.push_back(output);
    result =
        or_input_error(inputs, [&] { return fuse_traces(rank_files(files), output, options); });
  }
  return py::make_tuple(result.events, result.ranks, result.warnings);
}

}  // namespace

void add_ranks(py::module_& module) {
  module.def("rank_files", &find_files, py::arg("inputs"),
             py::call_guard<py::gil_scoped_release>{});
  module.def("collectives", &collectives, py::arg("files"), py::kw_only{}, py::arg("world_size"),
             py::arg("gpus_per_node"), py::arg("link_gbps"), py::arg("rank_by_position"),
             py::arg("only_ranks"), py::arg("patterns"), py::arg("correct_clocks"),
             py::arg("aggregates"), py::arg("detailed"), py::arg("heatmap"), py::arg("page"),
             py::arg("memory_bytes"), py::arg("edition"), py::arg("threads"));
  module.def("fuse", &fuse, py::arg("files"), py::arg("output"), py::kw_only{}, py::arg("python"),
             py::arg("only"), py::arg("categories"), py::arg("only_ranks"), py::arg("window_ns"),
             py::arg("align_clocks"), py::arg("gpus_per_node"));
}

}  // namespace tracelens::python
