#include "tree/host_rows.hpp"

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
  const auto for_each_host_row = [&, categories = trace.categories(), phases = trace.phases(),
                                  ts = trace.ts_ns(), dur = trace.dur_ns()](
                                     std::size_t begin, std::size_t end, auto&& use) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row)
      if (takes_part[static_cast<std::size_t>(categories[row])] &&
          phases[row] == Phase::kComplete && ts[row] != kAbsent && dur[row] != kAbsent)
        use(row);
  };
  const std::span<const TrackId> tracks = trace.tracks();
  HostRows host;
  const std::size_t track_count = trace.track_table().size();
  // Counted first, by part of the trace and track: then each part knows where its rows belong.
  constexpr std::size_t kManyTracks = 4096;  // a damaged file may name millions
  const int threads = track_count > kManyTracks ? 1 : io::thread_count(options.threads);
  const io::Ranges ranges{threads, trace.recorded()};
  std::vector<std::vector<std::uint32_t>> next(ranges.parts());
  io::for_each_part(threads, next.size(), [&](std::size_t part) {
    std::vector<std::uint32_t> counts(track_count);
    for_each_host_row(ranges.begin(part), ranges.end(part),
                      [&](std::uint32_t row) { ++counts[tracks[row].row]; });
    next[part] = std::move(counts);
  });
  host.bounds.assign(track_count + 1, 0);
  std::uint32_t before = 0;
  for (std::size_t track = 0; track < track_count; ++track) {
    for (std::vector<std::uint32_t>& part : next) before += std::exchange(part[track], before);
    host.bounds[track + 1] = before;
  }
  host.rows.resize(before);
  io::for_each_part(threads, next.size(), [&](std::size_t part) {
    std::vector<std::uint32_t>& at = next[part];
    for_each_host_row(ranges.begin(part), ranges.end(part),
                      [&](std::uint32_t row) { host.rows[at[tracks[row].row]++] = row; });
  });
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
