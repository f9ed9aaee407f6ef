#include "report/import/genesis_capture.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <vector>

#include "trace/json_value.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// The first file, by name, whose name ends so; in the first folder that has one.
std::optional<std::string> find_file(std::span<const fs::path> folders, std::string_view ending) {
  for (const fs::path& folder : folders) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error})
      if (entry.path().filename().string().ends_with(ending)) found.push_back(entry.path());
    if (!found.empty()) return std::ranges::min_element(found)->string();
  }
  return std::nullopt;
}

}  // namespace

GenesisFiles find_genesis_files(const std::string& folder) {
  if (!fs::is_directory(folder)) throw Error{folder, "not a folder"};
  std::vector<fs::path> folders{folder};
  if (const fs::path inner = fs::path{folder} / "kernel_trace"; fs::is_directory(inner))
    folders.insert(folders.begin(), inner);
  const auto csv = find_file(folders, "_kernel_trace.csv");
  const auto kernels = csv ? csv : find_file(folders, "_results.json");
  if (!kernels) throw Error{folder, "holds neither a kernel CSV nor a *_results.json of rocprofv3"};
  return {.kernels = *kernels,
          .has_kernel_csv = csv.has_value(),
          .timeline = find_file(folders, "_results.pftrace")};
}

Value genesis_manifest(const std::string& folder) {
  for (const char* name : {"capture_manifest.json", "combined_manifest.json"})
    if (const fs::path path = fs::path{folder} / name; fs::exists(path))
      return parse_json_value(read_text_file(path.string())).value_or(Value{});
  return {};
}

std::optional<double> genesis_seconds(const std::string& folder) {
  const fs::path log = fs::path{folder} / "run.log";
  if (!fs::exists(log)) return std::nullopt;
  return wall_time(read_text_file(log.string()));
}

std::optional<double> wall_time(std::string_view log) {
  constexpr std::string_view kKey = "wall_time=";
  for (auto at = log.find(kKey); at != std::string_view::npos; at = log.find(kKey, at + 1)) {
    const char *const begin = log.data() + at + kKey.size(), *const end = log.data() + log.size();
    double seconds = 0;
    const auto parsed = std::from_chars(begin, end, seconds);
    if (parsed.ec == std::errc{} && parsed.ptr < end && *parsed.ptr == 's') return seconds;
  }
  return std::nullopt;
}

}  // namespace tracelens
