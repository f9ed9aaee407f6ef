#include "report/split/part_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracelens {
namespace {

void erase_all(std::string& text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;)
    text.erase(at, word.size());
}

// An annotation as part of a file name. What is left of a hostile one cannot leave the folder.
std::string name_suffix(std::string_view annotation) {
  constexpr std::size_t kLongest = 150;  // of the 255 bytes of a name
  std::string suffix;
  for (const char c : annotation.substr(0, kLongest)) {
    if (c == ')' || c == ':') continue;
    suffix += c == '/' || c == '(' || c == ' ' || c == '\0' || c == '\n' ? '_' : c;
  }
  return suffix;
}

std::string summary_text(const WindowSummary& summary) {
  return fmt::format("prefill_{}_prefilldecode_{}_decode_{}_bs{}_conc{}", summary.prefill,
                     summary.mixed, summary.decode, summary.average_batch,
                     summary.average_requests);
}

}  // namespace

std::string_view kind_label(WindowKind kind) {
  switch (kind) {
    case WindowKind::kSteadyMixed:
    case WindowKind::kPhaseMixed:
      return "mixed";
    case WindowKind::kSteadyDecode:
    case WindowKind::kPhaseDecode:
      return "decode";
    case WindowKind::kSteadyPrefill:
    case WindowKind::kPhasePrefill:
      return "prefill";
    case WindowKind::kPhaseDenoise:
      return "denoise";
    case WindowKind::kStep:
    case WindowKind::kSteps:
      break;
  }
  return {};
}

std::string part_name(const Window& window, std::span<const StepDetails> steps,
                      std::size_t first_step, std::size_t total_steps, std::size_t number) {
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(total_steps).size());
  const std::string first = fmt::format("{:0{}}", first_step + window.steps.front(), digits);
  const std::string range =
      fmt::format("{}-{:0{}}", first, first_step + window.steps.back(), digits);
  switch (window.kind) {
    case WindowKind::kStep: {
      const std::string_view phase = phase_name(steps.front().phase);
      return fmt::format("step_{}{}{}.json.gz", first, phase.empty() ? "" : "_", phase);
    }
    case WindowKind::kSteps:
      return fmt::format("steps_{}.json.gz", range);
    case WindowKind::kSteadyMixed:
      // Steps of denoising or training mix nothing.
      if (summarize(steps).other == steps.size()) {
        const std::string_view phase = phase_name(steps.front().phase);
        return fmt::format("steady_{}_{}.json.gz", phase.empty() ? "steps" : phase, range);
      }
      [[fallthrough]];
    case WindowKind::kSteadyDecode:
    case WindowKind::kSteadyPrefill:
      return fmt::format("steady_{}_{}.json.gz", kind_label(window.kind), range);
    case WindowKind::kPhasePrefill:
    case WindowKind::kPhaseMixed:
    case WindowKind::kPhaseDecode:
    case WindowKind::kPhaseDenoise:
      break;
  }
  return fmt::format("phase_{:0{}}_{}_{}.json.gz", number, digits, kind_label(window.kind), range);
}

std::string reference_part_name(const Window& window, std::span<const StepDetails> steps,
                                std::size_t first_step, std::string_view annotation,
                                std::string_view trace_path) {
  const std::string stem = trace_stem(trace_path);
  const WindowSummary summary = summarize(steps);
  const auto labelled = [&](std::string_view label) {
    return fmt::format("{}_{}_{}.json.gz", label, summary_text(summary), stem);
  };
  const auto chunk = [&](std::string_view phase) {
    return fmt::format(
        "{0}/{1}", phase,
        labelled(fmt::format("{}_chunk{}_steps{}_bs{}_conc{}", phase, window.number, steps.size(),
                             summary.average_batch, summary.average_requests)));
  };
  const std::size_t first = first_step + window.steps.front();
  switch (window.kind) {
    case WindowKind::kStep:
      if (annotation_tier(annotation) == 0)
        return fmt::format("{}_annotation_iteration_{}.json.gz", stem, first);
      return fmt::format("{}_annotation_iteration_{}_{}.json.gz", stem, first,
                         name_suffix(annotation));
    case WindowKind::kSteps:
      return fmt::format("{}_annotation_iteration_{}_{}_{}.json.gz", stem, first,
                         first_step + window.steps.back() + 1, summary_text(summary));
    case WindowKind::kSteadyMixed:
      return labelled("mixed_steady_state");
    case WindowKind::kSteadyDecode:
      return labelled("decode_only_steady_state");
    case WindowKind::kSteadyPrefill:
      return labelled("prefilldecode_steady_state");
    case WindowKind::kPhaseDecode:
      return chunk("decode_only");
    case WindowKind::kPhasePrefill:
    case WindowKind::kPhaseMixed:
    case WindowKind::kPhaseDenoise:
      break;
  }
  return chunk("prefilldecodemix");
}

std::string trace_stem(std::string_view path) {
  std::string stem{path.substr(path.find_last_of('/') + 1)};
  for (const std::string_view word : {".pt.trace", ".json.gz", ".json", ".zip"})
    erase_all(stem, word);
  return stem;
}

}  // namespace tracelens
