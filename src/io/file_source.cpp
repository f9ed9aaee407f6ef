// file_source.cpp: where bytes come from: descriptors (files, pipes, devices) and memory.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tracelens/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "io/byte_source.hpp"
#include "io/mapped_file.hpp"

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

// Files, pipes and devices.
class DescriptorSource final : public ByteSource {
 public:
  // `size` is 0 when unknown; a known size says that the descriptor is a regular file at byte 0.
  DescriptorSource(Descriptor fd, std::uint64_t size, std::string name)
      : fd_{std::move(fd)}, size_{size}, name_{std::move(name)} {}

  [[nodiscard]] std::optional<std::string_view> map() override {
    if (!mapped_ && size_ > 0) mapped_ = MappedFile::map(fd_.get(), size_);
    return mapped_ ? std::optional{mapped_->text()} : std::nullopt;
  }
  void forget_mapped(std::size_t from, std::size_t to) override {
    if (mapped_) mapped_->forget(from, to);
  }
  [[nodiscard]] std::optional<std::uint64_t> plain_size() const override {
    return size_ > 0 ? std::optional{size_} : std::nullopt;
  }
  std::size_t read_at(std::uint64_t byte, std::span<char> into) const override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got = ::pread(fd_.get(), into.data() + filled, into.size() - filled,
                                  static_cast<off_t>(byte + filled));
      if (got > 0) filled += static_cast<std::size_t>(got);
      if (got == 0) break;
      if (got < 0) wait_or_throw();
    }
    const std::uint64_t end = byte + filled;
    if (filled < into.size() && end < size_)
      for (std::uint64_t known = ends_at_;
           end < known && !ends_at_.compare_exchange_weak(known, end);)
        ;
    return filled;
  }
  [[nodiscard]] int seekable_descriptor() const override { return size_ > 0 ? fd_.get() : -1; }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return size_ > 0 ? size_ : got_; }
  [[nodiscard]] double progress() const override { return fraction(got_, size_); }
  [[nodiscard]] const std::string& damage() const override {
    if (const auto cut_at = mapped_ ? mapped_->cut_at() : std::nullopt) damage_ = cut_text(*cut_at);
    if (ends_at_ < size_) damage_ = cut_text(ends_at_);
    return damage_;
  }

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
    if (ended_ && got_ < size_) damage_ = cut_text(got_);
    return filled;
  }

  void wait_or_throw() const {
    if (errno == EINTR) return;
    if (errno != EAGAIN && errno != EWOULDBLOCK) throw_errno(name_, "cannot be read");
    pollfd ready{fd_.get(), POLLIN, 0};  // whoever gave us the pipe made it non-blocking
    ::poll(&ready, 1, -1);
  }

  [[nodiscard]] std::string cut_text(std::uint64_t at) const {
    return "file ends early at byte " + std::to_string(at) + ": it had " + std::to_string(size_) +
           " when it was opened";
  }

  Descriptor fd_;
  std::uint64_t size_;
  std::string name_;
  std::unique_ptr<MappedFile> mapped_;
  std::uint64_t got_ = 0;
  bool ended_ = false;
  mutable std::atomic<std::uint64_t> ends_at_ = UINT64_MAX;  // where read_at() found the end
  mutable std::string damage_;  // of a mapped file, and of read_at(): known when somebody asks
};

// Text that lies in memory.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : text_{text} {}

  [[nodiscard]] std::optional<std::string_view> memory() const override {
    return text_.substr(position_);
  }
  [[nodiscard]] std::optional<std::string_view> map() override { return memory(); }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return text_.size(); }
  [[nodiscard]] double progress() const override { return fraction(position_, text_.size()); }
  [[nodiscard]] const std::string& damage() const override { return kNoDamage; }

 private:
  std::size_t produce(std::span<char> into) override {
    const std::size_t count = text_.copy(into.data(), into.size(), position_);
    position_ += count;
    return count;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

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
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<DescriptorSource>(std::move(fd), static_cast<std::uint64_t>(info.st_size),
                                            name);
}

std::unique_ptr<ByteSource> memory_source(std::span<const char> bytes) {
  return std::make_unique<MemorySource>(std::string_view{bytes.data(), bytes.size()});
}

}  // namespace tracelens::io
