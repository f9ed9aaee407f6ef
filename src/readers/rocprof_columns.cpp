#include "readers/rocprof_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "readers/time_limits.hpp"

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

const Value kNothing;

const Value& at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value == nullptr ? kNothing : *value;
}

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

// What `info` shows and the GPU of the roofline is looked up by.
Value device_properties(const Value& agent, std::int64_t number) {
  const Value& product_name = at(agent, "product_name");
  return Value::dict({"id", "name", "numSms", "warpSize", "gfx"},
                     {number, product_name.is_text() ? product_name : at(agent, "name"),
                      at(agent, "cu_count"), at(agent, "wave_front_size"), at(agent, "name")});
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

void RocprofColumns::set_metadata(const Value& metadata) {
  known_ |= kMetadata;
  pid_ = at(metadata, "pid").as_int();
  for (const auto* key : {"pid", "init_time", "fini_time", "command"})
    if (const Value* const value = metadata.find(key)) builder_.add_metadata(key, *value);
  if (const Value& host = at(at(metadata, "node"), "hostname"); host.is_text())
    builder_.add_metadata("hostname", host);
}

void RocprofColumns::set_agents(const std::vector<Value>& agents) {
  known_ |= kAgents;
  constexpr std::int64_t kGpuType = 2;
  std::vector<Value> gpus;
  for (const Value& agent : agents) {
    const Value& handle = at(at(agent, "id"), "handle");
    if (!handle.is_int()) continue;
    const bool is_gpu = at(agent, "type").as_int() == kGpuType;
    // Old files number only the agents of the node.
    const Value& by_type = at(agent, "logical_node_type_id");
    const std::int64_t number =
        by_type.is_int() ? by_type.as_int() : at(agent, "logical_node_id").as_int();
    agents_[handle.as_int()] = {fmt::format("{}-{}", is_gpu ? "GPU" : "CPU", number), number,
                                is_gpu};
    if (!is_gpu) continue;
    gpus.push_back(device_properties(agent, number));
    constexpr std::int64_t kMostGpus = 1'000'000;  // what is beyond is no number of a GPU
    if (number < kMostGpus) next_gpu_ = std::max(next_gpu_, number + 1);
  }
  if (!gpus.empty()) builder_.add_metadata("deviceProperties", Value::tuple(std::move(gpus)));
}

void RocprofColumns::set_strings(const Value& strings) {
  known_ |= kStrings;
  for (const Value& kind : at(strings, "buffer_records").items()) {
    std::vector<std::string>& names = operations_.emplace_back();
    for (const Value& name : at(kind, "operations").items()) names.push_back(name.as_text());
  }
  for (const Value& marker : at(strings, "marker_api").items())
    if (const Value& id = at(marker, "key"); id.is_int())
      markers_[id.as_int()] = at(marker, "value").as_text();
}

void RocprofColumns::add_symbol(const Value& symbol) {
  const Value& id = at(symbol, "kernel_id");
  if (!id.is_int()) return;
  Symbol entry;
  for (const auto* key : {"truncated_kernel_name", "formatted_kernel_name", "kernel_name"})
    if (entry.name.empty()) entry.name = at(symbol, key).as_text();
  if (entry.name.empty() && symbol.find("kernel_name") == nullptr)
    entry.name = fmt::format("unknown_kernel_{}", id.as_int());
  entry.config = integer_member("VGPR_Count", at(symbol, "arch_vgpr_count")) +
                 integer_member("Accum_VGPR_Count", at(symbol, "accum_vgpr_count")) +
                 integer_member("SGPR_Count", at(symbol, "sgpr_count"));
  symbols_[id.as_int()] = std::move(entry);
}

void RocprofColumns::add(RocprofList list, const RocprofRecord& record, std::uint64_t byte) {
  if (known_ == kAll)
    append(list, record, byte);
  else
    waiting_.push_back({list, record, byte});
}

void RocprofColumns::finish() {
  for (const auto& [list, record, byte] : waiting_) append(list, record, byte);
  waiting_ = {};
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
               .correlation = record.correlation};
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
  if (record.stream != kAbsent) builder_.set_stream(event, record.stream);
  return event;
}

// What runs a kernel or is one end of a device's copy is a GPU, also where the file does not list
// its agents: those are numbered as they come.
void RocprofColumns::number_gpu(std::int64_t handle) {
  if (handle == kAbsent || agents_.contains(handle)) return;
  agents_[handle] = {fmt::format("GPU-{}", next_gpu_), next_gpu_, true};
  ++next_gpu_;
}

void RocprofColumns::append_dispatch(const RocprofRecord& record, std::uint64_t byte) {
  if (record.agent_node == kAbsent) number_gpu(record.agent);
  const Agent gpu = agent_of(record);
  const EventId event =
      append_event(RocprofList::kDispatch, record, byte, kernel_name(record.kernel_id),
                   track(gpu.number, or_zero(record.stream)));
  if (!gpu.label.empty()) builder_.set_device(event, gpu.number);
  if (record.dispatch_id != kAbsent) builder_.set_external_id(event, record.dispatch_id);
  builder_.set_details(event, dispatch_details(record));
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
  if (direction.find("DEVICE_TO_") != std::string_view::npos) number_gpu(record.src_agent);
  if (direction.find("_TO_DEVICE") != std::string_view::npos) number_gpu(record.dst_agent);
  const Agent from = agent(record.src_agent), to = agent(record.dst_agent);
  const Agent& gpu = to.is_gpu || !from.is_gpu ? to : from;
  const EventId event = append_event(RocprofList::kCopy, record, byte, name,
                                     track(gpu.number, or_zero(record.stream)));
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
                                     track(pid_, or_zero(record.thread)));
  std::string details;
  if (record.operation != kAbsent) details = fmt::format("{{\"operation\":{}", record.operation);
  if (record.bytes != kAbsent)
    details += fmt::format("{}\"bytes\":{}", details.empty() ? '{' : ',', record.bytes);
  if (!details.empty()) builder_.set_details(event, builder_.intern(details + "}"));
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
  if (dispatch.agent_node == kAbsent) return agent(dispatch.agent);
  return {fmt::format("Agent-{}", dispatch.agent_node), dispatch.agent_node, true};
}

RocprofColumns::Agent RocprofColumns::agent(std::int64_t handle) const {
  if (handle == kAbsent) return {};
  if (const auto found = agents_.find(handle); found != agents_.end()) return found->second;
  return {fmt::format("Agent-{}", handle), handle, false};
}

TrackId RocprofColumns::track(std::int64_t pid, std::int64_t tid) {
  const auto [entry, is_new] = tracks_.try_emplace({pid, tid});
  if (is_new) entry->second = builder_.intern(Track{pid, tid});
  return entry->second;
}

}  // namespace tracelens
