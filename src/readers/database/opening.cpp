#include "readers/database/opening.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tracelens/error.hpp>
#include <utility>

#include "sqlite/database.hpp"
#include "sqlite/names.hpp"
#include "sqlite/unnamed_files.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

std::string in_temporary_folder(const char* pattern) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  return ((error ? fs::path{"/tmp"} : folder) / pattern).string();
}

// A folder of one's own that goes with its owner.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string path = in_temporary_folder("tracelens-XXXXXX");
    if (::mkdtemp(path.data()) == nullptr)
      throw Error{path, "cannot make a folder for a copy of the database, see TMPDIR: " +
                            std::generic_category().message(errno)};
    path_ = path;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

std::string head_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::string head(kDatabaseHeaderBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool has_bytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size > 0;
}

// A journal may name another file at its end, which SQLite would then play back and delete, wherever it is.
bool names_another_file(const std::string& journal) {
  constexpr std::string_view kMark{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};
  std::ifstream in{journal, std::ios::binary | std::ios::ate};
  if (in.tellg() < std::streamoff{8}) return false;
  std::string end(kMark.size(), '\0');
  in.seekg(-static_cast<std::streamoff>(kMark.size()), std::ios::end);
  in.read(end.data(), static_cast<std::streamsize>(end.size()));
  return end == kMark;
}

std::error_code trouble_of(sqlite3* connection) {
  const int status = sqlite3_errcode(connection) & 0xff;
  // What is damaged is told by whoever reads it.
  if (status == SQLITE_OK || status == SQLITE_CORRUPT || status == SQLITE_NOTADB) return {};
  if (status == SQLITE_FULL) return std::make_error_code(std::errc::no_space_on_device);
  const int error = sqlite3_system_errno(connection);
  return error == 0 ? std::make_error_code(std::errc::io_error)
                    : std::error_code{error, std::generic_category()};
}

// Whether all pages of the log went into the file; without a log there are none. The row of a
// checkpoint is: whether it had to give up, pages in the log, pages written.
int take_checkpoint(void* is_whole, int columns, char** cells, char**) {
  *static_cast<bool*>(is_whole) =
      columns == 3 && std::string_view{cells[0]} == "0" && std::string_view{cells[1]} == cells[2];
  return 0;
}

// Puts file and log together: pages of the log into the file, or the file into the state before the
// change that the journal tells of. The first look does it; no statement of the file's is run.
std::error_code settle(const std::string& path, const std::string& copy) {
  if (names_another_file(copy + "-journal"))
    throw Error{
        path,
        "its journal is part of a change to several databases: open it once with the program that writes it"};
  const db::DatabaseHandle writer =
      db::open(path, copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  for (const auto& [what, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}})
    sqlite3_db_config(writer.get(), what, value, static_cast<int*>(nullptr));
  sqlite3_limit(writer.get(), SQLITE_LIMIT_ATTACHED, 0);
  // Alone with the copy: the index of the log needs no file.
  for (const char* const sql : {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA schema_version"})
    if (sqlite3_exec(writer.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      return trouble_of(writer.get());
  bool is_whole = false;
  if (sqlite3_exec(writer.get(), "PRAGMA wal_checkpoint(TRUNCATE)", take_checkpoint, &is_whole,
                   nullptr) != SQLITE_OK)
    return trouble_of(writer.get());
  return is_whole ? std::error_code{} : std::make_error_code(std::errc::io_error);
}

// Nothing when there is no room. `name` is what the user calls the file.
Descriptor settled_copy(const std::string& name, const std::string& path, std::error_code& error) {
  const PrivateFolder folder;
  const std::string copy = (folder.path() / "copy.db").string();
  fs::copy_file(path, copy, error);
  for (const char* const beside : {"-wal", "-journal"})
    if (!error && has_bytes(path + beside)) fs::copy_file(path + beside, copy + beside, error);
  if (error) return {};
  std::error_code ignored;
  for (const char* const beside : {"", "-wal", "-journal"})
    fs::permissions(copy + beside, fs::perms::owner_read | fs::perms::owner_write, ignored);
  error = settle(name, copy);
  if (error) return {};
  return Descriptor{::open(copy.c_str(), O_RDONLY | O_CLOEXEC)};
}

void refuse_cut(const std::string& name, const std::string& cut, bool wants_cut) {
  if (!cut.empty() && !wants_cut) throw Error{name, cut};
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor unnamed_file() {
  std::string name = in_temporary_folder("tracelens-XXXXXX");
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0)
    throw Error{name, "cannot make a file for the unpacked database, see TMPDIR: " +
                          std::generic_category().message(errno)};
  ::unlink(name.c_str());
  return Descriptor{fd};
}

FileStamp stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const std::string head = head_of(path);
  return {static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
          head.size() == kDatabaseHeaderBytes ? big_endian(head, 24, 4) : 0};
}

std::string cut_by_header(const std::string& name, std::string_view head, std::uint64_t bytes) {
  if (head.size() < kDatabaseHeaderBytes)
    throw Error{name, fmt::format("truncated: a database has at least {} bytes, the file has {}",
                                  kDatabaseHeaderBytes, bytes)};
  std::uint64_t page = big_endian(head, 16, 2);
  if (page == 1) page = 65536;
  const std::uint64_t pages = big_endian(head, 28, 4);
  const bool is_told = big_endian(head, 24, 4) == big_endian(head, 92, 4);
  if (!is_told || pages * page <= bytes) return {};
  return fmt::format("truncated: header says {} bytes, file has {}", pages * page, bytes);
}

OpenedFile open_in_place(const std::string& name, bool wants_cut) {
  // The log is beside the file itself, not beside a link to it.
  std::error_code error;
  std::string path = fs::canonical(name, error).string();
  if (error) path = name;
  OpenedFile opened;
  opened.stamp = stamp_of(path);
  opened.bytes = opened.stamp.bytes;
  if (!has_bytes(path + "-wal") && !has_bytes(path + "-journal")) {
    // No locks, no files beside it, read-only media: whatever mode the header names.
    opened.cut = cut_by_header(name, head_of(path), opened.bytes);
    refuse_cut(name, opened.cut, wants_cut);
    opened.address = db::address_of_file(path, "immutable=1");
    return opened;
  }
  error.clear();
  Descriptor copy = settled_copy(name, path, error);
  if (error) {
    // In place a log can be read where the writer's own index of it is there already.
    if (has_bytes(path + "-shm") && !has_bytes(path + "-journal")) {
      opened.address = db::address_of_file(path, "mode=ro&readonly_shm=1");
      return opened;
    }
    throw Error{
        name, "part of it is in a log beside it, and there is no room for a copy of both (" +
                  error.message() + "); whoever owns it can write the log back: sqlite3 '" + path +
                  "' 'pragma wal_checkpoint(truncate)'"};
  }
  const FileStamp stamp = opened.stamp;
  opened = open_unnamed(name, std::move(copy), wants_cut);
  opened.stamp = stamp;
  return opened;
}

OpenedFile open_unnamed(const std::string& name, Descriptor file, bool wants_cut) {
  OpenedFile opened;
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  opened.address = db::address_of_descriptor(file.get());
  opened.copy = std::move(file);
  opened.bytes = stamp_of(path).bytes;
  opened.cut = cut_by_header(name, head_of(path), opened.bytes);
  refuse_cut(name, opened.cut, wants_cut);
  return opened;
}

bool is_sqlite(std::string_view head) {
  return head.starts_with(std::string_view{"SQLite format 3\0", 16});
}

}  // namespace tracelens
