#include "analysis/database/database_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "trace/value_member.hpp"

namespace tracelens {
namespace {

// Up to which depth ranges nest at any cost, and up to which while there is any left.
constexpr std::size_t kDeep = 64, kDeepest = 1024;
// What events may cost that are deeper: steps up the ranges around them, in all and for each event.
constexpr std::size_t kSpareSteps = 4'000'000, kSpareStepsOfEvent = 32;

bool is_complete(const Trace& trace, EventId event) {
  return trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent &&
         trace.dur_ns()[event.row] != kAbsent;
}

std::int64_t process_of(const Trace& trace, EventId on_host) {
  const Value& pid = trace.track(on_host).pid;
  return pid.is_int() ? pid.as_int() : kAbsent;
}

}  // namespace

DatabaseEvents::DatabaseEvents(const Trace& trace) : trace_{trace} {
  for (const EventId event : trace.recorded_events()) {
    if (trace.phase(event) == Phase::kInstant && trace.category_text(event) == "graph node")
      node_events_.push_back(event);
    if (!is_complete(trace, event)) continue;
    const Category category = trace.category(event);
    if (is_gpu(category)) {
      const Work work = category == Category::kGpuMemcpy        ? Work::kCopy
                        : category == Category::kGpuMemset      ? Work::kFill
                        : trace.category_text(event) == "graph" ? Work::kGraph
                                                                : Work::kKernel;
      gpu_.push_back({event, {}, kNoRange, trace.ts_ns()[event.row], trace.end_ns(event), work});
    } else if (is_runtime(category)) {
      calls_.push_back(event);
    } else if (category == Category::kCpuOp || category == Category::kUserAnnotation) {
      ranges_.push_back({event, kNoRange, category == Category::kCpuOp});
    }
  }
  link();
}

// A walk over each thread in order of time. A range is around what begins and ends inside it: one that
// overlaps its end, as calls do that a clock was set back under, is outside, and the range goes on.
void DatabaseEvents::nest_ranges(std::vector<std::uint32_t>& range_of_call,
                                 const std::vector<std::uint32_t>& weights) {
  struct Entry {
    std::uint32_t track;
    std::int64_t start_ns;
    bool is_call;  // or the birth of a node: has no ranges inside
    std::int64_t end_ns;
    std::uint32_t index;
  };
  std::vector<Entry> entries;
  entries.reserve(ranges_.size() + range_of_call.size());
  const auto add = [&](EventId event, bool is_call, std::size_t index) {
    entries.push_back({trace_.tracks()[event.row].row, trace_.ts_ns()[event.row], is_call,
                       trace_.end_ns(event), static_cast<std::uint32_t>(index)});
  };
  for (std::size_t i = 0; i < ranges_.size(); ++i) add(ranges_[i].event, false, i);
  for (std::size_t i = 0; i < calls_.size(); ++i) add(calls_[i], true, i);
  for (std::size_t i = 0; i < node_events_.size(); ++i)
    entries.push_back(
        {trace_.tracks()[node_events_[i].row].row, trace_.ts_ns()[node_events_[i].row], true,
         trace_.ts_ns()[node_events_[i].row], static_cast<std::uint32_t>(calls_.size() + i)});
  std::ranges::sort(entries, {}, [](const Entry& e) {
    return std::tuple{e.track, e.start_ns, e.is_call, -e.end_ns, e.index};
  });
  std::vector<const Entry*> around;
  std::uint32_t track = kNoRange;
  std::size_t deepest = kDeepest;
  std::size_t spare = kSpareSteps + kSpareStepsOfEvent * (entries.size() + gpu_.size());
  // What is spent is spent: the rest is nested no deeper than at any cost.
  const auto spend = [&](std::size_t times) {
    const std::size_t steps = around.size() <= kDeep ? 0 : (around.size() - kDeep) * times;
    if (deepest == kDeep || steps <= spare) {
      spare -= deepest == kDeep ? 0 : steps;
      return;
    }
    deepest = kDeep;
    around.resize(std::min(around.size(), kDeep));
  };
  for (const Entry& entry : entries) {
    if (entry.track != track) around.clear();
    track = entry.track;
    const auto is_over = [&entry](const Entry* range) {
      return range->end_ns < entry.start_ns ||
             (range->end_ns == entry.start_ns && entry.end_ns > entry.start_ns && !entry.is_call);
    };
    while (!around.empty() && is_over(around.back())) around.pop_back();
    spend(1 + (entry.is_call ? weights[entry.index] : 0));
    const auto innermost =
        std::find_if(around.rbegin(), around.rend(),
                     [&entry](const Entry* range) { return range->end_ns >= entry.end_ns; });
    const std::uint32_t inside = innermost == around.rend() ? kNoRange : (*innermost)->index;
    if (entry.is_call) {
      range_of_call[entry.index] = inside;
    } else {
      ranges_[entry.index].parent = inside;
      if (around.size() == deepest) std::erase_if(around, is_over);  // those under longer ones
      if (around.size() < deepest) around.push_back(&entry);
    }
  }
}

void DatabaseEvents::link() {
  std::vector<std::uint32_t> range_of_call(calls_.size() + node_events_.size(), kNoRange);
  std::vector<std::uint32_t> weights(range_of_call.size(), 0);
  std::unordered_map<std::int64_t, std::uint32_t> call_of;
  call_of.reserve(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i)
    if (const std::int64_t id = trace_.correlations()[calls_[i].row]; id != kAbsent)
      call_of[id] = static_cast<std::uint32_t>(i);
  for (GpuEvent& job : gpu_) {
    const std::int64_t id = trace_.correlations()[job.event.row];
    const auto found = id == kAbsent ? call_of.end() : call_of.find(id);
    if (found == call_of.end()) continue;
    job.call = calls_[found->second];
    job.range = found->second;  // the call, until its range is known
    ++weights[found->second];
  }
  if (!ranges_.empty()) nest_ranges(range_of_call, weights);
  for (std::size_t i = 0; i < node_events_.size(); ++i) {
    const Value details = trace_.details(node_events_[i]);
    const Value &node = member(details, "graph node"), &original = member(details, "original");
    if (node.is_int())
      nodes_.try_emplace(
          {process_of(trace_, node_events_[i]), node.as_int()},
          Node{original.is_int() ? original.as_int() : kAbsent, range_of_call[calls_.size() + i]});
  }
  for (GpuEvent& job : gpu_)
    if (job.range != kNoRange) job.range = range_of_call[job.range];
}

std::uint32_t DatabaseEvents::range_of_node(const GpuEvent& event, std::int64_t node) const {
  if (!event.call.valid()) return kNoRange;
  const std::int64_t process = process_of(trace_, event.call);
  constexpr int kMostCopies = 64;  // of a copy of a copy
  std::uint32_t range = kNoRange;
  for (int i = 0; i < kMostCopies; ++i) {
    const auto found = nodes_.find({process, node});
    if (found == nodes_.end()) break;
    if (found->second.range != kNoRange) range = found->second.range;
    if (found->second.original == kAbsent || found->second.original == 0) break;
    node = found->second.original;
  }
  return range;
}

DatabaseEvents::Place DatabaseEvents::place_of(std::int64_t gpu) const {
  if (const Value* const gpus = trace_.metadata("gpus"))
    for (const Value& entry : gpus->items())
      if (member(entry, "id") == Value{gpu})
        return {member(entry, "node").as_text(), member(entry, "index").as_int()};
  return {"", gpu};
}

std::string DatabaseEvents::host_of(EventId gpu_event) const {
  const Value *const streams = trace_.metadata("streams"), *const processes =
                                                               trace_.metadata("processes");
  if (streams == nullptr || processes == nullptr) return {};
  const Track& track = trace_.track(gpu_event);
  for (const Value& stream : streams->items()) {
    if (member(stream, "gpu") != track.pid || member(stream, "stream") != track.tid) continue;
    for (const Value& process : processes->items())
      if (member(process, "pid") == member(stream, "pid"))
        return member(process, "hostname").as_text();
  }
  return {};
}

std::string DatabaseEvents::process_name(std::int64_t number) const {
  if (const Value* const processes = trace_.metadata("processes"))
    for (const Value& entry : processes->items())
      if (member(entry, "pid") == Value{number})
        return fmt::format("{}/{}", member(entry, "hostname").as_text(),
                           member(entry, "own_pid").as_int());
  return fmt::format("/{}", number);
}

}  // namespace tracelens
