#include "io/threads.hpp"

#include <tracelens/machine.hpp>

namespace tracelens::io {

int thread_count(int requested) { return requested > 0 ? requested : usable_cpus(); }

int spare_threads(int requested) {
  constexpr int kMany = 4;
  const int all = thread_count(requested);
  return all >= kMany ? all : 1;
}

}  // namespace tracelens::io
