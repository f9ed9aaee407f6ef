// folder_manifest.hpp: which files of a folder we wrote, so that the next run can take away
// those it does not write again.
//   for (const WrittenFile& file : read_manifest(folder))
//     if (!is_new(file.name)) remove_if_unchanged(folder, file);
// The list is a hidden file in the folder, and is not trusted: what is removed is a plain .csv or
// .json.gz file of that folder, no link, with exactly the content that was written.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracelens {

inline constexpr std::string_view kManifestName = ".tracelens-files";

struct WrittenFile {
  std::string name;  // "GEMM.csv"
  std::uint64_t bytes = 0, hash = 0;
};

// What a file will hold, counted while it is written.
class ContentHash {
 public:
  ContentHash() { XXH64_reset(&state_, 0); }
  void add(std::string_view text) {
    bytes_ += text.size();
    XXH64_update(&state_, text.data(), text.size());
  }
  [[nodiscard]] WrittenFile of(std::string name) const {
    return {std::move(name), bytes_, XXH64_digest(&state_)};
  }

 private:
  XXH64_state_t state_{};
  std::uint64_t bytes_ = 0;
};

// Empty when there is no such list or it is not one of ours; lines that make no sense are skipped.
[[nodiscard]] std::vector<WrittenFile> read_manifest(const std::filesystem::path& folder);
[[nodiscard]] std::string manifest_text(std::span<const WrittenFile> files);

// Whether the file was removed. One that was changed, replaced or is not there is left alone.
bool remove_if_unchanged(const std::filesystem::path& folder, const WrittenFile& file);

}  // namespace tracelens
