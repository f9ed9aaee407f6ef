#include "analysis/database/summaries.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tracelens/intervals.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/database/detail_reader.hpp"
#include "analysis/database/stat_columns.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Work = DatabaseEvents::Work;
using GpuEvent = DatabaseEvents::GpuEvent;

// The groups with the most time first; equal ones by their key.
template <class Key>
std::vector<std::pair<const Key*, NsStats>> by_time(
    std::map<Key, std::vector<std::int64_t>>& groups) {
  std::vector<std::pair<const Key*, NsStats>> rows;
  for (auto& [key, values] : groups) rows.emplace_back(&key, ns_stats(values));
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second.sum; });
  return rows;
}

template <class Rows>
std::int64_t total_of(const Rows& rows) {
  std::int64_t total = 0;
  for (const auto& [key, stats] : rows) total = plus_ns(total, stats.sum);
  return total;
}

std::vector<ColumnSpec> stat_columns(std::vector<ColumnSpec> keys, const char* of) {
  for (ColumnSpec& column : ns_stat_columns(of)) keys.push_back(std::move(column));
  keys.push_back({"percent", Kind::kReal, "%", "share of the time of all"});
  return keys;
}

}  // namespace

Table database_kernels(const DatabaseEvents& events) {
  const Trace& trace = events.trace();
  std::map<std::string_view, std::vector<std::int64_t>> groups;
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>*> by_name;
  for (const GpuEvent& job : events.gpu()) {
    if (job.work != Work::kKernel) continue;
    std::vector<std::int64_t>*& group = by_name[trace.names()[job.event.row].row];
    if (group == nullptr) group = &groups[trace.name(job.event)];
    group->push_back(job.ns());
  }
  Table table{"kernel_summary", "GPU kernels by name, the costliest first",
              stat_columns({{"name", Kind::kText, "", "name of the kernel"}}, "launches")};
  const auto rows = by_time(groups);
  const std::int64_t total = total_of(rows);
  RowCells row;
  for (const auto& [name, stats] : rows) {
    row.clear();
    row.add(*name);
    add_ns_stats(row, stats);
    row.add(percent_of(stats.sum, total));
    table.append(row.cells());
  }
  return table;
}

Table database_calls(const DatabaseEvents& events) {
  const Trace& trace = events.trace();
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::int64_t>> groups;
  for (const EventId call : events.calls())
    groups[{trace.category_text(call), trace.name(call)}].push_back(trace.dur_ns()[call.row]);
  Table table{
      "api_summary", "Calls of the GPU's libraries, the costliest first",
      stat_columns({{"category", Kind::kText, "", "whose call it is, in the profiler's words"},
                    {"name", Kind::kText, "", "name of the call"}},
                   "calls")};
  const auto rows = by_time(groups);
  const std::int64_t total = total_of(rows);
  RowCells row;
  for (const auto& [key, stats] : rows) {
    row.clear();
    row.add(key->first);
    row.add(key->second);
    add_ns_stats(row, stats);
    row.add(percent_of(stats.sum, total));
    table.append(row.cells());
  }
  return table;
}

Table database_copies(const DatabaseEvents& events) {
  struct Group {
    std::vector<std::int64_t> ns;
    std::int64_t bytes = 0;
    bool has_bytes = false;
  };
  DetailReader details{events.trace()};
  std::map<std::array<std::string, 3>, Group> groups;
  for (const GpuEvent& job : events.gpu()) {
    if (job.work != Work::kCopy && job.work != Work::kFill) continue;
    Group& group =
        groups[{details.of(job.event, "kind").as_text(), details.of(job.event, "src").as_text(),
                details.of(job.event, "dst").as_text()}];
    group.ns.push_back(job.ns());
    const Value& bytes = details.of(job.event, "bytes");
    if (!bytes.is_int()) continue;
    group.has_bytes = true;
    group.bytes = plus_ns(group.bytes, bytes.as_int());
  }
  const ColumnSpec columns[] = {
      {"kind", Kind::kText, "", "which way, in the profiler's words"},
      {"src", Kind::kText, "", "from which memory"},
      {"dst", Kind::kText, "", "to which memory"},
      {"count", Kind::kInteger, "", "how many"},
      {"bytes", Kind::kInteger, "B", "how much in all; empty when unknown"},
      {"total_ns", Kind::kInteger, "ns", "their time, added up"},
      {"mean_ns", Kind::kReal, "ns", "time of one, on average"},
      {"min_ns", Kind::kInteger, "ns", "the shortest"},
      {"max_ns", Kind::kInteger, "ns", "the longest"},
      {"gb_per_s", Kind::kReal, "GB/s", "bytes by time"}};
  Table table{"memcpy_summary", "Copies and fills by direction, the costliest first", columns};
  for (auto& [key, group] : groups) {
    const NsStats stats = ns_stats(group.ns);
    const bool has_rate = group.has_bytes && stats.sum > 0;
    table.add_row(key[0], key[1], key[2], stats.count,
                  group.has_bytes ? Cell{group.bytes} : Cell{kMissing}, stats.sum, stats.mean,
                  stats.min, stats.max,
                  has_rate ? Cell{static_cast<double>(group.bytes) / static_cast<double>(stats.sum)}
                           : Cell{kMissing});
  }
  table.sort_by("total_ns", Order::kDescending);
  return table;
}

Table database_devices(const DatabaseEvents& events) {
  const Trace& trace = events.trace();
  struct Device {
    DatabaseEvents::Place place;
    bool is_known = false;
    std::vector<Interval> kernels, copies;
  };
  std::map<std::pair<std::int64_t, std::string>, Device> by_number;  // of unknown GPUs by host
  std::unordered_map<std::uint32_t, std::string> hosts;              // by track
  const auto rows = trace.devices().rows();
  const auto values = trace.devices().values();
  std::size_t at = 0;
  for (const GpuEvent& job : events.gpu()) {
    while (at < rows.size() && rows[at] < job.event.row) ++at;
    const bool is_known = at < rows.size() && rows[at] == job.event.row;
    std::string host;
    if (!is_known) {
      const auto [known, is_first] = hosts.try_emplace(trace.tracks()[job.event.row].row);
      if (is_first) known->second = events.host_of(job.event);
      host = known->second;
    }
    const auto [entry, is_new] = by_number.try_emplace({is_known ? values[at] : kAbsent, host});
    Device& device = entry->second;
    if (is_new && is_known) device.place = events.place_of(values[at]);
    if (is_new && !is_known) device.place = {host, kAbsent};
    device.is_known = is_known;
    const bool is_copy = job.work == Work::kCopy || job.work == Work::kFill;
    (is_copy ? device.copies : device.kernels).push_back({job.start_ns, job.end_ns});
  }
  const ColumnSpec columns[] = {
      {"node", Kind::kText, "", "machine; empty when the file does not say"},
      {"device", Kind::kInteger, "id", "number of the GPU on that machine"},
      {"kernels", Kind::kInteger, "", "kernels, and graph launches recorded as one event"},
      {"copies", Kind::kInteger, "", "copies and fills"},
      {"kernel_busy_ns", Kind::kInteger, "ns", "time in which at least one kernel ran"},
      {"copy_busy_ns", Kind::kInteger, "ns", "time in which at least one copy or fill ran"},
      {"busy_ns", Kind::kInteger, "ns", "time in which anything ran"},
      {"sum_ns", Kind::kInteger, "ns", "time of all events, added up"},
      {"first_ns", Kind::kInteger, "ns", "start of the first event"},
      {"last_ns", Kind::kInteger, "ns", "end of the last event"},
      {"span_ns", Kind::kInteger, "ns", "from the first to the last"},
      {"idle_ns", Kind::kInteger, "ns", "span without the time in which anything ran"},
      {"busy_percent", Kind::kReal, "%", "share of the span in which anything ran"}};
  Table table{"device_timeline", "How busy each GPU was", columns};
  std::vector<Device*> devices;
  for (auto& [number, device] : by_number) devices.push_back(&device);
  std::ranges::stable_sort(devices, [](const Device* a, const Device* b) {
    return std::tie(a->place.node, a->place.index) < std::tie(b->place.node, b->place.index);
  });
  for (Device* const device : devices) {
    const auto kernels = static_cast<std::int64_t>(device->kernels.size());
    const auto copies = static_cast<std::int64_t>(device->copies.size());
    std::vector<Interval> all = device->kernels;
    all.insert(all.end(), device->copies.begin(), device->copies.end());
    std::int64_t sum = 0;
    for (const Interval& interval : all) sum = plus_ns(sum, length(interval));
    const std::vector<Interval> busy = merge(std::move(all));
    const std::int64_t first = busy.front().start, last = busy.back().end, span = last - first;
    table.add_row(device->place.node, device->is_known ? Cell{device->place.index} : Cell{kMissing},
                  kernels, copies, length(merge(std::move(device->kernels))),
                  length(merge(std::move(device->copies))), length(busy), sum, first, last, span,
                  span - length(busy), percent_of(length(busy), span));
  }
  return table;
}

Table database_launches(const DatabaseEvents& events) {
  struct Group {
    std::int64_t call_ns = 0, queue_ns = 0;
    std::vector<std::int64_t> delays;
  };
  const Trace& trace = events.trace();
  std::map<std::pair<std::string_view, std::string_view>, Group> groups;
  for (const GpuEvent& job : events.gpu()) {
    if (!job.call.valid() || (job.work != Work::kKernel && job.work != Work::kGraph)) continue;
    Group& group = groups[{trace.name(job.call), trace.name(job.event)}];
    group.call_ns = plus_ns(group.call_ns, trace.dur_ns()[job.call.row]);
    group.queue_ns =
        plus_ns(group.queue_ns, std::max<std::int64_t>(0, job.start_ns - trace.end_ns(job.call)));
    group.delays.push_back(job.start_ns - trace.ts_ns()[job.call.row]);
  }
  const ColumnSpec columns[] = {
      {"api", Kind::kText, "", "the call that launched"},
      {"kernel", Kind::kText, "", "what it launched"},
      {"count", Kind::kInteger, "", "how many"},
      {"api_mean_ns", Kind::kReal, "ns", "how long the call took"},
      {"delay_mean_ns", Kind::kReal, "ns", "from the start of the call to that of the kernel"},
      {"delay_median_ns", Kind::kReal, "ns", "half of these delays are shorter"},
      {"delay_min_ns", Kind::kInteger, "ns",
       "the shortest; negative: the clocks of host and GPU are apart"},
      {"delay_max_ns", Kind::kInteger, "ns", "the longest"},
      {"queue_mean_ns", Kind::kReal, "ns", "from the end of the call to the start of the kernel"}};
  Table table{"launch_summary", "Which calls launched which kernels, and how long these waited",
              columns};
  for (auto& [key, group] : groups) {
    const NsStats delays = ns_stats(group.delays);
    const auto count = static_cast<double>(delays.count);
    table.add_row(key.first, key.second, delays.count, static_cast<double>(group.call_ns) / count,
                  delays.mean, delays.median, delays.min, delays.max,
                  static_cast<double>(group.queue_ns) / count);
  }
  return table;
}

}  // namespace tracelens
