#include "facts/job_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "trace/value_member.hpp"

namespace tracelens {
namespace {

std::optional<std::int64_t> number_in(const Value& dict, std::string_view key) {
  const Value& value = member(dict, key);
  return value.is_int() && value.as_int() >= 0 ? std::optional{value.as_int()} : std::nullopt;
}

JobProcess process_in(const Value& entry) {
  JobProcess process;
  process.number = member(entry, "pid").as_int();
  process.name =
      fmt::format("{}/{}", member(entry, "hostname").as_text(), member(entry, "own_pid").as_int());
  process.rank = number_in(entry, "rank");
  process.world_size = number_in(entry, "world_size");
  process.command = member(entry, "command").as_text();
  process.rows_not_events = number_in(entry, "rows_not_events");
  process.streaming_samples = number_in(entry, "streaming_counter_samples");
  for (const Value& communicator : member(entry, "communicators").items())
    process.communicators.push_back({member(communicator, "id").as_text(),
                                     member(communicator, "size").as_int(),
                                     member(communicator, "rank").as_int()});
  return process;
}

// The process of each track: of a thread the pid, of a stream the one that owns it.
std::vector<std::int64_t> owners_of(const Trace& trace, const Value& streams) {
  std::vector<std::int64_t> owners(trace.track_table().size(), kAbsent);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Track& track = trace.track_table()[i];
    if (track.pid.is_int()) owners[i] = track.pid.as_int();
  }
  for (const Value& stream : streams.items()) {
    const Track of_stream{member(stream, "gpu"), member(stream, "stream")};
    const auto found = std::ranges::find(trace.track_table(), of_stream);
    if (found != trace.track_table().end())
      owners[static_cast<std::size_t>(found - trace.track_table().begin())] =
          member(stream, "pid").as_int();
  }
  return owners;
}

}  // namespace

std::vector<JobProcess> job_processes(const Trace& trace) {
  const Value *const list = trace.metadata("processes"), *const streams = trace.metadata("streams");
  std::vector<JobProcess> processes;
  if (list == nullptr || streams == nullptr) return processes;
  for (const Value& entry : list->items()) processes.push_back(process_in(entry));
  std::ranges::stable_sort(processes, {}, [](const JobProcess& process) {
    return std::tuple{!process.rank, process.rank.value_or(0), process.name};
  });
  std::unordered_map<std::int64_t, JobProcess*> by_number;
  for (JobProcess& process : processes) by_number[process.number] = &process;
  const std::vector<std::int64_t> owners = owners_of(trace, *streams);
  for (const EventId event : trace.all_events()) {
    const auto owner = by_number.find(owners[trace.tracks()[event.row].row]);
    if (owner != by_number.end()) owner->second->events.push_back(event);
  }
  return processes;
}

std::size_t machines_with_own_clocks(const Trace& trace) {
  const Recorder recorder = trace.source().recorder;
  const Value* const list = trace.metadata("processes");
  if (list == nullptr || (recorder != Recorder::kRocpd && recorder != Recorder::kRocprof)) return 0;
  std::set<std::string> hosts;
  for (const Value& entry : list->items())
    if (const Value& host = member(entry, "hostname"); host.is_text() && !host.as_text().empty())
      hosts.insert(host.as_text());
  return hosts.size() > 1 ? hosts.size() : 0;
}

}  // namespace tracelens
