// folder.hpp: which files of a folder make the profile that a user means by it.
//   const ProfileRun run = find_profile_run("/tmp/profile");
//   for (const std::string& file : run.files) read(file);
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tracelens::xplane {

struct ProfileRun {
  std::string folder;              // in which the files are
  std::vector<std::string> files;  // one per host, by name
  std::size_t runs = 1;  // to choose from: the newest, which is the last by name, is taken
};

// Looks where JAX and its viewers put profiles, and nowhere else: in the folder itself, in
// plugins/profile/<run>/ below it (what was given to the profiler), and in <run>/ (the folder of
// all runs). Throws Error when there is none, with a hint when the folder holds something else that
// TraceLens reads.
[[nodiscard]] ProfileRun find_profile_run(const std::string& folder);

}  // namespace tracelens::xplane
