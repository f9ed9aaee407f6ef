#include "readers/xplane/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "readers/xplane/line_work.hpp"

namespace tracelens::xplane {
namespace {

constexpr std::string_view kModuleSuffix = ":XLA GPU module";

bool is_internal(std::string_view name) {
  constexpr std::array<std::string_view, 13> kNames = {"MemoryAllocation",
                                                       "MemoryDeallocation",
                                                       "PrefetchProduce",
                                                       "PrefetchConsume",
                                                       "ParallelInterleaveProduce",
                                                       "ParallelInterleaveConsume",
                                                       "ParallelInterleaveInitializeInput",
                                                       "ParallelMapProduce",
                                                       "ParallelMapConsume",
                                                       "MapAndBatchProduce",
                                                       "MapAndBatchConsume",
                                                       "ParseExampleProduce",
                                                       "ParseExampleConsume"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// What an event says by itself.
struct HostEvent {
  std::int64_t metadata_id = 0;
  std::string_view name = {};
  std::optional<Span> span = {};
  std::optional<std::int64_t> correlation = {}, step = {};
  bool is_step = false, is_internal = false, is_module = false;

  // It only tells what the host was doing.
  [[nodiscard]] bool is_background() const { return !correlation && !is_step && !is_module; }
};
HostEvent look_at(const Plane& plane, const Line& line, const Event& event) {
  const EventKind& kind = plane.kind(event.metadata_id);
  HostEvent found{
      .metadata_id = event.metadata_id, .name = kind.name, .span = span_of(line, event)};
  found.is_internal = is_internal(found.name);
  found.is_module = found.name.ends_with(kModuleSuffix);
  const auto learn = [&](const Stat& stat) {
    const Key key = plane.key(stat);
    if (key == Key::kCorrelationId) found.correlation = stat.integer();
    if (key == Key::kStepNumber) found.step = stat.integer();
    if (key == Key::kRoot) found.is_step = true;
  };
  std::ranges::for_each(kind.stats, learn);
  std::ranges::for_each(event.stats, learn);  // the event's own values win
  found.is_step = found.is_step && found.step.has_value();
  return found;
}

// Calls `use` for the events of a line in order. Gives how many are damaged.
template <class Use>
std::uint64_t for_each_host_event(const Plane& plane, const Line& line, const Pages& pages,
                                  int threads, const Use& use) {
  return for_each_event<HostEvent>(
      line, pages, threads,
      [&](const Event& event, HostEvent& found) {
        found = look_at(plane, line, event);
        return true;
      },
      use);
}

std::int64_t round_to_ns(std::int64_t ps) {
  const std::int64_t ns = ps / 1000, rest = ps % 1000;
  return ns + (rest >= 500 ? 1 : rest < -500 ? -1 : 0);
}

}  // namespace

std::optional<Span> span_of(const Line& line, const Event& event) {
  std::int64_t end_ps = 0, start = 0, end = 0;
  const std::int64_t duration = std::max<std::int64_t>(event.duration_ps, 0);
  if (__builtin_add_overflow(event.offset_ps, duration, &end_ps) ||
      __builtin_add_overflow(line.timestamp_ns, round_to_ns(event.offset_ps), &start) ||
      __builtin_add_overflow(line.timestamp_ns, round_to_ns(end_ps), &end) || start == kAbsent)
    return std::nullopt;
  std::int64_t length = 0;
  if (__builtin_sub_overflow(end, start, &length)) return std::nullopt;
  return Span{start, length};
}

void add_labels(const std::string& process, const Line& line, const Track& track,
                TraceBuilder& builder) {
  builder.add_label({track.pid, Value{0}}, "process_name", Value{process});
  builder.add_label(track, "thread_name", Value{line.name});
}

std::uint32_t HostHints::run_of(std::string_view module, std::int64_t correlation) const {
  const auto runs = runs_.find(module);
  if (runs == runs_.end()) return 0;
  const auto launch = std::ranges::lower_bound(launches_, correlation, {},
                                               &std::pair<std::int64_t, std::int64_t>::first);
  if (launch == launches_.end() || launch->first != correlation) return 0;
  const auto after = std::ranges::upper_bound(runs->second, launch->second, {}, &Run::start_ns);
  if (after == runs->second.begin() || launch->second > std::prev(after)->end_ns) return 0;
  return std::prev(after)->number;
}

HostHints scan_host(const Plane& plane, const Pages& pages, int threads) {
  HostHints hints;
  for (const Line& line : plane.lines())
    for_each_host_event(plane, line, pages, threads, [&](const HostEvent& event) {
      if (!event.span || event.is_internal) return;
      const std::int64_t start_ns = event.span->start_ns;
      if (event.correlation) hints.launches_.emplace_back(*event.correlation, start_ns);
      if (event.is_module)
        hints.runs_[std::string{event.name.substr(0, event.name.size() - kModuleSuffix.size())}]
            .push_back({start_ns, start_ns + event.span->dur_ns, 1});
      ++hints.events_;
      if (event.is_background()) ++hints.background_;
    });
  if (!hints.keeps_background()) hints.events_ -= hints.background_;
  std::ranges::stable_sort(hints.launches_, {}, &std::pair<std::int64_t, std::int64_t>::first);
  for (auto& [module, runs] : hints.runs_) {
    std::ranges::stable_sort(runs, {}, &HostHints::Run::start_ns);
    std::uint32_t number = 0;
    for (HostHints::Run& run : runs) run.number = ++number;
    // Several GPUs run a module at the same time, each from its own thread: then a launch may be of
    // either.
    for (std::size_t i = 1; i < runs.size(); ++i)
      if (runs[i].start_ns <= runs[i - 1].end_ns) runs[i].number = runs[i - 1].number = 0;
  }
  return hints;
}

void read_host(const Plane& plane, const Pages& pages, const HostHints& hints,
               const Process& process, TraceBuilder& builder, int threads) {
  std::unordered_map<std::int64_t, StringId> names;
  std::uint64_t left_out = 0, damaged = 0;
  const auto name_of = [&](const HostEvent& event) {
    if (event.is_step) return builder.intern(fmt::format("{} {}", event.name, *event.step));
    const auto [entry, is_new] = names.try_emplace(event.metadata_id);
    if (is_new)
      entry->second = builder.intern(event.name.substr(event.name.starts_with('$') ? 1 : 0));
    return entry->second;
  };
  for (const Line& line : plane.lines()) {
    if (line.events == 0) continue;
    const Track track{Value{process.pid}, Value{line.tid()}};
    const TrackId track_id = builder.intern(track);
    add_labels(process.name, line, track, builder);
    const auto unreadable =
        for_each_host_event(plane, line, pages, threads, [&](const HostEvent& event) {
          if (event.is_internal) return;
          if (!event.span) {
            ++damaged;
            return;
          }
          if (event.is_background() && !hints.keeps_background()) {
            ++left_out;
            return;
          }
          const EventId row =
              builder.append({.phase = Phase::kComplete,
                              .category = event.correlation             ? Category::kCudaRuntime
                                          : event.is_step               ? Category::kUserAnnotation
                                          : event.name.starts_with('$') ? Category::kPythonFunction
                                                                        : Category::kCpuOp,
                              .name = name_of(event),
                              .track = track_id,
                              .signature = {},
                              .ts_ns = event.span->start_ns,
                              .dur_ns = event.span->dur_ns,
                              .correlation = event.correlation.value_or(kAbsent)});
          if (event.is_step) builder.set_sequence(row, *event.step);
        });
    damaged += unreadable;
  }
  if (damaged > 0) builder.warnings().add("damaged event", 0, damaged);
  if (left_out > 0)
    builder.warnings().add("Python frames and runtime internals left out: there are too many", 0,
                           left_out);
}

}  // namespace tracelens::xplane
