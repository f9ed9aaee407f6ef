// unnamed_files.hpp: databases in files that have no name any more, found by their descriptor.
//   db::open(name, db::address_of_descriptor(fd), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
// SQLite opens files by their names alone, and follows no links; /proc/self/fd does not help. Such a
// file is read, never written to or locked, and must not change. The descriptor stays the caller's.
#pragma once

#include <string>

namespace tracelens::db {

[[nodiscard]] std::string address_of_descriptor(int descriptor);

}  // namespace tracelens::db
