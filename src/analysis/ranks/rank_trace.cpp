#include "analysis/ranks/rank_trace.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/trace_builder.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/range_collectives.hpp"
#include "analysis/ranks/rank_lists.hpp"
#include "analysis/ranks/shared_arguments.hpp"
#include "analysis/ranks/xla_collectives.hpp"
#include "facts/gpu_work.hpp"
#include "facts/job_processes.hpp"
#include "facts/kernel_names.hpp"
#include "facts/trace_kind.hpp"
#include "io/ascii.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Kernels that are collectives of a library without metadata, by a part of their names in lower
// case. The first line is all that the reference edition knows.
struct NamedKernel {
  std::string_view word, collective;
};
constexpr NamedKernel kNamedKernels[] = {
    {"cross_device_reduce", "allreduce"},      // vLLM, SGLang, AITER
    {"quickreduce", "allreduce"},              // vLLM on ROCm
    {"allreduce_fusion_kernel", "allreduce"},  // TensorRT-LLM, FlashInfer
    {"one_shot_all_reduce", "allreduce"},      // PyTorch symmetric memory
    {"two_shot_all_reduce", "allreduce"},
    {"multimem_all_reduce", "allreduce"},
    {"multimem_one_shot_all_reduce", "allreduce"},
    {"multimem_all_gather", "all_gather"},
    {"nccldevkernel_allreduce", "allreduce"},
    {"nccldevkernel_allgather", "all_gather"},
    {"nccldevkernel_reducescatter", "reduce_scatter"},
    {"nccldevkernel_broadcast", "broadcast"},
    {"nccldevkernel_reduce_", "reduce"},
};

// Which kernels communicate, and the collective their names stand for: once per distinct name.
class KernelNames {
 public:
  KernelNames(const Trace& trace, const RankSummaryOptions& options)
      : trace_{trace}, edition_{options.edition}, known_(trace.string_count()) {
    RE2::Options flags{RE2::Quiet};
    flags.set_case_sensitive(false);
    for (const CollectivePattern& pattern : options.patterns) {
      auto regex = std::make_unique<RE2>(pattern.regex, flags);
      if (!regex->ok()) throw Error{pattern.regex, "not a regular expression: " + regex->error()};
      patterns_.push_back({std::move(regex), pattern.collective});
    }
  }

  struct Name {
    bool is_seen = false, is_communication = false;
    std::string_view collective;  // empty: the name does not tell
  };
  const Name& of(StringId id) {
    Name& name = known_[id.row];
    if (!name.is_seen) name = look_at(trace_.text(id));
    return name;
  }

 private:
  [[nodiscard]] Name look_at(std::string_view text) const {
    for (const auto& [regex, collective] : patterns_)
      if (RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, *regex))
        return {true, true, collective};
    Name name{true, is_communication_name(text), {}};
    for (const NamedKernel& kernel : kNamedKernels) {
      if (io::contains_ignoring_case(text, kernel.word)) {
        name.is_communication = true;
        name.collective = kernel.collective;
        break;
      }
      if (edition_ == Edition::kReference) break;
    }
    return name;
  }

  struct Pattern {
    std::unique_ptr<RE2> regex;
    std::string_view collective;  // of the options
  };
  const Trace& trace_;
  Edition edition_;
  std::vector<Pattern> patterns_;
  std::vector<Name> known_;  // by StringId
};

class Summary {
 public:
  // `gpu`: the process in whose place the only GPU stands that this is about; none: all GPUs.
  Summary(const Trace& trace, const RankSummaryOptions& options, const XlaCollectives& xla,
          std::optional<std::int64_t> gpu)
      : trace_{trace},
        options_{options},
        names_{trace, options},
        xla_{xla},
        ranges_{trace},
        texts_{trace},
        gpu_{gpu} {}

  RankTrace make() {
    read_head();
    mark_communication();
    if (options_.edition == Edition::kExtended) find_host_arguments();
    add_kernels();
    if (options_.activity) add_activity();
    if (options_.lane_slices > 0) add_lane();
    return std::move(out_);
  }

 private:
  void read_head() {
    out_.file = trace_.source().name;
    out_.format = trace_.source().format;
    out_.device_name = device_name(trace_);
    out_.events = trace_.size() -
                  static_cast<std::size_t>(std::ranges::count(trace_.phases(), Phase::kDamaged));
    out_.text_bytes = trace_.source().text_bytes;
    for (const auto& entry : trace_.warnings().entries())
      out_.warnings.push_back(
          entry.count == 1 ? entry.what : entry.what + " (" + std::to_string(entry.count) + "x)");
    if (const Value* devices = trace_.metadata("deviceProperties");
        devices != nullptr && devices->is_sequence() && !devices->items().empty())
      out_.device_count = std::ssize(devices->items());
    if (const Value* base = trace_.metadata("baseTimeNanoseconds");
        base != nullptr && base->is_int())
      out_.base_ns = base->as_int();
    const Value* const job = trace_.metadata("distributedInfo");
    if (job == nullptr) return;
    const auto number = [&](const char* key) -> std::optional<std::int64_t> {
      const Value* const value = job->find(key);
      if (value == nullptr || !value->is_int() || value->as_int() < 0) return std::nullopt;
      return value->as_int();
    };
    out_.declared_rank = number("rank");
    out_.world_size = number("world_size");
    out_.rank = out_.declared_rank.value_or(0);
    if (const Value* const groups = job->find("pg_config"))
      for (const Value& group : groups->items()) add_group(group);
  }

  void add_group(const Value& group) {
    const Value *const name = group.find("pg_name"), *const ranks = group.find("ranks"),
                       *const size = group.find("pg_size");
    if (name == nullptr || !name->is_text() || ranks == nullptr) return;
    const std::vector<std::int64_t> members = rank_list(*ranks, size == nullptr ? Value{} : *size);
    if (!members.empty()) out_.groups.push_back({name->as_text(), RankRuns{members}});
  }

  void mark_communication() {
    is_communication_.assign(trace_.size(), 0);
    for (std::uint32_t row = 0; row < trace_.size(); ++row) {
      if (!is_gpu(trace_.categories()[row])) continue;
      if (gpu_ && trace_.track(EventId{row}).pid != Value{*gpu_})
        is_communication_[row] = kOfAnotherRank;
      else if (trace_.categories()[row] == Category::kKernel &&
               trace_.phases()[row] == Phase::kComplete)
        is_communication_[row] = names_.of(trace_.names()[row]).is_communication ||
                                         xla_.of(trace_.signatures()[row]) != nullptr
                                     ? 1
                                     : 0;
    }
  }

  // PyTorch notes a collective's arguments on the host too; some profilers only there.
  void find_host_arguments() {
    const auto& ids = trace_.external_ids();
    for (std::size_t i = 0; i < ids.rows().size(); ++i) {
      const EventId event{ids.rows()[i]};
      if (trace_.category(event) == Category::kCpuOp && trace_.name(event) == "record_param_comms")
        host_arguments_.try_emplace(ids.values()[i], event);
    }
  }

  void add_kernels() {
    const auto& streams = trace_.streams();
    for (std::uint32_t row = 0; row < trace_.size(); ++row) {
      if (is_communication_[row] != 1) continue;
      const auto external_id = trace_.external_ids().at({row});
      const XlaCollective* const xla = xla_.of(trace_.signatures()[row]);
      if (trace_.correlations()[row] == kAbsent && !external_id && xla == nullptr) {
        ++out_.unlinked_kernels;
        continue;
      }
      const Arguments arguments = xla == nullptr
                                      ? arguments_of({row}, external_id, streams.at({row}))
                                      : arguments_of({row}, *xla);
      kernel_rows_.push_back(row);
      out_.kernels.push_back({.ts_ns = trace_.ts_ns()[row],
                              .dur_ns = duration_of(trace_, {row}),
                              .exposed_ns = duration_of(trace_, {row}),
                              .sequence = arguments.sequence,
                              .peer = arguments.peer,
                              .message = arguments.message,
                              .op = arguments.op});
    }
  }

  struct Arguments {
    std::int64_t sequence = kAbsent, peer = kAbsent;
    std::uint32_t message = 0, op = CollectiveKernel::kNoOp;
  };
  Arguments arguments_of(EventId kernel, const XlaCollective& xla) {
    CollectiveMessage message = xla.message;
    message.stream = trace_.track(kernel).tid;
    const auto [known, is_new] =
        op_ids_.try_emplace(xla.name, static_cast<std::uint32_t>(out_.ops.size()));
    if (is_new) out_.ops.push_back(xla.name);
    return {.message = id_of(std::move(message)), .op = known->second};
  }
  Arguments arguments_of(EventId kernel, std::optional<std::int64_t> external_id,
                         std::optional<std::int64_t> stream) {
    const std::string_view by_name = names_.of(trace_.names()[kernel.row]).collective;
    if (const Value& range = ranges_.of(kernel); !range.is_null()) {
      const Value* const sequence = range.find("Seq");
      return {.sequence = sequence != nullptr && sequence->is_int() ? sequence->as_int() : kAbsent,
              .peer = peer_in(range),
              .message = id_of(message_in(range, by_name, stream))};
    }
    SharedArguments::Read read = texts_.of(kernel);
    if (read.arguments->find("Collective name") == nullptr && external_id) {
      const auto host = host_arguments_.find(*external_id);
      if (host != host_arguments_.end()) read = texts_.of(host->second);
    }
    const auto [known, is_new] = known_arguments_.try_emplace({read.number, by_name, stream});
    if (is_new)
      known->second = {.peer = peer_in(*read.arguments),
                       .message = id_of(message_in(*read.arguments, by_name, stream))};
    Arguments arguments = known->second;
    arguments.sequence = read.sequence;
    return arguments;
  }

  static CollectiveMessage message_in(const Value& arguments, std::string_view by_name,
                                      std::optional<std::int64_t> stream) {
    CollectiveMessage message = collective_message(arguments);
    Value& group = message[CollectiveField::kGroupName];
    if (group.is_int()) group = std::to_string(group.as_int());
    Value& collective = message[CollectiveField::kCollective];
    if (collective.is_null() && !by_name.empty()) collective = std::string{by_name};
    if (stream) message.stream = *stream;
    return message;
  }

  static std::int64_t peer_in(const Value& arguments) {
    for (const char* const key : {"Dst Rank", "Src Rank"})
      if (const Value* const value = arguments.find(key); value != nullptr && value->is_int())
        return value->as_int();
    return kAbsent;
  }

  std::uint32_t id_of(CollectiveMessage message) {
    const auto [known, is_new] =
        message_ids_.try_emplace(key_of(message), static_cast<std::uint32_t>(out_.messages.size()));
    if (is_new) out_.messages.push_back(std::move(message));
    return known->second;
  }

  void add_activity() {
    const GpuBusy busy = gpu_busy(trace_, is_communication_);
    find_exposed(busy);
    out_.steps = rank_steps(trace_, busy);
    out_.activity = rank_activity(trace_, busy, is_communication_);
  }

  // What one GPU computes hides nothing of what another one sends.
  void find_exposed(const GpuBusy& all) {
    using Gpu = std::pair<std::int64_t, std::int64_t>;  // of several processes each has a first one
    std::map<Gpu, std::vector<Interval>> computing;
    std::vector<Gpu> senders;  // by kernel of out_.kernels
    SparseCursor devices{trace_.devices()};
    const GpuWorkKinds kinds{trace_};
    for (std::uint32_t row = 0; row < trace_.size(); ++row) {
      if (!is_gpu(trace_.categories()[row]) || trace_.phases()[row] != Phase::kComplete ||
          is_communication_[row] == kOfAnotherRank)
        continue;
      const Value& process = trace_.track(EventId{row}).pid;
      const Gpu gpu{devices.at({row}).value_or(0), process.is_int() ? process.as_int() : 0};
      std::vector<Interval>& times = computing[gpu];
      if (senders.size() < kernel_rows_.size() && kernel_rows_[senders.size()] == row)
        senders.push_back(gpu);
      if (is_communication_[row] == 0 && kinds.of(EventId{row}) == GpuWork::kComputation)
        times.push_back({trace_.ts_ns()[row], end_of(trace_, {row})});
    }
    std::map<Gpu, BusyTimes> busy;
    for (auto& [gpu, times] : computing)
      busy.emplace(gpu, computing.size() == 1 ? all.computing : BusyTimes{merge(std::move(times))});
    for (std::size_t i = 0; i < senders.size(); ++i) {
      CollectiveKernel& kernel = out_.kernels[i];
      const Interval time{kernel.ts_ns, end_of(kernel.ts_ns, kernel.dur_ns)};
      kernel.exposed_ns = minus_ns(kernel.dur_ns, busy.at(senders[i]).within(time));
    }
  }

  // Every GPU event; what reads the trace thins them.
  void add_lane() {
    constexpr std::int64_t kLongest = std::int64_t{1} << 52;  // what a page can show
    std::vector<EventId> events;
    for (std::uint32_t row = 0; row < trace_.size(); ++row)
      if (is_gpu(trace_.categories()[row]) && trace_.phases()[row] == Phase::kComplete &&
          trace_.ts_ns()[row] != kAbsent && is_communication_[row] != kOfAnotherRank)
        events.push_back({row});
    if (events.empty()) return;
    RankLane& lane = out_.lane;
    lane.origin_ns = std::numeric_limits<std::int64_t>::max();
    for (const EventId event : events)
      lane.origin_ns = std::min(lane.origin_ns, trace_.ts_ns()[event.row]);
    lane.names.emplace_back();
    std::unordered_map<std::uint32_t, PageName> known;
    const GpuWorkKinds kinds{trace_};
    for (const EventId event : events) {
      const std::uint32_t name = trace_.names()[event.row].row;
      const auto [place, is_new] =
          known.try_emplace(name, static_cast<PageName>(lane.names.size()));
      if (is_new) lane.names.emplace_back(trace_.name(event));
      PageSlice& slice = lane.lane.slices.emplace_back();
      const std::int64_t start = minus_ns(trace_.ts_ns()[event.row], lane.origin_ns);
      slice.start_ns = start < 0 ? kLongest : std::min(start, kLongest);
      slice.duration_ns = std::min(duration_of(trace_, event), kLongest - slice.start_ns);
      slice.name = place->second;
      slice.event = event.row;
      slice.kind = is_communication_[event.row] == 1                ? RankLane::kCommunicating
                   : trace_.category(event) == Category::kGpuMemset ? RankLane::kFilling
                   : kinds.of(event) == GpuWork::kCopy              ? RankLane::kCopying
                                                                    : RankLane::kComputing;
    }
  }

  const Trace& trace_;
  const RankSummaryOptions& options_;
  KernelNames names_;
  const XlaCollectives& xla_;
  RangeCollectives ranges_;
  SharedArguments texts_;
  std::optional<std::int64_t> gpu_;
  std::vector<std::uint8_t> is_communication_;  // by event row: 0, 1 or kOfAnotherRank
  std::vector<std::uint32_t> kernel_rows_;      // of out_.kernels
  std::unordered_map<std::int64_t, EventId> host_arguments_;
  // By the text's number, what the kernel's name stands for, and the stream.
  std::map<std::tuple<std::uint32_t, std::string_view, std::optional<std::int64_t>>, Arguments>
      known_arguments_;
  std::unordered_map<std::string, std::uint32_t> message_ids_, op_ids_;
  RankTrace out_;
};

// Of the databases of a job: one rank for each process that has GPU events.
std::vector<RankTrace> summarize_processes(const Trace& trace, const RankSummaryOptions& options) {
  std::vector<RankTrace> ranks;
  const std::vector<JobProcess> processes = job_processes(trace);
  for (const JobProcess& process : processes) {
    if (std::ranges::none_of(process.events,
                             [&](EventId event) { return is_gpu(trace.category(event)); }))
      continue;
    RankTrace rank = processes.size() == 1
                         ? summarize_rank(trace, options)
                         : summarize_rank(TraceBuilder::excerpt(trace, process.events), options);
    rank.declared_rank = process.rank;
    rank.world_size = process.world_size;
    rank.rank = process.rank.value_or(std::ssize(ranks));
    if (!ranks.empty()) rank.warnings.clear();  // those of the file, once
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

}  // namespace

RankTrace summarize_rank(const Trace& trace, const RankSummaryOptions& options) {
  return Summary{trace, options, XlaCollectives{trace}, std::nullopt}.make();
}

std::vector<RankTrace> summarize_ranks(const Trace& trace, const RankSummaryOptions& options) {
  std::set<std::int64_t> gpus;  // processes, in the order of the GPUs
  if (trace_kind(trace) == TraceKind::kJax && options.edition == Edition::kExtended)
    for (const EventId event : trace.all_events())
      if (is_gpu(trace.category(event))) gpus.insert(trace.track(event).pid.as_int());
  std::vector<RankTrace> ranks;
  if (trace_kind(trace) == TraceKind::kDatabase && options.edition == Edition::kExtended)
    ranks = summarize_processes(trace, options);
  if (!ranks.empty()) return ranks;
  if (gpus.empty()) {
    ranks.push_back(summarize_rank(trace, options));
    return ranks;
  }
  const XlaCollectives xla{trace};
  for (const std::int64_t gpu : gpus) {
    RankTrace& rank = ranks.emplace_back(Summary{trace, options, xla, gpu}.make());
    rank.gpu = std::ssize(ranks) - 1;
    rank.device_count = std::ssize(gpus);
  }
  return ranks;
}

void shift_kernels(RankTrace& rank, std::int64_t ns) {
  rank.lane.origin_ns = plus_ns(rank.lane.origin_ns, ns);
  for (CollectiveKernel& kernel : rank.kernels) kernel.ts_ns = plus_ns(kernel.ts_ns, ns);
}

void shift_times(RankTrace& rank, std::int64_t ns) {
  shift_kernels(rank, ns);
  for (RankActivity::Stretch& stretch : rank.activity.stretches) {
    stretch.start_ns = plus_ns(stretch.start_ns, ns);
    stretch.end_ns = plus_ns(stretch.end_ns, ns);
  }
}

}  // namespace tracelens
