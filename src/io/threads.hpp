// threads.hpp: how many threads to work with.
//   const int workers = io::thread_count(options.threads);
#pragma once

namespace tracelens::io {

// `requested` when it is positive, else usable_cpus() (machine.hpp). Never less than 1.
int thread_count(int requested);

// How many of these a piece of work may use that others are done beside: all where there are many; few are
// kept busy by the others.
int spare_threads(int requested);

}  // namespace tracelens::io
