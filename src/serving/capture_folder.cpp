#include "serving/capture_folder.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "facts/step_annotation.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDetailsFile = "execution_details.json";
constexpr std::size_t kMostOpen = 8;

std::vector<EventId> capture_annotations(const Trace& trace) {
  std::vector<EventId> found;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kUserAnnotation &&
        trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent &&
        parse_capture_annotation(trace.name(event)))
      found.push_back(event);
  std::ranges::stable_sort(found, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
  return found;
}

std::size_t count_dummy_runs(const Trace& trace) {
  static const RE2 kDummyRun{R"(^vllm/v1/worker/gpu_model_runner\.py\(\d+\): _dummy_run)"};
  std::vector<std::uint8_t> is_dummy(trace.string_count(), 2);  // 2: not asked yet
  std::size_t count = 0;
  for (const StringId name : trace.names()) {
    if (!name.valid()) continue;
    std::uint8_t& known = is_dummy[name.row];
    if (known == 2) {
      const std::string_view text = trace.text(name);
      known = text.starts_with("vllm/") && RE2::PartialMatch({text.data(), text.size()}, kDummyRun);
    }
    count += known;
  }
  return count;
}

// The size that most tensors begin with; of equally frequent ones the first.
std::optional<std::int64_t> most_frequent_size(const Trace& trace) {
  struct Count {
    std::size_t count = 0, first = 0;
  };
  std::unordered_map<std::int64_t, Count> counts;
  for (const EventId event : trace.all_events()) {
    const SignatureId signature = trace.signatures()[event.row];
    if (trace.category(event) != Category::kCpuOp || !signature.valid()) continue;
    for (const Value& dims : trace.signature(signature).dims.items())
      if (!dims.items().empty() && dims.items()[0].is_int())
        ++counts.try_emplace(dims.items()[0].as_int(), Count{0, counts.size()}).first->second.count;
  }
  const auto best = std::ranges::max_element(counts, [](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count < b.second.count
                                            : a.second.first > b.second.first;
  });
  if (best == counts.end()) return std::nullopt;
  return best->first;
}

std::string mode_by_count(const Trace& trace) {
  const auto begins = std::ranges::count_if(trace.all_events(), [&](EventId event) {
    return trace.category(event) == Category::kCudaRuntime &&
           trace.name(event).find("StreamBeginCapture") != std::string_view::npos;
  });
  return begins <= 1 ? "FULL" : "PIECEWISE";
}

bool is_mode(std::string_view mode) { return mode == "FULL" || mode == "PIECEWISE"; }

}  // namespace

CaptureClass classify_capture(const Trace& trace, Edition edition) {
  const std::vector<EventId> annotations = capture_annotations(trace);
  // The reference goes by annotations only where vLLM's Python frames go with them.
  if (!annotations.empty() &&
      (edition != Edition::kReference || annotations.size() == count_dummy_runs(trace))) {
    const auto told = parse_capture_annotation(trace.name(annotations.front()));
    CaptureClass found{told->batch_size, std::string{told->mode}, true};
    if (edition != Edition::kReference && !is_mode(found.mode)) found.mode = mode_by_count(trace);
    return found;
  }
  return {most_frequent_size(trace), mode_by_count(trace), false};
}

CaptureFolder::CaptureFolder(const std::string& path, const StitchOptions& options)
    : options_{options} {
  std::error_code failed;
  if (!fs::exists(path, failed))
    throw Error{path, "no such folder: --capture takes the folder with the traces of the captures"};
  if (!fs::is_directory(path, failed)) {
    add_file(path);
    classify(0);
    return;
  }
  if (const fs::path details = fs::path{path} / kDetailsFile; fs::exists(details, failed)) {
    try {
      read_details(read_text_file(details.string()), path);
      if (options_.edition == Edition::kReference) return;
    } catch (const Error& error) {
      note(error.what());
    }
  }
  std::set<std::string> listed_names;
  for (const File& file : files_) listed_names.insert(file_name(file));
  std::vector<std::string> paths;
  for (fs::directory_iterator entry{path, failed}, last; !failed && entry != last;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name != kDetailsFile && (name.ends_with(".json") || name.ends_with(".json.gz")) &&
        !listed_names.contains(name))
      paths.push_back(entry->path().string());
  }
  std::ranges::sort(paths);
  const std::size_t listed = files_.size();
  for (std::string& file : paths) add_file(std::move(file));
  if (files_.empty()) note(fmt::format("{} has no traces of captures", path));
  for (std::size_t file = listed; file < files_.size(); ++file) classify(file);
  std::stable_partition(sets_.begin(), sets_.end(),
                        [](const CaptureSet& set) { return set.is_told; });
}

void CaptureFolder::read_details(const std::string& text, const std::string& folder) {
  const std::optional<Value> list = parse_json_value(text);
  const std::string where = (fs::path{folder} / kDetailsFile).string();
  if (!list || !list->is_sequence()) throw Error{where, "is not a list of captures"};
  std::map<std::string, std::size_t> by_name;
  for (const Value& entry : list->items()) {
    const std::string& name = member(entry, "file").as_text();
    if (name.empty()) {
      note(fmt::format("{} has an entry that names no file", where));
      continue;
    }
    const Value& batch_size = member(entry, "batch_size");
    std::string mode = member(entry, "mode").as_text();
    // A name, not a path: nothing outside the folder is read, and nothing twice.
    const fs::path own = fs::path{name}.filename();
    const auto [known, is_new] = by_name.try_emplace(own.string(), files_.size());
    const std::size_t file = known->second;
    if (is_new) add_file((fs::path{folder} / own).string());
    if (options_.edition != Edition::kReference && !is_mode(mode) && is_there(file)) {
      if (const auto capture = open(file)) mode = mode_by_count(capture->trace);
    }
    if (!is_mode(mode) || !batch_size.is_int()) {
      note(fmt::format("{} says neither FULL nor PIECEWISE, or no batch size, of {}", where, name));
      if (options_.edition == Edition::kReference) continue;
    }
    sets_.push_back(
        {.file = file,
         .batch_size = batch_size.is_int() ? std::optional{batch_size.as_int()} : std::nullopt,
         .piecewise = mode == "PIECEWISE",
         .is_told = batch_size.is_int()});
    if (!is_there(file)) note(fmt::format("{} is listed in {} but is not there", name, where));
  }
}

void CaptureFolder::classify(std::size_t file) {
  const std::shared_ptr<const Capture> capture = open(file);
  if (capture == nullptr) return;
  const CaptureClass whole = classify_capture(capture->trace, options_.edition);
  if (options_.edition == Edition::kReference) {
    if (!is_mode(whole.mode) || !whole.batch_size)
      note(fmt::format("{} was captured for no batch size that it tells", name(file)));
    else
      sets_.push_back({file, whole.batch_size, whole.mode == "PIECEWISE"});
    return;
  }
  if (capture->graphs.empty()) {
    note(capture->unfinished > 0
             ? fmt::format("{} ends inside a capture: the file is cut short", name(file))
             : fmt::format("{} holds no graph capture", name(file)));
    return;
  }
  // One file may hold the captures of many batch sizes, each inside its annotation.
  const Trace& trace = capture->trace;
  std::map<std::int64_t, std::vector<std::uint32_t>> by_size;
  for (const EventId annotation : capture_annotations(trace)) {
    const std::int64_t size = parse_capture_annotation(trace.name(annotation))->batch_size;
    for (std::uint32_t i = 0; i < capture->graphs.size(); ++i)
      if (capture->graphs[i].ts_ns >= trace.ts_ns()[annotation.row] &&
          capture->graphs[i].ts_ns <= end_of(trace, annotation))
        by_size[size].push_back(i);
  }
  if (by_size.size() < 2) {
    sets_.push_back({file, whole.batch_size, capture->graphs.size() > 1, whole.is_told});
    return;
  }
  for (auto& [size, graphs] : by_size)
    sets_.push_back({file, size, graphs.size() > 1, true, std::move(graphs)});
}

std::string CaptureFolder::file_name(const File& file) {
  return fs::path{file.path}.filename().string();
}

void CaptureFolder::add_file(std::string path) {
  std::error_code failed;
  const bool is_there = fs::is_regular_file(path, failed);
  files_.push_back({.path = std::move(path), .is_bad = !is_there});
}

std::shared_ptr<const Capture> CaptureFolder::open(std::size_t file) {
  if (auto known = files_[file].capture.lock()) return known;
  if (files_[file].is_bad) return nullptr;
  std::shared_ptr<const Capture> capture;
  try {
    capture = std::make_shared<const Capture>(
        find_captures(read_trace(files_[file].path, {.threads = options_.threads}),
                      options_.edition, options_.python_frames));
  } catch (const Error& error) {
    files_[file].is_bad = true;
    note(error.what());
    return nullptr;
  }
  if (capture->trace.source().cut_short) note(fmt::format("{} is cut short", name(file)));
  if (latest_.size() == kMostOpen) latest_.erase(latest_.begin());
  latest_.push_back(capture);
  files_[file].capture = capture;
  return capture;
}

void CaptureFolder::note(std::string sentence) {
  if (std::ranges::find(notes_, sentence) == notes_.end()) notes_.push_back(std::move(sentence));
}

}  // namespace tracelens
