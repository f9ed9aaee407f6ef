#include "analysis/gpu/idle_host.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/launch_calls.hpp"
#include "analysis/gpu/thread_walk.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/host_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

std::string without_address(std::string_view name) {
  constexpr std::string_view kMark = " at 0x";
  const std::size_t at = name.find(kMark);
  if (at == name.npos) return std::string{name};
  std::size_t end = at + kMark.size();
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::string{name.substr(0, at)}.append(name.substr(end));
}

namespace {

// A launch takes some 10 us, with a profiler twice that. What takes longer than this is not usual.
constexpr std::int64_t kLongLaunch = 100'000;

class Ledger {
 public:
  // `keeps_shares`: those of single gaps, for largest_shares().
  Ledger(const Trace& trace, bool keeps_shares)
      : trace_{trace},
        shared_names_(trace.string_count()),
        first_of_name_(trace.string_count() + 1, kNone),
        keeps_shares_{keeps_shares} {}

  void charge(std::size_t gap, HostState state, StringId name, Interval time) {
    if (time.start >= time.end) return;
    if (name.valid()) name = shared_name(name);
    const std::uint32_t line = line_of(state, name);
    IdleCharge& charge = charges_[line];
    if (charge.last_gap != gap) {
      if (charge.gaps == 0) first_gaps_[line].gap = gap;
      if (charge.gaps == 1) first_gaps_[line].ns = charge.ns_of_last_gap;
      charge.last_gap = gap;
      charge.ns_of_last_gap = 0;
      ++charge.gaps;
    }
    const std::int64_t ns = length(time);
    if (keeps_shares_) shares_.push_back({gap, line, ns});
    charge.ns = plus_ns(charge.ns, ns);
    charge.ns_of_last_gap = plus_ns(charge.ns_of_last_gap, ns);
    charge.longest_ns = std::max(charge.longest_ns, charge.ns_of_last_gap);
  }
  [[nodiscard]] bool keeps_shares() const { return keeps_shares_; }
  [[nodiscard]] std::vector<GapHost> largest_shares(std::size_t gaps) {
    std::ranges::stable_sort(shares_, {}, [](const Share& share) {
      return std::pair{share.gap, share.charge};
    });
    std::vector<GapHost> largest(gaps);
    for (auto first = shares_.begin(); first != shares_.end();) {
      std::int64_t ns = 0;
      auto last = first;
      for (; last != shares_.end() && last->gap == first->gap && last->charge == first->charge;
           ++last)
        ns = plus_ns(ns, last->ns);
      GapHost& best = largest[first->gap];
      if (ns > best.ns) best = {charges_[first->charge].state, charges_[first->charge].name, ns};
      first = last;
    }
    return largest;
  }
  // What was charged elsewhere, as if it were charged here now.
  void add(const Ledger& part) {
    std::vector<std::uint32_t> lines;  // by line of the part
    for (std::size_t i = 0; i < part.charges_.size(); ++i) {
      const IdleCharge& more = part.charges_[i];
      const FirstGap& first = part.first_gaps_[i];
      const StringId name = more.name.valid() ? shared_name(more.name) : more.name;
      lines.push_back(line_of(more.state, name));
      IdleCharge& charge = charges_[lines.back()];
      const bool goes_on = charge.last_gap == first.gap;
      const std::int64_t first_ns = plus_ns(goes_on ? charge.ns_of_last_gap : 0,
                                            more.gaps == 1 ? more.ns_of_last_gap : first.ns);
      charge.ns = plus_ns(charge.ns, more.ns);
      charge.longest_ns = std::max({charge.longest_ns, more.longest_ns, first_ns});
      charge.gaps += more.gaps - (goes_on ? 1 : 0);
      charge.last_gap = more.last_gap;
      charge.ns_of_last_gap = more.gaps == 1 ? first_ns : more.ns_of_last_gap;
    }
    for (const Share& share : part.shares_)
      shares_.push_back({share.gap, lines[share.charge], share.ns});
  }
  // Nothing more will be charged.
  void close() {
    shared_names_ = {};
    first_by_text_ = {};
    first_of_name_ = {};
    next_of_name_ = {};
  }
  std::vector<IdleCharge> take() && { return std::move(charges_); }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // A name has one line for each state that it was met in; those are few.
  [[nodiscard]] std::uint32_t line_of(HostState state, StringId name) {
    std::uint32_t* place = &first_of_name_[name.valid() ? name.row : first_of_name_.size() - 1];
    while (*place != kNone) {
      if (charges_[*place].state == state) return *place;
      place = &next_of_name_[*place];
    }
    const auto line = static_cast<std::uint32_t>(charges_.size());
    *place = line;
    add_line(state, name);
    return line;
  }
  void add_line(HostState state, StringId name) {
    charges_.push_back({.state = state, .name = name});
    next_of_name_.push_back(kNone);
    first_gaps_.emplace_back();
  }

  // The first of all names that differ only in an address.
  StringId shared_name(StringId name) {
    StringId& shared = shared_names_[name.row];
    if (!shared.valid()) shared = first_with_text_of(name);
    return shared;
  }
  StringId first_with_text_of(StringId name) {
    return first_by_text_.try_emplace(without_address(trace_.text(name)), name).first->second;
  }

  const Trace& trace_;
  std::vector<StringId> shared_names_;  // by StringId; invalid: not met yet
  std::unordered_map<std::string, StringId> first_by_text_;
  std::vector<std::uint32_t> first_of_name_;  // lines by StringId, without a name last; kNone: none
  std::vector<std::uint32_t> next_of_name_;   // by line
  std::vector<IdleCharge> charges_;           // the lines
  struct FirstGap {
    std::size_t gap = 0;
    std::int64_t ns = 0;  // once there is a second
  };
  std::vector<FirstGap> first_gaps_;  // by line
  struct Share {
    std::size_t gap;
    std::uint32_t charge;
    std::int64_t ns;
  };
  bool keeps_shares_;
  std::vector<Share> shares_;
};

// Charges the part of a gap from the beginning of the launching call on; returns the part before.
Interval charge_launch(const Trace& trace, std::uint32_t number, const IdleGap& gap, EventId launch,
                       Ledger& ledger) {
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
  HostWalker(const Trace& trace, const HostRows& host, int threads, Ledger& ledger)
      : trace_{trace},
        host_{host},
        threads_{io::spare_threads(threads)},
        ledger_{ledger},
        states_{trace} {}

  // `stretches` by track. `unexplained` is told of those in which a thread did nothing.
  template <class Unexplained>
  void walk(std::span<const std::vector<Stretch>> stretches, const Unexplained& unexplained) {
    const std::vector<Part> parts = walk_long_ones(stretches);
    auto part = parts.begin();
    std::vector<Stretch> left;  // of a track
    for (std::uint32_t track = 0; track < host_.tracks(); ++track) {
      if (stretches[track].empty()) continue;
      left.clear();
      if (part == parts.end() || part->track != track)
        charge({host_.of(track), stretches[track]}, states_, ledger_, left);
      for (; part != parts.end() && part->track == track; ++part) {
        ledger_.add(*part->ledger);
        left.insert(left.end(), part->unexplained.begin(), part->unexplained.end());
      }
      for (const Stretch& stretch : left) unexplained(track, stretch);
    }
  }

 private:
  struct Part {
    std::uint32_t track = 0;
    ThreadWalk walk;
    std::optional<Ledger> ledger = {};
    std::vector<Stretch> unexplained = {};
  };

  void charge(const ThreadWalk& walk, HostStates& states, Ledger& ledger,
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

  // Those of threads that are worth several threads of ours, by track.
  [[nodiscard]] std::vector<Part> walk_long_ones(
      std::span<const std::vector<Stretch>> stretches) const {
    if (threads_ == 1) return {};
    // Each part has a ledger of its own, which has room for every name.
    const std::size_t part_rows =
        std::max<std::size_t>(std::size_t{1} << 16, trace_.string_count());
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t track = 0; track < host_.tracks(); ++track)
      if (!stretches[track].empty() && host_.of(track).size() >= 2 * part_rows)
        tracks.push_back(track);
    std::vector<std::vector<ThreadWalk>> walks(tracks.size());
    io::for_each_part(threads_, tracks.size(), [&](std::size_t i) {
      walks[i] = cut_walk(trace_, {host_.of(tracks[i]), stretches[tracks[i]]}, part_rows);
    });
    std::vector<Part> parts;
    for (std::size_t i = 0; i < tracks.size(); ++i)
      for (ThreadWalk& walk : walks[i]) parts.push_back({tracks[i], std::move(walk)});
    io::for_each_part(threads_, parts.size(), [&](std::size_t i) {
      Part& part = parts[i];
      HostStates states{trace_};
      part.ledger.emplace(trace_, ledger_.keeps_shares());
      charge(part.walk, states, *part.ledger, part.unexplained);
      part.ledger->close();
    });
    return parts;
  }

  const Trace& trace_;
  const HostRows& host_;
  int threads_;
  Ledger& ledger_;
  HostStates states_;
};

}  // namespace

std::vector<IdleCharge> charge_gaps(const TraceFacts& facts, std::span<const IdleGap> gaps,
                                    std::vector<GapHost>* of_gaps) {
  const Trace& trace = facts.trace();
  Ledger ledger{trace, of_gaps != nullptr};
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
