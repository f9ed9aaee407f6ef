#include "analysis/rocm/api_latency.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tracelens/error.hpp>
#include <tuple>
#include <unordered_map>

#include "analysis/rocm/pftrace_stats.hpp"
#include "io/ascii.hpp"
#include "tree/time_math.hpp"

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

// A call or kernel and the id it shares with the other.
struct Correlated {
  std::int64_t id;
  EventId event;
};

class Finder {
 public:
  Finder(const PftraceEvents& events, const ApiLaunchOptions& options)
      : events_{events},
        trace_{events.trace()},
        options_{options},
        excluded_{options.exclude_kernels, RE2::Quiet},
        name_kinds_(trace_.string_count()) {
    if (!excluded_.ok())
      throw Error{options.exclude_kernels, "not a regular expression: " + excluded_.error()};
  }

  std::vector<ApiLaunch> find() {
    for (const EventId event : trace_.all_events()) classify(event);
    // Stable sorts: among equal ids the order stays that of the file.
    std::ranges::stable_sort(kernels_, {}, &Correlated::id);
    for (const EventId call : last_calls()) add_launches(call);
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
      calls_.push_back({id, event});
    else if (!is_excluded(kernel_name(events_, event)))
      kernels_.push_back({id, event});
  }

  bool is_excluded(std::string_view kernel) {
    if (options_.exclude_kernels.empty()) return false;
    const auto [entry, is_new] = excluded_names_.try_emplace(std::string{kernel});
    if (is_new) entry->second = RE2::PartialMatch(entry->first, excluded_);
    return entry->second;
  }

  // The last call of each id, in order of the first one.
  std::vector<EventId> last_calls() {
    std::ranges::stable_sort(calls_, {}, &Correlated::id);
    std::vector<std::pair<EventId, EventId>> spans;  // first and last of an id
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (i == 0 || calls_[i].id != calls_[i - 1].id)
        spans.emplace_back(calls_[i].event, calls_[i].event);
      else
        spans.back().second = calls_[i].event;
    }
    std::ranges::sort(spans);
    std::vector<EventId> last;
    last.reserve(spans.size());
    for (const auto& span : spans) last.push_back(span.second);
    return last;
  }

  void add_launches(EventId call) {
    const bool is_launch = role_of(call) == Role::kHipCall && is_launch_api(trace_.name(call));
    if (!is_launch && !options_.other_calls) return;
    const std::int64_t id = trace_.correlations()[call.row];
    const std::span<const Correlated> kernels{
        std::ranges::lower_bound(kernels_, id, {}, &Correlated::id),
        std::ranges::upper_bound(kernels_, id, {}, &Correlated::id)};
    if (kernels.empty()) {
      if (options_.other_calls) launches_.push_back({call, {}, 0});
    } else if (options_.all_kernels) {
      for (const Correlated& kernel : kernels) add_kernel(call, kernel.event);
    } else {
      add_kernel(call, std::ranges::min_element(kernels, {}, [&](const Correlated& kernel) {
                         return trace_.ts_ns()[kernel.event.row];
                       })->event);
    }
  }

  void add_kernel(EventId call, EventId kernel) {
    const std::int64_t wait = minus_ns(trace_.ts_ns()[kernel.row], end_of(trace_, call));
    launches_.push_back({call, kernel, std::max<std::int64_t>(0, wait)});
  }

  const PftraceEvents& events_;
  const Trace& trace_;
  const ApiLaunchOptions& options_;
  RE2 excluded_;
  std::unordered_map<std::string, bool> excluded_names_;
  std::vector<NameKind> name_kinds_;  // by name
  std::pair<std::string_view, Role> last_category_ = {{}, Role::kOther};
  std::vector<Correlated> calls_, kernels_;
  std::vector<ApiLaunch> launches_;
};

struct LatencyGroup {
  std::int64_t count = 0, launched = 0;
  std::array<std::vector<std::int64_t>, 4> times;  // T, A, Q, K
};

double us_of(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

bool is_launch_api(std::string_view hip_call) {
  if (std::ranges::find(kLaunchApis, hip_call) != std::end(kLaunchApis)) return true;
  const std::string name = io::lower_case(hip_call);
  const std::size_t launch = name.find("launch");
  return launch != std::string::npos && name.find("kernel", launch + 6) != std::string::npos;
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
  constexpr std::array<std::pair<char, const char*>, 4> kTimes = {
      {{'T', "call + wait + kernel"},
       {'A', "the call"},
       {'Q', "wait from the end of the call to the start of the kernel"},
       {'K', "the kernel"}}};
  for (const auto& [letter, what] : kTimes)
    for (const auto* figure : {"Avg", "Med", "Min", "Max", "StdDev"}) {
      const bool is_whole = figure[0] == 'M' && figure[1] != 'e';
      columns.push_back({std::string{letter} + figure + "_ns",
                         is_whole ? Kind::kInteger : Kind::kReal, "ns", what});
    }
  columns.push_back({"API Name", Kind::kText, "", "call"});
  columns.push_back({"Kernel Name", Kind::kText, "", "kernel; empty: none was launched"});

  using Key =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string_view, std::string_view>;
  std::map<Key, LatencyGroup> groups;
  for (const ApiLaunch& launch : launches) {
    const bool launched = launch.kernel.valid();
    LatencyGroup& group =
        groups[{events.pid(launch.call).value_or(0), events.tid(launch.call).value_or(0),
                device_of(events, launch.kernel), trace.name(launch.call),
                launched ? kernel_name(events, launch.kernel) : std::string_view{}}];
    const std::int64_t call_ns = duration_of(trace, launch.call);
    const std::int64_t kernel_ns = launched ? duration_of(trace, launch.kernel) : 0;
    ++group.count;
    if (launched) {
      ++group.launched;
      group.times[0].push_back(plus_ns(plus_ns(call_ns, launch.wait_ns), kernel_ns));
    }
    group.times[1].push_back(call_ns);
    group.times[2].push_back(launch.wait_ns);
    group.times[3].push_back(kernel_ns);
  }
  Table table{"api_kernel_summary", "HIP calls and the kernels they launched: call, wait, run",
              columns};
  for (auto& [key, group] : groups) {
    const auto& [pid, tid, device, call, kernel] = key;
    std::vector<Cell> cells{pid, tid, device, group.count, group.launched};
    for (auto& times : group.times) {
      const NsStats stats = ns_stats(times);
      for (const Cell& cell : {Cell{stats.mean}, Cell{stats.median}, Cell{stats.min},
                               Cell{stats.max}, Cell{stats.std}})
        cells.push_back(cell);
    }
    cells.emplace_back(std::string{call});
    cells.emplace_back(std::string{kernel});
    table.append(cells);
  }
  return table;
}

std::optional<Table> queue_delay(const PftraceEvents& events,
                                 const std::vector<ApiLaunch>& launches) {
  const Trace& trace = events.trace();
  using Id = std::optional<std::int64_t>;
  std::map<std::pair<Id, Id>, std::vector<std::int64_t>> waits;  // by GPU and stream
  for (const ApiLaunch& launch : launches)
    if (launch.kernel.valid())
      waits[{trace.devices().at(launch.kernel), trace.streams().at(launch.kernel)}].push_back(
          launch.wait_ns);
  if (waits.empty()) return std::nullopt;
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
  for (auto& [key, times] : waits) {
    const NsStats stats = ns_stats(times);  // sorts them
    table.add_row(key.first, key.second, stats.count,
                  std::ranges::upper_bound(times, 0) - times.begin(), stats.mean / 1e3,
                  us_of(percentile(times, 50)), us_of(percentile(times, 90)),
                  us_of(percentile(times, 95)), us_of(percentile(times, 99)), us_of(stats.max));
  }
  return table;
}

}  // namespace tracelens
