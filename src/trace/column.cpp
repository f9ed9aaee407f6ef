#include <tracelens/column.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tracelens {
namespace {

// From here on a column has pages of its own: room that is not used takes no memory then, whatever pages the
// heap has, and no hole stays where the column was before it grew. Smaller ones are better off in the huge pages
// of the heap: small pages for columns of 2 to 3 MB each are a twentieth of the time that a report of 200 MB takes.
constexpr std::size_t kOwnPages = std::size_t{4} << 20;
// Of a column of this size the part of a huge page that it does not use is little. To hand out gigabytes in
// small pages, and to take them back, takes a while.
constexpr std::size_t kWorthHugePages = std::size_t{16} << 20;

bool has_own_pages(std::size_t bytes) { return bytes >= kOwnPages; }

void* existing(void* memory) {
  if (memory == nullptr || memory == MAP_FAILED) throw std::bad_alloc{};
  return memory;
}

void* allocate(std::size_t bytes) {
  if (!has_own_pages(bytes)) return existing(std::malloc(bytes));
  return existing(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

// Between heap and pages: what both have room for is copied.
void* moved(void* old, std::size_t old_bytes, std::size_t bytes) {
  void* const memory = allocate(bytes);
  std::memcpy(memory, old, std::min(old_bytes, bytes));
  free_column_memory(old, old_bytes);
  return memory;
}

}  // namespace

void* resize_column_memory(void* old, std::size_t old_bytes, std::size_t bytes) {
  if (bytes == 0) {
    free_column_memory(old, old_bytes);
    return nullptr;
  }
  void* memory = nullptr;
  if (old == nullptr)
    memory = allocate(bytes);
  else if (has_own_pages(old_bytes) != has_own_pages(bytes))
    memory = moved(old, old_bytes, bytes);
  else if (has_own_pages(bytes))
    memory = existing(::mremap(old, old_bytes, bytes, MREMAP_MAYMOVE));
  else
    memory = existing(std::realloc(old, bytes));
  // Not to have huge pages is no failure.
  if (bytes >= kWorthHugePages) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

bool shrinks_cheaply(std::size_t old_bytes, std::size_t bytes) {
  constexpr std::size_t kLittle = std::size_t{256} << 10;
  return has_own_pages(old_bytes) == has_own_pages(bytes) || bytes <= kLittle;
}

void free_column_memory(void* memory, std::size_t bytes) {
  if (has_own_pages(bytes))
    (void)::munmap(memory, bytes);
  else
    std::free(memory);
}

}  // namespace tracelens
