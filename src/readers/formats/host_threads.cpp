#include "readers/formats/host_threads.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/json_value.hpp"
#include "trace/told_thread.hpp"

namespace tracelens {
namespace {

struct Call {
  EventId event;
  std::int64_t pid = 0, told_tid = 0, own_tid = 0;
};

bool may_be_call(Category category) {
  return is_runtime(category) || category == Category::kUserAnnotation ||
         category == Category::kOtherCategory;
}

std::optional<std::int64_t> tid_in(std::string_view details) {
  if (details.find(R"("tid")") == std::string_view::npos) return std::nullopt;
  const std::optional<Value> all = parse_json_value(details);
  const Value* const tid = all ? all->find("tid") : nullptr;
  return tid != nullptr && tid->is_int() ? std::optional{tid->as_int()} : std::nullopt;
}

// Those of rocprofv3's domains (hip_api, hsa_api, marker_api, rccl_api, ...) that name their thread.
std::vector<Call> calls_of(const Trace& trace) {
  std::vector<Call> calls;
  std::unordered_map<std::uint32_t, std::optional<std::int64_t>> tids;  // by text
  const SparseColumn<StringId>& details = trace.detail_texts();
  for (std::size_t i = 0; i < details.rows().size(); ++i) {
    const EventId event{details.rows()[i]};
    if (!may_be_call(trace.categories()[event.row])) continue;
    const StringId text = details.values()[i];
    const auto [tid, is_new] = tids.try_emplace(text.row);
    if (is_new) tid->second = tid_in(trace.text(text));
    if (!tid->second || !trace.category_text(event).ends_with("_api")) continue;
    const Track& track = trace.track(event);
    if (track.pid.is_int() && track.tid.is_int())
      calls.push_back({event, track.pid.as_int(), track.tid.as_int(), *tid->second});
  }
  return calls;
}

struct Told {
  std::int64_t tid = 0;
  bool is_one = true;         // of all calls
  bool names_others = false;  // but that is not so
};

}  // namespace

Trace with_own_threads(Trace trace) {
  const std::vector<Call> calls = calls_of(trace);
  std::map<std::int64_t, Told> told;  // by process
  for (const Call& call : calls) {
    Told& of_process = told.try_emplace(call.pid, Told{.tid = call.told_tid}).first->second;
    of_process.is_one = of_process.is_one && call.told_tid == of_process.tid;
    of_process.names_others = of_process.names_others || call.own_tid != call.told_tid;
  }
  std::erase_if(told, [](const auto& process) {
    return !process.second.is_one || !process.second.names_others;
  });
  if (told.empty()) return trace;
  TraceBuilder builder{std::move(trace)};
  for (const Call& call : calls) {
    if (call.own_tid == call.told_tid || !told.contains(call.pid)) continue;
    const Track own{call.pid, call.own_tid};
    builder.set_track(call.event, builder.intern(own));
    builder.add_label(own, kToldTid, call.told_tid);
  }
  return std::move(builder).finish();
}

}  // namespace tracelens
