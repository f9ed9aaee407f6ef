#include "analysis/rocm/pftrace_events.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <unordered_map>

#include "trace/counter_name.hpp"
#include "trace/json_value.hpp"
#include "trace/told_thread.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNoGpu = std::numeric_limits<std::uint32_t>::max();

std::optional<std::int64_t> to_integer(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string digits;  // without the underscores that may stand between two digits
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (text[i] == '_' && i > 0 && is_digit(i - 1) && is_digit(i + 1)) continue;
    if (i == 0 && text[i] == '+' && is_digit(1)) continue;
    digits.push_back(text[i]);
  }
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value == nullptr ? std::nullopt : to_integer(*value);
}

Value value_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value == nullptr ? Value{} : *value;
}

// Text that is not empty, a number that is not 0.
bool is_something(const Value& value) {
  if (value.is_text()) return !value.as_text().empty();
  if (value.kind() == Value::Kind::kBool) return value.as_bool();
  return value.is_number() ? value.as_real() != 0 : !value.items().empty();
}

std::string text_of(const Value& value) {
  return value.is_text() ? value.as_text() : python_repr(value);
}

PftraceArgs read_args(const Value& dict) {
  PftraceArgs args;
  if (const Value* const agent = dict.find("agent"); agent != nullptr && is_something(*agent))
    args.agent = *agent;
  for (const auto key : {"kernel_name", "KernelName", "symbol", "symbol_name", "funcName"})
    if (const Value* const name = dict.find(key); name != nullptr && is_something(*name)) {
      args.kernel_name = text_of(*name);
      break;
    }
  for (const auto key : {"device_id", "deviceId", "dev_id", "DevId", "gpu_id", "gpuId"})
    if (args.device = integer_at(dict, key); args.device) break;
  args.tid = integer_at(dict, "tid");
  args.operation = integer_at(dict, "operation");
  args.grid_size = integer_at(dict, "grid_size");
  args.workgroup_size = integer_at(dict, "workgroup_size");
  args.vgpr = integer_at(dict, "VGPR_Count");
  args.accum_vgpr = integer_at(dict, "Accum_VGPR_Count");
  args.sgpr = integer_at(dict, "SGPR_Count");
  args.lds = integer_at(dict, "LDS_Block_Size");
  args.scratch = integer_at(dict, "Scratch_Size");
  args.copy_bytes = integer_at(dict, "copy_bytes");
  args.src_agent = value_at(dict, "src_agent");
  args.dst_agent = value_at(dict, "dst_agent");
  return args;
}

bool is_counter(const Value& dict, std::size_t i) {
  return dict.items()[i].kind() == Value::Kind::kReal && is_counter_name(dict.keys()[i]);
}

bool has_counters(const Value& dict) {
  for (std::size_t i = 0; i < dict.keys().size(); ++i)
    if (is_counter(dict, i)) return true;
  return false;
}

// What launches with the same configuration have in common, whatever the hardware counted in them.
std::string text_without_counters(const Value& dict) {
  std::vector<std::string> keys;
  std::vector<Value> items;
  for (std::size_t i = 0; i < dict.keys().size(); ++i)
    if (!is_counter(dict, i)) {
      keys.push_back(dict.keys()[i]);
      items.push_back(dict.items()[i]);
    }
  return canonical_text(Value::dict(std::move(keys), std::move(items)));
}

}  // namespace

std::optional<std::int64_t> to_integer(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kInt:
      return value.as_int();
    case Value::Kind::kBool:
      return value.as_bool() ? 1 : 0;
    case Value::Kind::kReal: {
      const double whole = std::trunc(value.as_real());
      if (!(std::abs(whole) < 9e18)) return std::nullopt;  // nor NaN
      return static_cast<std::int64_t>(whole);
    }
    case Value::Kind::kText:
      return to_integer(std::string_view{value.as_text()});
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> agent_number(const Value& agent) {
  if (!agent.is_text()) return to_integer(agent);
  const std::string_view text = agent.as_text();
  return to_integer(text.substr(text.rfind('-') + 1));
}

PftraceEvents::PftraceEvents(const Trace& trace, Edition edition) : trace_{trace}, args_(1) {
  args_ids_.resize(trace.size(), 0);
  std::vector<std::uint32_t> known(trace.string_count(), 0);  // by text: its args
  std::unordered_map<std::string, std::uint32_t> counted;     // the same by what is beside counters
  const auto& details = trace.detail_texts();
  for (std::size_t i = 0; i < details.rows().size(); ++i) {
    const EventId event{details.rows()[i]};
    std::uint32_t& id = known[details.values()[i].row];
    if (id == 0) {
      const Value all = trace.details(event);
      id = static_cast<std::uint32_t>(args_.size());
      if (has_counters(all)) id = counted.try_emplace(text_without_counters(all), id).first->second;
      if (id == args_.size()) args_.push_back(read_args(all));
    }
    args_ids_[event.row] = id;
  }
  find_gpus();
  number_gpus(edition);
  number_tracks(edition);
}

void PftraceEvents::find_gpus() {
  gpu_ids_.assign(args_.size(), kNoGpu);
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (const std::uint32_t id : args_ids_) {
    if (args_[id].agent.is_null() || gpu_ids_[id] != kNoGpu) continue;
    // The text "7" and the number 7 are two GPUs.
    const auto [entry, is_new] =
        numbers.try_emplace(python_repr(args_[id].agent), static_cast<std::uint32_t>(gpus_.size()));
    if (is_new) gpus_.push_back(text_of(args_[id].agent));
    gpu_ids_[id] = entry->second;
  }
}

void PftraceEvents::number_gpus(Edition edition) {
  std::set<std::int64_t> distinct;
  for (const std::string& gpu : gpus_)
    if (const auto number = agent_number(Value{gpu}); number && distinct.insert(*number).second)
      gpu_numbers_.push_back(*number);
  is_by_agent_ = edition == Edition::kExtended && gpu_numbers_.size() == gpus_.size();
  if (is_by_agent_) return;
  gpu_numbers_.resize(gpus_.size());
  std::iota(gpu_numbers_.begin(), gpu_numbers_.end(), std::int64_t{0});
}

void PftraceEvents::number_tracks(Edition edition) {
  track_numbers_.reserve(trace_.track_table().size());
  for (const Track& track : trace_.track_table()) {
    const auto told = edition == Edition::kReference ? trace_.label(track, kToldTid) : std::nullopt;
    track_numbers_.push_back({to_integer(track.pid), to_integer(told.value_or(track.tid))});
  }
}

std::optional<std::uint32_t> PftraceEvents::gpu_of(EventId event) const {
  const std::uint32_t gpu = gpu_ids_[args_ids_[event.row]];
  return gpu == kNoGpu ? std::nullopt : std::optional{gpu};
}

std::optional<std::int64_t> PftraceEvents::gpu_number_of(EventId event) const {
  if (const auto gpu = gpu_of(event)) return gpu_number(*gpu);
  return is_by_agent_ ? trace_.devices().at(event) : std::nullopt;
}

}  // namespace tracelens
