// What is known of a job beside its events, as entries of the trace's metadata.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "readers/database/job.hpp"

namespace tracelens {

void Job::set_rank(std::int64_t process, std::int64_t rank, std::int64_t world_size) {
  Place& place = places_[process];
  if (place.rank == kAbsent) place.rank = rank;
  if (place.world_size == kAbsent) place.world_size = world_size;
}

void Job::set_command(std::int64_t process, std::string_view command) {
  places_[process].command = command;
}

void Job::add_communicator(std::int64_t process, std::string_view id, std::int64_t size,
                           std::int64_t rank) {
  places_[process].communicators.try_emplace(std::string{id}, Communicator{size, rank});
}

void Job::finish() {
  if (has_untyped_ops_)
    warn(
        "ops tell the shapes of their tensors, not the type: bytes moved and rooflines are empty; "
        "--assume-dtype bf16 (fp16, fp32, ...) fills them");
  std::vector<Value> gpus;
  for (const auto& [own, gpu] : gpus_) {
    gpu_facts_.try_emplace(gpu.number);
    gpus.push_back(Value::dict({"id", "node", "index"}, {gpu.number, gpu.host, gpu.index}));
  }
  std::vector<Value> devices;
  for (auto& [number, facts] : gpu_facts_) {
    std::vector<std::string> keys{"id"};
    std::vector<Value> values{number};
    for (auto& [key, value] : facts) {
      keys.push_back(std::move(key));
      values.push_back(std::move(value));
    }
    devices.push_back(Value::dict(std::move(keys), std::move(values)));
  }
  builder_.add_metadata("deviceProperties", Value::tuple(std::move(devices)));
  builder_.add_metadata("gpus", Value::tuple(std::move(gpus)));
  builder_.add_metadata("processes", processes_value());
  builder_.add_metadata("streams", streams_value());
  builder_.add_metadata("rows_not_events", static_cast<std::int64_t>(no_events_));
  builder_.add_metadata("streaming_counter_samples", static_cast<std::int64_t>(samples_));
  if (!series_.empty()) builder_.add_metadata("counter_series", series_value());
}

// Whose stream each is: GPU events do not name their process.
Value Job::streams_value() const {
  std::vector<Value> streams;
  for (const auto& [key, track] : gpu_tracks_) {
    const auto& [process, gpu, stream, context] = key;
    streams.push_back(
        Value::dict({"gpu", "stream", "pid"},
                    {gpu == kAbsent ? Value{"unknown GPU"} : Value{gpu}, track.stream, process}));
  }
  return Value::tuple(std::move(streams));
}

std::map<std::int64_t, std::int64_t> Job::ranks() const {
  std::map<std::int64_t, std::int64_t> ranks;
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> order;  // by machine and pid
  for (const auto& [own, process] : processes_) {
    order.emplace_back(process.host, std::get<1>(own), process.number);
    const auto found = places_.find(process.number);
    if (found == places_.end()) continue;
    Communicator all{kAbsent, found->second.rank};
    // Without a word of the launcher: the communicator of all is the one with most ranks.
    if (all.rank == kAbsent)
      for (const auto& [id, communicator] : found->second.communicators)
        if (communicator.size > all.size) all = communicator;
    if (all.rank != kAbsent) ranks[process.number] = all.rank;
  }
  if (!ranks.empty() || order.size() < 2) return ranks;
  std::ranges::sort(order);
  for (const auto& [host, pid, number] : order)
    ranks.emplace(number, static_cast<std::int64_t>(ranks.size()));
  return ranks;
}

Value Job::processes_value() const {
  std::vector<Value> processes;
  const std::map<std::int64_t, std::int64_t> rank_of = ranks();
  for (const auto& [own, process] : processes_) {
    std::vector<std::string> keys{"pid", "hostname", "own_pid"};
    std::vector<Value> values{process.number, process.host, std::get<1>(own)};
    const auto add = [&](const char* key, Value value) {
      keys.emplace_back(key);
      values.push_back(std::move(value));
    };
    if (const auto rank = rank_of.find(process.number); rank != rank_of.end())
      add("rank", rank->second);
    if (const auto found = places_.find(process.number); found != places_.end()) {
      const Place& place = found->second;
      std::int64_t size = place.world_size;
      for (const auto& [id, communicator] : place.communicators)
        if (place.world_size == kAbsent) size = std::max(size, communicator.size);
      if (size != kAbsent) add("world_size", size);
      if (!place.command.empty()) add("command", place.command);
      if (counting_ != kAbsent) {
        add("rows_not_events", static_cast<std::int64_t>(place.no_events));
        add("streaming_counter_samples", static_cast<std::int64_t>(place.samples));
      }
      std::vector<Value> communicators;
      for (const auto& [id, communicator] : place.communicators)
        communicators.push_back(
            Value::dict({"id", "size", "rank"}, {id, communicator.size, communicator.rank}));
      if (!communicators.empty()) add("communicators", Value::tuple(std::move(communicators)));
    }
    processes.push_back(Value::dict(std::move(keys), std::move(values)));
  }
  return Value::tuple(std::move(processes));
}

Value Job::series_value() const {
  std::vector<Value> list;
  for (const auto& [key, series] : series_)
    list.push_back(
        Value::dict({"counter", "gpu", "samples", "first_ns", "last_ns", "mean", "min", "max"},
                    {key.first, key.second == kAbsent ? Value{} : Value{key.second}, series.samples,
                     series.first_ns, series.last_ns,
                     series.sum / static_cast<double>(series.samples), series.least, series.most}));
  return Value::tuple(std::move(list));
}

}  // namespace tracelens
