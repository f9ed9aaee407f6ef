#include "analysis/gpu/kernel_categories.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// A category's kernels inside one call.
struct Part {
  std::uint32_t call = 0, group = 0;
  std::int64_t ns = 0;
};

struct Group {
  StringId op;  // invalid: no launch is known
  std::string_view category;
  std::int64_t kernels = 0, calls = 0, ns = 0;
  std::vector<double> shares;
};

}  // namespace

std::optional<Table> kernel_categories(const Trace& trace, const KernelRows& kernels,
                                       const KernelRules& rules) {
  if (kernels.empty()) return std::nullopt;
  KernelCategories categories{trace, TorchKernelKinds{rules}};
  KeyIndex group_index, call_index, part_index;
  std::vector<Group> groups;
  std::vector<std::int64_t> call_ns;
  std::vector<Part> parts;
  std::int64_t all_ns = 0;
  for (const KernelRow& kernel : kernels) {
    const EventId caller = kernel.op.valid() ? kernel.op : kernel.launch;
    const StringId op = caller.valid() ? trace.names()[caller.row] : StringId{};
    const std::uint32_t category = categories.id_of(kernel.name);
    const std::uint32_t group = group_index.id_of({op.row, category, 0, 0, 0, 0, 0, 0});
    if (group == groups.size())
      groups.push_back({.op = op, .category = categories.text(category), .shares = {}});
    const std::uint32_t call = call_index.id_of({caller.row, 0, 0, 0, 0, 0, 0, 0});
    if (call == call_ns.size()) call_ns.push_back(0);
    const std::uint32_t part = part_index.id_of({call, group, 0, 0, 0, 0, 0, 0});
    if (part == parts.size()) parts.push_back({.call = call, .group = group});
    parts[part].ns = plus_ns(parts[part].ns, kernel.dur_ns);
    call_ns[call] = plus_ns(call_ns[call], kernel.dur_ns);
    groups[group].ns = plus_ns(groups[group].ns, kernel.dur_ns);
    ++groups[group].kernels;
    all_ns = plus_ns(all_ns, kernel.dur_ns);
  }
  for (const Part& part : parts) {
    Group& group = groups[part.group];
    if (!group.op.valid()) continue;  // kernels without a launch have no call to be a part of
    ++group.calls;
    if (call_ns[part.call] > 0)
      group.shares.push_back(100 * static_cast<double>(part.ns) /
                             static_cast<double>(call_ns[part.call]));
  }
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    if (a.ns != b.ns) return a.ns > b.ns;
    const auto key = [&](const Group& group) {
      return std::tuple{!group.op.valid(),
                        group.op.valid() ? trace.text(group.op) : std::string_view{},
                        group.category};
    };
    return key(a) < key(b);
  });

  const ColumnSpec columns[] = {
      {"Parent cpu_op", Kind::kText, "", "innermost op around the launch, or the launching call"},
      {"Kernel category", Kind::kText, "", "kind of work, by the kernels' names"},
      {"Calls", Kind::kInteger, "", "calls with kernels of this category"},
      {"Kernel count", Kind::kInteger, "", "kernels of this category"},
      {"Kernel duration (µs)_sum", Kind::kReal, "µs", "their summed time"},
      {"Share of call (%)_mean", Kind::kReal, "%",
       "mean part of a call's kernel time, over the calls that have this category"},
      {"Share of call (%)_min", Kind::kReal, "%", "smallest part"},
      {"Share of call (%)_max", Kind::kReal, "%", "largest part"},
      {"Percent of kernels time (%)", Kind::kReal, "%",
       "share of the summed time of all kernels of the trace"}};
  Table table{"kernel_categories", "Kinds of GPU work by op or graph launch, by kernel names",
              columns};
  RowCells row;
  for (Group& group : groups) {
    const GroupStats shares = stats_of(group.shares);
    row.clear();
    row.add(group.op.valid() ? std::optional{trace.text(group.op)} : std::nullopt);
    row.add(group.category);
    row.add(group.op.valid() ? std::optional{group.calls} : std::nullopt);
    row.add(group.kernels);
    row.add(us(group.ns));
    row.add(shares.mean);
    row.add(shares.min);
    row.add(shares.max);
    row.add(percent_of(us(group.ns), us(all_ns)));
    table.append(row.cells());
  }
  return table;
}

}  // namespace tracelens
