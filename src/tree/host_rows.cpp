#include "tree/host_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/call_stack.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

namespace {

// The host events of a stretch of the file.
struct Found {
  std::vector<std::uint32_t> rows, without_length;  // in file order
  std::vector<std::uint32_t> next;  // by track: how many rows; then where the next one goes
  std::size_t frames = 0;
};

Found find_host_rows(const Trace& trace, bool python_frames, std::size_t begin, std::size_t end) {
  std::array<bool, kCategoryCount> takes_part{};
  for (const Category category : {Category::kCpuOp, Category::kCudaRuntime, Category::kCudaDriver})
    takes_part[static_cast<std::size_t>(category)] = true;
  takes_part[static_cast<std::size_t>(Category::kPythonFunction)] = python_frames;
  const std::span<const Category> categories = trace.categories();
  const std::span<const Phase> phases = trace.phases();
  const std::span<const std::int64_t> ts = trace.ts_ns(), dur = trace.dur_ns();
  const std::span<const TrackId> tracks = trace.tracks();
  Found found;
  found.next.resize(trace.track_table().size());
  std::size_t most = 0;
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    if (takes_part[i])
      most += static_cast<std::size_t>(
          std::ranges::count(categories.subspan(begin, end - begin), static_cast<Category>(i)));
  found.rows.reserve(most);
  for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
    if (!takes_part[static_cast<std::size_t>(categories[row])] || phases[row] != Phase::kComplete ||
        ts[row] == kAbsent)
      continue;
    if (dur[row] == kAbsent) {
      found.without_length.push_back(row);
      continue;
    }
    found.rows.push_back(row);
    ++found.next[tracks[row].row];
    found.frames += categories[row] == Category::kPythonFunction;
  }
  return found;
}

// Calls use(row, has a place in the tree) for the events of a thread, which stand in order of time.
template <class Use>
void for_each_call(const Trace& trace, std::span<const std::uint32_t> rows, const Use& use) {
  struct Nothing {};
  const auto ignore = [](Nothing) {};
  CallStack<Nothing> stack;
  for (const std::uint32_t row : rows) {
    const std::int64_t end = end_of(trace, {row});
    const bool has_place = stack.make_room(trace.ts_ns()[row], end, ignore) != Room::kNone;
    if (has_place) stack.push(end, {});
    use(row, has_place);
  }
}

}  // namespace

HostRows host_rows(const Trace& trace, const TreeOptions& options) {
  const std::size_t tracks = trace.track_table().size();
  io::Ranges ranges{io::thread_count(options.threads), trace.recorded()};
  // Every stretch counts by track: a trace of nothing but tracks is one stretch.
  if (ranges.parts() * tracks > trace.size()) ranges.join();
  std::vector<Found> parts(ranges.parts());
  const auto for_each_stretch = [&](const auto& use) {
    io::for_each_part(io::thread_count(options.threads), parts.size(), use);
  };
  for_each_stretch([&](std::size_t i) {
    parts[i] = find_host_rows(trace, options.python_frames, ranges.begin(i), ranges.end(i));
  });
  HostRows host;
  host.bounds.reserve(tracks + 1);
  std::uint32_t all = 0;
  for (std::size_t track = 0; track < tracks; ++track) {
    host.bounds.push_back(all);
    for (Found& part : parts) all += std::exchange(part.next[track], all);
  }
  host.bounds.push_back(all);
  host.rows.resize(all);
  for_each_stretch([&](std::size_t i) {
    for (const std::uint32_t row : parts[i].rows)
      host.rows[parts[i].next[trace.tracks()[row].row]++] = row;
  });
  for (const Found& part : parts) {
    host.frames += part.frames;
    std::ranges::copy(part.without_length, std::back_inserter(host.without_length));
  }
  return host;
}

HostRows host_rows_by_time(const Trace& trace, const TreeOptions& options) {
  HostRows host = host_rows(trace, options);
  const int threads = io::thread_count(options.threads);
  // What is long beside all others by all of our threads, one after the other; the others each by one.
  const std::size_t all = host.rows.size(), many = static_cast<std::size_t>(threads);
  const auto is_long = [&](std::size_t track) {
    const std::size_t rows = host.of(track).size();
    return io::spare_threads(threads) > 1 && rows > 2 * io::Ranges::kRangeSize && rows > all / many;
  };
  std::vector<std::uint32_t> scratch;
  for (std::size_t track = 0; track < host.tracks(); ++track)
    if (is_long(track)) sort_by_time(host.of(track), trace.ts_ns(), scratch, threads);
  io::for_each_part(threads, host.tracks(), [&](std::size_t track) {
    std::vector<std::uint32_t> own_scratch;
    if (!is_long(track)) sort_by_time(host.of(track), trace.ts_ns(), own_scratch);
  });
  return host;
}

HostRows called_rows(const Trace& trace, const TreeOptions& options) {
  HostRows by_time = host_rows_by_time(trace, options);
  std::optional<HostRows> called = called_among(trace, by_time, options.threads);
  return called ? *std::move(called) : std::move(by_time);
}

std::optional<HostRows> called_among(const Trace& trace, const HostRows& by_time, int threads) {
  if (const int many = io::spare_threads(threads); many > 1) {
    std::atomic<bool> all_have_a_place = true;
    io::for_each_part(many, by_time.tracks(), [&](std::size_t track) {
      for_each_call(trace, by_time.of(track), [&](std::uint32_t, bool has_place) {
        if (!has_place) all_have_a_place = false;
      });
    });
    if (all_have_a_place) return std::nullopt;
  }
  std::optional<HostRows> called;
  std::uint32_t kept = 0;  // once there is one without a place, rows move down over it
  for (std::size_t track = 0; track < by_time.tracks(); ++track) {
    if (called) called->bounds[track] = kept;
    for_each_call(trace, by_time.of(track), [&](std::uint32_t row, bool has_place) {
      if (!has_place) {
        if (!called) called = by_time;
        called->frames -= trace.categories()[row] == Category::kPythonFunction;
        return;
      }
      if (called) called->rows[kept] = row;
      ++kept;
    });
  }
  if (!called) return std::nullopt;
  called->bounds.back() = kept;
  called->rows.resize(kept);
  return called;
}

}  // namespace tracelens
