// helpers.hpp: threads that lend a hand. They are started when needed and then wait a while for more: to start
// one, and to give its stack back, takes longer than many a table.
//   io::work_together(7, [&](std::size_t seat) { ... });  // here in seat 0, in others as far as they come
// Whoever asks works, too, and in the end waits only for those that came. So the work must be one that fewer
// can do, and anyone may ask at any time, helpers as well. Returns when all are done; an exception of one is
// thrown then.
#pragma once

#include <cstddef>
#include <functional>

namespace tracelens::io {

// At most `helpers` others come. Seats are numbered in the order of coming.
void work_together(std::size_t helpers, const std::function<void(std::size_t seat)>& work);

}  // namespace tracelens::io
