#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <tracelens/machine.hpp>

#include "io/control_groups.hpp"

namespace tracelens {
namespace {

int allowed_cpus() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  // Machines with more CPUs than a cpu_set_t has bits.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int usable_cpus() {
  // Files are read once: a quota that changes while a program runs is rare, and threads are counted often.
  static const std::optional<double> quota = io::ControlGroups{}.cpus();
  const int allowed = allowed_cpus();
  if (!quota || *quota >= allowed) return allowed;
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

std::uint64_t usable_memory() {
  const auto machine = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(machine, io::ControlGroups{}.memory().value_or(machine));
}

}  // namespace tracelens
