#include "readers/perfetto/flows.hpp"

#include <algorithm>
#include <tuple>

#include "io/memory.hpp"
#include "readers/kit/packed_bytes.hpp"
#include "trace/string_table.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

enum PointPart : std::uint32_t { kIsLast = 1, kHasName = 2, kHasCategory = 4 };

void write(const FlowPoint& point, const FlowPoint& last, std::string& out) {
  PackedWriter packed;
  packed.number((point.is_last ? kIsLast : 0U) | (point.name != kNone ? kHasName : 0U) |
                (point.category != kNone ? kHasCategory : 0U));
  // Producers count flows up and then mix in bits that stay the same.
  packed.number(point.flow ^ last.flow);
  packed.signed_number(wrapping_difference(point.ts_ns, last.ts_ns));
  packed.number(point.order - last.order);
  packed.number(point.track);
  for (const std::uint32_t text : {point.name, point.category})
    if (text != kNone) packed.number(text);
  out += packed.bytes();
}

// `point` is the one before, and becomes the one read.
const char* read(const char* at, FlowPoint& point) {
  PackedReader packed{at};
  const std::uint64_t parts = packed.number();
  point.is_last = (parts & kIsLast) != 0;
  point.flow ^= packed.number();
  point.ts_ns = wrapping_sum(point.ts_ns, packed.signed_number());
  point.order += packed.number();
  point.track = packed.id();
  point.name = (parts & kHasName) != 0 ? packed.id() : kNone;
  point.category = (parts & kHasCategory) != 0 ? packed.id() : kNone;
  return packed.at();
}

}  // namespace

void FlowLog::add(std::uint64_t flow, bool is_last, const Mark& begin) {
  const FlowPoint point{.flow = flow,
                        .is_last = is_last,
                        .ts_ns = begin.ts_ns,
                        .order = begin.order,
                        .track = begin.track,
                        .name = begin.name,
                        .category = begin.category};
  // Flows of numbers that follow each other stay together: they differ by little.
  static_assert(std::tuple_size_v<decltype(parts_)> == 16);
  Part& part = parts_[mix_hash(0, flow >> 10) >> 60];
  if (part.blocks.empty() || part.blocks.back().size() + PackedWriter::kMostBytes > kBlockBytes)
    part.blocks.emplace_back().reserve(kBlockBytes);
  write(point, part.last, part.blocks.back());
  part.last = point;
  ++part.points;
}

void FlowLog::read_points(const Part& part, std::vector<FlowPoint>& points) {
  points.clear();
  FlowPoint point;
  for (const std::string& block : part.blocks)
    for (const char* at = block.data(); at != block.data() + block.size();) {
      at = read(at, point);
      points.push_back(point);
    }
}

// Points of one flow in the order of time; one leads to the next unless it is marked as the last.
template <class Visit>
void FlowLog::for_each_step(Visit&& visit) const {
  std::vector<FlowPoint>
      points;  // room for all parts at once: what is freed may stay with the thread
  points.reserve(std::ranges::max(parts_, {}, &Part::points).points);
  for (const Part& part : parts_) {
    read_points(part, points);
    std::ranges::sort(points, [](const FlowPoint& a, const FlowPoint& b) {
      return std::tuple{a.flow, a.ts_ns, a.order, a.is_last} <
             std::tuple{b.flow, b.ts_ns, b.order, b.is_last};
    });
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i - 1].flow == points[i].flow && !points[i - 1].is_last)
        visit(points[i - 1], points[i]);
  }
}

bool FlowLog::is_before(const Step& a, const Step& b) {
  const auto key = [](const Step& step) {
    return std::tuple{step.to.ts_ns, step.to.order, step.to.flow};
  };
  return key(a) < key(b);
}

std::vector<std::int64_t> FlowLog::numbers_of(const std::vector<Step>& wanted,
                                              const std::vector<bool>& is_wanted) const {
  // A step's number is how many lead to earlier slices, wanted or not. Of several steps of one flow
  // to one slice only the first can come from elsewhere: the unwanted one is before the others.
  std::vector<std::int64_t> others_before(wanted.size() + 1);
  for_each_step([&](const FlowPoint& from, const FlowPoint& to) {
    if (is_wanted[from.track] && is_wanted[to.track]) return;
    const auto after = std::ranges::lower_bound(wanted, Step{from, to}, is_before);
    ++others_before[static_cast<std::size_t>(after - wanted.begin())];
  });
  std::vector<std::int64_t> numbers;
  numbers.reserve(wanted.size());
  std::int64_t number = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    number += others_before[i];
    numbers.push_back(number++);
  }
  return numbers;
}

std::vector<Flow> FlowLog::connect(const std::vector<bool>& is_wanted) {
  std::vector<Step> wanted;
  for_each_step([&](const FlowPoint& from, const FlowPoint& to) {
    ++steps_;
    if (is_wanted[from.track] && is_wanted[to.track]) wanted.push_back({from, to});
  });
  std::ranges::stable_sort(wanted, is_before);
  std::vector<Flow> flows;
  flows.reserve(wanted.size());
  if (!wanted.empty()) {
    const std::vector<std::int64_t> numbers = numbers_of(wanted, is_wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& [from, to] = wanted[i];
      flows.push_back({.number = numbers[i],
                       .from_ns = from.ts_ns,
                       .to_ns = to.ts_ns,
                       .from_track = from.track,
                       .to_track = to.track,
                       .name = from.name,
                       .category = from.category});
    }
  }
  parts_ = {};
  wanted = {};
  io::return_freed_memory();
  return flows;
}

}  // namespace tracelens::perfetto
