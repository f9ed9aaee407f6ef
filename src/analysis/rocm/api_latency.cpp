#include "analysis/rocm/api_latency.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <tracelens/error.hpp>
#include <tuple>
#include <unordered_map>

#include "analysis/kit/group_rows.hpp"
#include "analysis/rocm/pftrace_stats.hpp"
#include "io/ascii.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kLaunchApis[] = {
    "hipModuleLaunchKernel",
    "hipLaunchKernelGGL",
    "hipLaunchKernel",
    "hipExtLaunchKernelGGL",
    "hipExtModuleLaunchKernel",
    "hipMemset",
    "hipModuleLaunchCooperativeKernel",
    "hipMemcpyHtoDAsync",
    "hipMemcpyDtoHAsync",
    "hipMemsetD32Async",
};

// The name the kernel itself has, rather than its event.
std::string_view kernel_name(const PftraceEvents& events, EventId kernel) {
  const std::string& own = events.args(kernel).kernel_name;
  return own.empty() ? events.trace().name(kernel) : std::string_view{own};
}

// As its producer numbers the GPUs, or as PftraceEvents does.
std::int64_t device_of(const PftraceEvents& events, EventId kernel) {
  if (!kernel.valid()) return 0;
  if (const auto device = events.args(kernel).device) return *device;
  return events.gpu_number_of(kernel).value_or(0);
}

class Finder {
 public:
  Finder(const PftraceEvents& events, const ApiLaunchOptions& options)
      : events_{events},
        trace_{events.trace()},
        options_{options},
        excluded_{options.exclude_kernels, RE2::Quiet},
        excluded_by_name_(trace_.string_count()),
        name_kinds_(trace_.string_count()) {
    if (!excluded_.ok())
      throw Error{options.exclude_kernels, "not a regular expression: " + excluded_.error()};
  }

  std::vector<ApiLaunch> find() {
    for (const EventId event : trace_.all_events()) classify(event);
    sort_by_id(kernels_);
    sort_by_id(calls_);
    const std::vector<SameId> calls = calls_by_id();
    calls_ = {};
    launches_.reserve(calls.size());
    for (const SameId& same : calls) add_launches(same.last);
    return std::move(launches_);
  }

 private:
  enum class Role : std::uint8_t { kOther, kNamedKernel, kKernel, kHipCall, kCudaCall };

  // What a name alone tells: the same few names come again and again.
  enum class NameKind : std::uint8_t { kUnknown, kPlain, kNamedKernel, kRegister };
  NameKind name_kind(StringId id) {
    NameKind& kind = name_kinds_[id.row];
    if (kind != NameKind::kUnknown) return kind;
    const std::string name = io::lower_case(trace_.text(id));
    if (name.ends_with(".kd") || name.find(".kd ") != std::string::npos)
      return kind = NameKind::kNamedKernel;  // so the compiler names kernels
    return kind =
               name.find("register") == std::string::npos ? NameKind::kPlain : NameKind::kRegister;
  }

  static Role role_of(std::string_view category) {
    if (category == "hip_api") return Role::kHipCall;
    for (const auto word : {"kernel", "gpu_activity", "memory_copy"})
      if (io::contains_ignoring_case(category, word)) return Role::kKernel;
    const std::string lower = io::lower_case(category);
    return lower == "cuda_api" || lower == "cupti" ? Role::kCudaCall : Role::kOther;
  }

  // By name and category alone.
  [[nodiscard]] Role role_of(EventId event) {
    const NameKind name = name_kind(trace_.names()[event.row]);
    if (name == NameKind::kNamedKernel) return Role::kNamedKernel;
    // Events of a category follow each other.
    if (const std::string_view category = trace_.category_text(event);
        category != last_category_.first)
      last_category_ = {category, role_of(category)};
    const Role role = last_category_.second;
    return role == Role::kKernel && name == NameKind::kRegister ? Role::kOther : role;
  }

  void classify(EventId event) {
    const std::int64_t id = trace_.correlations()[event.row];
    const Phase phase = trace_.phase(event);
    // The id of a flow is not a correlation; an event without a time has nothing to tell.
    if (id == kAbsent || phase == Phase::kFlowStart || phase == Phase::kFlowEnd ||
        trace_.ts_ns()[event.row] == kAbsent || trace_.dur_ns()[event.row] == kAbsent)
      return;
    const Role role = role_of(event);
    if (role == Role::kOther || (role == Role::kKernel && trace_.dur_ns()[event.row] <= 0)) return;
    if (role == Role::kHipCall || role == Role::kCudaCall)
      calls_.push_back(event);
    else if (!is_excluded(event))
      kernels_.push_back(event);
  }

  bool is_excluded(EventId kernel) {
    if (options_.exclude_kernels.empty()) return false;
    if (const std::string& own = events_.args(kernel).kernel_name; !own.empty()) {
      const auto [entry, is_new] = excluded_names_.try_emplace(own);
      if (is_new) entry->second = RE2::PartialMatch(own, excluded_);
      return entry->second;
    }
    std::optional<bool>& known = excluded_by_name_[trace_.names()[kernel.row].row];
    if (!known) known = RE2::PartialMatch(trace_.name(kernel), excluded_);
    return *known;
  }

  // The id that a call and its kernels share.
  [[nodiscard]] std::int64_t id_of(EventId event) const { return trace_.correlations()[event.row]; }

  // Among equal ids the order stays that of the file.
  void sort_by_id(std::vector<EventId>& events) {
    merge_runs(std::span{events}, scratch_,
               [this](EventId a, EventId b) { return id_of(a) < id_of(b); });
  }

  // The first and last call of each id, in order of the first ones.
  struct SameId {
    EventId first, last;
  };
  [[nodiscard]] std::vector<SameId> calls_by_id() const {
    std::vector<SameId> found;
    found.reserve(calls_.size());
    for (const EventId call : calls_)
      if (found.empty() || id_of(found.back().last) != id_of(call))
        found.push_back({call, call});
      else
        found.back().last = call;
    std::vector<SameId> scratch;
    merge_runs(std::span{found}, scratch,
               [](const SameId& a, const SameId& b) { return a.first < b.first; });
    return found;
  }

  void add_launches(EventId call) {
    if (!options_.other_calls && !is_launch(call)) return;
    const std::span<const EventId> kernels = kernels_of(call);
    if (kernels.empty()) {
      if (options_.other_calls) launches_.push_back({call, {}});
    } else if (options_.all_kernels) {
      for (const EventId kernel : kernels) launches_.push_back({call, kernel});
    } else {
      launches_.push_back({call, *std::ranges::min_element(kernels, {}, [&](EventId kernel) {
                             return trace_.ts_ns()[kernel.row];
                           })});
    }
  }

  bool is_launch(EventId call) {
    return role_of(call) == Role::kHipCall && is_launch_api(trace_.name(call));
  }

  // Mostly calls come by their ids: then the kernels of one stand behind those of the call before.
  std::span<const EventId> kernels_of(EventId call) {
    const std::int64_t id = id_of(call);
    const bool is_behind = next_kernel_ == 0 || id_of(kernels_[next_kernel_ - 1]) < id;
    const bool is_here = next_kernel_ == kernels_.size() || id_of(kernels_[next_kernel_]) >= id;
    if (!is_behind || !is_here) {
      const auto found = std::ranges::lower_bound(kernels_, id, {},
                                                  [this](EventId kernel) { return id_of(kernel); });
      next_kernel_ = static_cast<std::size_t>(found - kernels_.begin());
    }
    const std::size_t begin = next_kernel_;
    while (next_kernel_ < kernels_.size() && id_of(kernels_[next_kernel_]) == id) ++next_kernel_;
    return std::span{kernels_}.subspan(begin, next_kernel_ - begin);
  }

  const PftraceEvents& events_;
  const Trace& trace_;
  const ApiLaunchOptions& options_;
  RE2 excluded_;
  std::unordered_map<std::string, bool> excluded_names_;  // that kernels have beside their events
  std::vector<std::optional<bool>> excluded_by_name_;     // by name
  std::vector<NameKind> name_kinds_;                      // by name
  std::pair<std::string_view, Role> last_category_ = {{}, Role::kOther};
  std::vector<EventId> calls_, kernels_, scratch_;
  std::size_t next_kernel_ = 0;  // behind those of the call at hand
  std::vector<ApiLaunch> launches_;
};

// Of a row of api_kernel_summary: process, thread, GPU, call and kernel.
using LaunchKey =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string_view, std::string_view>;

LaunchKey key_of(const PftraceEvents& events, const ApiLaunch& launch) {
  return {events.pid(launch.call).value_or(0), events.tid(launch.call).value_or(0),
          device_of(events, launch.kernel), events.trace().name(launch.call),
          launch.kernel.valid() ? kernel_name(events, launch.kernel) : std::string_view{}};
}

// Groups of launches that are alike in what the trace has numbered already. That is quicker to
// compare than their keys, and finer: two threads of a trace may have one number.
RowGroups alike_launches(const PftraceEvents& events, const std::vector<ApiLaunch>& launches) {
  constexpr std::uint32_t kNoKernel = 0xffffffff;
  const Trace& trace = events.trace();
  // Names that kernels have beside their events, numbered behind the texts of the trace.
  std::unordered_map<std::string_view, std::uint32_t> own_names;
  const auto number_of_name = [&](EventId kernel) {
    if (!kernel.valid()) return kNoKernel;
    const std::string_view own = events.args(kernel).kernel_name;
    if (own.empty()) return trace.names()[kernel.row].row;
    const auto next = static_cast<std::uint32_t>(trace.string_count() + own_names.size());
    return own_names.try_emplace(own, next).first->second;
  };
  RowGroups groups;
  for (const ApiLaunch& launch : launches) {
    const auto device = static_cast<std::uint64_t>(device_of(events, launch.kernel));
    groups.add({trace.tracks()[launch.call.row].row, trace.names()[launch.call.row].row,
                number_of_name(launch.kernel), static_cast<std::uint32_t>(device),
                static_cast<std::uint32_t>(device >> 32)});
  }
  groups.close();
  return groups;
}

// The times of a launch that api_kernel_summary tells; wait_ns() is one, too.
std::int64_t call_ns(const Trace& trace, const ApiLaunch& launch) {
  return duration_of(trace, launch.call);
}
std::int64_t kernel_ns(const Trace& trace, const ApiLaunch& launch) {
  return launch.kernel.valid() ? duration_of(trace, launch.kernel) : 0;
}
std::int64_t total_ns(const Trace& trace, const ApiLaunch& launch) {
  return plus_ns(plus_ns(call_ns(trace, launch), wait_ns(trace, launch)), kernel_ns(trace, launch));
}
struct LaunchTime {
  char letter;
  const char* what;
  std::int64_t (*of)(const Trace& trace, const ApiLaunch& launch);
  bool needs_kernel = false;  // calls that launched none have no such time
};
constexpr LaunchTime kLaunchTimes[] = {
    {'T', "call + wait + kernel", total_ns, true},
    {'A', "the call", call_ns},
    {'Q', "wait from the end of the call to the start of the kernel", wait_ns},
    {'K', "the kernel", kernel_ns}};

double us_of(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

bool is_launch_api(std::string_view hip_call) {
  if (std::ranges::find(kLaunchApis, hip_call) != std::end(kLaunchApis)) return true;
  const std::string name = io::lower_case(hip_call);
  const std::size_t launch = name.find("launch");
  return launch != std::string::npos && name.find("kernel", launch + 6) != std::string::npos;
}

std::int64_t wait_ns(const Trace& trace, const ApiLaunch& launch) {
  if (!launch.kernel.valid()) return 0;
  const std::int64_t wait = minus_ns(trace.ts_ns()[launch.kernel.row], end_of(trace, launch.call));
  return std::max<std::int64_t>(0, wait);
}

std::vector<ApiLaunch> find_api_launches(const PftraceEvents& events,
                                         const ApiLaunchOptions& options) {
  return Finder{events, options}.find();
}

Table api_kernel_summary(const PftraceEvents& events, const std::vector<ApiLaunch>& launches) {
  const Trace& trace = events.trace();
  std::vector<ColumnSpec> columns{
      {"PID", Kind::kInteger, "id", "process of the call"},
      {"TID", Kind::kInteger, "id", "thread of the call, as the trace names it"},
      {"DevId", Kind::kInteger, "id", "GPU of the kernel"},
      {"Count", Kind::kInteger, "", "calls"},
      {"QCount", Kind::kInteger, "", "calls that launched a kernel"},
  };
  for (const LaunchTime& time : kLaunchTimes)
    for (const auto* figure : {"Avg", "Med", "Min", "Max", "StdDev"}) {
      const bool is_whole = figure[0] == 'M' && figure[1] != 'e';
      columns.push_back({std::string{time.letter} + figure + "_ns",
                         is_whole ? Kind::kInteger : Kind::kReal, "ns", time.what});
    }
  columns.push_back({"API Name", Kind::kText, "", "call"});
  columns.push_back({"Kernel Name", Kind::kText, "", "kernel; empty: none was launched"});

  const RowGroups groups = alike_launches(events, launches);
  std::map<LaunchKey, std::vector<std::size_t>> rows;  // the groups of each
  for (std::size_t group = 0; group < groups.size(); ++group)
    rows[key_of(events, launches[groups.rows(group).front()])].push_back(group);

  Table table{"api_kernel_summary", "HIP calls and the kernels they launched: call, wait, run",
              columns};
  std::vector<std::int64_t> values;  // one time of one row after the other: there may be millions
  for (const auto& [key, groups_of_row] : rows) {
    std::array<NsStats, std::size(kLaunchTimes)> stats;
    for (std::size_t i = 0; i < stats.size(); ++i) {
      values.clear();
      for (const std::size_t group : groups_of_row)
        for (const std::uint32_t row : groups.rows(group))
          if (launches[row].kernel.valid() || !kLaunchTimes[i].needs_kernel)
            values.push_back(kLaunchTimes[i].of(trace, launches[row]));
      stats[i] = ns_stats(values);
    }
    const auto& [pid, tid, device, call, kernel] = key;
    std::vector<Cell> cells{pid, tid, device, stats[1].count, stats[0].count};  // of A and of T
    for (const NsStats& time : stats)
      for (const Cell& cell :
           {Cell{time.mean}, Cell{time.median}, Cell{time.min}, Cell{time.max}, Cell{time.std}})
        cells.push_back(cell);
    cells.emplace_back(std::string{call});
    cells.emplace_back(std::string{kernel});
    table.append(cells);
  }
  return table;
}

std::optional<Table> queue_delay(const PftraceEvents& events,
                                 const std::vector<ApiLaunch>& launches) {
  const Trace& trace = events.trace();
  std::vector<std::uint32_t> by_kernel;  // launches in file order of the kernels
  by_kernel.reserve(launches.size());
  for (std::uint32_t i = 0; i < launches.size(); ++i)
    if (launches[i].kernel.valid()) by_kernel.push_back(i);
  std::vector<std::uint32_t> scratch;
  merge_runs(std::span{by_kernel}, scratch, [&](std::uint32_t a, std::uint32_t b) {
    return launches[a].kernel < launches[b].kernel;
  });
  using Id = std::optional<std::int64_t>;
  std::map<std::pair<Id, Id>, std::vector<std::uint32_t>> groups;  // by GPU and stream
  SparseCursor devices{trace.devices()}, streams{trace.streams()};
  for (const std::uint32_t i : by_kernel) {
    const EventId kernel = launches[i].kernel;
    groups[{devices.at(kernel), streams.at(kernel)}].push_back(i);
  }
  if (groups.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"GPU", Kind::kInteger, "id", "as in gpu_streams; empty when the trace does not say"},
      {"stream", Kind::kInteger, "id", "HIP stream; empty when the trace does not say"},
      {"launches", Kind::kInteger, "", "kernels and copies with a call that launched them"},
      {"started at once", Kind::kInteger, "", "those that ran before their call returned"},
      {"mean", Kind::kReal, "µs", "time from the end of the call to the start of the kernel"},
      {"p50", Kind::kReal, "µs", "half of them wait no longer"},
      {"p90", Kind::kReal, "µs", "90% wait no longer"},
      {"p95", Kind::kReal, "µs", "95% wait no longer"},
      {"p99", Kind::kReal, "µs", "99% wait no longer"},
      {"max", Kind::kReal, "µs", "longest wait"},
  };
  Table table{"queue_delay", "How long kernels waited after they were launched", columns};
  std::vector<std::int64_t> times;  // of one stream after the other
  for (const auto& [key, group] : groups) {
    times.clear();
    for (const std::uint32_t i : group) times.push_back(wait_ns(trace, launches[i]));
    const NsStats stats = ns_stats(times);  // sorts them
    table.add_row(key.first, key.second, stats.count,
                  std::ranges::upper_bound(times, 0) - times.begin(), stats.mean / 1e3,
                  us_of(percentile(times, 50)), us_of(percentile(times, 90)),
                  us_of(percentile(times, 95)), us_of(percentile(times, 99)), us_of(stats.max));
  }
  return table;
}

}  // namespace tracelens
