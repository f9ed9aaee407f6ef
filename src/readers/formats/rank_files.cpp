// Which traces a folder, a pattern or an archive stands for, and the rank in a path.
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <vector>

#include "io/ascii.hpp"
#include "io/numbers.hpp"
#include "io/zip_members.hpp"
#include "readers/database/database.hpp"
#include "readers/xplane/folder.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// How traces end; the first that fits.
struct Ending {
  std::string_view text, format;
  bool is_of_ranks = true;
};
constexpr Ending kEndings[] = {
    {".pb", "jax"},
    {".pftrace", "perfetto"},
    {".perfetto-trace", "perfetto"},
    {"_results.json", "rocprof"},
    {"kernel_trace.csv", "rocprof", false},
    {".json", "kineto"},
    {".rpd", "rpd"},
    {".sqlite", "nsight"},
    {".db", "database", false},
};
constexpr std::string_view kPackings[] = {"", ".gz", ".zst", ".zip"};

constexpr Ending kArchive{".zip", "kineto", false};

const Ending* ending_of(const std::string& path) {
  const std::string name = io::lower_case(path);
  for (const std::string_view packing : kPackings) {
    if (!name.ends_with(packing)) continue;
    const std::string_view unpacked{name.data(), name.size() - packing.size()};
    for (const Ending& ending : kEndings)
      if (unpacked.ends_with(ending.text)) return &ending;
  }
  return name.ends_with(kArchive.text) ? &kArchive : nullptr;
}

bool is_pattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0, end = 0; at < path.size(); at = end + 1) {
    end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
  }
  return names;
}

// As Python's recursive glob and bash's globstar: "**" stands for any number of folders, none
// included; other wildcards stay inside a name; names that begin with a dot must be spelled out.
bool matches(const std::string& path, const std::string& pattern) {
  const std::vector<std::string> names = names_of(path), parts = names_of(pattern);
  std::size_t name = 0, part = 0;
  std::optional<std::size_t> stars;  // in parts: the last "**" so far
  std::size_t taken = 0;             // names up to the last one that it stands for
  while (name < names.size()) {
    if (part < parts.size() && parts[part] == "**") {
      stars = part++;
      taken = name;
    } else if (part < parts.size() &&
               ::fnmatch(parts[part].c_str(), names[name].c_str(), FNM_PERIOD) == 0) {
      ++part;
      ++name;
    } else if (stars && !names[taken].starts_with('.')) {
      part = *stars + 1;
      name = ++taken;
    } else {
      return false;
    }
  }
  return std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(part), parts.end(),
                     [](const std::string& rest) { return rest == "**"; });
}

std::vector<std::string> files_of_folder(const std::string& folder);

// Everything under the part of the pattern that is a plain path. A folder that matches, stands for
// its traces.
std::vector<std::string> files_of_pattern(const std::string& pattern) {
  const std::size_t special = pattern.find_first_of("*?[");
  const std::size_t slash = pattern.rfind('/', special);
  const std::string root = slash == std::string::npos ? "." : pattern.substr(0, slash + 1);
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at{root, fs::directory_options::skip_permission_denied,
                                           error};
       !error && at != fs::recursive_directory_iterator{}; at.increment(error)) {
    std::string path = at->path().string();
    if (slash == std::string::npos) path = path.substr(2);  // without the "./"
    if (at->is_directory(error)) {
      // "**" at the end is for files: it has those of all folders anyway.
      if (!pattern.ends_with("**") && matches(path, pattern))
        for (std::string& file : files_of_folder(path)) files.push_back(std::move(file));
      const auto depth = std::ranges::count(pattern, '/');
      if (pattern.find("**") == std::string::npos && std::ranges::count(path, '/') >= depth)
        at.disable_recursion_pending();
    } else if (matches(path, pattern)) {
      files.push_back(std::move(path));
    }
  }
  return files;
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{folder, error})
    if (entry.is_regular_file(error) && has_trace_name(entry.path().string()))
      files.push_back(entry.path().string());
  for (std::string& database : databases_in(folder)) files.push_back(std::move(database));
  if (!files.empty()) return files;
  try {
    return xplane::find_profile_run(folder).files;  // what JAX's profiler was given
  } catch (const Error&) {
    return {};
  }
}

// Of an input that gives none.
std::string no_traces(const std::string& input) {
  std::string folder = input;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code error;
  std::vector<std::string> below;
  if (fs::is_directory(folder, error)) below = files_of_pattern(folder + "/**");
  std::erase_if(below, [](const std::string& file) { return !has_trace_name(file); });
  if (below.empty())
    return "no traces here; expected files that end in .json, .json.gz or .xplane.pb";
  const std::string kind{ending_of(*std::ranges::min_element(below))->text};
  return "no traces here, but in folders below: '" + folder + "/**/*" + kind + "*' takes them";
}

void add_archive_or_file(const std::string& path, std::vector<std::string>& files) {
  std::vector<std::string> members = io::zip_members(path);
  std::erase_if(members, [](const std::string& member) { return !has_trace_name(member); });
  if (members.size() < 2) return files.push_back(path);
  for (const std::string& member : members) files.push_back((path + '/').append(member));
}

}  // namespace

std::string_view format_by_name(const std::string& path) {
  const Ending* const ending = ending_of(path);
  return ending == nullptr ? std::string_view{} : ending->format;
}

bool has_trace_name(const std::string& path) {
  const Ending* const ending = ending_of(path);
  return ending != nullptr && ending->is_of_ranks;
}

std::optional<std::int64_t> rank_in_path(const std::string& path, const std::string& regex) {
  const RE2 expression{regex, RE2::Quiet};
  if (!expression.ok()) throw Error{regex, "not a regular expression: " + expression.error()};
  if (expression.NumberOfCapturingGroups() < 1) return std::nullopt;
  const auto& named = expression.NamedCapturingGroups();
  const auto group = named.find("rank");
  const int number = group == named.end() ? 1 : group->second;
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(number) + 1);
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const std::string* text : {&name, &path}) {
    const re2::StringPiece whole{*text};
    if (!expression.Match(whole, 0, whole.size(), RE2::UNANCHORED, parts.data(), number + 1))
      continue;
    const re2::StringPiece found = parts[static_cast<std::size_t>(number)];
    return io::parse_int64({found.data(), found.size()});
  }
  return std::nullopt;
}

std::vector<RankFile> find_rank_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    std::error_code error;
    const std::size_t before = paths.size();
    if (fs::is_directory(input, error))
      for (const std::string& file : files_of_folder(input)) add_archive_or_file(file, paths);
    else if (!fs::exists(input, error) && is_pattern(input))
      for (const std::string& file : files_of_pattern(input)) add_archive_or_file(file, paths);
    else
      add_archive_or_file(input, paths);
    if (paths.size() == before) throw Error{input, no_traces(input)};
  }
  // The shell numbers pipes as it likes: theirs is the order in which they were given.
  if (!std::ranges::all_of(inputs, io::is_read_once)) std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<RankFile> files;
  for (std::string& path : paths) {
    const auto rank = rank_in_path(path);
    files.push_back({std::move(path), rank});
  }
  std::ranges::stable_sort(files, [](const RankFile& a, const RankFile& b) {
    if (!a.rank || !b.rank) return a.rank.has_value() && !b.rank;
    return *a.rank < *b.rank;
  });
  return files;
}

}  // namespace tracelens
