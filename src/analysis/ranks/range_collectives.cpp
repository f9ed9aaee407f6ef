#include "analysis/ranks/range_collectives.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/database/database_events.hpp"
#include "facts/job_processes.hpp"
#include "facts/trace_kind.hpp"
#include "trace/value_member.hpp"

namespace tracelens {
namespace {

// How the size that NCCL notes for a call is to be taken.
enum class Buffer : std::uint8_t { kBoth, kSent, kReceived };
struct NcclCall {
  std::string_view name, collective;
  Buffer buffer = Buffer::kBoth;
};
constexpr NcclCall kCalls[] = {
    {"ncclAllReduce", "allreduce"},
    {"ncclAllGather", "all_gather", Buffer::kSent},
    {"ncclReduceScatter", "reduce_scatter", Buffer::kReceived},
    {"ncclBroadcast", "broadcast"},
    {"ncclBcast", "broadcast"},
    {"ncclReduce", "reduce"},
    {"ncclAlltoAll", "all_to_all"},
    {"ncclAllToAll", "all_to_all"},
    {"ncclGather", "gather"},
    {"ncclScatter", "scatter"},
    {"ncclSend", "send"},
    {"ncclRecv", "recv"},
};

const JobProcess::Communicator* find_communicator(const JobProcess& process,
                                                  const std::string& id) {
  const auto found = std::ranges::find(process.communicators, id, &JobProcess::Communicator::id);
  return found == process.communicators.end() ? nullptr : &*found;
}

// The arguments of a range in the words in which PyTorch notes them on a kernel.
Value arguments_of(const Value& details, const JobProcess::Communicator* communicator,
                   std::int64_t world_size) {
  const std::string& call = member(details, "collective").as_text();
  const auto* const known = std::ranges::find(kCalls, call, &NcclCall::name);
  if (known == std::end(kCalls)) return {};
  const std::int64_t bytes = member(details, "message_bytes").as_int();
  const std::int64_t size = communicator == nullptr ? 0 : communicator->size;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 46, kMostRanks = 1 << 16;
  const bool is_known = size > 0 && size <= kMostRanks && bytes <= kMostBytes;
  std::vector<std::string> keys{"Collective name", "dtype"};
  std::vector<Value> values{std::string{known->collective}, "bytes"};
  const auto add = [&](const char* key, Value value) {
    keys.emplace_back(key);
    values.push_back(std::move(value));
  };
  // One side's buffer is the other's times the ranks.
  const bool is_sent = known->buffer != Buffer::kReceived;
  if (known->buffer == Buffer::kBoth || is_known) {
    add("In msg nelems", is_sent ? bytes : bytes * size);
    add("Out msg nelems", known->buffer == Buffer::kSent ? bytes * size : bytes);
  }
  if (const Value& id = member(details, "communicator"); id.is_text())
    add("Process Group Name", id);
  if (size > 0) add("Group size", size);
  if (is_known && size == world_size) {  // it has all ranks
    std::string ranks;
    for (std::int64_t rank = 0; rank < size; ++rank)
      ranks.append(rank == 0 ? "[" : ", ").append(std::to_string(rank));
    add("Process Group Ranks", ranks + "]");
  }
  if (const Value& peer = member(details, "peer"); peer.is_int())
    add(known->collective == "send" ? "Dst Rank" : "Src Rank", peer);
  return Value::dict(std::move(keys), std::move(values));
}

}  // namespace

RangeCollectives::RangeCollectives(const Trace& trace) {
  if (trace_kind(trace) != TraceKind::kDatabase) return;
  const DatabaseEvents events{trace};
  const std::vector<JobProcess> processes = job_processes(trace);
  constexpr std::size_t kUnread = static_cast<std::size_t>(-1), kNone = kUnread - 1;
  std::vector<std::size_t> of_range(events.ranges().size(), kUnread);
  const auto of = [&](std::uint32_t range) {
    std::size_t& known = of_range[range];
    if (known != kUnread) return known;
    const EventId event = events.ranges()[range].event;
    known = kNone;
    if (!trace.detail_texts().at(event)) return known;
    const Value details = trace.details(event);
    if (!member(details, "message_bytes").is_int()) return known;
    const auto process = std::ranges::find_if(processes, [&](const JobProcess& each) {
      return trace.track(event).pid == Value{each.number};
    });
    Value arguments =
        process == processes.end()
            ? arguments_of(details, nullptr, 0)
            : arguments_of(details,
                           find_communicator(*process, member(details, "communicator").as_text()),
                           process->world_size.value_or(0));
    if (arguments.is_null()) return known;
    arguments_.push_back(std::move(arguments));
    return known = arguments_.size() - 1;
  };
  for (const DatabaseEvents::GpuEvent& job : events.gpu())
    for (std::uint32_t range = job.range; range != kNoRange; range = events.ranges()[range].parent)
      if (const std::size_t found = of(range); found != kNone) {
        of_kernel_[job.event.row] = found;
        break;
      }
}

const Value& RangeCollectives::of(EventId kernel) const {
  static const Value kNothing;
  const auto found = of_kernel_.find(kernel.row);
  return found == of_kernel_.end() ? kNothing : arguments_[found->second];
}

}  // namespace tracelens
