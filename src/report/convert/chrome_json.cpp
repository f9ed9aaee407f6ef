#include <tracelens/convert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <vector>

#include "facts/converted.hpp"
#include "readers/kineto/words.hpp"
#include "report/convert/lanes.hpp"
#include "report/convert/packed_output.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

// The ids that a call and a GPU event share, in order, where no flow of the trace says so. JSON of
// Kineto's kind has flows: without them no GPU event would be linked to its launch.
std::vector<std::int64_t> launches_without_flow(const Trace& trace) {
  std::vector<std::int64_t> calls, gpu, both;
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (category == Category::kAsyncCpuToGpu) return {};
    const std::int64_t id = trace.correlations()[event.row];
    if (id == kAbsent || trace.phase(event) != Phase::kComplete) continue;
    if (is_gpu(category)) gpu.push_back(id);
    if (is_runtime(category)) calls.push_back(id);
  }
  std::ranges::sort(calls);
  std::ranges::sort(gpu);
  std::ranges::set_intersection(calls, gpu, std::back_inserter(both));
  return both;
}

class Writer {
 public:
  Writer(const Trace& trace, const std::string& output) : trace_{trace}, file_{output} {}

  ChromeJsonCounts run() {
    const Recorder recorder = trace_.source().recorder;
    if (recorder == Recorder::kRocpd || recorder == Recorder::kRpd || recorder == Recorder::kNsight)
      launches_ = launches_without_flow(trace_);
    out_ = "{\"displayTimeUnit\":\"ns\"";
    write_head();
    out_ += ",\"traceEvents\":[";
    for (const EventId event : trace_.all_events())
      if (trace_.phase(event) == Phase::kMetadata) write_label(event);
    for (const Lane& lane : lanes_.all())
      if (!lane.name.empty()) write_name(lane);
    for (const EventId event : trace_.all_events()) write(event);
    out_ += "\n]}\n";
    file_.write(out_);
    file_.commit();
    return counts_;
  }

 private:
  // What the file says beside its events: the GPUs, and of JSON all else, too. Other formats have
  // members that are no text; which one it was is a member here.
  void write_head() {
    const Recorder recorder = trace_.source().recorder;
    if (recorder != Recorder::kPyTorch && recorder != Recorder::kUnknown)
      write_top(kConvertedFromKey, Value{trace_.source().format});
    std::set<std::string_view> written{"displayTimeUnit", "traceEvents"};
    for (const auto& [key, value] : trace_.metadata())
      if ((recorder == Recorder::kPyTorch || key == "deviceProperties") &&
          written.insert(key).second)
        write_top(key, value);
  }
  void write_top(std::string_view key, const Value& value) {
    out_ += ",\n";
    append_json_text(out_, key);
    out_ += ':';
    append_json(out_, value);
  }

  void open_event(std::string_view phase) {
    if (out_.size() >= kChunkBytes) {
      file_.write(out_);
      out_.clear();
    }
    out_ += is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    is_first_ = false;
    out_ += phase;
    out_ += '"';
    ++counts_.written;
  }
  void begin_member(std::string_view key) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
  }
  void text_member(std::string_view key, std::string_view text) {
    begin_member(key);
    append_json_text(out_, text);
  }
  void value_member(std::string_view key, const Value& value) {
    begin_member(key);
    append_json(out_, value);
  }
  void place(const Value& pid, const Value& tid) {
    value_member("pid", pid);
    value_member("tid", tid);
  }
  // Microseconds with all their nanoseconds.
  void time_member(std::string_view key, std::int64_t ns) {
    fmt::format_to(std::back_inserter(out_), ",\"{}\":{}{}.{:03}", key, ns < 0 ? "-" : "",
                   std::abs(ns / 1000), std::abs(ns % 1000));
  }

  void write_label(EventId event) {
    const std::string_view what = trace_.name(event);
    const Track& track = trace_.track(event);
    const auto value = trace_.label(track, what);
    if (!value) return;
    open_event("M");
    text_member("name", what);
    place(track.pid, track.tid);
    const std::string_view key = what.ends_with("labels")       ? "labels"
                                 : what.ends_with("sort_index") ? "sort_index"
                                                                : "name";
    out_ += fmt::format(",\"args\":{{\"{}\":", key);
    append_json(out_, *value);
    out_ += "}}";
  }

  void write_name(const Lane& lane) {
    open_event("M");
    text_member("name", "thread_name");
    place(lane.pid, lane.tid);
    out_ += ",\"args\":{\"name\":";
    append_json_text(out_, lane.name);
    out_ += "}}";
  }

  void write(EventId event) {
    switch (trace_.phase(event)) {
      case Phase::kComplete:
        return write_slice(event);
      case Phase::kInstant:
        return write_instant(event);
      case Phase::kFlowStart:
      case Phase::kFlowEnd:
        return write_flow(event);
      case Phase::kMetadata:
        return;  // already written
      case Phase::kOther:
      case Phase::kDamaged:
        ++counts_.left_out;
        return;
    }
  }

  // Other profilers have words of their own for calls and kernels, by which nobody would know them.
  [[nodiscard]] std::string_view chrome_category(EventId event) const {
    const Category category = trace_.category(event);
    const std::string_view text = trace_.category_text(event), usual = category_name(category);
    return text == usual || kineto::to_category(text) == category ? text : usual;
  }

  void write_common(EventId event) {
    if (trace_.category(event) != Category::kNone) text_member("cat", chrome_category(event));
    text_member("name", trace_.name(event));
    time_member("ts", trace_.ts_ns()[event.row]);
  }

  void write_slice(EventId event) {
    open_event("X");
    write_common(event);
    time_member("dur", trace_.dur_ns()[event.row]);
    const Lane& lane = lanes_.lane_of(event);
    place(lane.pid, lane.tid);
    write_args(event);
    out_ += '}';
    write_own_flow(event, lane);
  }

  // From a launch, or to what it launched.
  void write_own_flow(EventId event, const Lane& lane) {
    const bool is_end = is_gpu(trace_.category(event));
    if (launches_.empty() || (!is_end && !is_runtime(trace_.category(event)))) return;
    const std::int64_t id = trace_.correlations()[event.row];
    if (!std::ranges::binary_search(launches_, id)) return;
    open_event(is_end ? "f" : "s");
    text_member("cat", category_name(Category::kAsyncCpuToGpu));
    text_member("name", category_name(Category::kAsyncCpuToGpu));
    time_member("ts", trace_.ts_ns()[event.row]);
    place(lane.pid, lane.tid);
    out_ += fmt::format(",\"id\":{}{}", id, is_end ? ",\"bp\":\"e\"}" : "}");
  }

  void write_instant(EventId event) {
    open_event("i");
    write_common(event);
    const Lane& lane = lanes_.lane_of(event);
    place(lane.pid, lane.tid);
    out_ += ",\"s\":\"t\"";
    write_args(event);
    out_ += '}';
  }

  void write_flow(EventId event) {
    const bool is_end = trace_.phase(event) == Phase::kFlowEnd;
    open_event(is_end ? "f" : "s");
    write_common(event);
    place(trace_.track(event).pid, trace_.track(event).tid);
    if (const std::int64_t id = trace_.correlations()[event.row]; id != kAbsent)
      out_ += fmt::format(",\"id\":{}", id);
    out_ += is_end ? ",\"bp\":\"e\"}" : "}";
  }

  // The arguments as members of one object, named as their producers name them.
  void write_args(EventId event) {
    bool has_any = false;
    const auto begin = [&](std::string_view key) {
      out_ += has_any ? ",\"" : ",\"args\":{\"";
      has_any = true;
      out_ += key;
      out_ += "\":";
    };
    const auto integer = [&](std::string_view key, std::int64_t value) {
      if (value == kAbsent) return;
      begin(key);
      out_ += fmt::format_int{value}.c_str();
    };
    integer("External id", trace_.external_ids().at(event).value_or(kAbsent));
    integer("Sequence number", trace_.sequence_numbers().at(event).value_or(kAbsent));
    integer("Fwd thread id", trace_.forward_threads().at(event).value_or(kAbsent));
    integer("correlation", trace_.correlations()[event.row]);
    integer("device", trace_.devices().at(event).value_or(kAbsent));
    integer("stream", trace_.streams().at(event).value_or(kAbsent));
    if (const auto memory = trace_.memory_changes().at(event)) {
      integer("Addr", memory->address);
      integer("Bytes", memory->bytes);
      integer("Total Allocated", memory->allocated);
      integer("Total Reserved", memory->reserved);
      integer("Ev Idx", memory->order);
      integer("Device Type", memory->device_type);
      integer("Device Id", memory->device);
    }
    if (const SignatureId id = trace_.signatures()[event.row]; id.valid()) {
      const Signature& signature = trace_.signature(id);
      const auto part = [&](std::string_view key, const Value& value) {
        if (value.is_null()) return;
        begin(key);
        append_json(out_, value);
      };
      part("Input Dims", signature.dims);
      part("Input type", signature.types);
      part("Input Strides", signature.strides);
      part("Concrete Inputs", signature.concrete);
    }
    if (const auto stack = trace_.call_stacks().at(event)) {
      begin("Call stack");
      append_json_text(out_, trace_.text(*stack));
    }
    if (const std::string& members = detail_members(event); !members.empty()) {
      out_ += has_any ? "," : ",\"args\":{";
      has_any = true;
      out_ += members;
    }
    if (has_any) out_ += '}';
  }

  // The details as JSON members. The trace has them as their producer wrote them, which need not be
  // valid JSON; many events share one text, so the valid form is remembered.
  const std::string& detail_members(EventId event) {
    static const std::string kNothing;
    const auto text = trace_.detail_texts().at(event);
    if (!text) return kNothing;
    constexpr std::size_t kMostRemembered = 1 << 16;
    if (members_.size() >= kMostRemembered) members_.clear();
    const auto [found, added] = members_.try_emplace(text->row);
    if (added) {
      append_json(found->second, trace_.details(event));
      // Without the braces; what is no object has no members.
      if (found->second.starts_with('{'))
        found->second = found->second.substr(1, found->second.size() - 2);
      else
        found->second.clear();
    }
    return found->second;
  }

  const Trace& trace_;
  Lanes lanes_{trace_};
  PackedOutput file_;
  std::string out_;
  std::unordered_map<std::uint32_t, std::string> members_;  // by the string id of the details
  bool is_first_ = true;
  std::vector<std::int64_t> launches_;  // that get a flow of our own
  ChromeJsonCounts counts_;
};

}  // namespace

ChromeJsonCounts write_chrome_json(const Trace& trace, const std::string& output) {
  return Writer{trace, output}.run();
}

}  // namespace tracelens
