// opening.hpp: how a database is opened without a trace of it: where its bytes are, and under which
// address SQLite finds them.
//   const OpenedFile opened = open_in_place("run_results.db", false);
//   sqlite3_open_v2(opened.address.c_str(), ...)
// A file with a log beside it (-wal, -journal) is copied first: part of its rows are in the log, and
// SQLite has to write to put the two together. The copy has no name once it is whole, so that it
// goes with the program, however that ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracelens {

// Closes what it holds.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_{fd} {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// A file in TMPDIR that has no name. Throws Error.
[[nodiscard]] Descriptor unnamed_file();

// What tells that a file was written to.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_s = 0, modified_ns = 0;
  std::uint32_t changes = 0;  // the database's own count
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp stamp_of(const std::string& path);

struct OpenedFile {
  std::string address;  // a URI of SQLite's
  std::uint64_t bytes = 0;
  std::string cut;       // a sentence when the end of the file is missing
  FileStamp stamp = {};  // of the file that the user named
  Descriptor copy = {};  // where the bytes are, when not there
};

// Throws Error when it is no sound database, cannot be opened without writing to it or, unless cut
// files are wanted, is cut.
[[nodiscard]] OpenedFile open_in_place(const std::string& name, bool wants_cut);
[[nodiscard]] OpenedFile open_unnamed(const std::string& name, Descriptor file, bool wants_cut);

// A sentence when the header promises more bytes than there are. Throws Error when there is no header.
[[nodiscard]] std::string cut_by_header(const std::string& name, std::string_view head,
                                        std::uint64_t bytes);
inline constexpr std::size_t kDatabaseHeaderBytes = 100;

// Whether the first bytes of a file are those of a database.
[[nodiscard]] bool is_sqlite(std::string_view head);

}  // namespace tracelens
