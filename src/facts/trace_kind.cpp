#include "facts/trace_kind.hpp"

#include <algorithm>
#include <string_view>

namespace tracelens {

TraceKind trace_kind(const Trace& trace) {
  switch (trace.source().recorder) {
    case Recorder::kJax:
      return TraceKind::kJax;
    case Recorder::kRocprof:
      return TraceKind::kRocprof;
    case Recorder::kPerfetto:
      return TraceKind::kRocmTimeline;
    case Recorder::kPyTorch:
      return is_rocm_timeline(trace) ? TraceKind::kRocmTimeline : TraceKind::kPyTorch;
    case Recorder::kRocpd:
    case Recorder::kRpd:
    case Recorder::kNsight:
      return TraceKind::kDatabase;
    case Recorder::kUnknown:
      break;
  }
  return TraceKind::kPyTorch;
}

bool is_rocm_timeline(const Trace& trace) {
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (category == Category::kCpuOp || category == Category::kPythonFunction) return false;
    if ((is_runtime(category) || is_gpu(category)) &&
        trace.category_text(event) != category_name(category))
      return true;
  }
  return std::ranges::any_of(trace.detail_texts().values(), [&](StringId text) {
    return trace.text(text).find("\"agent\"") != std::string_view::npos;
  });
}

}  // namespace tracelens
