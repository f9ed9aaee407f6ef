#include "io/mapped_file.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace tracelens::io {
namespace {

// What the signal handler may look at. Files beyond this many at a time are read, not mapped.
struct Place {
  std::atomic<std::uintptr_t> start{0};  // 0: free
  std::atomic<std::size_t> size{0};
  std::atomic<std::size_t> cut_at{SIZE_MAX};
};
std::array<Place, 64> places;
std::mutex places_change;

std::atomic<bool> is_guarded{false};
struct sigaction before {};
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// Puts zeros in place of everything from the page at `address` to the end of its mapping. Makes
// system calls only: a signal handler may do no more. Not ::mmap, which a thread sanitizer takes for
// a write to pages that others read.
bool replace_lost_pages(std::uintptr_t address) {
  for (Place& place : places) {
    const std::uintptr_t start = place.start, end = start + place.size;
    if (start == 0 || address < start || address >= end) continue;
    const std::uintptr_t page = address / kPage * kPage;
    if (::syscall(SYS_mmap, page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  -1, 0L) == -1)
      return false;
    std::size_t known = place.cut_at;
    while (page - start < known && !place.cut_at.compare_exchange_weak(known, page - start)) {
    }
    return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const int problem = errno;
  const bool is_fault = info->si_code > 0;  // and not sent by somebody
  if (!is_fault || !replace_lost_pages(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    // Not ours. The instruction is tried again, and fails into the handler that was there before.
    ::sigaction(signal, &before, nullptr);
    if (!is_fault) ::raise(signal);
  }
  errno = problem;
}

}  // namespace

std::unique_ptr<MappedFile> MappedFile::map(int fd, std::size_t size) {
  if (!is_guarded) return nullptr;
  const std::lock_guard lock{places_change};
  const auto place =
      std::ranges::find_if(places, [](const Place& each) { return each.start == 0; });
  if (place == places.end()) return nullptr;
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return nullptr;
  ::madvise(start, size, MADV_SEQUENTIAL);
  place->size = size;
  place->cut_at = SIZE_MAX;
  place->start = reinterpret_cast<std::uintptr_t>(start);
  return std::unique_ptr<MappedFile>{new MappedFile{
      {static_cast<const char*>(start), size}, static_cast<std::size_t>(place - places.begin())}};
}

MappedFile::~MappedFile() {
  const std::lock_guard lock{places_change};
  places[place_].start = 0;
  ::munmap(const_cast<char*>(text_.data()), text_.size());
}

void MappedFile::forget(std::size_t from, std::size_t to) const {
  from = from / kPage * kPage;
  to = std::min(to, text_.size()) / kPage * kPage;  // a page in use at its end stays
  if (to > from) ::madvise(const_cast<char*>(text_.data()) + from, to - from, MADV_DONTNEED);
}

std::optional<std::size_t> MappedFile::cut_at() const {
  const std::size_t at = places[place_].cut_at;
  return at == SIZE_MAX ? std::nullopt : std::optional{at};
}

void guard_mapped_files() {
  const std::lock_guard lock{places_change};
  if (is_guarded) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  is_guarded = ::sigaction(SIGBUS, &ours, &before) == 0;
}

}  // namespace tracelens::io
