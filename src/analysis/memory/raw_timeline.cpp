#include "analysis/memory/raw_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/trace.hpp>

#include "trace/json_cursor.hpp"

namespace tracelens {
namespace {

enum Action : std::int64_t { kExisted = 1, kCreate = 2, kNewVersion = 3, kDestroy = 4 };

struct RawChange {
  std::int64_t ts_ns = 0, action = 0, bytes = 0, category = 0;
};

std::int64_t integer(JsonCursor& at) {
  const JsonCursor::Text number = at.number();
  std::int64_t value = 0;
  const char* const end = number.text.data() + number.text.size();
  if (const auto read = std::from_chars(number.text.data(), end, value);
      read.ec != std::errc{} || read.ptr != end)
    throw JsonCursor::Failure{number.at, "a whole number was expected"};
  return value;
}

RawChange read_change(JsonCursor& at) {
  const std::size_t place = at.place();
  std::int64_t parts[4] = {};
  std::size_t count = 0;
  at.items([&] {
    const std::int64_t value = integer(at);
    if (count < std::size(parts)) parts[count] = value;
    ++count;
  });
  const RawChange change{parts[0], parts[1], parts[2], parts[3]};
  if (count != std::size(parts) || change.action < kExisted || change.action > kDestroy ||
      change.bytes > kMostMemory || change.bytes < -kMostMemory || change.category < 0 ||
      change.category >= static_cast<std::int64_t>(kRawCategories.size()))
    throw JsonCursor::Failure{place, "[time, action 1 to 4, bytes, category 0 to 7] was expected"};
  return change;
}

}  // namespace

RawTimeline parse_raw_timeline(std::string_view name, std::string_view json) {
  std::vector<RawChange> changes;
  try {
    JsonCursor at{json};
    at.items([&] { changes.push_back(read_change(at)); });
    at.end();
  } catch (const JsonCursor::Failure& failure) {
    throw Error{name, fmt::format("no memory timeline of the profiler: at byte {}: {}", failure.at,
                                  failure.what)};
  }
  std::ranges::stable_sort(changes, {}, &RawChange::ts_ns);
  RawTimeline timeline;
  timeline.points.reserve(changes.size());
  std::array<std::int64_t, kRawCategories.size()> now = {};
  const auto measured = std::ranges::find_if(
      changes, [](const RawChange& change) { return change.action != kExisted; });
  const std::int64_t first_ns = measured == changes.end() ? 0 : measured->ts_ns;
  std::int64_t allocated = 0;
  for (const RawChange& change : changes) {
    const std::int64_t bytes = change.bytes;
    now[static_cast<std::size_t>(change.category)] += bytes;
    allocated += bytes;
    if (change.action == kExisted) timeline.initial += bytes;
    if (change.action == kDestroy) ++timeline.frees;
    if (change.action == kCreate) {
      ++timeline.allocs;
      timeline.allocated_bytes += static_cast<double>(bytes);
    }
    const std::int64_t ts_ns = change.action == kExisted ? first_ns : change.ts_ns;
    timeline.points.push_back({ts_ns, allocated});
    if (allocated <= timeline.peak_allocated) continue;
    timeline.peak_allocated = allocated;
    timeline.peak_ts_ns = ts_ns;
    timeline.at_peak = now;
  }
  return timeline;
}

RawTimeline read_raw_timeline(const std::string& path) {
  return parse_raw_timeline(path, read_text_file(path));
}

}  // namespace tracelens
