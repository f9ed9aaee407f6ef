#include "sqlite/unnamed_files.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "sqlite/database.hpp"

namespace tracelens::db {
namespace {

constexpr const char* kWay = "tracelens-descriptor";

struct UnnamedFile : sqlite3_file {
  int descriptor;
};

int descriptor_of(sqlite3_file* file) { return static_cast<UnnamedFile*>(file)->descriptor; }

int read_at(sqlite3_file* file, void* into, int count, sqlite3_int64 at) {
  auto* out = static_cast<char*>(into);
  auto left = static_cast<std::size_t>(count);
  while (left > 0) {
    const ssize_t got = ::pread(descriptor_of(file), out, left, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SQLITE_IOERR_READ;
    if (got == 0) {
      std::memset(out, 0, left);
      return SQLITE_IOERR_SHORT_READ;
    }
    out += got;
    at += got;
    left -= static_cast<std::size_t>(got);
  }
  return SQLITE_OK;
}

int size_of(sqlite3_file* file, sqlite3_int64* size) {
  struct stat info {};
  if (::fstat(descriptor_of(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = [](sqlite3_file*) { return SQLITE_OK; },
    .xRead = read_at,
    .xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; },
    .xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; },
    .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xFileSize = size_of,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* is_reserved) {
          *is_reserved = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return 4096; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr};

// Names are "/" and a descriptor.
int open_descriptor(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  const std::string_view text{name == nullptr ? "" : name};
  const std::string_view digits = text.substr(std::min<std::size_t>(1, text.size()));
  int descriptor = -1;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      (flags & SQLITE_OPEN_MAIN_DB) == 0)
    return SQLITE_CANTOPEN;
  static_cast<UnnamedFile*>(file)->descriptor = descriptor;
  file->pMethods = &kMethods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

bool add_way() {
  static sqlite3_vfs way = *sqlite3_vfs_find(nullptr);  // its clock and random numbers
  way.zName = kWay;
  way.szOsFile = sizeof(UnnamedFile);
  way.xOpen = open_descriptor;
  way.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_OK; };
  way.xAccess = [](sqlite3_vfs*, const char*, int, int* is_there) {
    *is_there = 0;  // no log beside it
    return SQLITE_OK;
  };
  way.xFullPathname = [](sqlite3_vfs*, const char* name, int room, char* out) {
    const std::size_t size = std::strlen(name);
    if (size >= static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
    std::memcpy(out, name, size + 1);
    return SQLITE_OK;
  };
  return sqlite3_vfs_register(&way, 0) == SQLITE_OK;
}

}  // namespace

std::string address_of_descriptor(int descriptor) {
  static const bool is_added = add_way();
  return is_added ? fmt::format("file:/{}?immutable=1&vfs={}", descriptor, kWay) : std::string{};
}

}  // namespace tracelens::db
