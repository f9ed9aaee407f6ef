#include "report/split/reference_lists.hpp"

#include <fmt/format.h>

#include <iterator>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

namespace tracelens {

std::string execution_details_json(std::span<const ListedPart> parts) {
  const auto us = [](std::int64_t ns) { return python_repr(static_cast<double>(ns) / 1e3); };
  std::string text = "[";
  const auto add = [&text]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  };
  for (const ListedPart& part : parts) {
    add("{}\n  {{\n    \"idx\": {},\n    \"output_path\": ", &part == &parts.front() ? "" : ",",
        part.first_step);
    append_json_text(text, part.path);
    add(",\n    \"event_count\": {},\n    \"num_gpu_events\": {},\n    \"gpu_duration\": {},\n"
        "    \"gpu_busy_duration\": {},\n    \"steps\": [",
        part.events, part.gpu_events, us(part.gpu_span_ns), us(part.gpu_sum_ns));
    for (const StepDetails& step : part.steps)
      add("{}\n      {{\n        \"batch_size\": {},\n        \"num_requests\": {},\n"
          "        \"context_requests\": {},\n        \"context_sum\": {},\n"
          "        \"generation_requests\": {},\n        \"generation_sum\": {}\n      }}",
          &step == &part.steps.front() ? "" : ",", step.batch_size, step.requests(),
          step.context_requests, step.context_sum, step.generation_requests, step.generation_sum);
    const WindowSummary summary = summarize(part.steps);
    add("\n    ],\n    \"phase\": {{\n      \"num_prefill\": {},\n      \"num_prefilldecode\": {},\n"
        "      \"num_decode\": {},\n      \"avg_bs\": {},\n      \"avg_conc\": {}\n    }}\n  }}",
        summary.prefill, summary.mixed, summary.decode, summary.average_batch,
        summary.average_requests);
  }
  return text + "\n]";
}

std::string execution_details_csv(std::span<const ListedPart> parts) {
  std::string text =
      "idx,output_path,event_count,num_gpu_events,gpu_duration,gpu_busy_duration,phase_num_prefill,"
      "phase_num_prefilldecode,phase_num_decode,phase_avg_bs,phase_avg_conc,num_steps\n";
  for (const ListedPart& part : parts) {
    const WindowSummary summary = summarize(part.steps);
    text += fmt::format("{},", part.first_step);
    append_csv_text(text, part.path);
    text += fmt::format(",{},{},{:.2f},{:.2f},{},{},{},{},{},{}\n", part.events, part.gpu_events,
                        static_cast<double>(part.gpu_span_ns) / 1e3,
                        static_cast<double>(part.gpu_sum_ns) / 1e3, summary.prefill, summary.mixed,
                        summary.decode, summary.average_batch, summary.average_requests,
                        part.steps.size());
  }
  return text;
}

}  // namespace tracelens
