// capture_folder.hpp: a folder of traces of graph captures, and what each was captured for.
//   CaptureFolder folder{"capture_traces/", {.edition = Edition::kExtended}};
//   for (const CaptureSet& set : folder.sets()) if (set.batch_size == 32) folder.open(set.file);
// What a capture is for stands in execution_details.json where the folder has one, otherwise, and in
// our own edition of files that it does not list, in the traces. Nothing is written into the folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/graph_stitching.hpp>
#include <vector>

#include "serving/captures.hpp"

namespace tracelens {

// The graphs of a file that were captured for one batch size.
struct CaptureSet {
  std::size_t file = 0;                    // for open()
  std::optional<std::int64_t> batch_size;  // none: the file does not tell
  bool piecewise = false;                  // several graphs for one step
  bool is_told = true;                     // false: the size was guessed from those of tensors
  std::optional<std::vector<std::uint32_t>> graphs = {};  // of the file; none: all
};

class CaptureFolder {
 public:
  // A folder, or one trace. Throws Error when there is none.
  CaptureFolder(const std::string& path, const StitchOptions& options);

  // Those whose size is only guessed last.
  [[nodiscard]] const std::vector<CaptureSet>& sets() const { return sets_; }
  [[nodiscard]] std::size_t files() const { return files_.size(); }
  [[nodiscard]] std::string name(std::size_t file) const { return file_name(files_[file]); }
  // Null when it cannot be read; a note says so. Those that nobody holds are forgotten after a few
  // others.
  [[nodiscard]] std::shared_ptr<const Capture> open(std::size_t file);
  [[nodiscard]] bool is_there(std::size_t file) const { return !files_[file].is_bad; }
  void note(std::string sentence);  // once
  // What was wrong, as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void read_details(const std::string& text, const std::string& folder);
  void classify(std::size_t file);
  void add_file(std::string path);

  struct File {
    std::string path;
    bool is_bad = false;  // is not there, or is no trace
    std::weak_ptr<const Capture> capture = {};
  };
  [[nodiscard]] static std::string file_name(const File& file);
  StitchOptions options_;
  std::vector<File> files_;
  std::vector<CaptureSet> sets_;
  std::vector<std::shared_ptr<const Capture>> latest_;  // the last one last
  std::vector<std::string> notes_;
};

// What rule 3 and 4 of the classification say of a whole file: the first capture_32_FULL annotation,
// or the size that most tensors begin with and the number of captures.
struct CaptureClass {
  std::optional<std::int64_t> batch_size;
  std::string mode;
  bool is_told = false;
};
[[nodiscard]] CaptureClass classify_capture(const Trace& trace, Edition edition);

}  // namespace tracelens
