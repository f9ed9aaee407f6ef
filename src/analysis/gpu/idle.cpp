#include "analysis/gpu/idle.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/host_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kUs = 1000, kMs = 1000 * kUs;

struct SizeClass {
  std::string_view name;
  std::int64_t below_ns;
};
constexpr std::array<SizeClass, 5> kSizeClasses = {{
    {"< 5 us", 5 * kUs},  // usual between two kernels
    {"5 - 50 us", 50 * kUs},
    {"50 - 500 us", 500 * kUs},
    {"0.5 - 5 ms", 5 * kMs},
    {">= 5 ms", std::numeric_limits<std::int64_t>::max()},
}};

struct Gap {
  Interval time;
  EventId ended_by;  // the GPU event that ends it
};

std::vector<Gap> find_gaps(const Trace& trace, std::vector<EventId> events) {
  const auto by_start = [&](EventId a, EventId b) {
    return trace.ts_ns()[a.row] != trace.ts_ns()[b.row]
               ? trace.ts_ns()[a.row] < trace.ts_ns()[b.row]
               : a < b;
  };
  if (!std::ranges::is_sorted(events, by_start)) std::ranges::sort(events, by_start);
  std::vector<Gap> gaps;
  gaps.reserve(events.size());  // growing would take three times as much for a moment
  std::int64_t busy_until = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Interval time = interval_of(trace, events[i]);
    if (i > 0 && time.start > busy_until) gaps.push_back({{busy_until, time.start}, events[i]});
    busy_until = i == 0 ? time.end : std::max(busy_until, time.end);
  }
  return gaps;
}

Table table_by_size(std::span<const Gap> gaps, std::int64_t idle_ns) {
  const ColumnSpec columns[] = {
      {"gap size", Kind::kText, "", "length of the gap between two stretches of GPU work"},
      {"gaps", Kind::kInteger, "", "gaps of this size"},
      {"idle ms", Kind::kReal, "ms", "their total length"},
      {"percent of idle", Kind::kReal, "%", "share of the idle time"},
      {"longest ms", Kind::kReal, "ms", "the longest of them"}};
  struct Sum {
    std::int64_t gaps = 0, ns = 0, longest_ns = 0;
  };
  std::array<Sum, kSizeClasses.size()> sums{};
  for (const Gap& gap : gaps) {
    const std::int64_t ns = length(gap.time);
    std::size_t at = 0;
    while (at + 1 < kSizeClasses.size() && ns >= kSizeClasses[at].below_ns) ++at;
    ++sums[at].gaps;
    sums[at].ns = plus_ns(sums[at].ns, ns);
    sums[at].longest_ns = std::max(sums[at].longest_ns, ns);
  }
  Table table{"gpu_idle", "Idle time of the GPU by the length of the gap", columns};
  for (std::size_t i = 0; i < sums.size(); ++i)
    table.add_row(kSizeClasses[i].name, sums[i].gaps, ms(sums[i].ns),
                  percent_of(sums[i].ns, idle_ns), ms(sums[i].longest_ns));
  return table;
}

// --- what the host was doing ---

enum class Host : std::uint8_t {
  kQueued,
  kLatency,
  kLaunchCall,
  kSlowLaunchCall,
  kLateStart,
  kSync,
  kRuntime,
  kOp,
  kPython,
  kAnnotation,
  kNothing,
  kUnlinked
};
constexpr std::string_view kHostTexts[] = {
    "queued",     "launch latency", "launch call",      "slow launch call",
    "late start", "sync",           "runtime call",     "op",
    "python",     "annotation",     "no host activity", "unlinked"};

// A launch takes some 10 us, with a profiler twice that. What takes longer than this is not usual.
constexpr std::int64_t kLongLaunch = 100 * kUs;

// Calls that return only when the GPU has finished something.
bool is_sync_call(std::string_view name) {
  return name.find("Synchronize") != name.npos || name == "cudaMemcpy" || name == "hipMemcpy" ||
         name == "hipMemcpyWithStream";
}

bool contains_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return name.find(word) != name.npos; });
}

// Ops that fetch a value from the GPU, and so wait for it.
bool is_sync_op(std::string_view name) {
  constexpr std::string_view kOps[] = {"aten::item", "aten::_local_scalar_dense",
                                       "aten::is_nonzero", "aten::equal"};
  return std::ranges::find(kOps, name) != std::end(kOps);
}

// Fetching the next batch: PyTorch's DataLoader and what reads files.
bool is_data_name(std::string_view name) {
  constexpr std::string_view kWords[] = {"DataLoader", "torch/utils/data/", "<built-in method read",
                                         "<built-in function read", "<built-in function open"};
  return contains_any(name, kWords);
}

bool is_host_to_device(std::string_view gpu_event) {
  constexpr std::string_view kWords[] = {"HtoD", "H2D", "HOST_TO_DEVICE"};
  return contains_any(gpu_event, kWords);
}

// What an event on a thread is, and what idle time inside it comes from.
struct HostState {
  Host host = Host::kNothing;
  IdleCause cause = IdleCause::kNoHost;
};

// `caller`: the state of the thread when the event begins. Waiting and loading data stay so, whatever
// is called for it; so do ops, whose Python frames are part of them.
HostState state_in(HostState caller, Category category, std::string_view name) {
  HostState state;
  if (category == Category::kCpuOp)
    state = {Host::kOp, is_sync_op(name) ? IdleCause::kSync : IdleCause::kOpDispatch};
  else if (category == Category::kPythonFunction)
    state = {Host::kPython, IdleCause::kPython};
  else if (category == Category::kUserAnnotation)
    state = {Host::kAnnotation, IdleCause::kPython};
  else if (is_sync_call(name))
    state = {Host::kSync, IdleCause::kSync};
  else
    state = {Host::kRuntime, IdleCause::kLaunch};
  if (!is_runtime(category) && is_data_name(name)) state.cause = IdleCause::kData;
  const bool stays = caller.cause == IdleCause::kData || caller.cause == IdleCause::kSync ||
                     (caller.cause == IdleCause::kOpDispatch && state.cause == IdleCause::kPython);
  if (stays) state.cause = caller.cause;
  return state;
}

// "<built-in method mul_ of Tensor object at 0x7f4ddba08410>": the address tells nothing.
std::string without_address(std::string_view name) {
  constexpr std::string_view kMark = " at 0x";
  const std::size_t at = name.find(kMark);
  if (at == name.npos) return std::string{name};
  std::size_t end = at + kMark.size();
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::string{name.substr(0, at)}.append(name.substr(end));
}

struct Charge {
  HostState state;
  StringId name;  // invalid: no name
  std::int64_t ns = 0, longest_ns = 0;
  std::int64_t gaps = 0;
  std::size_t last_gap = std::numeric_limits<std::size_t>::max();
  std::int64_t ns_of_last_gap = 0;
};

class Ledger {
 public:
  explicit Ledger(const Trace& trace) : trace_{trace}, shared_names_(trace.string_count()) {}

  void charge(std::size_t gap, HostState state, StringId name, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    if (name.valid()) name = shared_name(name);
    const std::uint64_t key = std::uint64_t{name.row} << 16 |
                              static_cast<std::uint64_t>(state.host) << 8 |
                              static_cast<std::uint64_t>(state.cause);
    const auto [entry, added] = index_.try_emplace(key, charges_.size());
    if (added) charges_.push_back({.state = state, .name = name});
    Charge& charge = charges_[entry->second];
    if (charge.last_gap != gap) {
      charge.last_gap = gap;
      charge.ns_of_last_gap = 0;
      ++charge.gaps;
    }
    const std::int64_t ns = minus_ns(to, from);
    charge.ns = plus_ns(charge.ns, ns);
    charge.ns_of_last_gap = plus_ns(charge.ns_of_last_gap, ns);
    charge.longest_ns = std::max(charge.longest_ns, charge.ns_of_last_gap);
  }
  std::vector<Charge> take() && { return std::move(charges_); }

 private:
  // The first of all names that differ only in an address.
  StringId shared_name(StringId name) {
    StringId& shared = shared_names_[name.row];
    if (!shared.valid())
      shared = first_by_text_.try_emplace(without_address(trace_.text(name)), name).first->second;
    return shared;
  }

  const Trace& trace_;
  std::vector<StringId> shared_names_;  // by StringId; invalid: not met yet
  std::unordered_map<std::string, StringId> first_by_text_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<Charge> charges_;
};

// Walks the call stack of one thread along its gaps, both in order of time. `waiting` are positions
// in `gaps`.
class ThreadWalk {
 public:
  ThreadWalk(const Trace& trace, std::span<const Gap> gaps, std::span<const std::uint32_t> waiting,
             Ledger& ledger)
      : trace_{trace}, gaps_{gaps}, waiting_{waiting}, ledger_{ledger} {}

  // Events of the thread in tree order.
  void enter(EventId event) {
    const Interval time = interval_of(trace_, event);
    while (!open_.empty() && open_.back().end_ns <= time.start) leave();
    pass_until(time.start);
    const HostState caller = open_.empty() ? HostState{} : open_.back().state;
    open_.push_back({time.end, trace_.names()[event.row],
                     state_in(caller, trace_.category(event), trace_.name(event))});
  }
  void finish() {
    while (!open_.empty()) leave();
    pass_until(std::numeric_limits<std::int64_t>::max());
  }

 private:
  struct Open {
    std::int64_t end_ns;
    StringId name;
    HostState state;
  };
  void leave() {
    pass_until(open_.back().end_ns);
    open_.pop_back();
  }
  // From where we are to `time` the innermost open event stays the same.
  void pass_until(std::int64_t time) {
    const HostState state = open_.empty() ? HostState{} : open_.back().state;
    const StringId name = open_.empty() ? StringId{} : open_.back().name;
    while (next_ < waiting_.size() && gaps_[waiting_[next_]].time.start < time) {
      const Interval part = gaps_[waiting_[next_]].time;
      const std::int64_t from = std::max(part.start, now_);
      ledger_.charge(waiting_[next_], state, name, from, std::min(part.end, time));
      if (part.end > time) break;
      ++next_;
    }
    now_ = std::max(now_, time);
  }

  const Trace& trace_;
  std::span<const Gap> gaps_;
  std::span<const std::uint32_t> waiting_;
  Ledger& ledger_;
  std::vector<Open> open_;
  std::size_t next_ = 0;
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
};

// The part of a gap from the beginning of the launching call on. Returns where it begins.
std::int64_t charge_launch(const Trace& trace, std::uint32_t number, const Gap& gap, EventId launch,
                           Ledger& ledger) {
  const Interval call = interval_of(trace, launch);
  const std::int64_t called = std::clamp(call.start, gap.time.start, gap.time.end);
  const std::int64_t returned = std::clamp(call.end, called, gap.time.end);
  const bool feeds = trace.category(gap.ended_by) == Category::kGpuMemcpy &&
                     is_host_to_device(trace.name(gap.ended_by));
  const IdleCause launching = feeds ? IdleCause::kData : IdleCause::kLaunch;
  const bool is_slow = minus_ns(returned, called) >= kLongLaunch;
  ledger.charge(number, {is_slow ? Host::kSlowLaunchCall : Host::kLaunchCall, launching},
                trace.names()[launch.row], called, returned);
  if (minus_ns(gap.time.end, returned) >= kLongLaunch)
    ledger.charge(number, {Host::kLateStart, IdleCause::kLateStart},
                  trace.names()[gap.ended_by.row], returned, gap.time.end);
  else if (call.end <= gap.time.start)
    ledger.charge(number, {Host::kQueued, launching}, {}, returned, gap.time.end);
  else
    ledger.charge(number, {Host::kLatency, launching}, trace.names()[launch.row], returned,
                  gap.time.end);
  return called;
}

// Host rows by thread, in tree order, with the annotations of data loaders, which tell of them where
// no Python frames were recorded.
HostRows rows_to_walk(const Trace& trace) {
  HostRows host = called_rows(trace, {.python_frames = true});
  std::vector<std::vector<std::uint32_t>> loading(host.tracks());
  bool any = false;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kUserAnnotation &&
        trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent &&
        trace.dur_ns()[event.row] != kAbsent && is_data_name(trace.name(event))) {
      loading[trace.tracks()[event.row].row].push_back(event.row);
      any = true;
    }
  if (!any) return host;
  const auto outer_first = [&](std::uint32_t a, std::uint32_t b) {
    const Interval first = interval_of(trace, {a}), second = interval_of(trace, {b});
    return first.start != second.start ? first.start < second.start : first.end > second.end;
  };
  HostRows merged;
  merged.bounds.push_back(0);
  for (std::size_t track = 0; track < host.tracks(); ++track) {
    std::ranges::stable_sort(loading[track], outer_first);
    const std::span<std::uint32_t> rows = host.of(track);
    std::merge(rows.begin(), rows.end(), loading[track].begin(), loading[track].end(),
               std::back_inserter(merged.rows), outer_first);
    merged.bounds.push_back(static_cast<std::uint32_t>(merged.rows.size()));
  }
  return merged;
}

std::vector<Charge> charge_gaps(const Trace& trace, const Tree& tree, std::vector<Gap> gaps) {
  Ledger ledger{trace};
  std::vector<std::vector<std::uint32_t>> waiting(trace.track_table().size());  // by thread
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    Gap& gap = gaps[i];
    const EventId launch = tree.launch_of(gap.ended_by);
    if (!launch.valid()) {
      ledger.charge(i, {Host::kUnlinked, IdleCause::kNoHost}, {}, gap.time.start, gap.time.end);
      continue;
    }
    gap.time.end = charge_launch(trace, i, gap, launch, ledger);
    // The rest of it is for the launching thread.
    if (length(gap.time) > 0) waiting[trace.tracks()[launch.row].row].push_back(i);
  }
  const HostRows host = rows_to_walk(trace);
  for (std::size_t track = 0; track < host.tracks(); ++track) {
    if (waiting[track].empty()) continue;
    ThreadWalk walk{trace, gaps, waiting[track], ledger};
    for (const std::uint32_t row : host.of(track)) walk.enter({row});
    walk.finish();
  }
  return std::move(ledger).take();
}

std::vector<IdleShare> shares_of(std::span<const Charge> charges) {
  std::vector<IdleShare> shares;
  for (std::size_t i = 0; i < kIdleCauseNames.size(); ++i) {
    IdleShare share{static_cast<IdleCause>(i)};
    for (const Charge& charge : charges)
      if (charge.state.cause == share.cause) share.ns = plus_ns(share.ns, charge.ns);
    if (share.ns > 0) shares.push_back(share);
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &IdleShare::ns);
  return shares;
}

Table table_by_host(const Trace& trace, std::vector<Charge> charges, std::int64_t idle_ns,
                    std::size_t top_rows) {
  const ColumnSpec columns[] = {
      {"cause", Kind::kText, "",
       "what it comes from, in one of a few words: op dispatch, launch, Python, sync, data, no host "
       "activity, late start"},
      {"host state", Kind::kText, "",
       "launch call: inside the call that launched the next work, slow from 100 us on; launch "
       "latency: from its return to the start of the work; queued: the same where it returned "
       "before the gap began; late start: the same from 100 us on; sync, runtime call, op, python, "
       "annotation: before the launch, the innermost event open on the launching thread; no host "
       "activity: there was none; unlinked: the launch is not in the trace"},
      {"name", Kind::kText, "",
       "the call, op or Python frame; of a late start the GPU work that started late"},
      {"idle ms", Kind::kReal, "ms", "idle time of the GPU while it was so"},
      {"percent of idle", Kind::kReal, "%", "share of the idle time"},
      {"gaps", Kind::kInteger, "", "gaps in which it was so"},
      {"longest ms", Kind::kReal, "ms", "its largest share of one gap"}};
  Table table{"gpu_idle_host", "What the launching thread was doing while the GPU was idle",
              columns};
  std::ranges::stable_sort(charges, std::ranges::greater{}, &Charge::ns);
  const std::size_t shown = std::min(charges.size(), top_rows);
  std::int64_t rest = 0, longest = 0;
  for (std::size_t i = shown; i < charges.size(); ++i) {
    rest = plus_ns(rest, charges[i].ns);
    longest = std::max(longest, charges[i].longest_ns);
  }
  // Among them they may be the costliest row.
  bool has_rest = shown < charges.size();
  const auto add_rest = [&] {
    table.add_row("various", "others", std::to_string(charges.size() - shown) + " more", ms(rest),
                  percent_of(rest, idle_ns), kMissing, ms(longest));
    has_rest = false;
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const Charge& charge = charges[i];
    if (has_rest && rest > charge.ns) add_rest();
    table.add_row(
        text_of(charge.state.cause), kHostTexts[static_cast<std::size_t>(charge.state.host)],
        charge.name.valid() ? without_address(trace.text(charge.name)) : std::string{},
        ms(charge.ns), percent_of(charge.ns, idle_ns), charge.gaps, ms(charge.longest_ns));
  }
  if (has_rest) add_rest();
  return table;
}

}  // namespace

IdleTables gpu_idle(const TraceFacts& facts, const IdleOptions& options) {
  const Trace& trace = facts.trace();
  std::vector<Gap> gaps = find_gaps(trace, facts.gpu_events(options.include_unlinked).events);
  std::int64_t idle_ns = 0;
  for (const Gap& gap : gaps) idle_ns = plus_ns(idle_ns, length(gap.time));
  Table by_size = table_by_size(gaps, idle_ns);
  std::vector<Charge> charges = charge_gaps(trace, facts.tree(), std::move(gaps));
  std::vector<IdleShare> causes = shares_of(charges);
  return {std::move(by_size), table_by_host(trace, std::move(charges), idle_ns, options.top_rows),
          std::move(causes), idle_ns};
}

std::vector<IdleShare> idle_causes(const TraceFacts& facts, const IdleOptions& options) {
  return gpu_idle(facts, options).causes;
}

}  // namespace tracelens
