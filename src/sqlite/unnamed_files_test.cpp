#include "sqlite/unnamed_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "sqlite/database.hpp"

namespace tracelens::db {
namespace {

TEST(UnnamedFiles, AreReadByTheirDescriptorAndNeverWrittenTo) {
  const io::TemporaryFolder folder;
  const std::string path = folder.path("x.db");
  {
    const Database made{path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    made.run("CREATE TABLE t (a); INSERT INTO t VALUES (7)");
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  {
    const Database file{address_of_descriptor(descriptor), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
    Statement rows{file, "SELECT a FROM t"};
    ASSERT_TRUE(rows.step());
    EXPECT_EQ(rows.integer(0), 7);
    EXPECT_THROW(file.run("DELETE FROM t"), Error);
  }
  ::close(descriptor);
}

}  // namespace
}  // namespace tracelens::db
