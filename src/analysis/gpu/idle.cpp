#include "analysis/gpu/idle.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
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

enum class Host : std::uint8_t { kQueued, kLatency, kRuntime, kOp, kPython, kNothing, kUnlinked };

// Calls that return only when the GPU has finished something.
bool is_sync_call(std::string_view name) {
  return name.find("Synchronize") != name.npos || name == "cudaMemcpy" || name == "hipMemcpy" ||
         name == "hipMemcpyWithStream";
}

std::string_view host_text(Host host, std::string_view name) {
  switch (host) {
    case Host::kQueued:
      return "queued";
    case Host::kLatency:
      return "launch latency";
    case Host::kRuntime:
      return is_sync_call(name) ? "sync" : "runtime call";
    case Host::kOp:
      return "op";
    case Host::kPython:
      return "python";
    case Host::kNothing:
      return "no host activity";
    case Host::kUnlinked:
      break;
  }
  return "unlinked";
}

Host host_of(Category category) {
  if (category == Category::kCpuOp) return Host::kOp;
  return category == Category::kPythonFunction ? Host::kPython : Host::kRuntime;
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
  Host host{};
  StringId name;  // invalid: no name
  std::int64_t ns = 0, longest_ns = 0;
  std::int64_t gaps = 0;
  std::size_t last_gap = std::numeric_limits<std::size_t>::max();
  std::int64_t ns_of_last_gap = 0;
};

class Ledger {
 public:
  explicit Ledger(const Trace& trace) : trace_{trace}, shared_names_(trace.string_count()) {}

  void charge(std::size_t gap, Host host, StringId name, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    if (name.valid()) name = shared_name(name);
    const std::uint64_t key = std::uint64_t{name.row} << 8 | static_cast<std::uint64_t>(host);
    const auto [entry, added] = index_.try_emplace(key, charges_.size());
    if (added) charges_.push_back({.host = host, .name = name});
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
    while (!open_.empty() && end_of(trace_, open_.back()) <= time.start) leave();
    pass_until(time.start);
    open_.push_back(event);
  }
  void finish() {
    while (!open_.empty()) leave();
    pass_until(std::numeric_limits<std::int64_t>::max());
  }

 private:
  void leave() {
    pass_until(end_of(trace_, open_.back()));
    open_.pop_back();
  }
  // From where we are to `time` the innermost open event stays the same.
  void pass_until(std::int64_t time) {
    const Host host = open_.empty() ? Host::kNothing : host_of(trace_.category(open_.back()));
    const StringId name = open_.empty() ? StringId{} : trace_.names()[open_.back().row];
    while (next_ < waiting_.size() && gaps_[waiting_[next_]].time.start < time) {
      const Interval part = gaps_[waiting_[next_]].time;
      const std::int64_t from = std::max(part.start, now_);
      ledger_.charge(waiting_[next_], host, name, from, std::min(part.end, time));
      if (part.end > time) break;
      ++next_;
    }
    now_ = std::max(now_, time);
  }

  const Trace& trace_;
  std::span<const Gap> gaps_;
  std::span<const std::uint32_t> waiting_;
  Ledger& ledger_;
  std::vector<EventId> open_;
  std::size_t next_ = 0;
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
};

std::vector<Charge> charge_gaps(const Trace& trace, const Tree& tree, std::vector<Gap> gaps) {
  Ledger ledger{trace};
  std::vector<std::vector<std::uint32_t>> waiting(trace.track_table().size());  // by thread
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    auto& [time, ended_by] = gaps[i];
    const EventId launch = tree.launch_of(ended_by);
    if (!launch.valid()) {
      ledger.charge(i, Host::kUnlinked, {}, time.start, time.end);
      continue;
    }
    const std::int64_t launched = trace.ts_ns()[launch.row];
    if (launched <= time.start) {
      ledger.charge(i, Host::kQueued, {}, time.start, time.end);
      continue;
    }
    const std::int64_t border = std::min(launched, time.end);
    ledger.charge(i, Host::kLatency, trace.names()[launch.row], border, time.end);
    time.end = border;  // the rest of it is for the launching thread
    waiting[trace.tracks()[launch.row].row].push_back(i);
  }
  const HostRows host = called_rows(trace, {.python_frames = true});
  for (std::size_t track = 0; track < host.tracks(); ++track) {
    if (waiting[track].empty()) continue;
    ThreadWalk walk{trace, gaps, waiting[track], ledger};
    for (const std::uint32_t row : host.of(track)) walk.enter({row});
    walk.finish();
  }
  return std::move(ledger).take();
}

Table table_by_host(const Trace& trace, std::vector<Charge> charges, std::int64_t idle_ns,
                    std::size_t top_rows) {
  const ColumnSpec columns[] = {
      {"host state", Kind::kText, "",
       "queued: the work was launched before the gap; launch latency: from the launching call to "
       "the start of its work; sync, runtime call, op, python: the innermost event open on the "
       "launching thread; no host activity; unlinked: the launch is not in the trace"},
      {"name", Kind::kText, "", "the call, op or Python frame"},
      {"idle ms", Kind::kReal, "ms", "idle time of the GPU while it was so"},
      {"percent of idle", Kind::kReal, "%", "share of the idle time"},
      {"gaps", Kind::kInteger, "", "gaps in which it was so"},
      {"longest ms", Kind::kReal, "ms", "its largest share of one gap"}};
  Table table{"gpu_idle_host", "What the launching thread was doing while the GPU was idle",
              columns};
  std::ranges::stable_sort(charges, std::ranges::greater{}, &Charge::ns);
  const std::size_t shown = std::min(charges.size(), top_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const Charge& charge = charges[i];
    const std::string name = charge.name.valid() ? without_address(trace.text(charge.name)) : "";
    table.add_row(host_text(charge.host, name), name, ms(charge.ns), percent_of(charge.ns, idle_ns),
                  charge.gaps, ms(charge.longest_ns));
  }
  if (shown < charges.size()) {
    std::int64_t rest = 0, longest = 0;
    for (std::size_t i = shown; i < charges.size(); ++i) {
      rest = plus_ns(rest, charges[i].ns);
      longest = std::max(longest, charges[i].longest_ns);
    }
    table.add_row("others", std::to_string(charges.size() - shown) + " more", ms(rest),
                  percent_of(rest, idle_ns), kMissing, ms(longest));
  }
  return table;
}

}  // namespace

IdleTables gpu_idle(const TraceFacts& facts, const IdleOptions& options) {
  const Trace& trace = facts.trace();
  std::vector<Gap> gaps = find_gaps(trace, facts.gpu_events(options.include_unlinked).events);
  std::int64_t idle_ns = 0;
  for (const Gap& gap : gaps) idle_ns = plus_ns(idle_ns, length(gap.time));
  Table by_size = table_by_size(gaps, idle_ns);
  return {std::move(by_size),
          table_by_host(trace, charge_gaps(trace, facts.tree(), std::move(gaps)), idle_ns,
                        options.top_rows)};
}

}  // namespace tracelens
