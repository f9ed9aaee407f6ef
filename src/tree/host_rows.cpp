#include "tree/host_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/call_stack.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

HostRows host_rows(const Trace& trace, const TreeOptions& options) {
  std::array<bool, kCategoryCount> takes_part{};
  for (const Category category : {Category::kCpuOp, Category::kCudaRuntime, Category::kCudaDriver})
    takes_part[static_cast<std::size_t>(category)] = true;
  takes_part[static_cast<std::size_t>(Category::kPythonFunction)] = options.python_frames;
  const std::span<const Category> categories = trace.categories();
  const std::span<const Phase> phases = trace.phases();
  const std::span<const std::int64_t> ts = trace.ts_ns(), dur = trace.dur_ns();
  const std::span<const TrackId> tracks = trace.tracks();
  HostRows host;
  host.bounds.assign(trace.track_table().size() + 1, 0);
  std::size_t most = 0;
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    if (takes_part[i])
      most += static_cast<std::size_t>(std::ranges::count(categories, static_cast<Category>(i)));
  std::vector<std::uint32_t> rows;  // in file order
  rows.reserve(most);
  for (std::uint32_t row = 0; row < trace.recorded(); ++row) {
    if (!takes_part[static_cast<std::size_t>(categories[row])] || phases[row] != Phase::kComplete ||
        ts[row] == kAbsent)
      continue;
    if (dur[row] == kAbsent) {
      host.without_length.push_back(row);
      continue;
    }
    rows.push_back(row);
    ++host.bounds[tracks[row].row + 1];
    host.frames += categories[row] == Category::kPythonFunction;
  }
  for (std::size_t i = 1; i < host.bounds.size(); ++i) host.bounds[i] += host.bounds[i - 1];
  host.rows.resize(rows.size());
  std::vector<std::uint32_t> next(host.bounds.begin(), host.bounds.end() - 1);
  for (const std::uint32_t row : rows) host.rows[next[tracks[row].row]++] = row;
  return host;
}

HostRows host_rows_by_time(const Trace& trace, const TreeOptions& options) {
  HostRows host = host_rows(trace, options);
  io::for_each_part(io::thread_count(options.threads), host.tracks(), [&](std::size_t track) {
    std::vector<std::uint32_t> scratch;
    sort_by_time(host.of(track), trace.ts_ns(), scratch);
  });
  return host;
}

HostRows called_rows(const Trace& trace, const TreeOptions& options) {
  HostRows by_time = host_rows_by_time(trace, options);
  std::optional<HostRows> called = called_among(trace, by_time);
  return called ? *std::move(called) : std::move(by_time);
}

std::optional<HostRows> called_among(const Trace& trace, const HostRows& by_time) {
  struct Nothing {};
  const auto ignore = [](Nothing) {};
  CallStack<Nothing> stack;
  std::optional<HostRows> called;
  std::uint32_t kept = 0;  // once there is one without a place, rows move down over it
  for (std::size_t track = 0; track < by_time.tracks(); ++track) {
    if (called) called->bounds[track] = kept;
    for (const std::uint32_t row : by_time.of(track)) {
      const std::int64_t end = end_of(trace, {row});
      if (stack.make_room(trace.ts_ns()[row], end, ignore) == Room::kNone) {
        if (!called) called = by_time;
        called->frames -= trace.categories()[row] == Category::kPythonFunction;
        continue;
      }
      stack.push(end, {});
      if (called) called->rows[kept] = row;
      ++kept;
    }
    stack.close_all(ignore);
  }
  if (!called) return std::nullopt;
  called->bounds.back() = kept;
  called->rows.resize(kept);
  return called;
}

}  // namespace tracelens
