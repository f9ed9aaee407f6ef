#include "report/sinks/output_folder.hpp"

#include <algorithm>
#include <set>

#include "io/ascii.hpp"

namespace tracelens {

OutputFolder::OutputFolder(const std::string& folder, Edition edition)
    : folder_{folder}, edition_{edition}, is_new_{!std::filesystem::exists(folder_)} {
  io::make_directories(folder);
}

OutputFolder::~OutputFolder() {
  files_.clear();
  std::error_code not_empty;
  if (is_new_) std::filesystem::remove(folder_, not_empty);
}

io::OutputFile& OutputFolder::make(std::string_view name) {
  return *files_.emplace_back(make_file(name));
}

void OutputFolder::finish() {
  if (edition_ == Edition::kReference) return publish();
  const std::vector<WrittenFile> before = read_manifest(folder_);
  // A run that is ended while it renames must not forget the files of either set.
  std::vector<WrittenFile> all = before;
  all.insert(all.end(), written_.begin(), written_.end());
  files_.insert(files_.begin(), list_of(all));
  std::vector<WrittenFile> after = written_, stale;
  divide(before, stale, after);
  const File list = list_of(after);
  list->prepare();
  publish();
  for (const WrittenFile& file : stale) remove_if_unchanged(folder_, file);
  list->commit();
  remove_abandoned();
}

OutputFolder::File OutputFolder::make_file(std::string_view name) const {
  return std::make_unique<io::OutputFile>((folder_ / name).string(), io::Links::kReplace);
}

OutputFolder::File OutputFolder::list_of(std::span<const WrittenFile> files) const {
  File list = make_file(kManifestName);
  list->write(manifest_text(files));
  return list;
}

void OutputFolder::publish() {
  for (const File& file : files_) file->prepare();
  for (const File& file : files_) file->commit();
  files_.clear();
}

// Of the files that this run has written, so that nobody else's go.
void OutputFolder::remove_abandoned() const {
  std::set<std::string> ours{std::string{kManifestName}};
  for (const WrittenFile& file : written_) ours.insert(file.name);
  std::error_code error;
  std::vector<std::filesystem::path> abandoned;
  for (const auto& entry : std::filesystem::directory_iterator{folder_, error}) {
    const std::filesystem::path target{io::abandoned_by(entry.path().string())};
    if (ours.contains(target.filename().string())) abandoned.push_back(entry.path());
  }
  for (const std::filesystem::path& file : abandoned) std::filesystem::remove(file, error);
}

// What the run before wrote and this one does not have is stale; but tables of a report do not take
// away the parts of a split trace, which somebody may be reading.
void OutputFolder::divide(std::span<const WrittenFile> before, std::vector<WrittenFile>& stale,
                          std::vector<WrittenFile>& kept) const {
  const auto is_trace = [](const WrittenFile& file) { return !file.name.ends_with(".csv"); };
  const bool writes_traces = std::ranges::any_of(written_, is_trace);
  std::set<std::string> names;  // some file systems take T.csv and t.csv for the same file
  for (const WrittenFile& file : written_) names.insert(io::lower_case(file.name));
  for (const WrittenFile& file : before) {
    if (names.contains(io::lower_case(file.name))) continue;
    (writes_traces || !is_trace(file) ? stale : kept).push_back(file);
  }
}

}  // namespace tracelens
