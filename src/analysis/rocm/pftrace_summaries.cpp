// The statistics of pftrace_activity.hpp: one row per kernel or HIP call. In the Python TraceLens's
// tables each figure stands there twice, first for people ("12.346 ms"), then for programs
// (nanoseconds); in ours once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/rocm/pftrace_activity.hpp"
#include "analysis/rocm/pftrace_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Columns that say what a row is about.
struct Extra {
  enum class Place : std::uint8_t {
    kMiddle,         // between the readable and the exact figures; in ours behind the figures
    kMiddleForText,  // the same; not in ours, as the columns at the end say it in numbers
    kEnd,            // after the exact figures
  };
  ColumnSpec spec;
  Place place = Place::kMiddle;

  [[nodiscard]] bool is_in(Edition edition) const {
    return place != Place::kMiddleForText || edition == Edition::kReference;
  }
};

// What tells kernels, or calls, of one name apart; what is not asked for stays 0.
using Config = std::array<std::int64_t, 7>;

struct Group {
  std::string name;
  Config config;
  std::vector<EventId> events;
};

// Groups in order of their first event.
class Groups {
 public:
  explicit Groups(const Trace& trace)
      : trace_{trace}, name_numbers_(trace.string_count(), kUnknown) {}

  // `name_of` makes the name of the group from the event's: of events with one name it is the same.
  template <class NameOf>
  void add(EventId event, const Config& config, const NameOf& name_of) {
    std::uint32_t& name = name_numbers_[trace_.names()[event.row].row];
    if (name == kUnknown) {
      const auto next = static_cast<std::uint32_t>(numbers_.size());
      name = numbers_.try_emplace(name_of(event), next).first->second;
    }
    const std::pair key{name, config};
    const auto [entry, is_new] = index_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back({name_of(event), config, {}});
    groups_[entry->second].events.push_back(event);
  }
  [[nodiscard]] const std::vector<Group>& all() const { return groups_; }

 private:
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  const Trace& trace_;
  std::vector<std::uint32_t> name_numbers_;  // by text: what `numbers_` has for its name
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of names of groups
  std::map<std::pair<std::uint32_t, Config>, std::size_t> index_;
  std::vector<Group> groups_;
};

constexpr const char* kFigures[] = {"Total Time", "Avg", "Med", "Min", "Max", "StdDev"};

// Calls add(i) for the columns of one part of the row.
template <class Add>
void for_each_extra(const std::vector<Extra>& extras, Edition edition, bool at_end, Add&& add) {
  for (std::size_t i = 0; i < extras.size(); ++i)
    if ((extras[i].place == Extra::Place::kEnd) == at_end && extras[i].is_in(edition)) add(i);
}

std::vector<ColumnSpec> columns_with(const std::vector<Extra>& extras, Edition edition,
                                     const char* of) {
  const bool is_extended = edition == Edition::kExtended;
  const ColumnSpec name{"Name", Kind::kText, "", "as traced"};
  const ColumnSpec instances{"Instances", Kind::kInteger, "", "how many"};
  std::vector<ColumnSpec> columns;
  const auto add_extras = [&](bool at_end) {
    for_each_extra(extras, edition, at_end,
                   [&](std::size_t i) { columns.push_back(extras[i].spec); });
  };
  if (is_extended) {
    columns = {name, instances};
  } else {
    columns.push_back({"Time", Kind::kText, "", "share of the time, rounded"});
    for (const char* figure : kFigures) {
      columns.push_back({figure, Kind::kText, "", "the same as in ns, for people"});
      if (figure == kFigures[0]) columns.push_back(instances);
    }
    add_extras(false);
    columns.push_back(name);
  }
  columns.push_back({"Time %", Kind::kReal, "%", of});
  constexpr const char* kMeanings[] = {"sum of durations", "mean",    "median",
                                       "shortest",         "longest", "standard deviation"};
  for (std::size_t i = 0; i < std::size(kFigures); ++i) {
    const bool is_whole = i == 0 || i == 3 || i == 4;
    columns.push_back({fmt::format("{} (ns)", kFigures[i]), is_whole ? Kind::kInteger : Kind::kReal,
                       "ns", kMeanings[i]});
  }
  if (is_extended) add_extras(false);
  add_extras(true);
  return columns;
}

// `cells_of` gives the cells of the extra columns.
template <class CellsOf>
void add_rows(Table& table, const Trace& trace, const Groups& groups, Edition edition,
              std::int64_t whole_ns, const std::vector<Extra>& extras, CellsOf&& cells_of) {
  struct Row {
    const Group* group;
    NsStats stats;
  };
  std::vector<Row> rows;
  std::vector<std::int64_t> durations;  // of one group after the other: there may be millions
  for (const Group& group : groups.all()) {
    durations.clear();
    for (const EventId event : group.events) durations.push_back(duration_of(trace, event));
    rows.push_back({&group, ns_stats(durations)});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.stats.sum; });
  const bool is_extended = edition == Edition::kExtended;
  std::vector<Cell> cells;
  for (const auto& [group, stats] : rows) {
    const double percent = percent_of(stats.sum, whole_ns).value_or(0);
    const std::vector<Cell> own = cells_of(*group);
    const auto add_extras = [&](bool at_end) {
      for_each_extra(extras, edition, at_end, [&](std::size_t i) { cells.emplace_back(own[i]); });
    };
    cells.clear();
    if (is_extended) {
      cells.emplace_back(group->name);
      cells.emplace_back(stats.count);
    } else {
      cells.emplace_back(fmt::format("{:.1f}%", percent));
      cells.emplace_back(human_ns(static_cast<double>(stats.sum)));
      cells.emplace_back(stats.count);
      for (const double figure : {stats.mean, stats.median, static_cast<double>(stats.min),
                                  static_cast<double>(stats.max), stats.std})
        cells.emplace_back(human_ns(figure));
      add_extras(false);
      cells.emplace_back(group->name);
    }
    cells.emplace_back(percent);
    cells.emplace_back(stats.sum);
    cells.emplace_back(stats.mean);
    cells.emplace_back(stats.median);
    cells.emplace_back(stats.min);
    cells.emplace_back(stats.max);
    cells.emplace_back(stats.std);
    if (is_extended) add_extras(false);
    add_extras(true);
    table.append(cells);
  }
}

// A launch size as nvprof prints it. rocprofv3 records only the product of the three sizes.
std::string xyz(std::int64_t size) { return fmt::format("{:>7} {:>4} {:>4}", size, 1, 1); }

std::vector<Extra> config_columns() {
  std::vector<Extra> extras{
      {{"GridXYZ", Kind::kText, "", "work-items, all in the first place"},
       Extra::Place::kMiddleForText},
      {{"BlockXYZ", Kind::kText, "", "work-items of a work-group, all in the first place"},
       Extra::Place::kMiddleForText},
      {{"VGPR", Kind::kInteger, "", "vector registers per work-item"}},
      {{"AccumVGPR", Kind::kInteger, "", "accumulation registers per work-item"}},
      {{"SGPR", Kind::kInteger, "", "scalar registers per wavefront"}},
      {{"LDS", Kind::kInteger, "bytes", "local memory per work-group"}},
      {{"Scratch", Kind::kInteger, "bytes", "private memory per work-item"}},
  };
  for (const char* name : {"GridX", "GridY", "GridZ"})
    extras.push_back(
        {{name, Kind::kInteger, "", "work-items; the product of all is in X"}, Extra::Place::kEnd});
  for (const char* name : {"BlockX", "BlockY", "BlockZ"})
    extras.push_back(
        {{name, Kind::kInteger, "", "of a work-group; the product is in X"}, Extra::Place::kEnd});
  return extras;
}

std::vector<Cell> config_cells(const Group& group) {
  const auto& c = group.config;  // in the order of pftrace_kernel_summary()
  const std::int64_t one = 1;
  return {xyz(c[0]), xyz(c[1]), c[2], c[3], c[4], c[5], c[6], c[0], one, one, c[1], one, one};
}

}  // namespace

Table pftrace_kernel_summary(const PftraceActivity& activity) {
  const PftraceActivityOptions& options = activity.options();
  Groups groups{activity.trace()};
  std::int64_t whole_ns = 0;
  const auto add = [&](const std::vector<EventId>& events) {
    for (const EventId event : events) {
      const PftraceArgs& args = activity.events().args(event);
      Config config{};
      if (options.group_by_config)
        std::ranges::transform(std::array{args.grid_size, args.workgroup_size, args.vgpr,
                                          args.accum_vgpr, args.sgpr, args.lds, args.scratch},
                               config.begin(), [](const auto& part) { return part.value_or(0); });
      groups.add(event, config, [&](EventId kernel) { return activity.kernel_key(kernel); });
    }
  };
  for (const PftraceActivity::Gpu& gpu : activity.gpus()) {
    whole_ns = plus_ns(whole_ns, options.percent_of_compute ? gpu.compute_ns : gpu.total_ns);
    add(gpu.compute);
    if (options.include_rccl) add(gpu.communication);
  }
  constexpr auto kAbout = "GPU kernels: how long, how often, with which launch configuration";
  if (groups.all().empty()) return Table{"kernel_summary", kAbout, {}};
  const std::vector<Extra> extras =
      options.group_by_config ? config_columns() : std::vector<Extra>{};
  Table table{"kernel_summary", kAbout,
              columns_with(extras, options.edition, "of the time of all kernels")};
  add_rows(table, activity.trace(), groups, options.edition, whole_ns, extras,
           [&](const Group& group) {
             return options.group_by_config ? config_cells(group) : std::vector<Cell>{};
           });
  return table;
}

Table hip_summary(const PftraceActivity& activity) {
  const PftraceActivityOptions& options = activity.options();
  const Trace& trace = activity.trace();
  std::vector<Extra> extras;
  if (options.group_by_stream)
    extras.push_back({{"Stream", Kind::kInteger, "id", "stream the call was about"}});
  if (options.group_by_operation)
    extras.push_back({{"Op", Kind::kInteger, "id", "rocprofv3's number of the function"}});
  Groups groups{trace};
  std::int64_t whole_ns = 0;
  for (const EventId call : activity.hip_calls()) {
    Config config{};
    auto next = config.begin();
    if (options.group_by_stream) *next++ = trace.streams().at(call).value_or(0);
    if (options.group_by_operation) *next++ = activity.events().args(call).operation.value_or(0);
    groups.add(call, config, [&](EventId named) { return std::string{trace.name(named)}; });
    whole_ns = plus_ns(whole_ns, duration_of(trace, call));
  }
  constexpr auto kAbout = "HIP calls on the host: how long and how often";
  if (groups.all().empty()) return Table{"hip_summary", kAbout, {}};
  Table table{"hip_summary", kAbout,
              columns_with(extras, options.edition, "of the time of all HIP calls")};
  add_rows(table, trace, groups, options.edition, whole_ns, extras, [&](const Group& group) {
    return std::vector<Cell>(group.config.begin(), group.config.begin() + std::ssize(extras));
  });
  return table;
}

}  // namespace tracelens
