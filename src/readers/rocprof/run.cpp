#include "readers/rocprof/run.hpp"

#include <algorithm>
#include <limits>

namespace tracelens {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

}  // namespace

void RocprofRun::begin_process() {
  first_event_ = builder_.size();
  if (!is_first())
    first_correlation_ = last_correlation_ < kLargest ? last_correlation_ + 1 : kLargest;
}

void RocprofRun::end_process(const RocprofProcess& process) {
  // A place that one process has for two GPUs does not tell GPUs apart.
  std::map<GpuPlace, int> uses;
  for (const auto& [place, number] : own_gpus_) ++uses[place];
  for (const auto& [place, number] : own_gpus_) {
    gpu_numbers_.insert(number);
    if (place.node != kAbsent && uses[place] == 1) gpus_.try_emplace(place, number);
  }
  own_gpus_.clear();
  if (!process.host.empty()) hosts_.insert(process.host);
  processes_.push_back(Value::dict(
      {"pid", "hostname", "command", "init_time", "fini_time", "first_event", "events",
       "only_counted"},
      {process.pid, process.hostname, process.command, process.init_time, process.fini_time,
       static_cast<std::int64_t>(first_event_),
       static_cast<std::int64_t>(builder_.size() - first_event_), process.only_counted}));
}

void RocprofRun::finish() {
  if (!devices_.empty())
    builder_.add_metadata("deviceProperties", Value::tuple(std::move(devices_)));
  if (hosts_.size() > 1)
    builder_.warnings().add("processes of several machines, whose clocks are not compared", 0,
                            processes_.size());
  if (!processes_.empty()) builder_.add_metadata("processes", Value::tuple(std::move(processes_)));
  std::ranges::sort(details_);
  builder_.replace_details(details_);
}

std::int64_t RocprofRun::pid(std::int64_t own, std::uint64_t byte) {
  if (pids_.insert(own).second) return own;
  builder_.warnings().add("process with the pid of another, which gets a number of its own", byte);
  // Behind the largest, or the first that is free.
  std::int64_t next = *pids_.rbegin() < kLargest ? *pids_.rbegin() + 1 : 0;
  while (!pids_.insert(next).second) ++next;
  return next;
}

std::int64_t RocprofRun::gpu_number(const GpuPlace& place, std::int64_t wanted) {
  const auto known = place.node == kAbsent ? gpus_.end() : gpus_.find(place);
  if (known != gpus_.end()) return known->second;
  std::int64_t number = wanted;
  constexpr std::int64_t kMostGpus = 1'000'000;  // what is beyond is no number of a GPU
  if (wanted == kAbsent || gpu_numbers_.contains(wanted)) {
    while (gpu_numbers_.contains(next_gpu_)) ++next_gpu_;
    number = next_gpu_++;
  } else if (wanted < kMostGpus) {
    next_gpu_ = std::max(next_gpu_, wanted + 1);
  }
  own_gpus_.emplace_back(place, number);
  return number;
}

std::int64_t RocprofRun::stream_number(std::int64_t gpu, std::int64_t own) {
  if (streams_.emplace(gpu, own).second) return own;
  std::int64_t& next = next_stream_.try_emplace(gpu, 1).first->second;
  while (!streams_.emplace(gpu, next).second) ++next;
  return next;
}

std::int64_t RocprofRun::correlation(std::int64_t own, std::uint64_t byte) {
  if (own == kAbsent) return own;
  std::int64_t id = own;
  if (!is_first() && (own < 0 || __builtin_add_overflow(own, first_correlation_, &id))) {
    builder_.warnings().add("correlation id too large to be told from those of other processes",
                            byte);
    return kAbsent;
  }
  last_correlation_ = std::max(last_correlation_, id);
  return id;
}

void RocprofRun::add_gpu(std::int64_t number, Value properties) {
  if (device_ids_.insert(number).second) devices_.push_back(std::move(properties));
}

}  // namespace tracelens
