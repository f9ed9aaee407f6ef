#include "facts/trace_facts.hpp"

#include "facts/converted.hpp"
#include "facts/launchers.hpp"
#include "facts/marked_steps.hpp"
#include "tree/builder.hpp"

namespace tracelens {

TraceKind TraceFacts::kind() const {
  return kind_.get([&] { return trace_kind(trace_); });
}

const Tree& TraceFacts::tree() const {
  if (given_tree_ != nullptr) return *given_tree_;
  return tree_.get([&] {
    return build_tree(trace_, tree_options_, rows(),
                      [&]() -> const HostRows& { return host_rows(); });
  });
}

const HostRows& TraceFacts::host_rows() const {
  return host_rows_.get([&] {
    return host_rows_by_time(trace_, {.python_frames = true, .threads = tree_options_.threads});
  });
}

const HostRows& TraceFacts::called_rows() const {
  const std::optional<HostRows>& called =
      called_rows_.get([&] { return called_among(trace_, host_rows(), threads()); });
  return called ? *called : host_rows();
}

const CategoryRows& TraceFacts::rows() const {
  return rows_.get([&] { return CategoryRows{trace_, tree_options_.threads}; });
}

const CallKinds& TraceFacts::calls() const {
  return calls_.get([&] { return CallKinds{trace_, rows().calls()}; });
}

const HostRanges& TraceFacts::host_ranges() const {
  return host_ranges_.get([&] { return HostRanges{trace_, rows().annotations()}; });
}

std::span<const Step> TraceFacts::steps() const {
  return steps_.get([&] {
    // Only where none are marked has anybody to wait for a tree.
    std::vector<Step> steps = marked_steps(trace_, rows().annotations());
    if (steps.empty()) steps = find_steps(trace_, tree(), rows().annotations());
    // The same tree again would say no more.
    const bool is_another = !tree_options_.python_frames || tree_options_.link_by_correlation;
    if (steps.empty() && is_another && host_rows().frames > 0)
      steps = find_steps(
          trace_, build_tree(trace_, {.python_frames = true, .threads = tree_options_.threads},
                             rows(), [&]() -> const HostRows& { return host_rows(); }));
    return steps;
  });
}

const GpuSelection& TraceFacts::gpu_events(bool include_unlinked) const {
  return (include_unlinked ? all_ : linked_).get([&] {
    return select_gpu_events(trace_, tree(), include_unlinked, rows().gpu_events());
  });
}

const GpuWorkKinds& TraceFacts::work() const {
  return work_.get([&] { return GpuWorkKinds{trace_, rows().gpu_events()}; });
}

double TraceFacts::unlinked_percent() const {
  return unlinked_percent_.get([&] {
    double all = 0, unlinked = 0;
    for (const EventId event : trace_.recorded_events()) {
      const std::int64_t ns = trace_.dur_ns()[event.row];
      if (!is_gpu(trace_.category(event)) || ns == kAbsent) continue;
      all += static_cast<double>(ns);
      if (!tree().is_linked(event)) unlinked += static_cast<double>(ns);
    }
    return all > 0 ? 100 * unlinked / all : 0;
  });
}

bool TraceFacts::is_mostly_unlinked() const {
  return (kind() != TraceKind::kPyTorch || is_converted(trace_)) && unlinked_percent() > 50;
}

std::span<const NodeId> TraceFacts::launchers() const {
  return launchers_.get([&] { return find_launchers(trace_, tree(), threads()); });
}

}  // namespace tracelens
