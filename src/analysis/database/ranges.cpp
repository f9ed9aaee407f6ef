// Ranges of one name below one path are one row. GPU events are visited in order of their start, so
// that the busy time of a path needs to remember one end per GPU.
#include "analysis/database/ranges.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tracelens/json.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/database/detail_reader.hpp"
#include "facts/gpu_work.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using GpuEvent = DatabaseEvents::GpuEvent;
using Range = DatabaseEvents::Range;

struct Path {
  std::uint32_t parent = kNoRange;
  const std::string* name = nullptr;  // with its domain
  std::int64_t depth = 1;
  std::int64_t count = 0, host_ns = 0, gpu_ops = 0, gpu_ns = 0, self_ns = 0, busy_ns = 0;
  std::map<std::int64_t, std::int64_t> busy_until = {};  // by GPU
};

struct Op {
  std::int64_t count = 0, host_ns = 0, gpu_ops = 0, gpu_ns = 0, self_ns = 0;
};

// As emit_nvtx writes them: the tensors of a list as if each were an argument.
std::string sizes_text(const Value& dims) {
  if (dims.is_null()) return {};
  std::vector<Value> flat;
  for (const Value& slot : dims.items()) {
    const bool is_list = !slot.items().empty() && slot.items().front().is_sequence();
    if (is_list)
      flat.insert(flat.end(), slot.items().begin(), slot.items().end());
    else
      flat.push_back(slot);
  }
  return json_text(Value::list(std::move(flat)));
}

class RangeTables {
 public:
  explicit RangeTables(const DatabaseEvents& events)
      : events_{events},
        trace_{events.trace()},
        kinds_{trace_},
        details_{trace_},
        path_of_(events.ranges().size()),
        op_of_(events.ranges().size(), kNoRange) {
    place_ranges();
    add_gpu_work();
  }

  [[nodiscard]] Table range_tree() const {
    const ColumnSpec columns[] = {
        {"path", Kind::kText, "", "names of the ranges, the outermost first"},
        {"depth", Kind::kInteger, "", "how many they are"},
        {"count", Kind::kInteger, "", "how often"},
        {"host_ns", Kind::kInteger, "ns", "time on the host"},
        {"gpu_ops", Kind::kInteger, "", "GPU events launched inside"},
        {"gpu_ns", Kind::kInteger, "ns", "their time, added up"},
        {"gpu_self_ns", Kind::kInteger, "ns", "of those in no range further inside"},
        {"gpu_busy_ns", Kind::kInteger, "ns",
         "time in which a GPU ran any of them, added up over GPUs"}};
    Table table{"range_tree", "GPU time by the ranges the program named", columns};
    // Below their parent in the order of their names: that is the order of the paths.
    std::vector<std::vector<std::uint32_t>> inside(paths_.size() + 1);
    for (std::uint32_t i = 0; i < paths_.size(); ++i)
      inside[std::min<std::size_t>(paths_[i].parent, paths_.size())].push_back(i);
    for (std::vector<std::uint32_t>& paths : inside)
      std::ranges::sort(paths, std::ranges::greater{},
                        [this](std::uint32_t i) { return std::string_view{*paths_[i].name}; });
    std::string text;
    std::vector<std::size_t> ends{0};  // of the text, by depth
    for (std::vector<std::uint32_t> next = inside.back(); !next.empty();) {
      const std::uint32_t i = next.back();
      const Path& path = paths_[i];
      next.pop_back();
      next.insert(next.end(), inside[i].begin(), inside[i].end());
      const auto depth = static_cast<std::size_t>(path.depth);
      ends.resize(depth);
      text.resize(ends.back());
      text.append(depth == 1 ? "" : " > ").append(*path.name);
      ends.push_back(text.size());
      table.add_row(text, path.depth, path.count, path.host_ns, path.gpu_ops, path.gpu_ns,
                    path.self_ns, path.busy_ns);
    }
    return table;
  }

  [[nodiscard]] Table op_summary() const {
    std::vector<std::tuple<std::int64_t, std::string, std::string, const Op*>> rows;
    for (const auto& [key, op] : ops_)
      rows.emplace_back(-op.self_ns, std::string{trace_.text({key.first})}, key.second, &op);
    std::ranges::sort(rows);
    const ColumnSpec columns[] = {
        {"name", Kind::kText, "", "name of the op"},
        {"sizes", Kind::kText, "", "shapes of its tensors; empty when unknown"},
        {"count", Kind::kInteger, "", "calls"},
        {"host_ns", Kind::kInteger, "ns", "time on the host"},
        {"gpu_ops", Kind::kInteger, "", "GPU events launched inside"},
        {"gpu_ns", Kind::kInteger, "ns", "their time, added up"},
        {"gpu_self_ns", Kind::kInteger, "ns", "of those in no op further inside"}};
    Table table{"op_summary", "Ops by shapes, the costliest first", columns};
    for (const auto& [self, name, sizes, op] : rows)
      table.add_row(name, sizes, op->count, op->host_ns, op->gpu_ops, op->gpu_ns, op->self_ns);
    return table;
  }

  [[nodiscard]] Table collectives() const {
    struct Group {
      std::int64_t count = 0, ns = 0;
    };
    std::map<std::tuple<std::string, std::string, std::int64_t>, Group> groups;
    for (std::size_t i = 0; i < events_.ranges().size(); ++i) {
      const Value details = trace_.details(events_.ranges()[i].event);
      const Value& bytes = member(details, "message_bytes");
      if (!bytes.is_int()) continue;
      Group& group = groups[{member(details, "communicator").as_text(),
                             member(details, "collective").as_text(), bytes.as_int()}];
      ++group.count;
      group.ns = plus_ns(group.ns, communication_.empty() ? 0 : communication_[i]);
    }
    const ColumnSpec columns[] = {
        {"communicator", Kind::kText, "id", "as NCCL numbers it; empty when unknown"},
        {"collective", Kind::kText, "", "call of NCCL"},
        {"message_bytes", Kind::kInteger, "B", "size of one rank's buffer"},
        {"count", Kind::kInteger, "", "calls"},
        {"gpu_ns", Kind::kInteger, "ns", "communication kernels launched inside"}};
    Table table{"collectives", "Collectives by communicator and size of the message", columns};
    for (const auto& [key, group] : groups)
      table.add_row(std::get<0>(key), std::get<1>(key), std::get<2>(key), group.count, group.ns);
    return table;
  }

 private:
  // Parents come before their children when ranges are taken by start, the longer first.
  void place_ranges() {
    const std::vector<Range>& ranges = events_.ranges();
    std::vector<std::uint32_t> order(ranges.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) {
      const EventId event = ranges[i].event;
      return std::tuple{trace_.ts_ns()[event.row], -trace_.dur_ns()[event.row], i};
    });
    std::map<std::pair<std::uint32_t, const std::string*>, std::uint32_t>
        known;  // parent's path and name
    for (const std::uint32_t i : order) {
      const Range& range = ranges[i];
      const std::uint32_t parent = range.parent == kNoRange ? kNoRange : path_of_[range.parent];
      const std::string* const name = name_of(range);
      const auto [entry, is_new] =
          known.try_emplace({parent, name}, static_cast<std::uint32_t>(paths_.size()));
      if (is_new)
        paths_.push_back({.parent = parent,
                          .name = name,
                          .depth = parent == kNoRange ? 1 : paths_[parent].depth + 1});
      path_of_[i] = entry->second;
      Path& path = paths_[entry->second];
      const std::int64_t ns = trace_.dur_ns()[range.event.row];
      ++path.count;
      path.host_ns = plus_ns(path.host_ns, ns);
      if (range.is_op) add_op(i, range, trace_.names()[range.event.row].row, ns);
    }
  }

  // Names that are equal are one text.
  const std::string* name_of(const Range& range) {
    const std::uint32_t name = trace_.names()[range.event.row].row;
    const auto details = range.is_op ? trace_.detail_texts().at(range.event) : std::nullopt;
    const auto [known, is_new] = known_names_.try_emplace(
        std::uint64_t{name} << 32 | (details ? details->row : kNoRange), nullptr);
    if (is_new) {
      std::string text;
      if (const Value& domain = details_.of(range.event, "domain"); range.is_op && domain.is_text())
        text = domain.as_text() + ":";
      known->second = &*names_.insert(text.append(trace_.text({name}))).first;
    }
    return known->second;
  }

  void add_op(std::uint32_t i, const Range& range, std::uint32_t name, std::int64_t ns) {
    const SignatureId signature = trace_.signatures()[range.event.row];
    const auto [known, is_new] = op_ids_.try_emplace({name, signature.row}, nullptr);
    if (is_new) {
      const Value dims = signature.valid() ? trace_.signature(signature).dims : Value{};
      known->second = &ops_[{name, sizes_text(dims)}];
      op_list_.push_back(known->second);
      op_index_[known->second] = static_cast<std::uint32_t>(op_list_.size() - 1);
    }
    op_of_[i] = op_index_[known->second];
    ++known->second->count;
    known->second->host_ns = plus_ns(known->second->host_ns, ns);
  }

  void add_gpu_work() {
    std::vector<const GpuEvent*> order;
    for (const GpuEvent& job : events_.gpu())
      if (job.range != kNoRange) order.push_back(&job);
    std::ranges::stable_sort(order, {}, &GpuEvent::start_ns);
    communication_.assign(events_.ranges().size(), 0);
    for (const GpuEvent* const job : order) {
      const std::int64_t ns = job->ns();
      const std::int64_t gpu = trace_.devices().at(job->event).value_or(kAbsent);
      const bool is_communication = kinds_.is_communication(job->event);
      Path& innermost = paths_[path_of_[job->range]];
      innermost.self_ns = plus_ns(innermost.self_ns, ns);
      bool is_self = true;
      for (std::uint32_t i = job->range; i != kNoRange; i = events_.ranges()[i].parent) {
        Path& path = paths_[path_of_[i]];
        ++path.gpu_ops;
        path.gpu_ns = plus_ns(path.gpu_ns, ns);
        const auto [until, is_new] = path.busy_until.try_emplace(gpu, job->start_ns);
        const std::int64_t from = std::max(until->second, job->start_ns);
        if (job->end_ns > from) path.busy_ns = plus_ns(path.busy_ns, job->end_ns - from);
        until->second = std::max(until->second, job->end_ns);
        if (is_communication) communication_[i] = plus_ns(communication_[i], ns);
        if (op_of_[i] == kNoRange) continue;
        Op& op = *op_list_[op_of_[i]];
        ++op.gpu_ops;
        op.gpu_ns = plus_ns(op.gpu_ns, ns);
        if (std::exchange(is_self, false)) op.self_ns = plus_ns(op.self_ns, ns);
      }
    }
  }

  const DatabaseEvents& events_;
  const Trace& trace_;
  GpuWorkKinds kinds_;
  DetailReader details_;
  std::set<std::string> names_;                                        // of ranges, in paths
  std::unordered_map<std::uint64_t, const std::string*> known_names_;  // by name and details
  std::vector<Path> paths_;
  std::vector<std::uint32_t> path_of_;                             // by range
  std::vector<std::uint32_t> op_of_;                               // by range, into op_list_
  std::map<std::pair<std::uint32_t, std::string>, Op> ops_;        // by name and sizes
  std::map<std::pair<std::uint32_t, std::uint32_t>, Op*> op_ids_;  // by name and signature
  std::vector<Op*> op_list_;
  std::unordered_map<const Op*, std::uint32_t> op_index_;
  std::vector<std::int64_t> communication_;  // by range
};

}  // namespace

std::vector<Table> database_ranges(const DatabaseEvents& events) {
  std::vector<Table> made;
  if (events.ranges().empty()) return made;
  const RangeTables tables{events};
  for (Table& table : std::vector{tables.range_tree(), tables.op_summary(), tables.collectives()})
    if (table.rows() > 0) made.push_back(std::move(table));
  return made;
}

}  // namespace tracelens
