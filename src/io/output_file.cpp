#include "io/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tracelens/error.hpp>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "io/check.hpp"
#include "io/numbers.hpp"

namespace tracelens::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr unsigned kNewFileMode = 0666;  // less the user's umask

// The descriptor that `path` stands for, or -1. Opening "/dev/stdout" anew would overwrite a file
// that the shell opened for appending, so such a descriptor is shared instead.
int named_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  constexpr std::string_view kFolder = "/dev/fd/";
  if (!path.starts_with(kFolder)) return -1;
  return static_cast<int>(parse_int64(path.substr(kFolder.size())).value_or(-1));
}

int open_retrying(const char* path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// The name under which this process can open, and link to, a file that has none.
std::string descriptor_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A name beside `target` that hides and is most likely free. The number keeps outputs apart that
// this process or another one writes at the same time.
std::string hidden_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  constexpr std::size_t kLongestName = 200;  // of 255 bytes; the rest is for the number
  std::string name{"."};
  name += target.filename().string().substr(0, kLongestName);
  name += '.';
  name += std::to_string(::getpid()) + "-";
  name += std::to_string(counter++) + ".tmp";
  return (target.parent_path() / name).string();
}

// False, with errno set, when not all of `text` could be written.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

OutputFile::OutputFile(std::string path, Links links) : path_{std::move(path)} {
  const bool follow = links == Links::kFollow;
  if (const int shared = named_descriptor(path_); follow && shared >= 0) {
    write_through(::fcntl(shared, F_DUPFD_CLOEXEC, 0));
    return;
  }
  struct stat info {};
  const int status = follow ? ::stat(path_.c_str(), &info) : ::lstat(path_.c_str(), &info);
  const bool exists = status == 0 && !S_ISLNK(info.st_mode);
  if (exists && S_ISDIR(info.st_mode)) throw Error{path_, "is a directory; expected a file name"};
  if (exists && !S_ISREG(info.st_mode)) {
    if (!follow) throw Error{path_, "is no regular file; it is not replaced"};
    write_through(open_retrying(path_.c_str(), O_WRONLY, 0));
    return;
  }
  // A file that may not be written is not replaced either, though its folder would allow it.
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("cannot be written");
  target_ = follow ? file_behind(path_) : path_;
  std::error_code error;
  if (follow && fs::is_symlink(target_, error))
    throw Error{path_, "is a link that leads in a circle; expected a file name"};
  const unsigned mode = exists ? info.st_mode & 0777 : kNewFileMode;
  create_unnamed(mode);
  if (fd_ < 0) create_temporary(target_, mode);
  if (exists) ::fchmod(fd_, info.st_mode & 0777);  // undoes the umask; a failure keeps it, harmless
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write_through(int fd) {
  through_ = true;
  fd_ = fd;
  if (fd_ < 0) fail("cannot be written");
}

// Leaves fd_ as it is where there are no such files. They get their name through /proc.
void OutputFile::create_unnamed(unsigned mode) {
  const fs::path folder = fs::path{target_}.parent_path();
  const int fd = open_retrying(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE, mode);
  if (fd < 0) return;
  if (::access(descriptor_path(fd).c_str(), W_OK) == 0) {
    fd_ = fd;
  } else {
    ::close(fd);
  }
}

void OutputFile::create_temporary(const std::string& beside, unsigned mode) {
  int fd = -1;
  std::string name;
  do {
    name = hidden_name(beside);
    fd = open_retrying(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) fail("cannot be created");
  temporary_ = name;
  if (through_) {
    ::close(fd);  // only its path is wanted
  } else {
    fd_ = fd;
  }
}

void OutputFile::write(std::string_view text) {
  TL_CHECK(fd_ >= 0);  // not committed yet
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() >= kBufferBytes) {
    if (!write_all(fd_, text)) fail("cannot be written");
  } else {
    buffer_ += text;
  }
}

void OutputFile::flush() {
  if (!write_all(fd_, buffer_)) fail("cannot be written");
  buffer_.clear();
}

std::string OutputFile::temporary_path() {
  if (!temporary_.empty()) return temporary_;
  if (!through_) return descriptor_path(fd_);
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) throw Error{path_, "no folder for temporary files, see TMPDIR: " + error.message()};
  create_temporary(folder / "tracelens", 0600);
  return temporary_;
}

void OutputFile::prepare() {
  if (prepared_) return;
  TL_CHECK(fd_ >= 0);
  flush();
  if (through_ && !temporary_.empty()) copy_temporary_through();
  if (!through_ && temporary_.empty()) give_name();
  close();
  prepared_ = true;
}

void OutputFile::commit() {
  if (!prepared_) prepare();
  prepared_ = false;
  if (through_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be renamed into place");
  temporary_.clear();
}

// A link cannot replace an existing file, so the name is a hidden one first; commit() renames it.
void OutputFile::give_name() {
  std::string name;
  int status = -1;
  do {
    name = hidden_name(target_);
    status =
        ::linkat(AT_FDCWD, descriptor_path(fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  } while (status != 0 && errno == EEXIST);
  if (status != 0) fail("cannot be created");
  temporary_ = name;
}

void OutputFile::copy_temporary_through() {
  const int from = open_retrying(temporary_.c_str(), O_RDONLY, 0);
  if (from < 0) fail("cannot be read back");
  std::vector<char> block(kBufferBytes);
  ssize_t got = 0;
  bool written = true;
  while (written && (got = ::read(from, block.data(), block.size())) > 0)
    written = write_all(fd_, {block.data(), static_cast<std::size_t>(got)});
  const int problem = errno;
  ::close(from);
  errno = problem;
  if (got < 0) fail("cannot be read back");
  if (!written) fail("cannot be written");
}

// A full disk or a lost network folder may show only here. No fsync: it costs 10 ms a file, and
// what it guards against (the machine losing power) costs a report that can be made again.
void OutputFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 && errno != EINTR) fail("cannot be closed");
}

void OutputFile::fail(const char* what) const {
  const int problem = errno;
  throw Error{path_, std::string{what} + ": " + std::generic_category().message(problem)};
}

std::string abandoned_by(const std::string& path) {
  // ".ops.csv.4711-3.tmp", as hidden_name() makes it
  constexpr std::string_view kSuffix = ".tmp";
  const fs::path file{path};
  const std::string name = file.filename().string();
  std::string_view rest = name;
  if (!rest.starts_with('.') || !rest.ends_with(kSuffix)) return "";
  rest.remove_suffix(kSuffix.size());
  const std::size_t dash = rest.rfind('-');
  const std::size_t dot = rest.rfind('.', dash);
  if (dash == rest.npos || dot == rest.npos || dot < 2) return "";
  const auto process = parse_int64(rest.substr(dot + 1, dash - dot - 1));
  if (!process || *process <= 1 || *process > std::numeric_limits<pid_t>::max() ||
      !parse_int64(rest.substr(dash + 1)))
    return "";
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  if (::kill(static_cast<pid_t>(*process), 0) == 0 || errno != ESRCH) return "";
  return (file.parent_path() / rest.substr(1, dot - 1)).string();
}

std::string file_behind(const std::string& path) {
  std::error_code error;
  // Not read_symlink() first: the links of /proc/self/fd lead to files that only the system finds.
  if (const fs::path there = fs::canonical(path, error); !error) return there.string();
  fs::path at{path};
  constexpr int kMostLinks = 40;  // as Linux has it
  for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i)
    at = at.parent_path() / fs::read_symlink(at, error);
  const fs::path real = fs::weakly_canonical(fs::absolute(at, error), error);
  return error ? path : real.string();
}

void make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw Error{path, "cannot make the directory: " + error.message()};
}

}  // namespace tracelens::io
