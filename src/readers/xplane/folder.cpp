#include "readers/xplane/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tracelens/error.hpp>
#include <utility>

namespace tracelens::xplane {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}; !error && at != fs::directory_iterator{};
       at.increment(error))
    entries.push_back(at->path());
  std::ranges::sort(entries);
  return entries;
}

// x.xplane.pb, also packed: x.xplane.pb.gz
std::vector<std::string> profiles_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder))
    if (entry.filename().string().find(".xplane.pb") != std::string::npos &&
        fs::is_regular_file(entry, error))
      files.push_back(entry.string());
  return files;
}

// What to do with a folder that is no profile but may be something else.
std::string_view hint_for(const fs::path& folder) {
  bool has_traces = false;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (name.ends_with("_kernel_trace.csv") || name == "capture_manifest.json" ||
        name == "combined_manifest.json" ||
        (name == "kernel_trace" && fs::is_directory(entry, error)))
      return "; for a Genesis capture run TraceLens_generate_perf_report_genesis --capture-dir";
    has_traces = has_traces || name.find(".json") != std::string::npos || name.ends_with(".zip") ||
                 name.ends_with(".pftrace");
  }
  return has_traces ? "; for the traces of all ranks of a job run tracelens collectives with this "
                      "folder, for one of them name its file"
                    : "";
}

}  // namespace

ProfileRun find_profile_run(const std::string& folder) {
  std::error_code error;
  (void)fs::directory_iterator{folder, error};
  if (error) throw Error{folder, error.message()};
  if (auto files = profiles_in(folder); !files.empty()) return {folder, std::move(files), 1};
  for (const fs::path& parent : {fs::path{folder} / "plugins" / "profile", fs::path{folder}}) {
    ProfileRun run{.folder = {}, .files = {}, .runs = 0};
    for (const fs::path& entry : entries_of(parent)) {
      auto files = profiles_in(entry);
      if (files.empty()) continue;
      run.folder = entry.string();
      run.files = std::move(files);
      ++run.runs;
    }
    if (run.runs > 0) return run;
  }
  throw Error{folder, std::string{"a folder without *.xplane.pb, plugins/profile/<run>/*.xplane.pb "
                                  "or <run>/*.xplane.pb"}
                          .append(hint_for(folder))};
}

}  // namespace tracelens::xplane
