#include "analysis/memory/tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/memory/blocks.hpp"
#include "analysis/memory/peak.hpp"
#include "facts/steps.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

double mb(double bytes) { return bytes / 1e6; }
double mb(std::int64_t bytes) { return mb(static_cast<double>(bytes)); }

std::optional<std::string_view> text_if(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

// When the first event starts; the profiler's own span around all of them begins earlier.
std::int64_t first_event_ns(const Trace& trace) {
  std::optional<std::int64_t> first;
  for (const EventId event : trace.all_events())
    if (trace.phase(event) == Phase::kComplete && trace.category(event) != Category::kTraceSpan)
      first = std::min(first.value_or(trace.ts_ns()[event.row]), trace.ts_ns()[event.row]);
  return first.value_or(0);
}

// --- memory_summary ---

struct SummaryRow {
  std::string device;
  std::int64_t peak_allocated = 0, peak_at_ns = 0, initial = 0;
  std::string step = {};
  std::optional<std::int64_t> peak_reserved = {}, reserved_at_peak = {}, capacity = {};
  std::int64_t allocs = 0, frees = 0, violations = 0, steps = 0;
  double allocated_bytes = 0;

  [[nodiscard]] std::optional<std::int64_t> fragmentation() const {
    return reserved_at_peak ? std::optional{*reserved_at_peak - peak_allocated} : std::nullopt;
  }
};

Table summary_table(std::span<SummaryRow> rows) {
  using Row = SummaryRow;
  static constexpr auto kMb = [](std::optional<std::int64_t> bytes) {
    return bytes ? std::optional{mb(*bytes)} : std::nullopt;
  };
  static constexpr auto kShare = [](std::optional<std::int64_t> part,
                                    std::optional<std::int64_t> whole) {
    return part && whole ? percent_of(*part, *whole) : std::nullopt;
  };
  static constexpr auto kPerStep = [](const Row& r, double amount) {
    return r.steps > 0 ? std::optional{amount / static_cast<double>(r.steps)} : std::nullopt;
  };
  ColumnSet<Row> columns{
      {{"device", Kind::kText, "", "whose memory"}, [](const Row& r) { return r.device; }},
      {{"peak_allocated_mb", Kind::kReal, "MB", "most bytes in use at one time; MB: 10^6 bytes"},
       [](const Row& r) { return mb(r.peak_allocated); }},
      {{"peak_at_ms", Kind::kReal, "ms", "when, from the first event of the trace"},
       [](const Row& r) { return ms(r.peak_at_ns); }},
      {{"step", Kind::kText, "", "the marked step that holds the peak"},
       [](const Row& r) { return text_if(r.step); }},
      {{"initial_mb", Kind::kReal, "MB",
        "in use before the trace began: weights, optimizer state; whose is not known"},
       [](const Row& r) { return mb(r.initial); }},
      {{"peak_reserved_mb", Kind::kReal, "MB", "most the allocator held of the device"},
       [](const Row& r) { return kMb(r.peak_reserved); }},
      {{"fragmentation_mb", Kind::kReal, "MB", "held but not in use at the peak of use"},
       [](const Row& r) { return kMb(r.fragmentation()); }},
      {{"fragmentation_pct", Kind::kReal, "%", "the same as a share of what was held"},
       [](const Row& r) { return kShare(r.fragmentation(), r.reserved_at_peak); }},
      {{"allocs", Kind::kInteger, "", "blocks handed out"}, &Row::allocs},
      {{"frees", Kind::kInteger, "", "blocks taken back"}, &Row::frees},
      {{"alloc_mb", Kind::kReal, "MB", "bytes handed out in all"},
       [](const Row& r) { return mb(r.allocated_bytes); }},
      {{"allocs_per_step", Kind::kReal, "", "blocks handed out per marked step"},
       [](const Row& r) { return kPerStep(r, static_cast<double>(r.allocs)); }},
      {{"alloc_mb_per_step", Kind::kReal, "MB", "bytes handed out per marked step"},
       [](const Row& r) { return kPerStep(r, mb(r.allocated_bytes)); }},
      {{"capacity_mb", Kind::kReal, "MB", "memory of the device"},
       [](const Row& r) { return kMb(r.capacity); }},
      {{"peak_pct_of_capacity", Kind::kReal, "%", "peak_reserved_mb as a share of it"},
       [](const Row& r) { return kShare(r.peak_reserved, r.capacity); }},
      {{"identity_violations", Kind::kInteger, "",
        "times the total did not change by the size of the block: events were lost"},
       &Row::violations}};
  Table table = columns.make_table("memory_summary",
                                   "Memory in use and held by the allocator of each device");
  for (Row& row : rows) columns.append(table, row);
  return table;
}

// --- memory_timeline ---

struct TimelinePoint {
  std::int64_t ts_ns = 0, allocated = 0;
  std::optional<std::int64_t> reserved = {};
};

// The least and the most of each stretch of equally many points, so that no peak is lost.
std::vector<TimelinePoint> thinned(std::vector<TimelinePoint> points, std::size_t most) {
  if (points.size() <= most || most < 2) return points;
  const std::size_t stretches = most / 2;
  std::vector<TimelinePoint> kept;
  kept.reserve(2 * stretches);
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / stretches);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / stretches);
    auto [least, largest] = std::minmax_element(
        begin, end,
        [](const TimelinePoint& a, const TimelinePoint& b) { return a.allocated < b.allocated; });
    if (largest < least) std::swap(least, largest);
    kept.push_back(*least);
    if (largest != least) kept.push_back(*largest);
  }
  return kept;
}

// Of each part of the time the first, the least and the most in use, the most held, and the last.
std::vector<TimelinePoint> thinned_by_time(std::vector<TimelinePoint> points, std::size_t parts) {
  if (points.size() <= parts) return points;
  const double start = static_cast<double>(points.front().ts_ns),
               length = static_cast<double>(points.back().ts_ns) - start;
  const auto part_of = [&](const TimelinePoint& point) {
    const double place = (static_cast<double>(point.ts_ns) - start) / std::max(1.0, length);
    return static_cast<std::size_t>(std::clamp(place, 0.0, 1.0) * static_cast<double>(parts));
  };
  std::vector<TimelinePoint> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const std::size_t part = part_of(*begin);
    const auto end = std::find_if(begin + 1, points.end(), [&](const TimelinePoint& point) {
      return part_of(point) != part;
    });
    const auto is_less = [](const TimelinePoint& a, const TimelinePoint& b) {
      return a.allocated < b.allocated;
    };
    const auto holds_less = [](const TimelinePoint& a, const TimelinePoint& b) {
      return a.reserved < b.reserved;
    };
    std::array chosen{begin, std::min_element(begin, end, is_less),
                      std::max_element(begin, end, is_less),
                      std::max_element(begin, end, holds_less), end - 1};
    std::ranges::sort(chosen);
    const auto last = std::unique(chosen.begin(), chosen.end());
    std::transform(chosen.begin(), last, std::back_inserter(kept),
                   [](const auto& point) { return *point; });
    begin = end;
  }
  return kept;
}

class TimelineTable {
 public:
  void add(const std::string& device, std::int64_t start_ns,
           std::span<const TimelinePoint> points) {
    for (const TimelinePoint& point : points)
      columns_.append(table_, Row{device, minus_ns(point.ts_ns, start_ns), point});
  }
  Table take() && { return std::move(table_); }

 private:
  struct Row {
    const std::string& device;
    std::int64_t ts_ns;
    const TimelinePoint& point;
  };
  ColumnSet<Row> columns_{
      {{"device", Kind::kText, "", "whose memory"}, [](const Row& r) { return r.device; }},
      {{"ts_ms", Kind::kReal, "ms", "from the first event of the trace"},
       [](const Row& r) { return ms(r.ts_ns); }},
      {{"allocated_mb", Kind::kReal, "MB", "in use from then on; MB: 10^6 bytes"},
       [](const Row& r) { return mb(r.point.allocated); }},
      {{"reserved_mb", Kind::kReal, "MB", "held by the allocator"}, [](const Row& r) {
         return r.point.reserved ? std::optional{mb(*r.point.reserved)} : std::nullopt;
       }}};
  Table table_ =
      columns_.make_table("memory_timeline",
                          "Memory in use over time; of many changes the least and the most of each "
                          "stretch");
};

// --- memory_peak, memory_churn ---

struct OwnerRow {
  std::string device;
  MemoryOwner owner;
  std::string_view category;
  std::int64_t whole = 0;
};

ColumnSet<OwnerRow> owner_columns() {
  using Row = OwnerRow;
  return {
      {{"device", Kind::kText, "", "whose memory"}, [](const Row& r) { return r.device; }},
      {{"category", Kind::kText, "",
        "before trace; gradient: from the backward pass, alive at the step's end; optimizer: from "
        "the optimizer's step, never taken back; workspace: of one matrix product or convolution; "
        "activation: from the forward pass, taken back in the backward pass; temporary: taken back "
        "by the same outermost op or in the same phase; other"},
       &Row::category},
      {{"op", Kind::kText, "", "innermost op that asked for the memory"},
       [](const Row& r) { return text_if(r.owner.op); }},
      {{"top op", Kind::kText, "", "outermost op around it"},
       [](const Row& r) { return text_if(r.owner.top_op); }},
      {{"module", Kind::kText, "",
        "class of the nn.Module, of a backward op that of its forward op"},
       [](const Row& r) { return text_if(r.owner.module); }},
      {{"line", Kind::kText, "", "the user's Python frame around the largest block"},
       [](const Row& r) { return text_if(r.owner.line); }},
      {{"bytes", Kind::kInteger, "B", "of all the blocks"},
       [](const Row& r) { return r.owner.bytes; }},
      {{"count", Kind::kInteger, "", "blocks"}, [](const Row& r) { return r.owner.count; }}};
}

Table peak_table(std::span<OwnerRow> rows) {
  ColumnSet<OwnerRow> columns = owner_columns();
  columns.add({"pct_of_peak", Kind::kReal, "%", "share of the memory in use at the peak"},
              [](const OwnerRow& r) { return percent_of(r.owner.bytes, r.whole); });
  Table table = columns.make_table("memory_peak", "Who owned the memory in use at the peak");
  for (OwnerRow& row : rows) columns.append(table, row);
  return table;
}

Table churn_table(std::span<OwnerRow> rows) {
  ColumnSet<OwnerRow> columns = owner_columns();
  columns.add({"mean_life_ms", Kind::kReal, "ms", "from handing out to taking back, of those"},
              [](const OwnerRow& r) {
                return r.owner.freed > 0 ? std::optional{r.owner.life_ns /
                                                         static_cast<double>(r.owner.freed) / 1e6}
                                         : std::nullopt;
              });
  Table table = columns.make_table("memory_churn", "Who asked for memory, and how often");
  for (OwnerRow& row : rows) columns.append(table, row);
  return table;
}

}  // namespace

Table memory_summary(const TraceFacts& facts, std::span<const DeviceMemory> devices) {
  const Trace& trace = facts.trace();
  const std::vector<Step> steps = find_steps(trace, Tree{});  // those that are marked
  const std::int64_t start_ns = first_event_ns(trace);
  std::vector<SummaryRow> rows;
  for (const DeviceMemory& device : devices) {
    SummaryRow& row =
        rows.emplace_back(SummaryRow{.device = device.name(),
                                     .peak_allocated = device.peak_allocated,
                                     .peak_at_ns = minus_ns(device.peak_ts_ns, start_ns),
                                     .initial = device.initial,
                                     .allocs = device.allocs,
                                     .frees = device.frees,
                                     .violations = device.violations,
                                     .steps = static_cast<std::int64_t>(steps.size()),
                                     .allocated_bytes = device.allocated_bytes});
    // Nothing is held of the host's memory for later.
    if (device.peak_reserved > 0) {
      row.peak_reserved = device.peak_reserved;
      row.reserved_at_peak = device.reserved_at_peak;
    }
    if (device.capacity > 0) row.capacity = device.capacity;
    for (const Step& step : steps)
      if (step.ts_ns <= device.peak_ts_ns && device.peak_ts_ns < end_of(step.ts_ns, step.dur_ns))
        row.step = step.name;
  }
  return summary_table(rows);
}

namespace {

template <class Thin>
Table timeline_by(const Trace& trace, std::span<const DeviceMemory> devices, const Thin& thin) {
  TimelineTable table;
  const std::int64_t start_ns = first_event_ns(trace);
  const auto& column = trace.memory_changes();
  for (const DeviceMemory& device : devices) {
    std::vector<TimelinePoint> points;
    points.reserve(device.order.size());
    for (const std::uint32_t at : device.order) {
      const MemoryChange& change = column.values()[at];
      points.push_back({trace.ts_ns()[column.rows()[at]], change.allocated, change.reserved});
    }
    table.add(device.name(), start_ns, thin(std::move(points)));
  }
  return std::move(table).take();
}

}  // namespace

Table memory_timeline(const Trace& trace, std::span<const DeviceMemory> devices,
                      std::size_t most_rows) {
  return timeline_by(trace, devices, [&](std::vector<TimelinePoint> points) {
    return thinned(std::move(points), most_rows / devices.size());
  });
}

Table memory_curves(const Trace& trace, std::span<const DeviceMemory> devices) {
  constexpr std::size_t kParts = 4'000;
  return timeline_by(trace, devices, [](std::vector<TimelinePoint> points) {
    return thinned_by_time(std::move(points), kParts);
  });
}

MemoryOwnerTables memory_owners(const TraceFacts& facts, std::span<const DeviceMemory> devices) {
  const MemoryPlaces places{facts};
  std::vector<OwnerRow> at_peak, of_all;
  const auto add = [](std::vector<OwnerRow>& rows, const DeviceMemory& device,
                      std::vector<MemoryOwner> owners) {
    for (MemoryOwner& owner : owners) {
      const std::string_view category = block_use_name(owner.use);
      rows.push_back({device.name(), std::move(owner), category, device.peak_allocated});
    }
  };
  for (const DeviceMemory& device : devices) {
    const std::vector<MemoryBlock> blocks = memory_blocks(device, places);
    add(at_peak, device, owners_at_peak(device, blocks, places));
    add(of_all, device, owners_of_all(device, blocks, places));
  }
  return {peak_table(at_peak), churn_table(of_all)};
}

std::vector<Table> raw_memory_tables(const RawTimeline& timeline, std::size_t most_rows) {
  const std::string device = "profiler's timeline";
  const std::int64_t start_ns = timeline.points.empty() ? 0 : timeline.points.front().ts_ns;
  SummaryRow summary{.device = device,
                     .peak_allocated = timeline.peak_allocated,
                     .peak_at_ns = minus_ns(timeline.peak_ts_ns, start_ns),
                     .initial = timeline.initial,
                     .allocs = timeline.allocs,
                     .frees = timeline.frees,
                     .allocated_bytes = timeline.allocated_bytes};
  std::vector<OwnerRow> at_peak;
  for (std::size_t category = 0; category < kRawCategories.size(); ++category)
    if (timeline.at_peak[category] > 0)
      at_peak.push_back({device,
                         {.bytes = timeline.at_peak[category]},
                         kRawCategories[category],
                         timeline.peak_allocated});
  std::ranges::stable_sort(at_peak, std::ranges::greater{},
                           [](const OwnerRow& row) { return row.owner.bytes; });
  std::vector<TimelinePoint> points;
  for (const RawTimeline::Point& point : timeline.points)
    points.push_back({point.ts_ns, point.allocated});
  TimelineTable over_time;
  over_time.add(device, start_ns, thinned(std::move(points), most_rows));
  std::vector<Table> tables;
  tables.push_back(summary_table({&summary, 1}));
  tables.push_back(peak_table(at_peak));
  tables.push_back(std::move(over_time).take());
  return tables;
}

}  // namespace tracelens
