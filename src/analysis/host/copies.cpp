#include "analysis/host/copies.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tracelens/intervals.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/host/distribution.hpp"
#include "analysis/host/lane_columns.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Moved {
  std::optional<std::int64_t> bytes;
  std::optional<double> gb_per_s;
};
Moved moved_by(const Value& details) {
  Moved moved;
  for (std::size_t i = 0; i < details.keys().size(); ++i) {
    const Value& value = details.items()[i];
    if (value.kind() != Value::Kind::kInt && value.kind() != Value::Kind::kReal) continue;
    const std::string_view key = details.keys()[i];
    if ((key == "bytes" || key == "copy_bytes") && value.kind() == Value::Kind::kInt)
      moved.bytes = std::max<std::int64_t>(value.as_int(), 0);
    if (key == "memory bandwidth (GB/s)") moved.gb_per_s = value.as_real();
  }
  return moved;
}

// What copies move. Many are alike: each text of details is read once.
class CopySizes {
 public:
  explicit CopySizes(const Trace& trace) : trace_{trace} {}
  Moved of(EventId event) {
    const std::optional<StringId> text = trace_.detail_texts().at(event);
    if (!text) return {};
    const auto [entry, is_new] = known_.try_emplace(text->row);
    if (is_new) entry->second = moved_by(trace_.details(event));
    Moved moved = entry->second;
    if (const std::int64_t ns = duration_of(trace_, event);
        !moved.gb_per_s && moved.bytes && ns > 0)
      moved.gb_per_s = static_cast<double>(*moved.bytes) / static_cast<double>(ns);
    return moved;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, Moved> known_;  // by StringId
};

// When kernels ran that are no copies, by device.
std::map<std::int64_t, std::vector<Interval>> kernel_times(const HostWork& work,
                                                           const std::vector<Copy>& copies) {
  std::map<std::int64_t, std::vector<Interval>> times;
  std::size_t next = 0;
  for (const GpuJob& job : work.jobs()) {
    while (next < copies.size() && copies[next].gpu < job.gpu) ++next;
    if (next < copies.size() && copies[next].gpu == job.gpu) continue;
    times[job.device].push_back(interval_of(work.trace(), job.gpu));
  }
  for (auto& [device, intervals] : times) intervals = merge(std::move(intervals));
  return times;
}

// The bandwidth in use from a time on.
struct Level {
  std::int64_t ts_ns;
  double gb_per_s;
};
using Levels = std::map<std::pair<std::int64_t, CopyKind>, std::vector<Level>>;  // by device, kind

Levels levels_of(const HostWork& work, const std::vector<Copy>& copies) {
  constexpr std::int64_t kLeastNs = 1000;  // of a copy without a length
  struct Bound {
    std::int64_t ts_ns;
    bool begins;
    double gb_per_s;
  };
  const Trace& trace = work.trace();
  std::map<std::pair<std::int64_t, CopyKind>, std::vector<Bound>> bounds;
  for (const Copy& copy : copies) {
    if (trace.category(copy.gpu) == Category::kKernel) continue;  // its size is not known
    const std::int64_t start = trace.ts_ns()[copy.gpu.row];
    const std::int64_t ns = duration_of(trace, copy.gpu);
    auto& of_kind = bounds[{copy.device, copy.kind}];
    of_kind.push_back({start, true, copy.gb_per_s.value_or(0)});
    of_kind.push_back({end_of(start, ns == 0 ? kLeastNs : ns), false, copy.gb_per_s.value_or(0)});
  }
  Levels levels;
  for (auto& [key, of_kind] : bounds) {
    std::ranges::stable_sort(of_kind, {}, &Bound::ts_ns);
    double now = 0;
    std::int64_t open = 0;
    for (const Bound& bound : of_kind) {
      open += bound.begins ? 1 : -1;
      now += bound.begins ? bound.gb_per_s : -bound.gb_per_s;
      if (open == 0) now = 0;  // not what rounding left
      levels[key].push_back({bound.ts_ns, now});
    }
  }
  return levels;
}

}  // namespace

std::string_view text_of(CopyKind kind) {
  constexpr std::array<std::string_view, 8> kTexts = {
      "",       "Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD", "Memcpy PtoP", "Memcpy HtoH",
      "Memset", "copy kernel"};
  return kTexts[static_cast<std::size_t>(kind)];
}

std::string_view text_of(MemoryKind memory) {
  constexpr std::array<std::string_view, 5> kTexts = {"", "Pageable", "Pinned", "Host", "Device"};
  return kTexts[static_cast<std::size_t>(memory)];
}

std::vector<Copy> copies_of(const HostWork& work) {
  const Trace& trace = work.trace();
  std::vector<Copy> copies;
  CopySizes sizes{trace};
  std::vector<std::pair<bool, CopyKind>> kinds(trace.string_count());  // by name: seen, kind
  for (const GpuJob& job : work.jobs()) {
    auto& [seen, kind] = kinds[trace.names()[job.gpu.row].row];
    if (!seen) {
      seen = true;
      kind = copy_kind(trace.name(job.gpu));
    }
    const bool is_kernel = trace.category(job.gpu) == Category::kKernel;
    if (is_kernel && kind == CopyKind::kNone) continue;
    const Moved moved = sizes.of(job.gpu);
    copies.push_back({job.gpu, job.call, job.device,
                      kind == CopyKind::kNone ? CopyKind::kUnknown : kind,
                      memory_kind(trace.name(job.gpu)), moved.bytes, moved.gb_per_s});
  }
  return copies;
}

std::vector<CopyGroup> copy_groups(const HostWork& work, const std::vector<Copy>& copies) {
  constexpr std::int64_t kSmall = 64 * 1024;
  const Trace& trace = work.trace();
  using Key = std::tuple<std::int64_t, CopyKind, MemoryKind>;
  std::map<Key, CopyGroup> groups;
  std::map<Key, std::vector<Interval>> times;
  std::vector<bool> counted(trace.size());  // by row of a call
  for (const Copy& copy : copies) {
    const Key key{copy.device, copy.kind, copy.memory};
    CopyGroup& group = groups[key];
    std::tie(group.device, group.kind, group.memory) = key;
    ++group.count;
    times[key].push_back(interval_of(trace, copy.gpu));
    if (copy.bytes) {
      ++group.sized;
      group.bytes = plus_ns(group.bytes, *copy.bytes);
      group.sized_ns = plus_ns(group.sized_ns, duration_of(trace, copy.gpu));
      group.sizes.push_back(*copy.bytes);
      if (*copy.bytes < kSmall) ++group.small;
    }
    if (copy.gb_per_s) group.rates.push_back(*copy.gb_per_s);
    if (copy.call.valid() && work.class_of(copy.call) == CallClass::kSync &&
        !counted[copy.call.row]) {
      counted[copy.call.row] = true;
      group.host_blocked_ns = plus_ns(group.host_blocked_ns, duration_of(trace, copy.call));
    }
  }
  const auto kernels = kernel_times(work, copies);
  std::vector<CopyGroup> made;
  for (auto& [key, group] : groups) {
    const std::vector<Interval> busy = merge(std::move(times[key]));
    const auto beside = kernels.find(group.device);
    group.busy_ns = length(busy);
    group.exposed_ns =
        beside == kernels.end() ? group.busy_ns : length(subtract(busy, beside->second));
    std::ranges::sort(group.rates);
    std::ranges::sort(group.sizes);
    made.push_back(std::move(group));
  }
  std::ranges::stable_sort(made, std::ranges::greater{}, &CopyGroup::busy_ns);
  return made;
}

Table copy_bandwidth(const HostWork& work, const std::vector<Copy>& copies) {
  using Row = CopyGroup;
  ColumnSet<Row> columns{
      {device_column(), &Row::device, work.several_devices()},
      {{"kind", Kind::kText, "",
        "from where to where: H host, D this GPU, P another GPU; Memset: a fill"},
       [](const Row& row) { return text_of(row.kind); }},
      {{"memory", Kind::kText, "",
        "memory on the host's side: Pageable memory is staged by the driver, and the call waits; Host: not said which"},
       [](const Row& row) { return text_of(row.memory); }},
      {{"count", Kind::kInteger, "", "copies"}, &Row::count},
      {{"bytes", Kind::kInteger, "bytes", "moved, as far as recorded"},
       [](const Row& row) { return row.sized == 0 ? std::nullopt : std::optional{row.bytes}; }},
      {{"time_ms", Kind::kReal, "ms", "time in which at least one of them ran"},
       [](const Row& row) { return ms(row.busy_ns); }},
      {{"exposed_ms", Kind::kReal, "ms", "of this while no kernel ran on the GPU"},
       [](const Row& row) { return ms(row.exposed_ns); }},
      {{"GB/s_mean", Kind::kReal, "GB/s", "bytes over the time of the copies whose size is known"},
       [](const Row& row) {
         return row.sized_ns == 0
                    ? std::optional<double>{}
                    : static_cast<double>(row.bytes) / static_cast<double>(row.sized_ns);
       }},
      {{"GB/s_p50", Kind::kReal, "GB/s", "median rate of the copies"},
       [](const Row& row) { return quantile<double>(row.rates, 0.5); }},
      {{"GB/s_max", Kind::kReal, "GB/s", "highest rate of a copy"},
       [](const Row& row) { return quantile<double>(row.rates, 1); }},
      {{"size_p50", Kind::kReal, "bytes", "median size"},
       [](const Row& row) { return quantile<std::int64_t>(row.sizes, 0.5); }},
      {{"small_count", Kind::kInteger, "", "copies of less than 64 KiB"}, &Row::small},
      {{"host_blocked_ms", Kind::kReal, "ms",
        "time in calls that return only when the copy is done"},
       [](const Row& row) { return ms(row.host_blocked_ns); }}};
  Table table = columns.make_table(
      "copy_bandwidth", "Copies and fills by kind of memory: how much, how fast, and who waited");
  for (CopyGroup& group : copy_groups(work, copies)) columns.append(table, group);
  return table;
}

Table copy_bandwidth_series(const HostWork& work, const std::vector<Copy>& copies) {
  struct Row {
    double ts;
    std::int64_t device;
    std::string_view kind;
    double gb_per_s;
  };
  ColumnSet<Row> columns{
      {{"ts", Kind::kReal, "µs", "time since the trace began"}, &Row::ts},
      {device_column(), &Row::device},
      {{"kind", Kind::kText, "", "from where to where; Memset: a fill"}, &Row::kind},
      {{"GB/s", Kind::kReal, "GB/s",
        "what all copies of the kind that run from here on move together"},
       &Row::gb_per_s}};
  Table table =
      columns.make_table("copy_bandwidth_series", "Bandwidth of copies and fills over time");
  for (const auto& [key, levels] : levels_of(work, copies))
    for (const Level& level : levels)
      columns.append(table, Row{us(minus_ns(level.ts_ns, work.origin_ns())), key.first,
                                text_of(key.second), level.gb_per_s});
  return table;
}

Table copy_bandwidth_levels(const HostWork& work, const std::vector<Copy>& copies) {
  struct Row {
    std::int64_t device;
    std::string_view kind;
    Distribution levels;
  };
  ColumnSet<Row> columns{
      {device_column(), &Row::device, work.several_devices()},
      {{"kind", Kind::kText, "", "from where to where; Memset: a fill"}, &Row::kind}};
  add_distribution_columns(
      columns, &Row::levels, "GB/s",
      "bandwidths in use, above 0, one after each start and each end of a copy");
  Table table = columns.make_table("copy_bandwidth_levels",
                                   "How the bandwidth of copies and fills is spread");
  for (const auto& [key, levels] : levels_of(work, copies)) {
    std::vector<double> above;
    for (const Level& level : levels)
      if (level.gb_per_s > 0) above.push_back(level.gb_per_s);
    columns.append(table, Row{key.first, text_of(key.second), distribution_of(above)});
  }
  return table;
}

}  // namespace tracelens
