// memory.hpp: giving memory back while the program goes on.
#pragma once

#include <cstdlib>  // tells whose C library this is

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tracelens::io {

// Hands what has been freed back to the system. Blocks of some KiB that were freed stay in the heap
// otherwise, where the large columns that come next cannot use them. Takes milliseconds.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tracelens::io
