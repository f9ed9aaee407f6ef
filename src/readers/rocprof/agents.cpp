#include "readers/rocprof/agents.hpp"

#include <fmt/format.h>

#include "trace/value_member.hpp"

namespace tracelens {
namespace {

// The product of two members; null when one is missing or no number of a real GPU.
Value product(const Value& agent, std::string_view one, std::string_view other) {
  const Value &a = member(agent, one), &b = member(agent, other);
  std::int64_t result = 0;
  if (!a.is_int() || !b.is_int() || __builtin_mul_overflow(a.as_int(), b.as_int(), &result))
    return {};
  return result;
}

// What `info` shows, the GPU of the roofline is looked up by, and the occupancy is worked out from;
// the names are those PyTorch's profiler has for them.
Value device_properties(const Value& agent, std::int64_t number) {
  const Value& product_name = member(agent, "product_name");
  const Value& lds = member(agent, "lds_size_in_kb");
  constexpr std::int64_t kMostLds = 1 << 20;  // KiB
  const bool has_lds = lds.is_int() && lds.as_int() > 0 && lds.as_int() < kMostLds;
  return Value::dict({"id", "name", "numSms", "warpSize", "gfx", "maxThreadsPerMultiprocessor",
                      "sharedMemPerMultiprocessor"},
                     {number, product_name.is_text() ? product_name : member(agent, "name"),
                      member(agent, "cu_count"), member(agent, "wave_front_size"),
                      member(agent, "name"), product(agent, "max_waves_per_cu", "wave_front_size"),
                      has_lds ? Value{lds.as_int() * 1024} : Value{}});
}

std::int64_t integer_or_absent(const Value& value) {
  return value.is_int() ? value.as_int() : kAbsent;
}

}  // namespace

void RocprofAgents::set_table(const std::vector<Value>& agents, const std::string& host) {
  constexpr std::int64_t kGpuType = 2;
  for (const Value& agent : agents) {
    const Value& handle = member(member(agent, "id"), "handle");
    if (!handle.is_int()) continue;
    const bool is_gpu = member(agent, "type").as_int() == kGpuType;
    // Old files number only the agents of the node.
    const Value& by_type = member(agent, "logical_node_type_id");
    std::int64_t number =
        by_type.is_int() ? by_type.as_int() : member(agent, "logical_node_id").as_int();
    if (is_gpu) {
      number = run_.gpu_number({.host = host,
                                .node = integer_or_absent(member(agent, "node_id")),
                                .driver_id = integer_or_absent(member(agent, "gpu_id"))},
                               number);
      run_.add_gpu(number, device_properties(agent, number));
    }
    agents_[handle.as_int()] = {fmt::format("{}-{}", is_gpu ? "GPU" : "CPU", number), number,
                                is_gpu};
  }
}

void RocprofAgents::number_gpu(std::int64_t handle) {
  if (handle == kAbsent || agents_.contains(handle)) return;
  const std::int64_t number = run_.gpu_number({}, kAbsent);
  agents_[handle] = {fmt::format("GPU-{}", number), number, true};
}

RocprofAgents::Agent RocprofAgents::find(std::int64_t handle) const {
  if (handle == kAbsent) return {};
  if (const auto found = agents_.find(handle); found != agents_.end()) return found->second;
  return {fmt::format("Agent-{}", handle), handle, false};
}

}  // namespace tracelens
