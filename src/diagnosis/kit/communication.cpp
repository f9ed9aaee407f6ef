#include "diagnosis/kit/communication.hpp"

#include <algorithm>
#include <map>
#include <tracelens/intervals.hpp>
#include <tracelens/table_text.hpp>
#include <tuple>
#include <utility>

#include "diagnosis/kit/device.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kMib = 1024.0 * 1024.0;

std::string text_of(const Value& value) {
  if (value.is_null()) return {};
  return value.is_text() ? value.as_text() : python_repr(value);
}

void add_bytes(WindowCollective& one) {
  const bool gathers = one.kind == CollectiveKind::kAllGather;
  const auto mib =
      message_mib(*one.message, gathers ? kOutElements : kInElements, Edition::kExtended);
  if (!mib) return;
  one.bytes = *mib * kMib;
  const Value& size = (*one.message)[kGroupSize];
  if (size.is_number() && one.kind != CollectiveKind::kUnknown)
    one.bus_bytes = *one.bytes * bus_factor(one.kind, size.as_real());
}

void add_totals(const TraceFacts& facts, std::span<const EventId> gpu_events, Communication& made) {
  const Trace& trace = facts.trace();
  struct Times {
    std::vector<Interval> communicating, computing;
  };
  std::map<std::int64_t, Times> devices;
  const auto device = [&](EventId event) -> Times& { return devices[device_of(facts, event)]; };
  std::vector<std::uint32_t> rows;
  for (const WindowCollective& one : made.kernels) {
    rows.push_back(one.event.row);
    device(one.event).communicating.push_back(
        {trace.ts_ns()[one.event.row], trace.end_ns(one.event)});
  }
  std::ranges::sort(rows);
  for (const EventId event : gpu_events)
    if (facts.work().of(event) != GpuWork::kCopy && !std::ranges::binary_search(rows, event.row))
      device(event).computing.push_back({trace.ts_ns()[event.row], trace.end_ns(event)});
  for (auto& [number, times] : devices) {
    const std::vector<Interval> communicating = merge(std::move(times.communicating));
    const std::int64_t exposed = length(subtract(communicating, merge(std::move(times.computing))));
    made.total_ns = std::max(made.total_ns, length(communicating));
    made.exposed_ns = std::max(made.exposed_ns, exposed);
  }
}

}  // namespace

std::string WindowCollective::name() const {
  const std::string said = text_of((*message)[kCollective]);
  return said.empty() ? "unknown" : said;
}
std::string WindowCollective::group() const { return text_of((*message)[kGroupName]); }
double WindowCollective::bus_gbps() const {
  return bus_bytes && dur_ns > 0 ? *bus_bytes / static_cast<double>(dur_ns) : 0;
}

Communication communication_of(const TraceFacts& facts, std::span<const EventId> gpu_events) {
  const Trace& trace = facts.trace();
  if (std::ranges::none_of(gpu_events,
                           [&](EventId event) { return facts.work().is_communication(event); }))
    return {};
  Communication made{.ranks = summarize_ranks(trace, {})};
  // A summary has times and no events: the event of a kernel is the one of its time and length.
  using Key = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;
  std::vector<Key> events;
  for (const EventId event : gpu_events)
    if (trace.category(event) == Category::kKernel &&
        (facts.kind() == TraceKind::kJax || facts.work().is_communication(event)))
      events.emplace_back(trace.ts_ns()[event.row], trace.dur_ns()[event.row], event.row);
  std::ranges::sort(events);
  std::vector<std::uint8_t> is_used(events.size());
  for (std::uint32_t rank = 0; rank < made.ranks.size(); ++rank) {
    const RankTrace& from = made.ranks[rank];
    for (std::uint32_t i = 0; i < from.kernels.size(); ++i) {
      const CollectiveKernel& kernel = from.kernels[i];
      auto at = std::ranges::lower_bound(events, Key{kernel.ts_ns, kernel.dur_ns, 0});
      while (at != events.end() && is_used[static_cast<std::size_t>(at - events.begin())] != 0)
        ++at;
      if (at == events.end() || std::get<0>(*at) != kernel.ts_ns ||
          std::get<1>(*at) != kernel.dur_ns)
        continue;
      is_used[static_cast<std::size_t>(at - events.begin())] = 1;
      const CollectiveMessage& message = from.message(kernel);
      WindowCollective& one = made.kernels.emplace_back(
          WindowCollective{.event = EventId{std::get<2>(*at)},
                           .rank = rank,
                           .kernel = i,
                           .message = &message,
                           .kind = kind_of(message[kCollective], Edition::kExtended),
                           .dur_ns = kernel.dur_ns,
                           .exposed_ns = kernel.exposed_ns});
      add_bytes(one);
    }
  }
  std::ranges::stable_sort(
      made.kernels, {}, [&](const WindowCollective& one) { return trace.ts_ns()[one.event.row]; });
  add_totals(facts, gpu_events, made);
  return made;
}

}  // namespace tracelens
