#include "analysis/gpu/idle_host.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/launch_calls.hpp"
#include "analysis/gpu/thread_walk.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/host_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

namespace {

// A launch takes some 10 us, with a profiler twice that. What takes longer than this is not usual.
constexpr std::int64_t kLongLaunch = 100'000;

// Charges the part of a gap from the beginning of the launching call on; returns the part before.
Interval charge_launch(const Trace& trace, std::uint32_t number, const IdleGap& gap, EventId launch,
                       IdleLedger& ledger) {
  const Interval call = interval_of(trace, launch);
  const StringId call_name = trace.names()[launch.row];
  const std::int64_t called = std::clamp(call.start, gap.time.start, gap.time.end);
  const std::int64_t returned = std::clamp(call.end, called, gap.time.end);
  const Interval calling{called, returned}, starting{returned, gap.time.end};
  const bool feeds = trace.category(gap.ended_by) == Category::kGpuMemcpy &&
                     is_host_to_device(trace.name(gap.ended_by));
  const IdleCause cause = feeds ? IdleCause::kData : IdleCause::kLaunch;
  const bool is_slow = length(calling) >= kLongLaunch;
  ledger.charge(number, {is_slow ? Host::kSlowLaunchCall : Host::kLaunchCall, cause}, call_name,
                calling);
  if (length(starting) >= kLongLaunch)
    ledger.charge(number, {Host::kLateStart, IdleCause::kLateStart},
                  trace.names()[gap.ended_by.row], starting);
  else if (call.end <= gap.time.start)
    ledger.charge(number, {Host::kQueued, cause}, {}, starting);
  else
    ledger.charge(number, {Host::kLatency, cause}, call_name, starting);
  return {gap.time.start, called};
}

// Host rows by thread, in tree order, with the annotations of data loaders, which tell of them where
// no Python frames were recorded. None: there are no such annotations.
std::optional<HostRows> with_loading(const TraceFacts& facts) {
  const Trace& trace = facts.trace();
  std::map<std::uint32_t, std::vector<std::uint32_t>> loading;  // by track
  for (const std::uint32_t row : facts.rows().annotations())
    if (trace.phases()[row] == Phase::kComplete && trace.ts_ns()[row] != kAbsent &&
        trace.dur_ns()[row] != kAbsent && is_data_loading(trace.name({row})))
      loading[trace.tracks()[row].row].push_back(row);
  if (loading.empty()) return std::nullopt;
  const HostRows& host = facts.called_rows();
  const auto outer_first = [&](std::uint32_t a, std::uint32_t b) {
    const Interval first = interval_of(trace, {a}), second = interval_of(trace, {b});
    return first.start != second.start ? first.start < second.start : first.end > second.end;
  };
  HostRows merged;
  merged.bounds.push_back(0);
  for (std::uint32_t track = 0; track < host.tracks(); ++track) {
    std::vector<std::uint32_t>& added = loading[track];
    std::ranges::stable_sort(added, outer_first);
    const std::span<const std::uint32_t> rows = host.of(track);
    std::merge(rows.begin(), rows.end(), added.begin(), added.end(),
               std::back_inserter(merged.rows), outer_first);
    merged.bounds.push_back(static_cast<std::uint32_t>(merged.rows.size()));
  }
  return merged;
}

// The thread of each process that has most Python frames, or where there are none most events: it
// tells what a thread that did nothing may have waited for.
class MainThreads {
 public:
  MainThreads(const Trace& trace, const HostRows& host) : trace_{trace} {
    for (std::uint32_t track = 0; track < host.tracks(); ++track) {
      const std::span<const std::uint32_t> rows = host.of(track);
      if (rows.empty()) continue;
      const auto frames = std::ranges::count_if(rows, [&](std::uint32_t row) {
        return trace.categories()[row] == Category::kPythonFunction;
      });
      Thread& best = best_[process_of({track})];
      const Thread thread{frames, rows.size(), track};
      if (std::pair{best.frames, best.events} < std::pair{thread.frames, thread.events})
        best = thread;
    }
  }
  [[nodiscard]] std::uint32_t of(TrackId thread) const {
    const auto found = best_.find(process_of(thread));
    return found == best_.end() ? thread.row : found->second.track;
  }

 private:
  struct Thread {
    std::ptrdiff_t frames = 0;
    std::size_t events = 0;
    std::uint32_t track = 0;
  };
  [[nodiscard]] std::string process_of(TrackId thread) const {
    return python_repr(trace_.track(thread).pid);
  }

  const Trace& trace_;
  std::map<std::string, Thread> best_;
};

// Charges what threads were doing in given stretches of time.
class HostWalker {
 public:
  HostWalker(const Trace& trace, const HostRows& host, int threads, IdleLedger& ledger)
      : trace_{trace},
        host_{host},
        threads_{static_cast<std::size_t>(io::spare_threads(threads))},
        part_rows_{rows_of_a_part(trace)},
        ledger_{ledger},
        states_{trace} {}

  // `stretches` by track. `unexplained` is told of those in which a thread did nothing.
  template <class Unexplained>
  void walk(std::span<const std::vector<Stretch>> stretches, const Unexplained& unexplained) {
    std::vector<Stretch> left;  // of a track
    for (std::uint32_t track = 0; track < host_.tracks(); ++track) {
      if (stretches[track].empty()) continue;
      left.clear();
      const ThreadWalk whole{host_.of(track), stretches[track]};
      if (threads_ > 1 && whole.rows.size() >= 2 * part_rows_)
        charge_in_parts(whole, left);
      else
        charge(whole, states_, ledger_, left);
      for (const Stretch& stretch : left) unexplained(track, stretch);
    }
  }

 private:
  void charge(const ThreadWalk& walk, HostStates& states, IdleLedger& ledger,
              std::vector<Stretch>& unexplained) const {
    walk_thread(
        trace_, walk, HostState{},
        [&](HostState caller, EventId event) { return states.in(caller, event); },
        [&](const Stretch& stretch, Interval time, const OpenEvent<HostState>* innermost) {
          if (innermost != nullptr)
            ledger.charge(stretch.gap, innermost->state, trace_.names()[innermost->event.row],
                          time);
          else
            unexplained.push_back({time, stretch.gap});
        });
  }

  // As many at a time as there are threads, so that there are no more ledgers.
  void charge_in_parts(const ThreadWalk& whole, std::vector<Stretch>& unexplained) {
    struct Part {
      IdleLedger ledger;
      std::vector<Stretch> unexplained = {};
    };
    const std::vector<ThreadWalk> walks =
        cut_walk(trace_, whole, part_rows_, static_cast<int>(threads_));
    for (std::size_t first = 0; first < walks.size(); first += threads_) {
      std::vector<std::optional<Part>> parts(std::min(threads_, walks.size() - first));
      io::for_each_part(static_cast<int>(threads_), parts.size(), [&](std::size_t i) {
        HostStates states{trace_};
        Part& part = parts[i].emplace(Part{{trace_, ledger_.keeps_shares()}});
        charge(walks[first + i], states, part.ledger, part.unexplained);
      });
      for (const std::optional<Part>& part : parts) {
        ledger_.add(part->ledger);
        unexplained.insert(unexplained.end(), part->unexplained.begin(), part->unexplained.end());
      }
    }
  }

  const Trace& trace_;
  const HostRows& host_;
  std::size_t threads_, part_rows_;
  IdleLedger& ledger_;
  HostStates states_;
};

}  // namespace

std::vector<IdleCharge> charge_gaps(const TraceFacts& facts, std::span<const IdleGap> gaps,
                                    std::vector<GapHost>* of_gaps) {
  const Trace& trace = facts.trace();
  IdleLedger ledger{trace, of_gaps != nullptr};
  LaunchCalls launches{trace, facts.tree()};
  std::vector<std::vector<Stretch>> of_thread(trace.track_table().size());
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    const EventId launch = launches.of(gaps[i].ended_by);
    if (!launch.valid()) {
      ledger.charge(i, {Host::kUnlinked, IdleCause::kNoHost}, {}, gaps[i].time);
      continue;
    }
    const Interval before = charge_launch(trace, i, gaps[i], launch, ledger);
    if (before.start < before.end) of_thread[trace.tracks()[launch.row].row].push_back({before, i});
  }
  const std::optional<HostRows> more_rows = with_loading(facts);
  const HostRows& host = more_rows ? *more_rows : facts.called_rows();
  const MainThreads main_threads{trace, host};
  std::map<std::uint32_t, std::vector<Stretch>>
      of_main;  // what the launching threads do not explain
  HostWalker walker{trace, host, facts.threads(), ledger};
  walker.walk(of_thread, [&](std::uint32_t track, const Stretch& stretch) {
    of_main[main_threads.of({track})].push_back(stretch);
  });
  for (std::vector<Stretch>& stretches : of_thread) stretches.clear();
  for (auto& [track, stretches] : of_main) {
    std::ranges::sort(stretches, {}, [](const Stretch& stretch) { return stretch.time.start; });
    of_thread[track] = std::move(stretches);
  }
  walker.walk(of_thread, [&](std::uint32_t, const Stretch& stretch) {
    ledger.charge(stretch.gap, {}, {}, stretch.time);
  });
  if (of_gaps != nullptr) *of_gaps = ledger.largest_shares(gaps.size());
  return std::move(ledger).take();
}

}  // namespace tracelens
