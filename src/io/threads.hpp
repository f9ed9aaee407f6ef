// threads.hpp: how many threads to work with.
//   const int workers = io::thread_count(options.threads);
#pragma once

namespace tracelens::io {

// `requested` when it is positive, else the number of CPUs this process may run on (taskset and
// container CPU sets count). Never less than 1.
int thread_count(int requested);

}  // namespace tracelens::io
