#include "readers/rocprof/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "readers/kit/time_limits.hpp"
#include "trace/value_member.hpp"

namespace tracelens {
namespace {

struct ListKind {
  std::string_view name;
  Category category;
};
constexpr ListKind kRecordLists[] = {
    {"kernel_dispatch", Category::kKernel},
    {"memory_copy", Category::kGpuMemcpy},
    {"hip_api", Category::kCudaRuntime},
    {"hsa_api", Category::kCudaDriver},
    {"marker_api", Category::kUserAnnotation},
    {"rccl_api", Category::kOtherCategory},
    {"rocdecode_api", Category::kOtherCategory},
    {"rocjpeg_api", Category::kOtherCategory},
    {"memory_allocation", Category::kOtherCategory},
    {"scratch_memory", Category::kOtherCategory},
};

// Used when the file does not name the operations of copies.
constexpr std::string_view kCopyNames[] = {
    "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
    "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};

std::int64_t or_zero(std::int64_t value) { return value == kAbsent ? 0 : value; }

std::int64_t product(const std::array<std::int64_t, 3>& sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(result, size, &result))
      return std::numeric_limits<std::int64_t>::max();
  return result;
}

std::string integer_member(std::string_view key, const Value& value) {
  return value.is_int() ? fmt::format(",\"{}\":{}", key, value.as_int()) : std::string{};
}

}  // namespace

std::string_view list_name(RocprofList list) {
  return kRecordLists[static_cast<std::size_t>(list)].name;
}

std::optional<RocprofList> list_of(std::string_view key) {
  const auto* const found = std::ranges::find(kRecordLists, key, &ListKind::name);
  if (found == std::end(kRecordLists)) return std::nullopt;
  return static_cast<RocprofList>(found - std::begin(kRecordLists));
}

void RocprofColumns::set_metadata(const Value& metadata, std::uint64_t byte) {
  known_ |= kMetadata;
  own_pid_ = member(metadata, "pid").as_int();
  metadata_byte_ = byte;
  const Value& node = member(metadata, "node");
  process_.hostname = member(node, "hostname");
  process_.command = member(metadata, "command");
  process_.init_time = member(metadata, "init_time");
  process_.fini_time = member(metadata, "fini_time");
  if (!node.keys().empty())
    process_.host =
        fmt::format("{}\n{}", process_.hostname.as_text(), member(node, "machine_id").as_text());
  if (!run_.is_first()) return;
  for (const auto* key : {"pid", "init_time", "fini_time", "command"})
    if (const Value* const value = metadata.find(key)) builder_.add_metadata(key, *value);
  if (process_.hostname.is_text()) builder_.add_metadata("hostname", process_.hostname);
}

void RocprofColumns::set_agents(std::vector<Value> agents) {
  known_ |= kAgents;
  agent_table_ = std::move(agents);
}

// Needs the machine from the metadata as well as the agents, which may come in either order.
void RocprofColumns::number_process() {
  if (is_numbered_) return;
  is_numbered_ = true;
  process_.pid = run_.pid(own_pid_, metadata_byte_);
  agents_.set_table(agent_table_, process_.host);
  agent_table_ = {};
}

void RocprofColumns::set_strings(const Value& strings) {
  known_ |= kStrings;
  for (const Value& kind : member(strings, "buffer_records").items()) {
    std::vector<std::string>& names = operations_.emplace_back();
    for (const Value& name : member(kind, "operations").items()) names.push_back(name.as_text());
  }
  for (const Value& marker : member(strings, "marker_api").items())
    if (const Value& id = member(marker, "key"); id.is_int())
      markers_[id.as_int()] = member(marker, "value").as_text();
}

void RocprofColumns::add_symbol(const Value& symbol) {
  const Value& id = member(symbol, "kernel_id");
  if (!id.is_int()) return;
  Symbol entry;
  for (const auto* key : {"truncated_kernel_name", "formatted_kernel_name", "kernel_name"})
    if (entry.name.empty()) entry.name = member(symbol, key).as_text();
  if (entry.name.empty() && symbol.find("kernel_name") == nullptr)
    entry.name = fmt::format("unknown_kernel_{}", id.as_int());
  entry.config = integer_member("VGPR_Count", member(symbol, "arch_vgpr_count")) +
                 integer_member("Accum_VGPR_Count", member(symbol, "accum_vgpr_count")) +
                 integer_member("SGPR_Count", member(symbol, "sgpr_count"));
  symbols_[id.as_int()] = std::move(entry);
}

void RocprofColumns::add(RocprofList list, const RocprofRecord& record, std::uint64_t byte) {
  if (known_ != kAll) {
    waiting_.push_back({list, record, byte});
    return;
  }
  number_process();
  append(list, record, byte);
}

void RocprofColumns::finish() {
  number_process();
  for (const auto& [list, record, byte] : waiting_) append(list, record, byte);
  waiting_ = {};
  join_counters();
}

void RocprofColumns::append(RocprofList list, const RocprofRecord& record, std::uint64_t byte) {
  if (list == RocprofList::kDispatch)
    append_dispatch(record, byte);
  else if (list == RocprofList::kCopy)
    append_copy(record, byte);
  else
    append_call(list, record, byte);
}

EventId RocprofColumns::append_event(RocprofList list, const RocprofRecord& record,
                                     std::uint64_t byte, StringId name, TrackId track) {
  const auto& [category_text, category] = kRecordLists[static_cast<std::size_t>(list)];
  EventRow row{.phase = Phase::kComplete,
               .category = category,
               .name = name,
               .track = track,
               .ts_ns = record.start_ns,
               .correlation = run_.correlation(record.correlation, byte)};
  const bool has_times = record.start_ns >= 0 && record.start_ns <= kLatestNs &&
                         record.end_ns >= 0 && record.end_ns <= kLatestNs;
  if (!has_times || record.end_ns - record.start_ns > kLongestNs) {
    builder_.warnings().add("record without usable times", byte);
    row.phase = Phase::kDamaged;
    row.ts_ns = kAbsent;
  } else if (record.end_ns < record.start_ns) {
    builder_.warnings().add("negative duration, taken as 0", byte);
    row.dur_ns = 0;
  } else {
    row.dur_ns = record.end_ns - record.start_ns;
  }
  const EventId event = builder_.append(row);
  builder_.set_category_text(event, builder_.intern(category_text));
  return event;
}

EventId RocprofColumns::append_gpu_event(RocprofList list, const RocprofRecord& record,
                                         std::uint64_t byte, StringId name, const Agent& gpu) {
  const GpuTrack& track = gpu_track(gpu.number, or_zero(record.stream));
  const EventId event = append_event(list, record, byte, name, track.id);
  if (record.stream != kAbsent) builder_.set_stream(event, track.stream);
  return event;
}

EventId RocprofColumns::append_dispatch(const RocprofRecord& record, std::uint64_t byte) {
  if (record.agent_node == kAbsent) agents_.number_gpu(record.agent);
  const Agent gpu = agent_of(record);
  const EventId event =
      append_gpu_event(RocprofList::kDispatch, record, byte, kernel_name(record.kernel_id), gpu);
  if (!gpu.label.empty()) builder_.set_device(event, gpu.number);
  if (record.dispatch_id != kAbsent) builder_.set_external_id(event, record.dispatch_id);
  builder_.set_details(event, dispatch_details(record));
  if (remembers_dispatches_) dispatches_.push_back({event, record.dispatch_id, record.correlation});
  return event;
}

StringId RocprofColumns::kernel_name(std::int64_t kernel_id) {
  const auto [entry, is_new] = kernel_names_.try_emplace(kernel_id);
  if (!is_new) return entry->second;
  if (const auto symbol = symbols_.find(kernel_id); symbol != symbols_.end())
    entry->second = builder_.intern(symbol->second.name);
  else if (kernel_id == kAbsent)
    entry->second = builder_.intern("unknown_kernel_None");
  else
    entry->second = builder_.intern(fmt::format("unknown_kernel_{}", kernel_id));
  return entry->second;
}

StringId RocprofColumns::dispatch_details(const RocprofRecord& record) {
  const Config config{record.kernel_id,   record.agent,  record.agent_node,
                      record.queue,       record.thread, record.private_bytes,
                      record.group_bytes, record.grid,   record.group};
  const std::uint32_t id = config_index_.find_or_add(
      hash_text({reinterpret_cast<const char*>(&config), sizeof config}),
      [&](std::uint32_t known) { return configs_[known] == config; },
      [&] {
        configs_.push_back(config);
        config_texts_.push_back(builder_.intern(dispatch_text(record)));
        return static_cast<std::uint32_t>(configs_.size() - 1);
      });
  return config_texts_[id];
}

std::string RocprofColumns::dispatch_text(const RocprofRecord& record) const {
  const auto& [grid, group] = std::pair{record.grid, record.group};
  std::string details = fmt::format(
      R"({{"work_items":[{},{},{}],"work_group":[{},{},{}],"grid_size":{},"workgroup_size":{})",
      grid[0], grid[1], grid[2], group[0], group[1], group[2], product(grid), product(group));
  if (const auto symbol = symbols_.find(record.kernel_id); symbol != symbols_.end())
    details += symbol->second.config;
  const auto add = [&](std::string_view key, std::int64_t value) {
    if (value != kAbsent) details += fmt::format(",\"{}\":{}", key, value);
  };
  add("LDS_Block_Size", record.group_bytes);
  add("Scratch_Size", record.private_bytes);
  add("queue", record.queue);
  add("tid", record.thread);
  add("agent_id", record.agent);
  if (const Agent gpu = agent_of(record); !gpu.label.empty())
    details += fmt::format(",\"agent\":\"{}\"", gpu.label);
  return details + "}";
}

void RocprofColumns::append_copy(const RocprofRecord& record, std::uint64_t byte) {
  const StringId name = call_name(RocprofList::kCopy, record);
  const std::string_view direction = builder_.text(name);
  if (direction.find("DEVICE_TO_") != std::string_view::npos) agents_.number_gpu(record.src_agent);
  if (direction.find("_TO_DEVICE") != std::string_view::npos) agents_.number_gpu(record.dst_agent);
  const Agent from = agents_.find(record.src_agent), to = agents_.find(record.dst_agent);
  const Agent& gpu = to.is_gpu || !from.is_gpu ? to : from;
  const EventId event = append_gpu_event(RocprofList::kCopy, record, byte, name, gpu);
  if (gpu.is_gpu) builder_.set_device(event, gpu.number);
  std::string details = fmt::format("{{\"tid\":{}", or_zero(record.thread));
  if (record.bytes != kAbsent) details += fmt::format(",\"copy_bytes\":{}", record.bytes);
  if (record.src_agent != kAbsent) details += fmt::format(",\"src_agent\":\"{}\"", from.label);
  if (record.dst_agent != kAbsent) details += fmt::format(",\"dst_agent\":\"{}\"", to.label);
  builder_.set_details(event, builder_.intern(details + "}"));
}

void RocprofColumns::append_call(RocprofList list, const RocprofRecord& record,
                                 std::uint64_t byte) {
  const EventId event = append_event(list, record, byte, call_name(list, record),
                                     thread_track(or_zero(record.thread)));
  if (record.stream != kAbsent) builder_.set_stream(event, record.stream);
  if (const auto details = call_details(record.operation, record.bytes))
    builder_.set_details(event, *details);
}

std::optional<StringId> RocprofColumns::call_details(std::int64_t operation, std::int64_t bytes) {
  if (operation == kAbsent && bytes == kAbsent) return std::nullopt;
  if (bytes != kAbsent) {  // hardly two alike
    const std::string before =
        operation == kAbsent ? std::string{"{"} : fmt::format("{{\"operation\":{},", operation);
    return builder_.intern(fmt::format("{}\"bytes\":{}}}", before, bytes));
  }
  const auto [entry, is_new] = operation_texts_.try_emplace(operation);
  if (is_new) entry->second = builder_.intern(fmt::format("{{\"operation\":{}}}", operation));
  return entry->second;
}

std::string RocprofColumns::name_of(RocprofList list, const RocprofRecord& record) const {
  if (list == RocprofList::kMarkerApi)
    if (const auto marker = markers_.find(record.correlation);
        marker != markers_.end() && !marker->second.empty())
      return marker->second;
  const auto kind = static_cast<std::uint64_t>(record.kind);  // negative ones are out of range too
  const auto operation = static_cast<std::uint64_t>(record.operation);
  if (kind < operations_.size() && operation < operations_[kind].size())
    return operations_[kind][operation];
  if (list == RocprofList::kCopy && operation < std::size(kCopyNames))
    return std::string{kCopyNames[operation]};
  return record.operation == kAbsent ? std::string{list_name(list)}
                                     : fmt::format("{} {}", list_name(list), record.operation);
}

StringId RocprofColumns::call_name(RocprofList list, const RocprofRecord& record) {
  if (list == RocprofList::kMarkerApi) return builder_.intern(name_of(list, record));
  const auto [entry, is_new] = call_names_.try_emplace({list, record.kind, record.operation});
  if (is_new) entry->second = builder_.intern(name_of(list, record));
  return entry->second;
}

RocprofColumns::Agent RocprofColumns::agent_of(const RocprofRecord& dispatch) const {
  if (dispatch.agent_node == kAbsent) return agents_.find(dispatch.agent);
  return {fmt::format("Agent-{}", dispatch.agent_node), dispatch.agent_node, true};
}

const RocprofColumns::GpuTrack& RocprofColumns::gpu_track(std::int64_t gpu, std::int64_t stream) {
  const auto [entry, is_new] = gpu_tracks_.try_emplace({gpu, stream});
  if (is_new) {
    const std::int64_t number = run_.stream_number(gpu, stream);
    entry->second = {builder_.intern(Track{gpu, number}), number};
  }
  return entry->second;
}

TrackId RocprofColumns::thread_track(std::int64_t thread) {
  const auto [entry, is_new] = thread_tracks_.try_emplace(thread);
  if (is_new) entry->second = builder_.intern(Track{process_.pid, thread});
  return entry->second;
}

void RocprofColumns::join_counters() {
  if (counters_.dispatches().empty()) return;
  std::unordered_map<std::int64_t, EventId> by_id, by_correlation;
  for (const auto& [event, id, correlation] : dispatches_) {
    if (id != kAbsent) by_id.try_emplace(id, event);
    if (correlation != kAbsent) by_correlation.try_emplace(correlation, event);
  }
  std::unordered_set<std::uint32_t> joined;
  for (RocprofCounters::Dispatch& counted : counters_.dispatches()) {
    RocprofRecord& record = counted.record;
    const bool has_id = record.dispatch_id != kAbsent;
    const auto& known = has_id ? by_id : by_correlation;
    const auto found = known.find(has_id ? record.dispatch_id : record.correlation);
    EventId event;
    if (found != known.end() && joined.insert(found->second.row).second) {
      event = found->second;
    } else {
      if (record.start_ns == 0) record.start_ns = kAbsent;  // was not recorded
      event = append_dispatch(record, counted.byte);
      ++process_.only_counted;
    }
    std::string details{builder_.text(*builder_.details(event))};
    details.pop_back();  // the brace
    run_.change_details(event, builder_.intern(details + counters_.members(counted) + "}"));
  }
}

}  // namespace tracelens
