#include "report/recipes/compare_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

#include "report/import/csv_reader.hpp"
#include "report/import/xlsx_reader.hpp"
#include "report/sinks/sink.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// Whether the comparison or a gate may look at a sheet; the others need not be read.
bool is_wanted(std::string_view sheet, const CompareOptions& options) {
  return !options.gates.empty() || std::ranges::any_of(options.sheets, [&](const auto& group) {
    return is_compared(sheet, group, options.edition);
  });
}

void read_trace_report(const std::string& path, const CompareOptions& options,
                       ComparedInput& input) {
  input.trace = options.read ? options.read(path) : read_trace(path);
  ReportOptions tables_alone = options.report;
  tables_alone.overview = false;
  tables_alone.page.reset();
  input.report.tables = make_report(*input.trace, tables_alone).tables;
}

// Whether a profiler wrote into the folder: JAX makes folders in it, with the profiles below.
bool is_profile_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator at{folder, error}, end; !error && at != end;
       at.increment(error))
    if (at->path().filename().string().find(".xplane.pb") != std::string::npos) return true;
  return false;
}

void read_folder(const fs::path& folder, const CompareOptions& options, ComparedInput& input) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  if (files.empty() && is_profile_folder(folder))
    return read_trace_report(folder.string(), options, input);
  if (files.empty())
    throw Error{folder.string(), "has no CSV files and no *.xplane.pb: it is no report or profile"};
  std::ranges::sort(files);
  for (const fs::path& file : files)
    if (const std::string sheet = file.stem().string(); is_wanted(sheet, options))
      input.report.tables.push_back(
          read_csv_table(sheet, read_text_file(file.string()), options.edition));
}

std::vector<Table> read_workbook(const std::string& path, const CompareOptions& options) {
  const XlsxBook book{path};
  std::vector<Table> tables;
  for (const std::string& sheet : book.sheets())
    if (sheet != kCoverSheet && is_wanted(sheet, options)) tables.push_back(book.read(sheet));
  return tables;
}

bool are_distinct(const std::vector<std::string>& tags) {
  return std::set<std::string>(tags.begin(), tags.end()).size() == tags.size();
}

// The folders a path leads through, the innermost first.
std::vector<std::string> folders_of(const std::string& path) {
  std::error_code error;
  fs::path at = fs::absolute(path, error).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();  // "base/"
  std::vector<std::string> names;
  for (at = at.parent_path(); at.has_filename(); at = at.parent_path())
    names.push_back(at.filename().string());
  return names;
}

}  // namespace

std::vector<std::string> distinct_tags(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::vector<std::vector<std::string>> folders;
  std::size_t depth = std::numeric_limits<std::size_t>::max();
  for (const std::string& path : paths) {
    files.push_back(default_tag(path));
    folders.push_back(folders_of(path));
    depth = std::min(depth, folders.back().size());
  }
  if (are_distinct(files)) return files;
  for (const bool with_file : {false, true})
    for (std::size_t level = 0; level < depth; ++level) {
      std::vector<std::string> tags;
      for (std::size_t i = 0; i < paths.size(); ++i)
        tags.push_back(with_file ? fmt::format("{}_{}", folders[i][level], files[i])
                                 : folders[i][level]);
      if (are_distinct(tags)) return tags;
    }
  for (std::size_t i = 0; i < files.size(); ++i) files[i] += fmt::format("_{}", i + 1);
  return files;
}

std::string default_tag(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  fs::path tag = fs::path{name}.filename();
  const bool is_packed = tag.extension() == ".gz" || tag.extension() == ".zst";
  tag = tag.stem();
  if (is_packed && (tag.extension() == ".json" || tag.extension() == ".pb")) tag = tag.stem();
  if (tag.extension() == ".xplane") tag = tag.stem();
  return tag.string();
}

ComparedInput read_compared(const std::string& path, const std::string& tag,
                            const CompareOptions& options) {
  std::error_code ignored;
  ComparedInput input{
      .report = {.tag = tag, .path = path, .is_folder = fs::is_directory(path, ignored)}};
  if (input.report.is_folder)
    read_folder(path, options, input);
  else if (is_workbook(path))
    input.report.tables = read_workbook(path, options);
  else
    read_trace_report(path, options, input);
  return input;
}

}  // namespace tracelens
