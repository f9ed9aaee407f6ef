// kernel_details of rocprof_tables.hpp: every dispatch, with what it took of the GPU.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/rocm/occupancy.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// What a dispatch took of its compute unit, as the reader names it.
struct Resource {
  const char *key, *column, *unit, *description;
};
constexpr Resource kResources[] = {
    {"VGPR_Count", "vgprs", "", "vector registers of a work-item"},
    {"Accum_VGPR_Count", "accum_vgprs", "", "accumulation registers of a work-item"},
    {"SGPR_Count", "sgprs", "", "scalar registers of a wave"},
    {"LDS_Block_Size", "lds_bytes", "B", "local memory of a work-group"},
    {"Scratch_Size", "scratch_bytes", "B", "scratch memory of a work-item: spilled registers"},
};

const ProfiledProcess& process_of(const std::vector<ProfiledProcess>& processes, EventId event) {
  return *(std::ranges::upper_bound(processes, event.row, {}, &ProfiledProcess::first_row) - 1);
}

std::optional<Occupancy> event_occupancy(const Trace& trace, EventId event, const Value& details,
                                         const std::map<std::int64_t, ComputeUnit>& units) {
  const auto unit = units.find(trace.devices().at(event).value_or(kAbsent));
  if (unit == units.end()) return std::nullopt;
  return occupancy({.group_items = member(details, "workgroup_size").as_int(),
                    .registers = plus_ns(member(details, "VGPR_Count").as_int(),
                                         member(details, "Accum_VGPR_Count").as_int()),
                    .lds_bytes = member(details, "LDS_Block_Size").as_int()},
                   unit->second);
}

void add_occupancy(std::vector<Cell>& row, const std::optional<Occupancy>& found) {
  if (found) {
    row.emplace_back(found->percent);
    row.emplace_back(std::string{found->limit});
  } else {
    row.emplace_back(kMissing);
    row.emplace_back(kMissing);
  }
}

}  // namespace

Table rocprof_kernel_details(const RocprofKernels& kernels, const KernelDetailsOptions& options) {
  std::vector<ColumnSpec> columns{
      {"name", Kind::kText, "", "kernel"},
      {"Kernel duration (µs)", Kind::kReal, "µs", "how long it ran"},
      {"stream", Kind::kInteger, "id", "HIP stream"},
      {"dispatch_id", Kind::kInteger, "id", "rocprofv3's number of the dispatch"},
  };
  for (const auto* name : {"grid_x", "grid_y", "grid_z"})
    columns.push_back({name, Kind::kInteger, "", "work-items"});
  for (const auto* name : {"block_x", "block_y", "block_z"})
    columns.push_back({name, Kind::kInteger, "", "work-items of a work-group"});
  columns.push_back({"agent_id", Kind::kInteger, "id", "the driver's handle of the GPU"});
  columns.push_back({"thread_id", Kind::kInteger, "id", "host thread that launched it"});
  const bool is_extended = options.edition == Edition::kExtended;
  const bool has_pids = is_extended && kernels.processes > 1;
  if (has_pids) columns.push_back({"PID", Kind::kInteger, "id", "process that launched it"});
  if (is_extended)
    for (const Resource& resource : kResources)
      columns.push_back({resource.column, Kind::kInteger, resource.unit, resource.description});
  std::map<std::int64_t, ComputeUnit> units;
  if (is_extended) units = compute_units(kernels.trace);
  if (!units.empty()) {
    columns.push_back({"occupancy", Kind::kReal, "%",
                       "waves a compute unit can hold of this kernel, of the most it can hold"});
    columns.push_back({"limited by", Kind::kText, "", "what keeps more from fitting in"});
  }
  constexpr auto kAbout = "Single dispatches, the longest first";
  if (kernels.events.empty()) return Table{"kernel_details", kAbout, {}};

  const Trace& trace = kernels.trace;
  std::vector<EventId> rows = kernels.events;
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [&](EventId event) { return duration_of(trace, event); });
  if (options.top) {
    const auto size = static_cast<std::int64_t>(rows.size());
    const std::int64_t kept =
        *options.top < 0 ? std::max<std::int64_t>(0, size + *options.top) : *options.top;
    rows.resize(static_cast<std::size_t>(std::min(size, kept)));
  }
  const std::vector<ProfiledProcess> processes = profiled_processes(trace);
  Table table{"kernel_details", kAbout, columns};
  for (const EventId event : rows) {
    const Value details = trace.details(event);
    const auto size = [&](std::string_view key, std::size_t axis) -> std::int64_t {
      const Value* const sizes = details.find(key);
      return sizes == nullptr || sizes->items().size() <= axis ? 1 : sizes->items()[axis].as_int();
    };
    std::vector<Cell> row{std::string{trace.name(event)}, us(duration_of(trace, event)),
                          trace.streams().at(event).value_or(0),
                          trace.external_ids().at(event).value_or(0)};
    for (const auto* key : {"work_items", "work_group"})
      for (const std::size_t axis : {0U, 1U, 2U}) row.emplace_back(size(key, axis));
    row.emplace_back(member(details, "agent_id").as_int());
    row.emplace_back(member(details, "tid").as_int());
    if (has_pids) row.emplace_back(process_of(processes, event).pid.value_or(0));
    if (is_extended)
      for (const Resource& resource : kResources) {
        const Value* const value = details.find(resource.key);
        if (value != nullptr)
          row.emplace_back(value->as_int());
        else
          row.emplace_back(kMissing);
      }
    if (!units.empty()) add_occupancy(row, event_occupancy(trace, event, details, units));
    table.append(row);
  }
  return table;
}

}  // namespace tracelens
