// Two passes over the trace. The first reads times, threads, names and links, and where each event
// stands in the text; from these it follows what goes where. The second copies the text.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/split.hpp>
#include <tracelens/table_text.hpp>

#include "io/numbers.hpp"
#include "io/stream.hpp"
#include "io/zip_members.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/rocprof/rocprof.hpp"
#include "report/convert/temporary_files.hpp"
#include "report/sinks/output_folder.hpp"
#include "report/sinks/sinks.hpp"
#include "report/split/copy_parts.hpp"
#include "report/split/part_names.hpp"
#include "report/split/step_events.hpp"
#include "report/split/windows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kUsualSteps = 32;

Table new_parts_table() {
  const ColumnSpec columns[] = {
      {"file", Kind::kText, "", "name of the part in the folder"},
      {"first step", Kind::kInteger, "id", "number of its first step in the whole run, from 0"},
      {"steps", Kind::kInteger, "", "steps in it"},
      {"prefill", Kind::kInteger, "", "of these: steps that only prefill new requests"},
      {"mixed", Kind::kInteger, "", "of these: steps that prefill and decode"},
      {"decode", Kind::kInteger, "", "of these: steps that only decode"},
      {"requests", Kind::kReal, "", "requests per step, on average"},
      {"tokens", Kind::kInteger, "", "tokens its steps worked on, as annotated"},
      {"events", Kind::kInteger, "", "events in the file"},
      {"GPU events", Kind::kInteger, "", "kernels, copies and fills among them"},
      {"GPU time", Kind::kReal, "ms", "sum of their durations"},
      {"GPU span", Kind::kReal, "ms", "from the start of the first to the end of the last"},
  };
  return {"parts", "The parts of the trace", columns};
}

// What is known of a part before its text is copied.
struct PlannedPart {
  Window window;
  std::vector<StepDetails> steps;  // those of the window
  std::string name;
  std::uint64_t events = 0;
};

class Split {
 public:
  Split(std::string trace, std::string folder, const SplitOptions& options)
      : trace_path_{std::move(trace)}, folder_{std::move(folder)}, options_{options} {}

  SplitResult run() {
    std::string file = trace_path_;
    if (io::is_read_once(file)) {
      file = temporary_.make();
      keep_stream(trace_path_, file);
    }
    read(file);
    plan();
    const std::vector<TextRun> runs = find_runs();
    index_ = {};  // the text is copied without it
    if (!parts_.empty()) write(file, runs);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_reference() const { return options_.edition == Edition::kReference; }

  void read(const std::string& file) {
    io::Stream in = io::Stream::open(file);
    const std::string_view head = in.peek(4096);
    if (head.empty()) throw_empty(in);
    if (!is_kineto(head) || is_rocprof(head))
      throw Error{trace_path_,
                  "only Chrome trace JSON can be split, which PyTorch's profiler writes; "
                  "tracelens convert makes it of other formats"};
    is_list_ = head[head.find_first_not_of("\xEF\xBB\xBF \t\r\n")] == '[';
    index_ = index_kineto(in, {.threads = options_.threads, .on_progress = options_.on_progress},
                          is_reference());
    for (const auto& [what, count, byte] : index_.trace.warnings().entries())
      result_.warnings.push_back(
          fmt::format("{}: {} ({}x, first at byte {})", trace_path_, what, count, byte));
  }

  // The working set of steps, and the windows of it.
  void plan() {
    std::vector<StepRoot> roots = find_split_roots(index_.trace, options_.edition);
    result_.steps = roots.size();
    if (roots.empty()) {
      if (!is_reference())
        throw Error{trace_path_,
                    "no steps: expected annotations of a serving engine (docs/guide/split.md), "
                    "ProfilerStep marks, or Python frames of a loop"};
      return warn("no iterations were found; nothing is written");
    }
    events_.emplace(index_.trace, roots, options_.edition);
    for (const StepRoot& root : roots)
      details_.push_back(step_details(root.name, options_.edition));
    const SplitOptions::Range range = working_range();
    first_step_ = range.first;
    const auto working = std::span{details_}.subspan(range.first, range.end - range.first);
    add_windows(working);
    if (parts_.empty() && is_reference())
      warn("nothing to write: choose a range, single iterations, the steady state or phases");
    for (PlannedPart& part : parts_) {
      part.name = is_reference()
                      ? reference_part_name(part.window, part.steps, first_step_,
                                            roots[first_step_ + part.window.steps.front()].name,
                                            trace_path_)
                      : part_name(part.window, part.steps, first_step_, result_.steps,
                                  static_cast<std::size_t>(&part - parts_.data()));
    }
  }

  [[nodiscard]] SplitOptions::Range working_range() {
    const std::size_t all = details_.size();
    if (!options_.range) return {0, all};
    SplitOptions::Range range = *options_.range;
    range.end = std::min(range.end, all);
    if (range.first < range.end) return range;
    const std::string sentence = fmt::format("steps {}:{}: there are {} steps, numbered from 0",
                                             options_.range->first, options_.range->end, all);
    if (!is_reference()) throw Error{trace_path_, sentence};
    warn(sentence);
    return {0, 0};
  }

  void add_windows(std::span<const StepDetails> working) {
    if (working.empty()) return;
    const std::size_t count = working.size(), length = options_.steps.value_or(kUsualSteps);
    const auto add = [&](Window window) {
      PlannedPart part{.window = std::move(window), .steps = {}, .name = {}};
      for (const std::uint32_t step : part.window.steps) part.steps.push_back(working[step]);
      if (is_reference() && part.window.kind != WindowKind::kStep) correct_batches(part);
      parts_.push_back(std::move(part));
    };
    const auto add_run = [&](WindowKind kind, std::size_t first, std::size_t size) {
      std::vector<std::uint32_t> steps(size);
      std::iota(steps.begin(), steps.end(), static_cast<std::uint32_t>(first));
      add({.kind = kind, .steps = std::move(steps)});
    };
    if (options_.each)
      for (std::size_t i = 0; i < count; ++i) add_run(WindowKind::kStep, i, 1);
    if (options_.phases || options_.steady_state) {
      // Our own phases are all of the run; the reference's those of its steady state.
      const bool is_all = options_.range || (options_.phases && !is_reference());
      const std::vector<Region> regions = is_all
                                              ? std::vector{Region{0, count}}
                                              : steady_regions(working, length, options_.edition);
      if (!options_.phases) warn_of_concurrency(working);
      for (Window& window : options_.phases
                                ? phase_windows(working, regions, options_.edition)
                                : steady_windows(working, regions,
                                                 {.steps = length,
                                                 .concurrency = options_.concurrency,
                                                 .output_tokens = options_.output_tokens,
                                                 .length_ratio = options_.length_ratio}))
        add(std::move(window));
    } else if (!options_.each && is_reference()) {
      if (options_.range) add_run(WindowKind::kSteps, 0, count);
    } else if (!options_.each) {
      const std::size_t size = options_.steps.value_or(options_.range ? count : kUsualSteps);
      for (std::size_t first = 0; first < count; first += size)
        add_run(WindowKind::kSteps, first, std::min(size, count - first));
    }
  }

  void warn_of_concurrency(std::span<const StepDetails> working) {
    std::int64_t peak = 0;
    for (const StepDetails& step : working) peak = std::max(peak, step.requests());
    if (options_.concurrency && *options_.concurrency != peak)
      warn(fmt::format("at most {} requests run at a time, not {} as given", peak,
                       *options_.concurrency));
  }

  // The reference believes the shapes of attention ops more than the annotations, when there are as
  // many different ones as steps. Which step has which is only known where there is one.
  void correct_batches(PlannedPart& part) const {
    std::set<std::int64_t> sizes;
    for (const std::uint32_t step : part.window.steps)
      sizes.merge(std::set{stats(step).batch_sizes});
    if (sizes.size() != part.steps.size()) return;
    auto size = sizes.begin();
    for (StepDetails& step : part.steps) step.batch_size = *size++;
  }

  [[nodiscard]] const StepEvents::Stats& stats(std::uint32_t step) const {
    return events_->stats(static_cast<std::uint32_t>(first_step_) + step);
  }

  // The text that goes to each part; neighbours are one run.
  std::vector<TextRun> find_runs() {
    std::vector<TextRun> runs;
    if (parts_.empty()) return runs;
    std::vector<std::vector<std::uint32_t>> parts_of_step(details_.size());
    std::vector<std::uint32_t> all_parts(parts_.size());
    std::iota(all_parts.begin(), all_parts.end(), 0U);
    for (const std::uint32_t part : all_parts)
      for (const std::uint32_t step : parts_[part].window.steps)
        parts_of_step[first_step_ + step].push_back(part);

    const EventPlaces& places = index_.places;
    for (const std::uint32_t part : all_parts)
      runs.push_back({0, places.begins.front(), part, TextRun::Kind::kHead});
    struct Last {
      std::size_t run = 0, row = 0;
      bool is_there = false;
    };
    std::vector<Last> last(parts_.size());  // the run at hand of each part
    for (std::size_t row = 0; row < places.begins.size(); ++row) {
      const std::uint32_t step = events_->step_of()[row];
      if (step == StepEvents::kNoStep || places.sizes[row] == 0) continue;
      const bool is_everywhere = step == StepEvents::kEveryStep;
      // The reference does not have them, unless they have no time; we do, and count as it does.
      const bool counts = !is_everywhere || !is_reference() || index_.trace.ts_ns()[row] == kAbsent;
      const std::uint64_t begin = places.begins[row], end = begin + places.sizes[row];
      for (const std::uint32_t part : is_everywhere ? all_parts : parts_of_step[step]) {
        parts_[part].events += counts ? 1 : 0;
        Last& before = last[part];
        if (before.is_there && before.row + 1 == row)
          runs[before.run].end = end;
        else
          before = {runs.size(), row, true}, runs.push_back({begin, end, part});
        before.row = row;
      }
    }
    const Source& source = index_.trace.source();
    if (!source.cut_short)
      for (const std::uint32_t part : all_parts)
        runs.push_back({places.list_end, source.text_bytes, part, TextRun::Kind::kTail});
    else
      closing_ = is_list_ ? "\n]\n" : "\n]}\n";
    return runs;
  }

  // Neither a new part nor the removal of those of an earlier run may touch what is read.
  void check_outputs() const {
    const std::filesystem::path where{folder_};
    const auto check = [&](const std::string& name) {
      std::error_code error;
      if (std::filesystem::equivalent(where / name, trace_path_, error))
        throw Error{(where / name).string(),
                    "is the trace that is split; choose another folder for its parts"};
    };
    for (const PlannedPart& part : parts_) check(part.name);
    if (is_reference()) return;
    for (const WrittenFile& before : read_manifest(where)) check(before.name);
  }

  void write(const std::string& file, const std::vector<TextRun>& runs) {
    check_outputs();
    OutputFolder folder{folder_, options_.edition};
    std::vector<std::string> names;
    const std::filesystem::path where{folder_};
    for (const PlannedPart& part : parts_) {
      const std::filesystem::path path = where / part.name;
      if (path.parent_path() != where) io::make_directories(path.parent_path().string());
      names.push_back(part.name);
      result_.files.push_back(path.string());
      add_row(part);
    }
    copy_parts(file, runs, names, {.closing = closing_, .threads = options_.threads}, folder);
    if (is_reference()) {
      folder.make("execution_details.json").write(details_json());
      folder.make("execution_details.csv").write(details_csv());
    } else {
      folder.keep(write_csv(result_.parts, folder.make("parts.csv")).of("parts.csv"));
    }
    folder.finish();
  }

  void add_row(const PlannedPart& part) {
    const WindowSummary summary = summarize(part.steps);
    const GpuWork work = gpu_work(part);
    double requests = 0;
    std::int64_t tokens = 0;
    for (const StepDetails& step : part.steps) {
      requests += static_cast<double>(step.requests());
      tokens += step.context_sum + step.generation_sum;
    }
    result_.parts.add_row(part.name, first_step_ + part.window.steps.front(), part.steps.size(),
                          summary.prefill, summary.mixed, summary.decode,
                          requests / static_cast<double>(part.steps.size()), tokens, part.events,
                          work.events, static_cast<double>(work.sum_ns) / 1e6,
                          static_cast<double>(work.span_ns) / 1e6);
  }

  struct GpuWork {
    std::uint64_t events = 0;
    std::int64_t sum_ns = 0, span_ns = 0, sum_of_spans_ns = 0;
  };
  [[nodiscard]] GpuWork gpu_work(const PlannedPart& part) const {
    GpuWork work;
    StepEvents::Stats whole;
    for (const std::uint32_t step : part.window.steps) {
      const StepEvents::Stats& own = stats(step);
      if (own.gpu_events == 0) continue;
      work.events += own.gpu_events;
      work.sum_ns = plus_ns(work.sum_ns, own.gpu_sum_ns);
      work.sum_of_spans_ns = plus_ns(work.sum_of_spans_ns, minus_ns(own.last_ns, own.first_ns));
      whole.first_ns = std::min(whole.first_ns, own.first_ns);
      whole.last_ns = std::max(whole.last_ns, own.last_ns);
    }
    if (work.events > 0) work.span_ns = minus_ns(whole.last_ns, whole.first_ns);
    return work;
  }

  // --- the lists of the Python TraceLens ---
  [[nodiscard]] std::string details_json() const {
    const auto us = [](std::int64_t ns) { return python_repr(static_cast<double>(ns) / 1e3); };
    std::string text = "[";
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PlannedPart& part = parts_[i];
      const GpuWork work = gpu_work(part);
      fmt::format_to(std::back_inserter(text),
                     "{}\n  {{\n    \"idx\": {},\n    \"output_path\": ", i == 0 ? "" : ",",
                     first_step_ + part.window.steps.front());
      append_json_text(text, result_.files[i]);
      fmt::format_to(std::back_inserter(text),
                     ",\n    \"event_count\": {},\n    \"num_gpu_events\": {},\n"
                     "    \"gpu_duration\": {},\n    \"gpu_busy_duration\": {},\n    \"steps\": [",
                     part.events, work.events, us(work.sum_of_spans_ns), us(work.sum_ns));
      for (const StepDetails& step : part.steps)
        fmt::format_to(std::back_inserter(text),
                       "{}\n      {{\n        \"batch_size\": {},\n        \"num_requests\": {},\n"
                       "        \"context_requests\": {},\n        \"context_sum\": {},\n"
                       "        \"generation_requests\": {},\n        \"generation_sum\": {}\n"
                       "      }}",
                       &step == &part.steps.front() ? "" : ",", step.batch_size, step.requests(),
                       step.context_requests, step.context_sum, step.generation_requests,
                       step.generation_sum);
      const WindowSummary summary = summarize(part.steps);
      fmt::format_to(std::back_inserter(text),
                     "\n    ],\n    \"phase\": {{\n      \"num_prefill\": {},\n"
                     "      \"num_prefilldecode\": {},\n      \"num_decode\": {},\n"
                     "      \"avg_bs\": {},\n      \"avg_conc\": {}\n    }}\n  }}",
                     summary.prefill, summary.mixed, summary.decode, summary.average_batch,
                     summary.average_requests);
    }
    return text + "\n]";
  }

  [[nodiscard]] std::string details_csv() const {
    std::string text =
        "idx,output_path,event_count,num_gpu_events,gpu_duration,gpu_busy_duration,"
        "phase_num_prefill,phase_num_prefilldecode,phase_num_decode,phase_avg_bs,phase_avg_conc,"
        "num_steps\n";
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PlannedPart& part = parts_[i];
      const WindowSummary summary = summarize(part.steps);
      const GpuWork work = gpu_work(part);
      fmt::format_to(std::back_inserter(text), "{},", first_step_ + part.window.steps.front());
      append_csv_text(text, result_.files[i]);
      fmt::format_to(std::back_inserter(text), ",{},{},{:.2f},{:.2f},{},{},{},{},{},{}\n",
                     part.events, work.events, static_cast<double>(work.sum_of_spans_ns) / 1e3,
                     static_cast<double>(work.sum_ns) / 1e3, summary.prefill, summary.mixed,
                     summary.decode, summary.average_batch, summary.average_requests,
                     part.steps.size());
    }
    return text;
  }

  void warn(std::string sentence) {
    result_.warnings.push_back(fmt::format("{}: {}", trace_path_, sentence));
  }

  std::string trace_path_, folder_;
  const SplitOptions& options_;
  TemporaryFiles temporary_;
  TextIndex index_;
  bool is_list_ = false;  // the file is a bare list of events
  std::string closing_;
  std::vector<StepDetails> details_;  // of all steps of the trace
  std::optional<StepEvents> events_;
  std::size_t first_step_ = 0;  // of the working set
  std::vector<PlannedPart> parts_;
  SplitResult result_{.parts = new_parts_table()};
};

}  // namespace

std::optional<SplitOptions::Range> parse_step_range(std::string_view text) {
  if (text == "all") return std::nullopt;
  const std::size_t colon = text.find(':');
  const auto number = [&](std::string_view digits, std::size_t otherwise) {
    if (digits.empty() && colon != text.npos) return otherwise;
    const auto value = io::parse_int64(digits);
    if (!value || *value < 0)
      throw Error{"--iterations",
                  fmt::format("{}: expected all, a number, or first:end, counted from 0", text)};
    return static_cast<std::size_t>(*value);
  };
  const std::size_t first = number(text.substr(0, colon), 0);
  if (colon == text.npos) return SplitOptions::Range{first, first + 1};
  const std::size_t end = number(text.substr(colon + 1), std::numeric_limits<std::size_t>::max());
  if (end <= first)
    throw Error{"--iterations", fmt::format("{}: the end must be after the first", text)};
  return SplitOptions::Range{first, end};
}

SplitResult split_trace(const std::string& trace, const std::string& folder,
                        const SplitOptions& options) {
  return Split{trace, folder, options}.run();
}

}  // namespace tracelens
