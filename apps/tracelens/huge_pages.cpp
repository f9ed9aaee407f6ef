#include "huge_pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "memory_limit.hpp"

namespace tracelens::app {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;
constexpr std::uint64_t kSmallFiles = 4 * kMebi;  // what they need is soon handed out
// The heap gets this at once. It is only room: what nobody touches takes no memory.
constexpr std::uint64_t kLeastRoom = 64 * kMebi, kMostRoom = 1024 * kMebi;
constexpr std::uint64_t kRoomPerByte = 6;   // of a file that is packed
constexpr std::uint64_t kPartOfLimit = 16;  // room counts as memory where that is limited
// Larger blocks get mappings of their own, which can grow in place.
constexpr std::uint64_t kLeastMapping = 4 * kMebi, kMostMapping = 32 * kMebi;
constexpr std::uint64_t kMappingsInRoom = 16;
constexpr int kNeverGiveBack = 0x7fffffff;  // before the end of the program
constexpr int kUsualGrowth = 128 << 10;     // of the C library

std::uint64_t stored_bytes(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    if (!error) sum += bytes;
  }
  return sum;
}

// 0: the system has none, or none for us. Those of some systems are larger than any trace.
std::uint64_t huge_page_bytes() {
  constexpr std::uint64_t kLargest = 8 * kMebi;
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  std::ifstream enabled{folder + "enabled"}, size{folder + "hpage_pmd_size"};
  std::string choice;  // "always [madvise] never"
  std::uint64_t bytes = 0;
  if (!std::getline(enabled, choice) || choice.find("[never]") != choice.npos) return 0;
  return size >> bytes && bytes <= kLargest ? bytes : 0;
}

// What the program or the shell allows.
std::uint64_t lowest_limit() {
  std::uint64_t lowest = memory_limit().value_or(RLIM_INFINITY);
  for (const auto resource : {RLIMIT_DATA, RLIMIT_AS})
    if (rlimit limit{}; ::getrlimit(resource, &limit) == 0)
      lowest = std::min<std::uint64_t>(lowest, limit.rlim_cur);
  return lowest;
}

bool can_grow(std::uint64_t bytes) {
  const auto by = static_cast<std::intptr_t>(bytes);
  if (reinterpret_cast<std::intptr_t>(::sbrk(by)) == -1) return false;
  (void)::sbrk(-by);
  return true;
}

}  // namespace

void prepare_memory_for(const std::vector<std::string>& files) {
  const std::uint64_t bytes = stored_bytes(files);
  if (bytes < kSmallFiles) return;
  const std::uint64_t page = huge_page_bytes();
  std::uint64_t room = std::clamp(bytes * kRoomPerByte, kLeastRoom, kMostRoom);
  room = std::min(room, lowest_limit() / kPartOfLimit);
  const std::uint64_t mapping = std::clamp(room / kMappingsInRoom, kLeastMapping, kMostMapping);
  if (page == 0 || room < kLeastRoom || !can_grow(room + mapping)) return;
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(mapping));
  mallopt(M_TRIM_THRESHOLD, kNeverGiveBack);
  mallopt(M_TOP_PAD, static_cast<int>(room));
  // More than is left of the heap, and less than gets a mapping: the heap grows, by the room.
  void* const block = std::malloc(mapping / 2);
  mallopt(M_TOP_PAD, kUsualGrowth);
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
  char* const top = static_cast<char*>(::sbrk(0));
  const auto top_byte = reinterpret_cast<std::uintptr_t>(top);
  const std::uintptr_t end = top_byte / page * page;
  std::free(block);
  if (begin < end && end - begin <= room + mapping)  // else the block is not in the heap
    (void)::madvise(top - (top_byte - begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace tracelens::app
