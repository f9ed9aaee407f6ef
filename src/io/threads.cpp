#include "io/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tracelens::io {

int thread_count(int requested) {
  if (requested > 0) return requested;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  // Machines with more CPUs than a cpu_set_t has bits.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int spare_threads(int requested) {
  constexpr int kMany = 4;
  const int all = thread_count(requested);
  return all >= kMany ? all : 1;
}

}  // namespace tracelens::io
