// output_folder.hpp: files that appear in a folder together, in place of those of the run before.
//   OutputFolder folder{"out", Edition::kExtended};
//   io::OutputFile& file = folder.make("GEMM.csv");
//   file.write(text);
//   folder.keep(content.of("GEMM.csv"));              // ContentHash of what was written
//   folder.finish();
// All files wait under hidden names until the last is complete; what remains then is renaming,
// which needs no room on the disk. Without finish() the folder is as it was; a run that is killed while
// it renames leaves hidden files behind, which the next one takes away.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/folder_manifest.hpp"

namespace tracelens {

class OutputFolder {
 public:
  // Makes the folder. The reference edition leaves files of earlier runs alone, and no list.
  OutputFolder(const std::string& folder, Edition edition);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  // A new file; lives as long as the folder.
  io::OutputFile& make(std::string_view name);
  void keep(WrittenFile file) { written_.push_back(std::move(file)); }
  void finish();

 private:
  using File = std::unique_ptr<io::OutputFile>;
  [[nodiscard]] File make_file(std::string_view name) const;
  [[nodiscard]] File list_of(std::span<const WrittenFile> files) const;
  void publish();
  void remove_abandoned() const;
  void divide(std::span<const WrittenFile> before, std::vector<WrittenFile>& stale,
              std::vector<WrittenFile>& kept) const;

  std::filesystem::path folder_;
  Edition edition_;
  bool is_new_;  // nobody misses it when nothing comes into it
  std::vector<File> files_;
  std::vector<WrittenFile> written_;
};

}  // namespace tracelens
