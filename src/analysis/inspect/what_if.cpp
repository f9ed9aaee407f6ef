#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <tracelens/near_names.hpp>
#include <tracelens/roofline.hpp>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "analysis/path/graph.hpp"
#include "analysis/path/model.hpp"
#include "analysis/path/window.hpp"
#include "facts/trace_facts.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct NamedEdit {
  std::string name;
  PathEdit edit;
};

class Question {
 public:
  Question(const Trace& trace, const WhatIfOptions& options)
      : trace_{trace},
        facts_{trace, {.python_frames = true, .link_by_correlation = true}},
        window_{choose_window(facts_, options.steps)},
        model_{
            facts_,
            {.window = window_.time, .correct_overhead = options.correct_overhead, .costs = {}}} {
    if (!model_.usable()) throw Error{trace.source().name, std::string{model_.why_not()}};
  }

  [[nodiscard]] WhatIfAnswer answer(const WhatIfOptions& options) {
    for (const WhatIfOptions::Scale& scale : options.scales) add_scale(scale);
    if (options.no_sync) {
      add("no waits for the GPU").drop_all_syncs();
      assume("no call waits for the GPU: what is read back is not needed at once");
    }
    if (options.no_communication) add_communication();
    if (options.no_launch_cost) {
      add("free launches").drop_launch_cost();
      assume("launches take no time, as in a graph that is replayed");
    }
    if (!options.gpu.name.empty() || !options.gpu.file.empty()) add_gpu(options.gpu);
    if (options.correct_overhead)
      assume(model_.costs_are_calibrated()
                 ? "what recording costs the host is taken off first, by figures measured on one "
                   "machine"
                 : "what recording costs the host is taken off first, but its figures were not "
                   "measured for a recording without shapes or Python stacks");
    if (!window_.dropped.empty()) assume(window_.left_out());
    assume("all else takes as long as it did, and waits only for what it waited for");
    return make_answer();
  }

 private:
  PathEdit& add(std::string name) {
    edits_.push_back({std::move(name), {}});
    return edits_.back().edit;
  }
  void assume(std::string sentence) {
    if (said_.insert(sentence).second) assumptions_.push_back(std::move(sentence));
  }

  void add_scale(const WhatIfOptions::Scale& scale) {
    PathEdit& edit = add(scale.is_gone ? fmt::format("without {}", scale.name)
                                       : fmt::format("{} x {:g}", scale.name, scale.factor));
    const double factor = scale.is_gone ? 0 : scale.factor;
    if (scale.name == "host" || scale.name == "gpu") {
      if (scale.name == "host")
        edit.scale_all_host(factor);
      else
        edit.scale_all_gpu(factor);
      return;
    }
    if (!scale_host_events(scale, factor, edit) && !scale_kernels(scale.name, factor, edit))
      throw Error{trace_.source().name,
                  fmt::format("has no op, module, call, annotation or kernel \"{}\"{}", scale.name,
                              meant(scale.name))};
  }

  // A Python module stands for no time of its own: "torch.utils.checkpoint" has functions, of which the
  // longest are told. Of other names those that are nearly so.
  [[nodiscard]] std::string meant(const std::string& name) const {
    std::string file = name;
    std::ranges::replace(file, '.', '/');
    file += ".py(";
    std::map<std::string_view, std::int64_t> functions;
    std::set<std::string_view> names;
    for (const EventId event : trace_.all_events()) {
      if (trace_.phase(event) != Phase::kComplete) continue;
      const std::string_view one = trace_.name(event);
      names.insert(one);
      if (!one.starts_with(file)) continue;
      std::int64_t& sum = functions[one];
      sum = plus_ns(sum, std::max<std::int64_t>(0, trace_.dur_ns()[event.row]));
    }
    if (functions.empty())
      return did_you_mean(name, std::vector<std::string>{names.begin(), names.end()});
    constexpr std::size_t kMost = 3;
    std::vector<std::pair<std::int64_t, std::string_view>> longest;
    for (const auto& [function, ns] : functions) longest.emplace_back(ns, function);
    std::ranges::sort(longest, std::ranges::greater{});
    std::string text = "; functions of that module are";
    for (std::size_t i = 0; i < std::min(kMost, longest.size()); ++i)
      text += fmt::format("{} \"{}\"", i == 0 ? "" : ",", longest[i].second);
    return text;
  }

  bool scale_host_events(const WhatIfOptions::Scale& scale, double factor, PathEdit& edit) {
    bool found = false, has_gpu_work = false;
    const auto scale_range = [&](EventId event, double by) {
      edit.scale_host(trace_.tracks()[event.row], trace_.ts_ns()[event.row], end_of(trace_, event),
                      by);
    };
    std::vector<EventId> annotations;
    for (const EventId event : trace_.all_events()) {
      const Category category = trace_.category(event);
      if (is_gpu(category) || trace_.phase(event) != Phase::kComplete ||
          trace_.ts_ns()[event.row] == kAbsent || trace_.name(event) != scale.name)
        continue;
      found = true;
      const NodeId node = facts_.tree().node(event);
      if (!node.valid() || category == Category::kUserAnnotation) {
        annotations.push_back(event);
        continue;
      }
      const bool is_call = is_runtime(category);
      if (!is_call && facts_.tree().gpu_count(node) > 0) {
        has_gpu_work = true;
        for (const EventId gpu : facts_.tree().gpu_events(node)) edit.scale_gpu(gpu, factor);
      }
      if (is_call || scale.is_gone || facts_.tree().gpu_count(node) == 0)
        scale_range(event, factor);
    }
    for (const EventId event : annotations) scale_range(event, factor);
    if (!annotations.empty() && scale_launched_in(annotations, factor, edit)) has_gpu_work = true;
    if (has_gpu_work && !scale.is_gone)
      assume("the host takes as long as before to launch work that is scaled");
    return found;
  }

  // GPU work whose launch lies in one of the ranges.
  bool scale_launched_in(std::span<const EventId> ranges, double factor, PathEdit& edit) {
    const PathGraph& graph = model_.graph();
    bool any = false;
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
      const PathPoint call = graph.call_of(gpu);
      if (call == kNoPoint) continue;
      for (const EventId range : ranges) {
        if (trace_.tracks()[range.row] != trace_.tracks()[graph.event(call).row] ||
            graph.time(call) < trace_.ts_ns()[range.row] ||
            graph.time(call) >= end_of(trace_, range))
          continue;
        edit.scale_gpu(graph.event(graph.gpu_start(gpu)), factor);
        any = true;
        break;
      }
    }
    return any;
  }

  bool scale_kernels(std::string_view part, double factor, PathEdit& edit) {
    bool found = false;
    for (const EventId event : facts_.gpu_events(true).events) {
      if (trace_.name(event).find(part) == std::string_view::npos) continue;
      edit.scale_gpu(event, factor);
      found = true;
    }
    return found;
  }

  void add_communication() {
    PathEdit& edit = add("no communication");
    for (const EventId event : facts_.gpu_events(true).events)
      if (facts_.work().of(event) == GpuWork::kCommunication) edit.set_gpu(event, 0);
    assume("collectives take no time: no rank waits for another");
  }

  // Every kernel changes as the best time for its work does. What cannot be told is held to move
  // memory.
  void add_gpu(const GpuChoice& choice) {
    const std::optional<Gpu> own = chosen_gpu({}, &trace_);
    const Gpu other = *chosen_gpu(choice, nullptr);
    if (!own)
      throw Error{trace_.source().name,
                  "does not name a GPU whose figures are known, so that it "
                  "cannot be compared with another"};
    if (!own->memory_gbps || !other.memory_gbps)
      throw Error{"--gpu", "the memory bandwidth of one of the GPUs is not known"};
    const double by_memory = *own->memory_gbps / *other.memory_gbps;
    PathEdit& edit = add(fmt::format("on {}", other.name));
    OpInput input{facts_, {.edition = Edition::kExtended}};
    std::int64_t modelled_ns = 0, all_ns = 0;
    std::set<EventId> done;
    for (const UnifiedOp& op : collect_unified_ops(input)) {
      double factor = by_memory;
      all_ns += op.row.busy_ns;
      if (op.answered) {
        const Work& work = *input.models[op.row.answer];
        const auto before = roofline(work, *own, Edition::kExtended),
                   after = roofline(work, other, Edition::kExtended);
        if (before && after && before->best_us > 0) {
          factor = after->best_us / before->best_us;
          modelled_ns += op.row.busy_ns;
        }
      }
      for (const GpuPosition at : input.ops.kernels(op.row)) {
        const EventId event = input.launches.gpu_events()[at].event;
        if (facts_.work().of(event) == GpuWork::kComputation && done.insert(event).second)
          edit.scale_gpu(event, factor);
      }
    }
    assume(fmt::format(
        "on {} every kernel reaches the same share of its roof as on {}; kernels without a model "
        "({:.0f}% of the GPU time of ops) change with the memory bandwidth, {:.0f} instead of {:.0f} GB/s",
        other.name, own->name, 100 - percent_of(modelled_ns, all_ns).value_or(0),
        *other.memory_gbps, *own->memory_gbps));
    assume("copies, communication, launches and the host stay as they are");
  }

  [[nodiscard]] WhatIfAnswer make_answer() {
    struct Row {
      std::string_view edit;
      double now_ms = 0, then_ms = 0;
    };
    ColumnSet<Row> columns{
        {{"edit", Kind::kText, "", "what is changed, each alone; then all together"}, &Row::edit},
        {{"step ms", Kind::kReal, "ms", "predicted time of a step"}, &Row::then_ms},
        {{"saving ms", Kind::kReal, "ms", "less than now"},
         [](const Row& row) { return row.now_ms - row.then_ms; }},
        {{"saving %", Kind::kReal, "%", "the same as a share of the step now"},
         [](const Row& row) { return percent_of(row.now_ms - row.then_ms, row.now_ms); }}};
    const auto steps = static_cast<double>(model_.steps());
    const auto per_step = [&](std::int64_t ns) { return ms(ns) / steps; };
    constexpr double kNoticed = 1.01;
    const double marked_ms = per_step(length(model_.window()));
    if (!window_.steps.empty() && marked_ms > kNoticed * per_step(model_.recorded_ns()))
      assume(fmt::format(
          "the GPU has nothing left to do from before: with that, a step took {:.3f} ms",
          marked_ms));
    WhatIfAnswer answer{.steps = window_.steps.empty() ? 0 : model_.steps(),
                        .recorded_ms = per_step(model_.recorded_ns()),
                        .now_ms = per_step(model_.length_ns()),
                        .edits = columns.make_table("what_if", "Predicted time of a step"),
                        .assumptions = std::move(assumptions_)};
    columns.append(answer.edits, Row{"as it is", answer.now_ms, answer.now_ms});
    std::vector<const PathEdit*> all;
    for (const NamedEdit& named : edits_) {
      all.push_back(&named.edit);
      columns.append(answer.edits,
                     Row{named.name, answer.now_ms, per_step(model_.length_with(named.edit))});
    }
    answer.then_ms = per_step(model_.outcome_with(all).length_ns);
    if (edits_.size() > 1)
      columns.append(answer.edits, Row{"all together", answer.now_ms, answer.then_ms});
    return answer;
  }

  const Trace& trace_;
  const TraceFacts facts_;
  const RunWindow window_;
  const PathModel model_;
  std::deque<NamedEdit> edits_;
  std::vector<std::string> assumptions_;
  std::set<std::string> said_;
};

}  // namespace

WhatIfAnswer what_if(const Trace& trace, const WhatIfOptions& options) {
  return Question{trace, options}.answer(options);
}

}  // namespace tracelens
