// allowed_folders.hpp: the files that a client may have read, and no others.
//   const AllowedFolders folders{{"traces/"}};
//   const OpenFile file = folders.open("rank0.json.gz");        // throws ToolError
// A name is followed to the file behind it first; what lies outside, and whatever is neither file nor
// folder, is refused with the same sentence, whether it exists or not.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::mcp {

// A file or folder that was found to be allowed, held open so that it stays the same.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string path, std::string shown);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  [[nodiscard]] const std::string& path() const { return path_; }    // without links
  [[nodiscard]] const std::string& shown() const { return shown_; }  // relative to its folder
  [[nodiscard]] bool is_folder() const { return S_ISDIR(status_.st_mode); }
  // A path that leads to this file whatever becomes of its name.
  [[nodiscard]] std::string held_path() const;
  // Changes when the file does.
  [[nodiscard]] std::string identity() const;
  [[nodiscard]] std::uint64_t stamp() const;
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(status_.st_size); }

 private:
  int descriptor_;
  std::string path_, shown_;
  struct stat status_ {};
};

class AllowedFolders {
 public:
  // Throws Error when one is no folder.
  explicit AllowedFolders(const std::vector<std::string>& folders);
  AllowedFolders(const AllowedFolders&) = delete;
  AllowedFolders& operator=(const AllowedFolders&) = delete;
  ~AllowedFolders();

  // A path below one of the folders, absolute or relative to it, or the name of a file that is there
  // once. Throws ToolError.
  [[nodiscard]] OpenFile open(const std::string& name) const;
  // The same for something that was found in a folder.
  [[nodiscard]] OpenFile open_path(const std::string& path) const;

  // Files below the folders, or below one folder in them, sorted; links that lead out, devices and
  // pipes are left out.
  struct Found {
    std::string path, shown;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<Found> files(const std::string& below = {}) const;
  // A sentence about files, with their paths as clients know them.
  [[nodiscard]] std::string without_paths(std::string sentence) const;
  // Whether all that is in a folder is allowed: a reader may open any of it. Throws ToolError.
  void check_folder(const std::string& path) const;

 private:
  struct Root {
    std::string given, path;  // as the user named it, made absolute; without links
    std::string label = {};  // tells it from the others: as many last names of `path` as that takes
    int descriptor = -1;
  };
  [[nodiscard]] const Root* root_of(std::string_view path) const;
  [[nodiscard]] std::string shown(const Root& root, std::string_view path) const;
  void add_labels();
  // Where a name may lead: by the label of a folder first, then below each.
  struct Candidates {
    std::vector<std::string> labelled, others;
  };
  [[nodiscard]] Candidates candidates(const std::string& name) const;
  [[nodiscard]] bool leads_out(const std::string& path) const;
  void walk(const std::string& folder, std::vector<Found>& found) const;

  std::vector<Root> roots_;
};

}  // namespace tracelens::mcp
