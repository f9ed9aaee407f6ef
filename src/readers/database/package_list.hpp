// package_list.hpp: the list of databases that a package of rocpd has, a small YAML or JSON file.
//   rocprofiler-sdk: {rocpd: {rocpd_package_version: "1.0", path: ".", files: [a.db, "rank*.db"]}}
//   const PackageList list = package_list(text);
//   for (const std::string& name : list.files) matching_files(folder / list.folder, name)
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

struct PackageList {
  std::string folder = ".";        // from that of the list
  std::vector<std::string> files;  // names and patterns, from that folder
};

[[nodiscard]] bool is_package_list(std::string_view head);
[[nodiscard]] PackageList package_list(std::string_view text);
// What a pattern with "*", "?" or "[" stands for, in order; a plain name stands for itself.
[[nodiscard]] std::vector<std::string> matching_files(const std::filesystem::path& folder,
                                                      const std::string& pattern);

}  // namespace tracelens
