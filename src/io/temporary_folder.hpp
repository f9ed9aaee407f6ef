// temporary_folder.hpp: a fresh folder for one test, removed with everything in it afterwards.
//   TemporaryFolder folder;
//   const std::string path = folder.write("trace.json", "[]");
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::io {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tracelens-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    folder_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  [[nodiscard]] std::string write(const std::string& name, std::string_view text) const {
    std::ofstream{path(name), std::ios::binary}.write(text.data(), std::ssize(text));
    return path(name);
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in{path(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  // The names in the folder, hidden ones too.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{folder_})
      found.push_back(entry.path().filename().string());
    return found;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tracelens::io
