#include <tracelens/column.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace tracelens {
namespace {

// Of a column of this size the part of a huge page that it does not use is little.
constexpr std::size_t kWorthHugePages = std::size_t{16} << 20;

// To hand out gigabytes in small pages, and to take them back, takes a while. Not to have huge ones
// is no failure.
void advise_huge_pages(void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  const std::size_t whole = (bytes - before) / page * page;
  (void)::madvise(static_cast<char*>(memory) + before, whole, MADV_HUGEPAGE);
}

}  // namespace

void* resize_column_memory(void* old, std::size_t bytes) {
  // Large blocks are mappings of their own, whose pages the C library asks the system to move.
  void* const memory = std::realloc(old, bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  if (bytes >= kWorthHugePages) advise_huge_pages(memory, bytes);
  return memory;
}

}  // namespace tracelens
