#include "analysis/ops/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kShortestOverlapNs = 1000;
constexpr std::uint32_t kNoEvent = 0xffffffff;

// The decimal with two places nearest to the exact value, as printf rounds.
double two_decimals(double value) {
  char text[400];  // the longest double needs 309 digits before the point
  std::snprintf(text, sizeof text, "%.2f", value);
  return std::strtod(text, nullptr);
}

}  // namespace

Overlaps::Overlaps(const TraceFacts& facts, const LaunchTable& table, bool include_unlinked)
    : trace_{facts.trace()},
      event_of_(table.gpu_events().size(), kNoEvent),
      place_of_name_(trace_.string_count(), kNoEvent) {
  const Tree& tree = facts.tree();
  const std::vector<EventId>& selected = facts.gpu_events(include_unlinked).events;
  const std::vector<std::int64_t> streams = gather(trace_.streams(), selected);
  std::vector<std::pair<Event, EventId>> found;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const Interval time = interval_of(trace_, selected[i]);
    if (time.end > time.start)
      found.push_back(
          {{time.start, time.end, streams[i], trace_.names()[selected[i].row]}, selected[i]});
  }
  std::ranges::stable_sort(found, {}, [](const auto& item) { return item.first.start_ns; });
  events_.reserve(found.size());
  for (const auto& [event, id] : found) {
    if (const NodeId node = tree.node(id); node.valid())
      event_of_[table.first_position(node)] = static_cast<std::uint32_t>(events_.size());
    events_.push_back(event);
  }
  sweep();
}

void Overlaps::sweep() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  // What has started and perhaps not ended, by stream: those of the event's own are not looked at.
  std::vector<std::vector<std::uint32_t>> started;
  std::vector<std::size_t> busy;  // streams that have any
  std::unordered_map<std::int64_t, std::size_t> place_of_stream;
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    const std::size_t own = place_of_stream.try_emplace(event.stream, started.size()).first->second;
    if (own == started.size()) started.emplace_back();
    std::size_t left = kMostAtOnce;
    const auto meet = [&](std::vector<std::uint32_t>& others) {
      for (std::size_t k = others.size(); k-- > 0 && left > 0;) {
        const std::uint32_t other = others[k];
        ++compared_;
        if (events_[other].end_ns <= event.start_ns) {
          others[k] = others.back();
          others.pop_back();
          continue;
        }
        --left;
        const std::int64_t end = std::min(events_[other].end_ns, event.end_ns);
        if (minus_ns(end, event.start_ns) < kShortestOverlapNs) continue;
        pairs.emplace_back(i, other);
        pairs.emplace_back(other, i);
      }
    };
    for (std::size_t at = busy.size(); at-- > 0 && left > 0;) {
      if (busy[at] == own && event.stream != kAbsent) continue;
      meet(started[busy[at]]);
      if (!started[busy[at]].empty()) continue;
      busy[at] = busy.back();
      busy.pop_back();
    }
    if (left == 0) ++crowded_;
    if (started[own].empty()) busy.push_back(own);
    started[own].push_back(i);
  }
  std::ranges::sort(pairs);
  starts_.assign(events_.size() + 1, 0);
  for (const auto& [event, partner] : pairs) {
    ++starts_[event + 1];
    partners_.push_back(partner);
  }
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
}

OverlapFields Overlaps::of(std::span<const GpuPosition> kernels) {
  struct Partner {
    StringId name;
    std::int64_t stream, dur_ns, count;
    double share;
  };
  std::vector<Partner> partners;
  std::vector<Interval> own, shared;
  std::int64_t shared_ns = 0;
  for (const GpuPosition position : kernels)
    if (const std::uint32_t i = event_of_[position]; i != kNoEvent)
      own.push_back({events_[i].start_ns, events_[i].end_ns});
  const auto busy = static_cast<double>(length(merge(own)));
  const auto share_of = [&](std::int64_t ns) {
    return busy > 0 ? two_decimals(static_cast<double>(ns) / busy) : 0;
  };
  std::int64_t last_ns = -1;  // equal lengths come in a row, and rounding takes long
  double last_share = 0;
  for (const GpuPosition position : kernels) {
    const std::uint32_t i = event_of_[position];
    if (i == kNoEvent) continue;
    shared.clear();
    for (std::uint32_t at = starts_[i]; at < starts_[i + 1]; ++at) {
      const Event& partner = events_[partners_[at]];
      const Interval both{std::max(partner.start_ns, events_[i].start_ns),
                          std::min(partner.end_ns, events_[i].end_ns)};
      shared.push_back(both);
      std::uint32_t& place = place_of_name_[partner.name.row];
      if (place == kNoEvent) {
        place = static_cast<std::uint32_t>(partners.size());
        partners.push_back({partner.name, partner.stream, 0, 0, 0});
      }
      Partner& entry = partners[place];
      entry.dur_ns = plus_ns(entry.dur_ns, minus_ns(partner.end_ns, partner.start_ns));
      if (length(both) != last_ns) last_share = share_of(last_ns = length(both));
      entry.share += last_share;
      ++entry.count;
    }
    shared_ns = plus_ns(shared_ns, length(merge(shared)));
  }
  OverlapFields fields;
  if (partners.empty()) return fields;
  fields.share = share_of(shared_ns);
  for (const Partner& partner : partners) {
    place_of_name_[partner.name.row] = kNoEvent;
    const auto n = static_cast<double>(partner.count);
    const double mean_us = two_decimals(static_cast<double>(partner.dur_ns) / n / 1e3);
    fields.partners.push_back({partner.name, partner.stream, std::llround(mean_us * 1e3),
                               two_decimals(partner.share / n)});
    fields.names = name_lists_.id_of({fields.names, partner.name.row}) + 1;
  }
  return fields;
}

Value Overlaps::names(std::uint32_t id) const {
  if (id == 0) return {};
  std::vector<Value> names;
  for (; id != 0; id = name_lists_.key(id - 1).parts[0])
    names.emplace_back(std::string{trace_.text({name_lists_.key(id - 1).parts[1]})});
  std::ranges::reverse(names);
  return Value::list(std::move(names));
}

}  // namespace tracelens
