// heap_limit.hpp: how much memory SQLite may take while statements run. SQLite has one limit for the whole
// process, so it is that of the running session that allows most, and ends with the last of them: databases are
// also read and written by others.
//   const HeapLimit limit{limits.memory_bytes};
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracelens::query {

class HeapLimit {
 public:
  explicit HeapLimit(std::size_t bytes);  // 0: none
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;
  ~HeapLimit();

 private:
  std::int64_t bytes_;
};

}  // namespace tracelens::query
