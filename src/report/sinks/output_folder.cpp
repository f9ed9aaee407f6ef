#include "report/sinks/output_folder.hpp"

#include <set>

#include "io/ascii.hpp"

namespace tracelens {

OutputFolder::OutputFolder(const std::string& folder, Edition edition)
    : folder_{folder}, edition_{edition} {
  io::make_directories(folder);
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
  const File list = list_of(written_);
  list->prepare();
  publish();
  remove_stale(before);
  list->commit();
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

// Some file systems take T.csv and t.csv for the same file.
void OutputFolder::remove_stale(std::span<const WrittenFile> before) const {
  std::set<std::string> names;
  for (const WrittenFile& file : written_) names.insert(io::lower_case(file.name));
  for (const WrittenFile& file : before)
    if (!names.contains(io::lower_case(file.name))) remove_if_unchanged(folder_, file);
}

}  // namespace tracelens
