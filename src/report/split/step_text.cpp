#include "report/split/step_text.hpp"

#include <fmt/format.h>

#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <utility>

#include "io/stream.hpp"
#include "io/threads.hpp"
#include "io/zip_members.hpp"
#include "readers/rocprof/rocprof.hpp"

namespace tracelens {

StepText::StepText(std::string trace, const SplitOptions& options)
    : path_{std::move(trace)},
      file_{path_},
      edition_{options.edition},
      reading_{.threads = options.threads, .on_progress = options.on_progress} {
  if (io::is_read_once(path_)) {
    file_ = temporary_.make();
    keep_stream(path_, file_);
  }
  read();
  steps_ = find_split_roots(index_.trace, edition_);
  events_.emplace(index_.trace, steps_, edition_);
}

void StepText::read() {
  io::Stream in = io::Stream::open(file_);
  const std::string_view head = in.peek(4096);
  in.use_threads(io::thread_count(reading_.threads));
  if (head.empty()) throw_empty(in);
  if (!is_kineto(head) || is_rocprof(head))
    throw Error{path_,
                "only Chrome trace JSON can be split, which PyTorch's profiler writes; tracelens "
                "convert makes it of other formats"};
  is_list_ = head[head.find_first_not_of("\xEF\xBB\xBF \t\r\n")] == '[';
  // The reference looks at the shapes of some ops.
  index_ = index_kineto(in, reading_, edition_ == Edition::kReference);
  for (const auto& [what, count, byte] : index_.trace.warnings().entries())
    warnings_.push_back(fmt::format("{}: {} ({}x, first at byte {})", path_, what, count, byte));
}

void StepText::check_outputs(std::span<const Part> parts,
                             const std::filesystem::path& folder) const {
  const auto check = [&](const std::string& name) {
    std::error_code error;
    if (std::filesystem::equivalent(folder / name, path_, error))
      throw Error{(folder / name).string(),
                  "is the trace that is split; choose another folder for its parts"};
  };
  for (const Part& part : parts) check(part.name);
  if (edition_ == Edition::kReference) return;
  for (const WrittenFile& before : read_manifest(folder)) check(before.name);
}

std::vector<std::string> StepText::copy(std::span<Part> parts, OutputFolder& folder) {
  std::vector<std::string> warnings;
  if (parts.empty()) return warnings;
  std::vector<TextRun> runs = find_runs(parts);
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  CopyOptions options{.threads = reading_.threads};
  if (!index_.is_frame_strict) {
    options.opening = opening();
    warnings.push_back(path_ +
                       ": what stands around the event list is no valid JSON, or ends too early: "
                       "the parts have it as far as it was understood");
  }
  if (!index_.is_frame_strict || index_.trace.source().cut_short)
    options.closing = is_list_ ? "\n]\n" : "\n]}\n";
  options.places = std::move(index_.places);
  index_ = {};  // all else that is needed now stands in the runs
  const JsonRepairs repairs = copy_parts(file_, std::move(runs), names, options, folder);
  if (const std::string sentence = repairs.sentence(); !sentence.empty())
    warnings.push_back(fmt::format("{}: {}", path_, sentence));
  return warnings;
}

// The members around the event list, and the start of the list.
std::string StepText::opening() const {
  if (is_list_) return "[";
  std::string text = "{";
  for (const auto& [key, value] : index_.trace.metadata()) {
    append_json_text(text, key);
    text += ": ";
    append_json(text, value);
    text += ",\n";
  }
  return text + "\"traceEvents\": [";
}

// Neighbours in the file are one run.
std::vector<TextRun> StepText::find_runs(std::span<Part> parts) const {
  std::vector<std::vector<std::uint32_t>> parts_of_step(steps_.size());
  for (std::uint32_t part = 0; part < parts.size(); ++part)
    for (const std::uint32_t step : parts[part].steps) parts_of_step[step].push_back(part);

  const EventPlaces& places = index_.places;
  std::vector<TextRun> runs = {{}};  // the first is what stands before the list
  if (index_.is_frame_strict)
    runs[0] = {0, places.list_begin, TextRun::kEveryPart, TextRun::Kind::kHead};
  struct Last {
    std::size_t run = 0, next_row = 0;  // the run goes on if that row belongs to it too
  };
  std::vector<Last> last(parts.size() + 1);  // of each part, and of what goes to all
  const auto add = [&](std::size_t row, Last& at, std::uint32_t part) {
    const std::uint64_t begin = places.begins[row], end = begin + places.sizes[row];
    if (at.next_row != row || at.run == 0) {
      at.run = runs.size();
      runs.push_back({begin, end, part});
    }
    runs[at.run].end = end;
    at.next_row = row + 1;
  };
  std::uint64_t events_everywhere = 0;
  for (std::size_t row = 0; row < places.begins.size(); ++row) {
    const std::uint32_t step = events_->step_of()[row];
    if (step == StepEvents::kNoStep || places.sizes[row] == 0) continue;
    if (step == StepEvents::kEveryStep) {
      add(row, last.back(), TextRun::kEveryPart);
      // The reference loses names that have a time; we keep them, and count as it does.
      if (edition_ == Edition::kExtended || index_.trace.ts_ns()[row] == kAbsent)
        ++events_everywhere;
      continue;
    }
    for (const std::uint32_t part : parts_of_step[step]) {
      add(row, last[part], part);
      ++parts[part].events;
    }
  }
  for (Part& part : parts) part.events += events_everywhere;
  const Source& source = index_.trace.source();
  if (index_.is_frame_strict && !source.cut_short)
    runs.push_back({places.list_end, source.text_bytes, TextRun::kEveryPart, TextRun::Kind::kTail});
  return runs;
}

}  // namespace tracelens
