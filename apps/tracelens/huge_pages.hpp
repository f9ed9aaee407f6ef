// huge_pages.hpp: memory for large traces in pages of megabytes: the system hands out, and takes back, a few of
// these in less time than thousands of small ones, a tenth of what a report takes.
//   prepare_memory_for(paths);   // before they are read, by the only thread
#pragma once

#include <string>
#include <vector>

namespace tracelens::app {

// Does nothing for small files and where the system has no such pages.
void prepare_memory_for(const std::vector<std::string>& files);

}  // namespace tracelens::app
