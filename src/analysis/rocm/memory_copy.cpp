#include "analysis/rocm/memory_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/rocm/pftrace_stats.hpp"
#include "io/ascii.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string_view stripped(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string gpu_text(const Value& agent, Edition edition) {
  const auto number = edition == Edition::kExtended ? agent_number(agent) : to_integer(agent);
  return number ? fmt::format("GPU {}", *number) : std::string{"GPU ?"};
}

std::string direction_of(std::string_view name, const PftraceArgs& args, Edition edition) {
  const auto goes = [&](std::string_view way) { return io::contains_ignoring_case(name, way); };
  if (goes("memory_copy_host_to_device"))
    return fmt::format("h2d ({})", gpu_text(args.dst_agent, edition));
  if (goes("memory_copy_device_to_host"))
    return fmt::format("d2h ({})", gpu_text(args.src_agent, edition));
  if (goes("memory_copy_device_to_device"))
    return fmt::format("d2d ({} -> {})", gpu_text(args.src_agent, edition),
                       gpu_text(args.dst_agent, edition));
  return "other";
}

// Bytes per nanosecond are GB per second; none when there was no time.
std::optional<double> gb_per_s(std::int64_t bytes, std::int64_t ns) {
  if (ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(ns);
}

// Size classes: 0, then from each power of four to the next.
std::int64_t class_begin(std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const int log2 = 63 - std::countl_zero(static_cast<std::uint64_t>(bytes));
  return std::int64_t{1} << (log2 - log2 % 2);
}
std::optional<std::int64_t> class_end(std::int64_t begin) {
  if (begin == 0) return 1;
  if (begin > std::numeric_limits<std::int64_t>::max() / 4) return std::nullopt;
  return begin * 4;
}

}  // namespace

std::vector<MemoryCopy> find_memory_copies(const PftraceEvents& events, Edition edition) {
  const Trace& trace = events.trace();
  std::vector<MemoryCopy> copies;
  for (const EventId event : trace.all_events()) {
    const PftraceArgs& args = events.args(event);
    if (!args.copy_bytes || io::lower_case(stripped(trace.category_text(event))) != "memory_copy")
      continue;
    copies.push_back({event, *args.copy_bytes, duration_of(trace, event),
                      direction_of(trace.name(event), args, edition)});
  }
  return copies;
}

Table memory_copy_by_copy_bytes(const std::vector<MemoryCopy>& copies) {
  const ColumnSpec columns[] = {
      {"copy_bytes", Kind::kInteger, "bytes", "size of the copy"},
      {"direction", Kind::kText, "", "h2d: to a GPU, d2h: from a GPU, d2d: between GPUs"},
      {"count", Kind::kInteger, "", "copies"},
  };
  std::map<std::pair<std::int64_t, std::string_view>, std::int64_t> counts;
  for (const MemoryCopy& copy : copies) ++counts[{copy.bytes, copy.direction}];
  Table table{"memory_copy_by_copy_bytes", "Memory copies by size and direction", columns};
  for (const auto& [key, count] : counts) table.add_row(key.first, key.second, count);
  return table;
}

std::optional<Table> memory_copy_sizes(const std::vector<MemoryCopy>& copies) {
  struct Sum {
    std::int64_t count = 0, bytes = 0, ns = 0;
  };
  std::map<std::pair<std::string_view, std::int64_t>, Sum> sums;  // by direction and size class
  for (const MemoryCopy& copy : copies) {
    if (copy.dur_ns <= 0) continue;
    Sum& sum = sums[{copy.direction, class_begin(copy.bytes)}];
    ++sum.count;
    sum.bytes = plus_ns(sum.bytes, copy.bytes);
    sum.ns = plus_ns(sum.ns, copy.dur_ns);
  }
  if (sums.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"direction", Kind::kText, "", "h2d: to a GPU, d2h: from a GPU, d2d: between GPUs"},
      {"at least", Kind::kInteger, "bytes", "smallest copy of the class"},
      {"below", Kind::kInteger, "bytes", "smallest copy of the next class; none for the last"},
      {"count", Kind::kInteger, "", "copies with a time"},
      {"size", Kind::kReal, "MB", "sum of the copies"},
      {"time", Kind::kReal, "ms", "sum of their durations"},
      {"bandwidth", Kind::kReal, "GB/s", "size over time"},
  };
  Table table{"memory_copy_sizes", "How fast memory was copied, by direction and size", columns};
  for (const auto& [key, sum] : sums) {
    const auto& [direction, begin] = key;
    table.add_row(direction, begin, class_end(begin), sum.count,
                  static_cast<double>(sum.bytes) / 1e6, ms(sum.ns), gb_per_s(sum.bytes, sum.ns));
  }
  return table;
}

std::optional<Table> memory_copy_bandwidth(const std::vector<MemoryCopy>& copies) {
  struct Sum {
    std::int64_t bytes = 0, ns = 0;
    double best = 0;
    std::vector<std::int64_t> times;
  };
  std::map<std::string_view, Sum> sums;
  for (const MemoryCopy& copy : copies) {
    if (copy.dur_ns <= 0) continue;
    Sum& sum = sums[copy.direction];
    sum.bytes = plus_ns(sum.bytes, copy.bytes);
    sum.ns = plus_ns(sum.ns, copy.dur_ns);
    sum.best = std::max(sum.best, gb_per_s(copy.bytes, copy.dur_ns).value_or(0));
    sum.times.push_back(copy.dur_ns);
  }
  if (sums.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"direction", Kind::kText, "", "h2d: to a GPU, d2h: from a GPU, d2d: between GPUs"},
      {"count", Kind::kInteger, "", "copies with a time"},
      {"size", Kind::kReal, "MB", "sum of the copies"},
      {"time", Kind::kReal, "ms", "sum of their durations"},
      {"mean", Kind::kReal, "µs", "mean duration"},
      {"median", Kind::kReal, "µs", "median duration"},
      {"bandwidth", Kind::kReal, "GB/s", "size over time"},
      {"best", Kind::kReal, "GB/s", "of a single copy"},
  };
  Table table{"memory_copy_bandwidth", "How fast memory was copied, by direction", columns};
  for (auto& [direction, sum] : sums) {
    const NsStats stats = ns_stats(sum.times);
    table.add_row(direction, stats.count, static_cast<double>(sum.bytes) / 1e6, ms(sum.ns),
                  stats.mean / 1e3, stats.median / 1e3, gb_per_s(sum.bytes, sum.ns), sum.best);
  }
  table.sort_by("time", Order::kDescending);
  return table;
}

}  // namespace tracelens
