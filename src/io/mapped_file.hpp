// mapped_file.hpp: the bytes of a file as memory that survives the file being shortened.
//   guard_mapped_files();                                       // once per process
//   if (auto file = MappedFile::map(fd, size)) use(file->text());
// Whoever touches a mapped page that the file has lost gets the signal SIGBUS. The guard answers it:
// what is lost becomes zeros, and cut_at() tells where. Without the guard nothing is mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace tracelens::io {

class MappedFile {
 public:
  // The whole of a file of `size` bytes; null when that cannot be, and it has to be read instead.
  static std::unique_ptr<MappedFile> map(int fd, std::size_t size);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view text() const { return text_; }
  // Lets go of pages; they are read again when they are looked at.
  void forget(std::size_t from, std::size_t to) const;
  // The first byte that was found to be lost.
  [[nodiscard]] std::optional<std::size_t> cut_at() const;

 private:
  MappedFile(std::string_view text, std::size_t place) : text_{text}, place_{place} {}
  std::string_view text_;
  std::size_t place_;  // among those the guard knows
};

// Installs a handler for SIGBUS that leaves all other mappings to the handler that was there before.
void guard_mapped_files();

}  // namespace tracelens::io
