// file_source.cpp: where bytes come from: mapped files, descriptors (pipes, packed files), memory.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tracelens/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/byte_source.hpp"

namespace tracelens::io {
namespace {

const std::string kNoDamage;

[[noreturn]] void throw_errno(const std::string& name, const std::string& what) {
  throw Error{name, what + ": " + std::generic_category().message(errno)};
}

double fraction(std::uint64_t done, std::uint64_t all) {
  return all == 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
}

// Closes what it opened; standard input is only lent to it.
class Descriptor {
 public:
  Descriptor(int fd, bool owned) : fd_{fd}, owned_{owned} {}
  Descriptor(Descriptor&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)}, owned_{std::exchange(other.owned_, false)} {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (owned_) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

// Pipes, devices, and packed files (which gain nothing from a mapping).
class DescriptorSource final : public ByteSource {
 public:
  // `size` is 0 when unknown; a known size says that the descriptor is a regular file at byte 0.
  DescriptorSource(Descriptor fd, std::uint64_t size, std::string name)
      : fd_{std::move(fd)}, size_{size}, name_{std::move(name)} {}

  [[nodiscard]] int seekable_descriptor() const override { return size_ > 0 ? fd_.get() : -1; }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return size_ > 0 ? size_ : got_; }
  [[nodiscard]] double progress() const override { return fraction(got_, size_); }
  [[nodiscard]] const std::string& damage() const override { return kNoDamage; }

 private:
  std::size_t produce(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size() && !ended_) {
      const ssize_t got = ::read(fd_.get(), into.data() + filled, into.size() - filled);
      if (got > 0) filled += static_cast<std::size_t>(got);
      if (got == 0) ended_ = true;  // remembered: a terminal would ask for more after Ctrl-D
      if (got < 0) wait_or_throw();
    }
    got_ += filled;
    return filled;
  }

  void wait_or_throw() const {
    if (errno == EINTR) return;
    if (errno != EAGAIN && errno != EWOULDBLOCK) throw_errno(name_, "cannot be read");
    pollfd ready{fd_.get(), POLLIN, 0};  // whoever gave us the pipe made it non-blocking
    ::poll(&ready, 1, -1);
  }

  Descriptor fd_;
  std::uint64_t size_;
  std::string name_;
  std::uint64_t got_ = 0;
  bool ended_ = false;
};

// Text that lies in memory. A mapped file that another program shortens meanwhile ends the
// process with SIGBUS, as for every program that maps files.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : text_{text} {}

  [[nodiscard]] std::optional<std::string_view> memory() const override {
    return text_.substr(position_);
  }
  void release_memory(std::size_t offset) override {
    released_ = std::max(released_, std::min(offset, text_.size()));
  }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return text_.size(); }
  [[nodiscard]] double progress() const override {
    return fraction(std::max(position_, released_), text_.size());
  }
  [[nodiscard]] const std::string& damage() const override { return kNoDamage; }

 protected:
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::size_t released() const { return released_; }

 private:
  std::size_t produce(std::span<char> into) override {
    const std::size_t count = text_.copy(into.data(), into.size(), position_);
    position_ += count;
    return count;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t released_ = 0;  // the owner of the text is done with the bytes before this
};

class MappedFile final : public MemorySource {
 public:
  using MemorySource::MemorySource;
  ~MappedFile() override { ::munmap(start(), text().size()); }

  void release_memory(std::size_t offset) override {
    const std::size_t from = released();
    MemorySource::release_memory(offset);
    forget_memory(from, released());
  }
  void forget_memory(std::size_t from, std::size_t to) override {
    static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    from = from / page * page;
    to = std::min(to, text().size()) / page * page;  // a page in use at its end stays
    if (to > from) ::madvise(start() + from, to - from, MADV_DONTNEED);
  }

 private:
  [[nodiscard]] char* start() const { return const_cast<char*>(text().data()); }
};

std::unique_ptr<ByteSource> map_file(int fd, std::size_t size) {
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return nullptr;
  ::madvise(start, size, MADV_SEQUENTIAL);
  return std::make_unique<MappedFile>(std::string_view{static_cast<const char*>(start), size});
}

Descriptor open_descriptor(const std::string& path, const std::string& name) {
  if (path == "-") return {STDIN_FILENO, false};
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);  // opening a FIFO waits for its writer
  if (fd < 0) throw_errno(name, "cannot be opened");
  return {fd, true};
}

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path, const std::string& name) {
  Descriptor fd = open_descriptor(path, name);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_errno(name, "cannot be opened");
  if (S_ISDIR(info.st_mode)) throw Error{name, "is a directory; expected a trace file"};

  // Standard input may be a file of which a part was read before us: then it is like a pipe.
  const bool whole_file = S_ISREG(info.st_mode) && ::lseek(fd.get(), 0, SEEK_CUR) == 0;
  if (!whole_file) return std::make_unique<DescriptorSource>(std::move(fd), 0, name);

  // Size 0 is an empty file, or one of /proc whose size is not known before it is read.
  const auto size = static_cast<std::size_t>(info.st_size);
  char head[kSniffBytes];
  const ssize_t got = ::pread(fd.get(), head, sizeof head, 0);
  if (got < 0) throw_errno(name, "cannot be read");
  if (got == 0) return memory_source({});
  if (size > 0 && sniff_packing({head, static_cast<std::size_t>(got)}) == Packing::kNone) {
    if (auto mapped = map_file(fd.get(), size)) return mapped;
  }
  return std::make_unique<DescriptorSource>(std::move(fd), size, name);
}

std::unique_ptr<ByteSource> memory_source(std::span<const char> bytes) {
  return std::make_unique<MemorySource>(std::string_view{bytes.data(), bytes.size()});
}

}  // namespace tracelens::io
