#include "huge_pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
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
constexpr std::uint64_t kPageBytes = 2 * kMebi;
// The heap grows by this at once. It is only room: what nobody touches takes no memory.
constexpr std::uint64_t kLeastRoom = 64 * kMebi, kMostRoom = 1024 * kMebi;
constexpr std::uint64_t kRoomPerByte = 6;  // of a file that is packed
constexpr std::uint64_t kPartOfLimit = 8;  // room counts as memory where that is limited
// Larger blocks get mappings of their own, which can grow in place.
constexpr std::uint64_t kLeastMapping = 4 * kMebi, kMostMapping = 32 * kMebi;
constexpr std::uint64_t kMappingsInRoom = 16;
constexpr int kNeverGiveBack = 0x7fffffff;  // before the end of the program

std::uint64_t stored_bytes(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    if (!error) sum += bytes;
  }
  return sum;
}

// "always [madvise] never"
bool has_huge_pages() {
  std::ifstream in{"/sys/kernel/mm/transparent_hugepage/enabled"};
  std::string line;
  return std::getline(in, line) && line.find("[never]") == line.npos;
}

}  // namespace

void prepare_memory_for(const std::vector<std::string>& files) {
  const std::uint64_t bytes = stored_bytes(files);
  if (bytes < kSmallFiles || !has_huge_pages()) return;
  std::uint64_t room = std::clamp(bytes * kRoomPerByte, kLeastRoom, kMostRoom);
  if (const auto limit = memory_limit()) room = std::min(room, *limit / kPartOfLimit);
  const std::uint64_t mapping = std::clamp(room / kMappingsInRoom, kLeastMapping, kMostMapping);
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(mapping));
  mallopt(M_TRIM_THRESHOLD, kNeverGiveBack);
  mallopt(M_TOP_PAD, static_cast<int>(room));
  // More than is left of the heap, and less than gets a mapping: the heap grows.
  void* const block = std::malloc(mapping / 2);
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + kPageBytes - 1) & ~(kPageBytes - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) & ~(kPageBytes - 1);
  std::free(block);
  // Else the block is not in the heap, which could not grow.
  const bool is_in_heap = block != nullptr && begin < end && end - begin <= room + mapping;
  if (is_in_heap)
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace tracelens::app
