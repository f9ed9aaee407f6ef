#include "tree/host_rows.hpp"

#include <array>

#include "tree/call_stack.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

HostRows host_rows(const Trace& trace, const TreeOptions& options) {
  std::array<bool, kCategoryCount> takes_part{};
  for (const Category category : {Category::kCpuOp, Category::kCudaRuntime, Category::kCudaDriver})
    takes_part[static_cast<std::size_t>(category)] = true;
  takes_part[static_cast<std::size_t>(Category::kPythonFunction)] = options.python_frames;
  const auto for_each_host_row = [&, recorded = trace.recorded(), categories = trace.categories(),
                                  phases = trace.phases(), ts = trace.ts_ns(),
                                  dur = trace.dur_ns()](auto&& use) {
    for (std::uint32_t row = 0; row < recorded; ++row)
      if (takes_part[static_cast<std::size_t>(categories[row])] &&
          phases[row] == Phase::kComplete && ts[row] != kAbsent && dur[row] != kAbsent)
        use(row);
  };
  const std::span<const TrackId> tracks = trace.tracks();
  HostRows host;
  host.bounds.assign(trace.track_table().size() + 1, 0);
  for_each_host_row([&](std::uint32_t row) { ++host.bounds[tracks[row].row + 1]; });
  for (std::size_t i = 1; i < host.bounds.size(); ++i) host.bounds[i] += host.bounds[i - 1];
  host.rows.resize(host.bounds.back());
  std::vector<std::uint32_t> next(host.bounds.begin(), host.bounds.end() - 1);
  for_each_host_row([&](std::uint32_t row) { host.rows[next[tracks[row].row]++] = row; });
  return host;
}

HostRows called_rows(const Trace& trace, const TreeOptions& options) {
  struct Nothing {};
  const auto ignore = [](Nothing) {};
  HostRows host = host_rows(trace, options);
  std::vector<std::uint32_t> scratch;
  CallStack<Nothing> stack;
  std::uint32_t kept = 0;  // rows move down over those that have no place
  for (std::size_t track = 0; track < host.tracks(); ++track) {
    const std::span<std::uint32_t> rows = host.of(track);
    sort_by_time(rows, trace.ts_ns(), scratch);
    host.bounds[track] = kept;
    for (const std::uint32_t row : rows) {
      const std::int64_t end = end_of(trace, {row});
      if (stack.make_room(trace.ts_ns()[row], end, ignore) == Room::kNone) continue;
      stack.push(end, {});
      host.rows[kept++] = row;
    }
    stack.close_all(ignore);
  }
  host.bounds.back() = kept;
  host.rows.resize(kept);
  return host;
}

}  // namespace tracelens
