// huge_pages.hpp: memory for large traces in pages of megabytes: the system hands out, and takes
// back, a few of these in less time than thousands of small ones.
//   prepare_memory_for(paths);   // before they are read, by the only thread
#pragma once

#include <string>
#include <vector>

namespace tracelens::app {

// Does nothing for small files, where the system has no such pages, and where memory is limited to
// less than a gigabyte.
void prepare_memory_for(const std::vector<std::string>& files);

}  // namespace tracelens::app
