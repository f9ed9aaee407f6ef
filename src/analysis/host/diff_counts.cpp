#include "analysis/host/diff_counts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Counted {
  std::string_view name, device;
  std::array<std::int64_t, 2> counts{}, ns{};  // of control and test
  [[nodiscard]] std::int64_t more() const { return counts[1] - counts[0]; }
  [[nodiscard]] std::int64_t more_ns() const { return minus_ns(ns[1], ns[0]); }
  [[nodiscard]] std::uint64_t change() const {
    return static_cast<std::uint64_t>(more_ns() < 0 ? minus_ns(0, more_ns()) : more_ns());
  }
};

std::string_view device_of(Category category) {
  if (is_gpu(category)) return "GPU";
  return category == Category::kCpuOp || is_runtime(category) ? "host" : "";
}

std::string_view word_for(const Counted& row) {
  if (row.counts[0] == 0) return "added";
  if (row.counts[1] == 0) return "deleted";
  return row.more() == 0 ? "unchanged" : row.more() > 0 ? "increased" : "decreased";
}

}  // namespace

Table diff_counts(const Trace& control, const Trace& test) {
  std::vector<Counted> rows;
  std::unordered_map<std::string_view, std::size_t> on_host, on_gpu;  // by name
  for (std::size_t side = 0; side < 2; ++side) {
    const Trace& trace = side == 0 ? control : test;
    std::vector<std::array<std::uint32_t, 2>> known(trace.string_count());  // by name: row + 1
    for (const EventId event : trace.recorded_events()) {
      const std::string_view device = device_of(trace.category(event));
      if (device.empty() || trace.phase(event) != Phase::kComplete) continue;
      const bool is_gpu_event = is_gpu(trace.category(event));
      std::uint32_t& place = known[trace.names()[event.row].row][is_gpu_event ? 1 : 0];
      if (place == 0) {
        const auto [entry, is_new] =
            (is_gpu_event ? on_gpu : on_host).try_emplace(trace.name(event), rows.size());
        if (is_new) rows.push_back({.name = trace.name(event), .device = device});
        place = static_cast<std::uint32_t>(entry->second + 1);
      }
      Counted& row = rows[place - 1];
      ++row.counts[side];
      row.ns[side] = plus_ns(row.ns[side], duration_of(trace, event));
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Counted::change);
  ColumnSet<Counted> columns{
      {{"name", Kind::kText, "", "op, call or kernel as traced"}, &Counted::name},
      {{"device", Kind::kText, "", "host: an op or a call; GPU: a kernel, copy or fill"},
       &Counted::device},
      {{"control_counts", Kind::kInteger, "", "how often in the first trace"},
       [](const Counted& row) { return row.counts[0]; }},
      {{"test_counts", Kind::kInteger, "", "how often in the second trace"},
       [](const Counted& row) { return row.counts[1]; }},
      {{"control_total_duration", Kind::kReal, "µs", "for how long in the first trace"},
       [](const Counted& row) { return us(row.ns[0]); }},
      {{"test_total_duration", Kind::kReal, "µs", "for how long in the second trace"},
       [](const Counted& row) { return us(row.ns[1]); }},
      {{"diff_counts", Kind::kInteger, "", "how much more often in the second"},
       [](const Counted& row) { return row.more(); }},
      {{"diff_duration", Kind::kReal, "µs", "how much longer in the second"},
       [](const Counted& row) { return us(row.more_ns()); }},
      {{"counts_change_categories", Kind::kText, "",
        "+: more often in the second, -: less often, =: as often"},
       [](const Counted& row) { return row.more() > 0   ? "+"
                                       : row.more() < 0 ? "-"
                                                        : "="; }},
      {{"change", Kind::kText, "",
        "added and deleted: only in one of them; increased, decreased, unchanged"},
       word_for}};
  Table table = columns.make_table(
      "diff_counts",
      "How often each op, call and kernel ran in both traces, the largest change first");
  for (Counted& row : rows) columns.append(table, row);
  return table;
}

}  // namespace tracelens
