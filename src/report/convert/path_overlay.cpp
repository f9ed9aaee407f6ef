#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>

#include "analysis/path/graph.hpp"
#include "analysis/path/model.hpp"
#include "analysis/path/window.hpp"
#include "facts/calls.hpp"
#include "facts/trace_facts.hpp"
#include "io/stream.hpp"
#include "readers/chrome/event_texts.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/rocprof/rocprof.hpp"
#include "report/convert/packed_output.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kOverlayChunk = std::size_t{256} << 10;

class Overlay {
 public:
  Overlay(const Trace& trace, const OverlayOptions& options, const std::string& output)
      : trace_{trace},
        options_{options},
        facts_{trace},
        model_{facts_},
        path_{model_.recorded_path(choose_window(facts_, options.steps).time)},
        file_{output} {
    is_critical_.assign(trace.size(), false);
    for (const PathSegment& segment : path_.segments)
      if (segment.owner.valid()) is_critical_[segment.owner.row] = true;
  }

  OverlayCounts run() {
    out_ = "{\"traceEvents\": [\n";
    io::Stream in = io::Stream::open(trace_.source().name);
    if (!is_kineto(in.peek(4096)) || is_rocprof(in.peek(4096)))
      throw Error{trace_.source().name,
                  "is no Chrome JSON, which an overlay is written onto; convert it first"};
    EventTexts events{in};
    std::uint64_t taken = 0;
    while (const auto text = events.next())
      // Elements that are no objects have rows, too.
      write_event(*text, taken++ + events.skipped());
    for (const PathSegment& segment : path_.segments) write_arrow(segment);
    if (options_.counters) {
      write_queue_lengths();
      write_copy_rates();
    }
    out_ += "\n]";
    for (const auto& [key, value] : trace_.metadata()) {
      if (key == "traceEvents") continue;
      out_ += ",\n";
      append_json_text(out_, key);
      out_ += ": ";
      append_json(out_, value);
    }
    out_ += "}\n";
    file_.write(out_);
    file_.commit();
    return counts_;
  }

 private:
  void begin_event() {
    if (out_.size() >= kOverlayChunk) {
      file_.write(out_);
      out_.clear();
    }
    if (counts_.events++ > 0) out_ += ",\n";
  }

  [[nodiscard]] bool is_wanted(EventId event) const {
    if (!options_.only_critical || trace_.phase(event) != Phase::kComplete) return true;
    const Category category = trace_.category(event);
    return category == Category::kPythonFunction || category == Category::kUserAnnotation ||
           category == Category::kGpuUserAnnotation;
  }

  void write_event(std::string_view text, std::uint64_t row) {
    const EventId event{static_cast<std::uint32_t>(std::min<std::uint64_t>(row, trace_.size()))};
    const bool is_known = event.row < trace_.size();
    if (is_known && is_critical_[event.row]) {
      begin_event();
      ++counts_.critical;
      write_marked(text);
    } else if (!is_known || is_wanted(event)) {
      begin_event();
      out_ += text;
    }
  }

  // The event as it stands, with one more argument.
  void write_marked(std::string_view text) {
    std::vector<RawMember> members;
    const RawMember* args = nullptr;
    if (split_object(text, members))
      for (const RawMember& member : members)
        if (member.key == "args" && member.value.starts_with('{')) args = &member;
    if (args != nullptr) {
      const auto inside = static_cast<std::size_t>(args->value.data() - text.data()) + 1;
      std::vector<RawMember> own;
      const bool is_empty = split_object(args->value, own) && own.empty();
      out_ += text.substr(0, inside);
      out_ += is_empty ? "\"critical\": 1" : "\"critical\": 1, ";
      out_ += text.substr(inside);
    } else {
      const std::size_t end = text.find_last_of('}');
      out_ += text.substr(0, end);
      out_ += members.empty() ? "\"args\": {\"critical\": 1}}" : ", \"args\": {\"critical\": 1}}";
    }
  }

  void append_place(TrackId track, std::int64_t ns) {
    out_ += ", \"pid\": ";
    append_json(out_, trace_.track(track).pid);
    out_ += ", \"tid\": ";
    append_json(out_, trace_.track(track).tid);
    fmt::format_to(std::back_inserter(out_), ", \"ts\": {}{}.{:03}", ns < 0 ? "-" : "",
                   std::abs(ns / 1000), std::abs(ns % 1000));
  }

  // An arrow where the path goes from one thread or stream to another. Viewers draw none that leaves
  // an event at its very end.
  void write_arrow(const PathSegment& segment) {
    const TrackId from = trace_.tracks()[segment.from.row], to = trace_.tracks()[segment.to.row];
    if (from == to) return;
    std::int64_t start = segment.start_ns;
    if (is_gpu(trace_.category(segment.from)) && start == end_of(trace_, segment.from))
      start -= std::min<std::int64_t>(1000, duration_of(trace_, segment.from));
    const auto write = [&](std::string_view phase, TrackId track, std::int64_t ns) {
      begin_event();
      fmt::format_to(std::back_inserter(out_),
                     "{{\"ph\": \"{}\", \"cat\": \"critical_path\", \"name\": \"critical_path\", "
                     "\"bp\": \"e\", \"id\": {}",
                     phase, counts_.arrows);
      append_place(track, ns);
      fmt::format_to(std::back_inserter(out_),
                     ", \"args\": {{\"weight\": {:.3f}, \"bound_by\": \"{}\", \"inferred\": {}}}}}",
                     static_cast<double>(segment.end_ns - segment.start_ns) / 1000,
                     text_of(segment.bound_by), segment.kind == EdgeKind::kStreamGuess);
    };
    write("s", from, start);
    write("f", to, segment.end_ns);
    ++counts_.arrows;
  }

  struct Change {
    std::int64_t ns;
    double by;
  };
  // A counter per track and name, which changes by these amounts.
  void write_counter(std::string_view name, TrackId track, std::vector<Change>& changes) {
    std::ranges::stable_sort(changes, [](const Change& a, const Change& b) {
      return a.ns != b.ns ? a.ns < b.ns : a.by > b.by;
    });
    double value = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      value = std::max(0.0, value + changes[i].by);
      if (i + 1 < changes.size() && changes[i + 1].ns == changes[i].ns) continue;
      begin_event();
      out_ += "{\"ph\": \"C\", \"name\": ";
      append_json_text(out_, name);
      append_place(track, changes[i].ns);
      out_ += ", \"id\": ";
      append_json(out_, trace_.track(track).tid);
      fmt::format_to(std::back_inserter(out_), ", \"args\": {{\"value\": {:g}}}}}", value);
    }
  }

  // Work that is launched and has not begun, by stream.
  void write_queue_lengths() {
    std::map<TrackId, std::vector<Change>> streams;
    const PathGraph& graph = model_.graph();
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
      if (graph.call_of(gpu) == kNoPoint) continue;
      std::vector<Change>& changes =
          streams[trace_.tracks()[graph.event(graph.gpu_start(gpu)).row]];
      changes.push_back({graph.time(graph.call_of(gpu)), 1});
      changes.push_back({graph.time(graph.gpu_start(gpu)), -1});
    }
    for (auto& [track, changes] : streams) write_counter("Queue Length", track, changes);
  }

  void write_copy_rates() {
    constexpr std::array<std::string_view, 8> kNames = {"",
                                                        "Memcpy HtoD GB/s",
                                                        "Memcpy DtoH GB/s",
                                                        "Memcpy DtoD GB/s",
                                                        "Memcpy PtoP GB/s",
                                                        "Memcpy HtoH GB/s",
                                                        "Memset GB/s",
                                                        "Memcpy GB/s"};
    std::map<std::pair<CopyKind, TrackId>, std::vector<Change>> kinds;
    for (const EventId event : facts_.gpu_events(true).events) {
      const CopyKind kind = copy_kind(trace_.name(event));
      if (kind == CopyKind::kNone) continue;
      const Value details = trace_.details(event);
      const std::int64_t ns = std::max<std::int64_t>(1, duration_of(trace_, event));
      double rate = 0;
      if (const Value* known = details.find("memory bandwidth (GB/s)"); known != nullptr)
        rate = known->is_number() ? known->as_real() : 0;
      else if (const Value* bytes = details.find("bytes"); bytes != nullptr)
        rate = (bytes->is_number() ? bytes->as_real() : 0) / static_cast<double>(ns);
      std::vector<Change>& changes = kinds[{kind, trace_.tracks()[event.row]}];
      changes.push_back({trace_.ts_ns()[event.row], rate});
      changes.push_back({trace_.ts_ns()[event.row] + ns, -rate});
    }
    for (auto& [key, changes] : kinds)
      write_counter(kNames[static_cast<std::size_t>(key.first)], key.second, changes);
  }

  const Trace& trace_;
  const OverlayOptions& options_;
  const TraceFacts facts_;
  const PathModel model_;
  const CriticalPath path_;
  PackedOutput file_;
  std::vector<bool> is_critical_;  // by row
  std::string out_;
  OverlayCounts counts_;
};

}  // namespace

OverlayCounts write_path_overlay(const Trace& trace, const std::string& output,
                                 const OverlayOptions& options) {
  return Overlay{trace, options, output}.run();
}

}  // namespace tracelens
