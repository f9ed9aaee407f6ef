#include "readers/rocprof/record.hpp"

#include <charconv>
#include <cmath>

#include "readers/chrome/json_scan.hpp"

namespace tracelens {
namespace {

// The members of the object at `p`: on_member(key, value) returns the byte after the value, or
// nullptr. Returns the byte after the object, or nullptr when it is malformed.
template <class OnMember>
const char* for_each_member(const char* p, const char* end, OnMember&& on_member) {
  if (*p != '{') return nullptr;
  p = json::skip_space(p + 1, end);
  while (*p == '"') {
    const char* const key_end = json::find_quote(p + 1, end);
    if (key_end == nullptr) return nullptr;
    const std::string_view key{p + 1, static_cast<std::size_t>(key_end - p - 1)};
    p = json::skip_space(key_end + 1, end);
    if (*p != ':') return nullptr;
    p = on_member(key, json::skip_space(p + 1, end));
    if (p == nullptr) return nullptr;
    p = json::skip_space(p, end);
    if (*p != ',') break;
    p = json::skip_space(p + 1, end);
  }
  return *p == '}' && p < end ? p + 1 : nullptr;
}

// Unsigned numbers beyond the range keep their bits: they are identities.
const char* read_integer(const char* p, const char* end, std::int64_t& value) {
  // Nearly always: up to 18 digits and then a delimiter.
  std::int64_t digits = 0;
  const char* q = p;
  while (static_cast<unsigned char>(*q - '0') < 10 && q - p < 18)
    digits = digits * 10 + (*q++ - '0');
  if (q != p && (*q == ',' || *q == '}')) [[likely]] {
    value = digits;
    return q;
  }
  const char* const after = json::skip_value(p, end);
  if (after == nullptr) return nullptr;
  std::int64_t number = 0;
  std::uint64_t wide = 0;
  if (const auto r = std::from_chars(p, after, number); r.ec == std::errc{} && r.ptr == after)
    value = number;
  else if (const auto w = std::from_chars(p, after, wide); w.ec == std::errc{} && w.ptr == after)
    value = static_cast<std::int64_t>(wide);
  return after;
}

// The member `name` of an object such as {"handle": 7}.
const char* read_inner(const char* p, const char* end, std::string_view name, std::int64_t& value) {
  if (*p != '{') return json::skip_value(p, end);
  return for_each_member(p, end, [&](std::string_view key, const char* at) {
    return key == name ? read_integer(at, end, value) : json::skip_value(at, end);
  });
}

const char* read_xyz(const char* p, const char* end, std::array<std::int64_t, 3>& sizes) {
  if (*p != '{') return json::skip_value(p, end);
  return for_each_member(p, end, [&](std::string_view key, const char* at) {
    if (key.size() == 1 && key[0] >= 'x' && key[0] <= 'z')
      return read_integer(at, end, sizes[static_cast<std::size_t>(key[0] - 'x')]);
    return json::skip_value(at, end);
  });
}

const char* read_dispatch(const char* p, const char* end, RocprofRecord& record) {
  if (*p != '{') return json::skip_value(p, end);
  return for_each_member(p, end, [&](std::string_view key, const char* at) {
    if (key == "kernel_id") return read_integer(at, end, record.kernel_id);
    if (key == "dispatch_id") return read_integer(at, end, record.dispatch_id);
    if (key == "agent_id") return read_inner(at, end, "handle", record.agent);
    if (key == "queue_id") return read_inner(at, end, "handle", record.queue);
    if (key == "grid_size") return read_xyz(at, end, record.grid);
    if (key == "workgroup_size") return read_xyz(at, end, record.group);
    if (key == "private_segment_size") return read_integer(at, end, record.private_bytes);
    if (key == "group_segment_size") return read_integer(at, end, record.group_bytes);
    return json::skip_value(at, end);
  });
}

// The members that all records have in common.
const char* read_record(const char* p, const char* end, RocprofRecord& record) {
  return for_each_member(p, end, [&](std::string_view key, const char* at) {
    if (key == "start_timestamp") return read_integer(at, end, record.start_ns);
    if (key == "end_timestamp") return read_integer(at, end, record.end_ns);
    if (key == "thread_id") return read_integer(at, end, record.thread);
    if (key == "correlation_id") return read_inner(at, end, "internal", record.correlation);
    if (key == "stream_id") return read_inner(at, end, "handle", record.stream);
    if (key == "kind") return read_integer(at, end, record.kind);
    if (key == "operation") return read_integer(at, end, record.operation);
    if (key == "dispatch_info") return read_dispatch(at, end, record);
    if (key == "src_agent_id") return read_inner(at, end, "handle", record.src_agent);
    if (key == "dst_agent_id") return read_inner(at, end, "handle", record.dst_agent);
    if (key == "agent_id") return read_inner(at, end, "handle", record.agent);
    if (key == "bytes" || key == "allocation_size") return read_integer(at, end, record.bytes);
    return json::skip_value(at, end);
  });
}

const char* read_real(const char* p, const char* end, std::optional<double>& value) {
  const char* const after = json::skip_value(p, end);
  if (after == nullptr) return nullptr;
  double number = 0;
  const auto parsed = std::from_chars(p, after, number);
  if (parsed.ec == std::errc{} && parsed.ptr == after && std::isfinite(number)) value = number;
  return after;
}

const char* read_values(const char* p, const char* end, RocprofCounts& counts) {
  if (*p != '[') return json::skip_value(p, end);
  p = json::skip_space(p + 1, end);
  while (*p == '{') {
    std::int64_t counter = kAbsent;
    std::optional<double> value;
    p = for_each_member(p, end, [&](std::string_view key, const char* at) {
      if (key == "counter_id") return read_inner(at, end, "handle", counter);
      if (key == "value") return read_real(at, end, value);
      return json::skip_value(at, end);
    });
    if (p == nullptr) return nullptr;
    if (counter != kAbsent && value)
      counts.values.emplace_back(counter, *value);
    else
      ++counts.unusable;
    p = json::skip_space(p, end);
    if (*p != ',') break;
    p = json::skip_space(p + 1, end);
  }
  return *p == ']' && p < end ? p + 1 : nullptr;
}

}  // namespace

bool parse_rocprof_record(std::string_view text, RocprofRecord& record) {
  const char* const end = text.data() + text.size();
  return read_record(text.data(), end, record) == end;
}

bool parse_rocprof_counts(std::string_view text, RocprofCounts& counts) {
  const char* const end = text.data() + text.size();
  const char* const after =
      for_each_member(text.data(), end, [&](std::string_view key, const char* at) {
        if (key == "dispatch_data" && *at == '{') return read_record(at, end, counts.dispatch);
        if (key == "records") return read_values(at, end, counts);
        if (key == "thread_id") return read_integer(at, end, counts.dispatch.thread);
        if (key == "stream_id") return read_inner(at, end, "handle", counts.dispatch.stream);
        return json::skip_value(at, end);
      });
  return after == end;
}

}  // namespace tracelens
