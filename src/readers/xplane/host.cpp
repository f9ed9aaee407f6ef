#include "readers/xplane/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

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

// What the values of an event make of it.
struct HostEvent {
  std::optional<std::int64_t> correlation, step;
  bool is_step = false;
};
HostEvent look_at(const Plane& plane, const Event& event) {
  HostEvent found;
  for (const Stat& stat : event.stats) {
    const Key key = plane.key(stat);
    if (key == Key::kCorrelationId) found.correlation = stat.integer();
    if (key == Key::kStepNumber) found.step = stat.integer();
    if (key == Key::kRoot) found.is_step = true;
  }
  found.is_step = found.is_step && found.step.has_value();
  return found;
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

HostHints scan_host(const Plane& plane, const Pages& pages) {
  HostHints hints;
  for (const Line& line : plane.lines()) {
    LineEvents events{line, pages};
    for (Event event; events.next(event);) {
      const std::string_view name = plane.kind(event.metadata_id).name;
      const auto span = span_of(line, event);
      if (!span || is_internal(name)) continue;
      const HostEvent found = look_at(plane, event);
      const bool is_module = name.ends_with(kModuleSuffix);
      if (found.correlation) hints.launches_.emplace_back(*found.correlation, span->start_ns);
      if (is_module)
        hints.runs_[std::string{name.substr(0, name.size() - kModuleSuffix.size())}].push_back(
            {span->start_ns, span->start_ns + span->dur_ns, 1});
      ++hints.events_;
      if (!found.correlation && !is_module && !found.is_step) ++hints.background_;
    }
  }
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
               const Process& process, TraceBuilder& builder) {
  std::unordered_map<std::int64_t, StringId> names;
  std::uint64_t left_out = 0, damaged = 0;
  for (const Line& line : plane.lines()) {
    if (line.events == 0) continue;
    const Track track{Value{process.pid}, Value{line.tid()}};
    const TrackId track_id = builder.intern(track);
    add_labels(process.name, line, track, builder);
    LineEvents events{line, pages};
    for (Event event; events.next(event);) {
      const std::string_view name = plane.kind(event.metadata_id).name;
      if (is_internal(name)) continue;
      const auto span = span_of(line, event);
      if (!span) {
        ++damaged;
        continue;
      }
      const HostEvent found = look_at(plane, event);
      const bool is_python = name.starts_with('$');
      const bool is_background =
          !found.correlation && !found.is_step && !name.ends_with(kModuleSuffix);
      if (is_background && !hints.keeps_background()) {
        ++left_out;
        continue;
      }
      StringId id;
      if (found.is_step) {
        id = builder.intern(fmt::format("{} {}", name, *found.step));
      } else {
        const auto [entry, is_new] = names.try_emplace(event.metadata_id);
        if (is_new) entry->second = builder.intern(is_python ? name.substr(1) : name);
        id = entry->second;
      }
      const EventId row = builder.append({.phase = Phase::kComplete,
                                          .category = found.correlation ? Category::kCudaRuntime
                                                      : found.is_step   ? Category::kUserAnnotation
                                                      : is_python       ? Category::kPythonFunction
                                                                        : Category::kCpuOp,
                                          .name = id,
                                          .track = track_id,
                                          .signature = {},
                                          .ts_ns = span->start_ns,
                                          .dur_ns = span->dur_ns,
                                          .correlation = found.correlation.value_or(kAbsent)});
      if (found.is_step) builder.set_sequence(row, *found.step);
    }
    damaged += events.damaged();
  }
  if (damaged > 0) builder.warnings().add("damaged event", 0, damaged);
  if (left_out > 0)
    builder.warnings().add("Python frames and runtime internals left out: there are too many", 0,
                           left_out);
}

}  // namespace tracelens::xplane
