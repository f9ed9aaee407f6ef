#include <tracelens/column.hpp>

#include <new>

namespace tracelens {

void* resize_column_memory(void* old, std::size_t bytes) {
  // Large blocks are mappings of their own, whose pages the C library asks the system to move.
  void* const memory = std::realloc(old, bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

}  // namespace tracelens
