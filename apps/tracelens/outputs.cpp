#include "outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <utility>

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// "out/" as "out", and of a member of an archive ("run.zip/rank0.json") the archive.
fs::path file_of(const std::string& path, const char* standard_stream) {
  fs::path file = path == "-" ? standard_stream : path;
  if (!file.has_filename()) file = file.parent_path();
  std::error_code error;
  fs::path archive = file;
  while (!is_there(archive) && archive.has_relative_path()) archive = archive.parent_path();
  return fs::is_regular_file(archive, error) ? archive : file;
}

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return !is_there(a) && !is_there(b) && file_behind(a.string()) == file_behind(b.string());
}

bool is_below(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  for (fs::path at = file_behind(file.string()); at.has_relative_path();) {
    at = at.parent_path();
    if (fs::equivalent(at, folder, error)) return true;
  }
  return false;
}

// What a folder of inputs may hold: tables, traces, profiles, packed or not.
bool may_be_input(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.find(".csv") != name.npos || name.find(".json") != name.npos ||
         name.find(".xplane.pb") != name.npos || name.find(".pftrace") != name.npos;
}

bool would_replace(const fs::path& output, const fs::path& input) {
  if (is_same(output, input)) return true;
  const auto is_csv = [](const fs::path& path) { return path.extension() == ".csv"; };
  if (is_there(output) && may_be_input(output) && is_below(output, input)) return true;
  return is_csv(input) && is_below(input, output) && is_same(input.parent_path(), output);
}

// Whether a file would stand where a folder of tables may put one.
bool is_table_of(const fs::path& file, const std::string& folder) {
  std::error_code error;
  const bool is_folder = folder.ends_with('/') || fs::is_directory(folder, error);
  return is_folder && file.extension() == ".csv" &&
         file_behind(file.parent_path().string()) ==
             file_behind(fs::path{folder}.lexically_normal().parent_path().string());
}

bool is_standard_input(const std::string& path) {
  constexpr std::string_view kNames[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
  return std::ranges::find(kNames, path) != std::end(kNames);
}

void refuse_reading_twice(const std::vector<std::string>& inputs) {
  std::set<std::pair<dev_t, ino_t>> streams;
  for (const std::string& input : inputs) {
    const bool is_stdin = is_standard_input(input);
    struct stat found {};
    if ((is_stdin ? fstat(STDIN_FILENO, &found) : stat(input.c_str(), &found)) != 0) continue;
    // A file may be read as often as one likes, though not by way of standard input.
    const bool is_once = is_stdin || S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode);
    if (is_once && !streams.emplace(found.st_dev, found.st_ino).second)
      throw Error{input, fmt::format("{} can be read only once; give the other one as a file",
                                     is_stdin ? "standard input" : "a pipe")};
  }
}

}  // namespace

std::vector<std::string> paths_of(const std::vector<RankFile>& files) {
  std::vector<std::string> paths;
  for (const RankFile& file : files) paths.push_back(file.path);
  return paths;
}

void check_trace_output(const std::string& output) {
  if (!output.ends_with(".json") && !output.ends_with(".json.gz") && output != "-" &&
      !output.starts_with("/dev/"))
    throw Error{output, "a trace is written as .json or .json.gz; choose such a name"};
}

void add_csv_raw(Flags& flags, bool& csv_raw) {
  flags.add("--csv-raw", csv_raw,
            "Write texts into CSV files as they are; without it those that a spreadsheet would run "
            "as a formula get a ' in front");
}

void refuse_overwriting(const std::vector<std::string>& outputs, std::vector<std::string> inputs,
                        const std::vector<std::string>& captures) {
  if (std::ranges::any_of(captures, is_standard_input))
    throw Error{"--capture", "cannot be standard input; give a folder or a file"};
  refuse_reading_twice(inputs);
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->empty()) continue;
    const fs::path file = file_of(*output, "/dev/stdout");
    for (const std::string& input : inputs)
      if (!input.empty() && would_replace(file, file_of(input, "/dev/stdin")))
        throw Error{*output, fmt::format("would replace the input {}; choose another output",
                                         input == "-" ? "on standard input" : input)};
    for (auto other = outputs.begin(); other != output; ++other) {
      if (other->empty()) continue;
      const fs::path beside = file_of(*other, "/dev/stdout");
      if (is_same(file, beside) || is_table_of(file, *other) || is_table_of(beside, *output))
        throw Error{*output, "two outputs have this name; choose another for one of them"};
    }
    for (const std::string& capture : captures)
      if (may_be_input(file) && is_below(file, capture))
        throw Error{
            *output,
            fmt::format("would be taken for a capture in {}; choose another folder", capture)};
  }
}

}  // namespace tracelens::app
