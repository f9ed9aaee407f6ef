#include "query/heap_limit.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>

namespace tracelens::query {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

struct Running {
  std::mutex mutex;
  std::multiset<std::int64_t> limits;  // of those that run
  sqlite3_int64 before = 0;            // what holds while none runs
};

Running& running() {
  static Running all;
  return all;
}

void apply(const Running& all) {
  sqlite3_hard_heap_limit64(all.limits.empty()              ? all.before
                            : *all.limits.rbegin() == kNone ? 0
                                                            : *all.limits.rbegin());
}

}  // namespace

HeapLimit::HeapLimit(std::size_t bytes)
    : bytes_{bytes == 0 ? kNone : static_cast<std::int64_t>(std::min<std::size_t>(bytes, kNone))} {
  Running& all = running();
  const std::scoped_lock lock{all.mutex};
  if (all.limits.empty()) all.before = sqlite3_hard_heap_limit64(-1);
  all.limits.insert(bytes_);
  apply(all);
}

HeapLimit::~HeapLimit() {
  Running& all = running();
  const std::scoped_lock lock{all.mutex};
  all.limits.erase(all.limits.find(bytes_));
  apply(all);
}

}  // namespace tracelens::query
