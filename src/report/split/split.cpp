#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>
#include <tracelens/error.hpp>
#include <tracelens/split.hpp>
#include <tuple>

#include "io/numbers.hpp"
#include "report/sinks/output_folder.hpp"
#include "report/sinks/sinks.hpp"
#include "report/split/part_names.hpp"
#include "report/split/reference_lists.hpp"
#include "report/split/step_text.hpp"
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
      {"other", Kind::kInteger, "", "of these: steps of denoising, of training, or of no requests"},
      {"requests", Kind::kReal, "", "requests per step, on average"},
      {"tokens", Kind::kInteger, "", "tokens its steps worked on, as annotated"},
      {"events", Kind::kInteger, "", "events in the file"},
      {"GPU events", Kind::kInteger, "", "kernels, copies and fills among them"},
      {"GPU time", Kind::kReal, "ms", "sum of their durations"},
      {"GPU span", Kind::kReal, "ms", "from the start of the first to the end of the last"},
  };
  return {"parts", "The parts of the trace", columns};
}

// A part before its text is copied.
struct PlannedPart {
  Window window;                   // steps of the working set
  std::vector<StepDetails> steps;  // what they do
};

class Split {
 public:
  Split(const std::string& trace, std::string folder, const SplitOptions& options)
      : folder_{std::move(folder)}, options_{options}, text_{trace, options} {
    result_.warnings = text_.warnings();
    result_.steps = text_.steps().size();
  }

  SplitResult run() {
    plan();
    if (!parts_.empty()) write();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_reference() const { return options_.edition == Edition::kReference; }

  void plan() {
    if (result_.steps == 0) {
      if (!is_reference())
        throw Error{text_.path(),
                    "no steps: expected annotations of a serving engine (docs/guide/split.md), "
                    "ProfilerStep marks, or Python frames of a loop"};
      return warn("no iterations were found; nothing is written");
    }
    const auto [first, end] = working_range();
    first_step_ = first;
    for (std::size_t step = first; step < end; ++step)
      working_.push_back(step_details(text_.steps()[step].name, options_.edition));
    if (working_.empty()) return;
    add_windows();
    if (parts_.empty() && options_.phases && !is_reference())
      throw Error{text_.path(), "--phases: no step says that it prefills, decodes or denoises"};
    if (parts_.empty())
      warn("nothing to write: choose a range, single iterations, the steady state or phases");
    warn_of_short_windows();
  }

  [[nodiscard]] SplitOptions::Range working_range() {
    if (!options_.range) return {0, result_.steps};
    const SplitOptions::Range range{options_.range->first,
                                    std::min(options_.range->end, result_.steps)};
    if (range.first < range.end) return range;
    const std::string sentence =
        fmt::format("steps {}:{}: there are {} steps, numbered from 0", options_.range->first,
                    options_.range->end, result_.steps);
    if (!is_reference()) throw Error{text_.path(), sentence};
    warn(sentence);
    return {};
  }

  void add_windows() {
    const std::size_t count = working_.size(), length = options_.steps.value_or(kUsualSteps);
    const auto add = [&](Window window) {
      PlannedPart part{.window = std::move(window), .steps = {}};
      for (const std::uint32_t step : part.window.steps) part.steps.push_back(working_[step]);
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
                                              : steady_regions(working_, length, options_.edition);
      if (!options_.phases) warn_of_load();
      for (Window& window : options_.phases
                                ? phase_windows(working_, regions, options_.edition)
                                : steady_windows(working_, regions,
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

  // A window that was asked for at a length, and is shorter.
  void warn_of_short_windows() {
    if (!options_.steady_state || options_.phases) return;
    const std::size_t length = options_.steps.value_or(kUsualSteps);
    const bool is_serving = summarize(working_).other < working_.size();
    for (const PlannedPart& part : parts_)
      if (part.window.kind != WindowKind::kStep && part.window.steps.size() < length)
        warn(fmt::format("the {} window has {} of {} steps: the steady state has no longer run",
                         is_serving ? kind_label(part.window.kind) : "steady",
                         part.window.steps.size(), length));
    if (!is_serving) return;
    for (const WindowKind kind :
         {WindowKind::kSteadyMixed, WindowKind::kSteadyDecode, WindowKind::kSteadyPrefill})
      if (std::ranges::none_of(parts_,
                               [&](const PlannedPart& part) { return part.window.kind == kind; }))
        warn(fmt::format("no {} window: the steady state has no such step", kind_label(kind)));
  }

  void warn_of_load() {
    const auto& [conc, tokens, ratio] =
        std::tie(options_.concurrency, options_.output_tokens, options_.length_ratio);
    if ((tokens || ratio) && !(conc && tokens && ratio))
      warn("concurrency, output tokens and length ratio tell of the load only together: not used");
    if (ratio && (*ratio < 0 || *ratio > 1))
      warn(fmt::format("a length ratio of {} counts as {}: it is a part of the most tokens", *ratio,
                       *ratio < 0 ? 0 : 1));
    std::int64_t peak = 0;
    for (const StepDetails& step : working_) peak = std::max(peak, step.requests());
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
    return text_.stats(static_cast<std::uint32_t>(first_step_) + step);
  }

  void write() {
    std::vector<StepText::Part> texts;
    const std::filesystem::path where{folder_};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      StepText::Part& text =
          texts.emplace_back(StepText::Part{.name = name_of(i), .steps = parts_[i].window.steps});
      for (std::uint32_t& step : text.steps) step += static_cast<std::uint32_t>(first_step_);
      result_.files.push_back((where / text.name).string());
    }
    text_.check_outputs(texts, where);
    OutputFolder folder{folder_, options_.edition};
    for (const std::string& file : result_.files)
      io::make_directories(std::filesystem::path{file}.parent_path().string());
    std::ranges::move(text_.copy(texts, folder), std::back_inserter(result_.warnings));
    write_lists(texts, folder);
    folder.finish();
  }

  [[nodiscard]] std::string name_of(std::size_t i) const {
    const auto& [window, steps] = parts_[i];
    if (!is_reference()) return part_name(window, steps, first_step_, result_.steps, i);
    return reference_part_name(window, steps, first_step_,
                               text_.steps()[first_step_ + window.steps.front()].name,
                               text_.path());
  }

  void write_lists(std::span<const StepText::Part> texts, OutputFolder& folder) {
    std::vector<ListedPart> list;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PlannedPart& part = parts_[i];
      ListedPart& row = list.emplace_back(ListedPart{.first_step = texts[i].steps.front(),
                                                     .path = result_.files[i],
                                                     .events = texts[i].events,
                                                     .steps = part.steps});
      StepEvents::Stats whole;
      for (const std::uint32_t step : part.window.steps) {
        const StepEvents::Stats& own = stats(step);
        if (own.gpu_events == 0) continue;
        row.gpu_events += own.gpu_events;
        row.gpu_sum_ns = plus_ns(row.gpu_sum_ns, own.gpu_sum_ns);
        row.gpu_span_ns = plus_ns(row.gpu_span_ns, minus_ns(own.last_ns, own.first_ns));
        whole.first_ns = std::min(whole.first_ns, own.first_ns);
        whole.last_ns = std::max(whole.last_ns, own.last_ns);
      }
      add_row(row, texts[i].name,
              row.gpu_events == 0 ? 0 : minus_ns(whole.last_ns, whole.first_ns));
    }
    if (is_reference()) {
      folder.make("execution_details.json").write(execution_details_json(list));
      folder.make("execution_details.csv").write(execution_details_csv(list));
    } else {
      folder.keep(
          write_csv(result_.parts, folder.make("parts.csv"), CsvTexts::kGuarded).of("parts.csv"));
    }
  }

  void add_row(const ListedPart& part, const std::string& name, std::int64_t span_ns) {
    const WindowSummary summary = summarize(part.steps);
    double requests = 0;
    std::int64_t tokens = 0;
    for (const StepDetails& step : part.steps) {
      requests += static_cast<double>(step.requests());
      tokens += step.context_sum + step.generation_sum;
    }
    result_.parts.add_row(name, part.first_step, part.steps.size(), summary.prefill, summary.mixed,
                          summary.decode, summary.other,
                          requests / static_cast<double>(part.steps.size()), tokens, part.events,
                          part.gpu_events, static_cast<double>(part.gpu_sum_ns) / 1e6,
                          static_cast<double>(span_ns) / 1e6);
  }

  void warn(std::string_view sentence) {
    result_.warnings.push_back(fmt::format("{}: {}", text_.path(), sentence));
  }

  std::string folder_;
  const SplitOptions& options_;
  StepText text_;
  std::size_t first_step_ = 0;        // of the working set
  std::vector<StepDetails> working_;  // its steps
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
