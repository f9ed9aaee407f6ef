// package_list.hpp: the list of databases that a package of rocpd has, a small YAML or JSON file.
//   rocprofiler-sdk: {rocpd: {rocpd_package_version: "1.0", path: ".", files: [a.db, "rank*.db"]}}
//   const PackageList list = package_list(text);
//   listed_files(list, folder, "metadata.yaml")     // paths
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
// The paths of its files; `folder` is that of the list, `where` its name for errors. A name with "*", "?"
// or "[" stands for what fits it, in order; what is listed twice counts once.
[[nodiscard]] std::vector<std::string> listed_files(const PackageList& list,
                                                    const std::filesystem::path& folder,
                                                    const std::string& where);

}  // namespace tracelens
