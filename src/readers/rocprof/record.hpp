// record.hpp: one element of rocprofv3's record lists, as written: a dispatch, a copy, an
// API call; or what was counted in a dispatch.
//   RocprofRecord record;
//   if (parse_rocprof_record(text, record)) ...
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

// Numbers are kAbsent when the record does not have them. Handles are whatever the driver gave.
struct RocprofRecord {
  std::int64_t start_ns = kAbsent, end_ns = kAbsent;
  std::int64_t thread = kAbsent, correlation = kAbsent, stream = kAbsent;
  std::int64_t kind = kAbsent, operation = kAbsent;  // index into strings.buffer_records
  std::int64_t agent = kAbsent;                      // of a dispatch or allocation
  std::int64_t agent_node = kAbsent;                 // in CSV: its number instead of its handle
  std::int64_t src_agent = kAbsent, dst_agent = kAbsent, bytes = kAbsent;  // of a copy
  std::int64_t kernel_id = kAbsent, dispatch_id = kAbsent, queue = kAbsent;
  std::int64_t private_bytes = kAbsent, group_bytes = kAbsent;
  std::array<std::int64_t, 3> grid = {1, 1, 1};   // work-items
  std::array<std::int64_t, 3> group = {1, 1, 1};  // work-items of a work-group
};

// `text` is one JSON value followed by json::kPadding readable bytes. False when it is no object,
// or no sound one. Keys may come in any order; the last of equal ones wins; others are skipped.
[[nodiscard]] bool parse_rocprof_record(std::string_view text, RocprofRecord& record);

// One element of "counter_collection".
struct RocprofCounts {
  RocprofRecord dispatch;
  // Handle of a counter and its value, as they stand: a counter of several units of the GPU (shader
  // engines, channels) has a value for each.
  std::vector<std::pair<std::int64_t, double>> values;
  std::uint64_t unusable = 0;  // values that are no finite numbers, or of no counter
};
// The same for it.
[[nodiscard]] bool parse_rocprof_counts(std::string_view text, RocprofCounts& counts);

}  // namespace tracelens
