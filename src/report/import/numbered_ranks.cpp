#include <tracelens/collectives.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tracelens/error.hpp>
#include <utility>

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// The errors here are in the words of the Python TraceLens: scripts look for them.

// The first of the names that is there, in the order given.
std::string first_existing(const std::vector<std::string>& paths) {
  const auto found = std::ranges::find_if(paths, [](const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
  });
  if (found == paths.end()) throw Error{"Expected trace file not found", paths.front()};
  return *found;
}

}  // namespace

std::vector<RankFile> ranks_in_folder(const std::string& folder, std::int64_t world_size) {
  std::vector<RankFile> files;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const std::string path = fmt::format("{}/rank{}_trace.json", folder, rank);
    files.push_back({first_existing({path, path + ".gz"}), rank});
  }
  return files;
}

std::vector<RankFile> ranks_by_pattern(const std::string& pattern, std::int64_t world_size) {
  if (std::ranges::count(pattern, '*') != 1)
    throw Error{
        pattern,
        "trace_pattern must contain exactly one '*' character as a placeholder for rank id"};
  const std::size_t star = pattern.find('*');
  std::vector<RankFile> files;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    std::string path = pattern;
    path.replace(star, 1, std::to_string(rank));
    files.push_back({first_existing({path}), rank});
  }
  return files;
}

std::vector<RankFile> ranks_by_glob(const std::string& glob, const std::string& regex,
                                    std::int64_t world_size) {
  std::vector<std::string> paths;
  try {
    for (RankFile& file : find_rank_files({glob})) paths.push_back(std::move(file.path));
  } catch (const Error&) {
    if (std::error_code error; fs::exists(glob, error)) throw;  // there, but cannot be read
    throw Error{"No files matched --trace_glob", glob};
  }
  std::ranges::sort(paths);
  std::map<std::int64_t, std::string> by_rank;
  for (const std::string& path : paths)
    if (const auto rank = rank_in_path(path, regex)) by_rank.try_emplace(*rank, path);
  if (by_rank.empty())
    throw Error{glob,
                fmt::format("--trace_glob matched {} file(s), but none matched --rank_regex '{}'",
                            paths.size(), regex)};
  std::vector<RankFile> files;
  std::vector<std::int64_t> missing;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const auto found = by_rank.find(rank);
    if (found == by_rank.end())
      missing.push_back(rank);
    else
      files.push_back({found->second, rank});
  }
  if (!missing.empty())
    throw Error{"Missing ranks after glob resolution",
                fmt::format("[{}]. Looked for in {}", fmt::join(missing, ", "), glob)};
  return files;
}

std::string common_folder(const std::vector<RankFile>& files) {
  fs::path common = fs::absolute(files.front().path).parent_path();
  for (const RankFile& file : files) {
    const fs::path folder = fs::absolute(file.path).parent_path();
    const auto end =
        std::mismatch(common.begin(), common.end(), folder.begin(), folder.end()).first;
    fs::path shared;
    for (auto part = common.begin(); part != end; ++part) shared /= *part;
    common = shared;
  }
  return common.string();
}

}  // namespace tracelens
