#include "diagnosis/kit/context.hpp"

#include <algorithm>
#include <map>
#include <tracelens/intervals.hpp>
#include <tracelens/table_text.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/host/user_frames.hpp"
#include "diagnosis/kit/device.hpp"
#include "diagnosis/kit/estimate.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/overhead_numbers.hpp"

namespace tracelens {
namespace {

Interval time_of(const Trace& trace, const RunWindow& window) {
  if (window.time) return *window.time;
  const TraceSpan span = trace_span(trace);
  return {span.start_ns, span.end_ns + 1};
}

double percent_of_roof(const Roof* roof, std::int64_t busy_ns) {
  if (roof == nullptr || busy_ns <= 0) return 0;
  return 100 * roof->best_us * 1e3 / static_cast<double>(busy_ns);
}

}  // namespace

double OpUse::percent_of_roof() const { return tracelens::percent_of_roof(roof, busy_ns); }
double OpGroup::percent_of_roof() const { return tracelens::percent_of_roof(roof, mean_ns()); }
double OpGroup::terabytes_per_second() const {
  if (work == nullptr || busy_ns <= 0) return 0;
  return work->bytes.value_or(0) * static_cast<double>(uses.size()) / static_cast<double>(busy_ns) /
         1e3;
}
double OpGroup::teraflops() const {
  if (work == nullptr || busy_ns <= 0) return 0;
  return work->flops * static_cast<double>(uses.size()) / static_cast<double>(busy_ns) / 1e3;
}

DiagnosisContext::DiagnosisContext(const Trace& a_trace, const DiagnoseOptions& an_options,
                                   const RuleSettings& a_settings, const JobFacts* a_job)
    : trace{a_trace},
      options{an_options},
      settings{a_settings},
      facts{trace,
            {.python_frames = true, .link_by_correlation = true, .threads = options.threads}},
      window{choose_window(facts, options.steps)},
      time_{time_of(trace, window)},
      job_{a_job},
      gpu_{chosen_gpu(options.gpu, &trace)},
      own_models_{perf::load_user_models(options.models, {})} {}

const DiagnosisContext* DiagnosisContext::other() const {
  if (options.against == nullptr) return nullptr;
  return other_
      .get([this] {
        const DiagnoseOptions& theirs = other_options_.get([this] {
          DiagnoseOptions copy = options;
          copy.against = nullptr;
          copy.gpu = {};
          copy.steps = "steady";
          return copy;
        });
        return std::make_unique<DiagnosisContext>(*options.against, theirs, settings);
      })
      .get();
}

// --- the window ---

const PathModel& DiagnosisContext::path() const {
  return path_.get([this] {
    // What recording costs is known of PyTorch's profiler alone.
    const bool is_known = is_pytorch();
    return PathModel{facts,
                     {.window = window.time,
                      .correct_overhead = options.corrects_overhead && is_known,
                      .costs = recording_costs(settings)}};
  });
}

std::int64_t DiagnosisContext::length_ns() const {
  if (path().usable()) return path().length_ns();
  // Steps are as long as they are marked, unless the GPU takes longer for them than the host.
  const std::int64_t marked = window.time && !window.steps.empty() ? length(*window.time) : 0;
  return std::max(marked, gpu_times().span_ns);
}

double DiagnosisContext::share(std::int64_t ns) const { return percentage(ns, length_ns()); }

std::size_t DiagnosisContext::steps() const {
  return std::max<std::size_t>(1, window.steps.size());
}

std::int64_t DiagnosisContext::on_path_ns(BoundBy what) const {
  return path().usable() ? path().bound_by()[static_cast<std::size_t>(what)] : 0;
}

std::int64_t DiagnosisContext::saving_ns(const PathEdit& edit) const {
  if (!path().usable()) return per_device(gpu_time_saved(trace, edit));
  return estimate(path(), edit).expected_ns();
}

// --- GPU events ---

std::vector<EventId> DiagnosisContext::launched_in_window() const {
  std::vector<EventId> events;
  const Interval when = time();
  for (const EventId event :
       facts.is_mostly_unlinked() ? std::span<const EventId>{} : tree().linked_gpu_events()) {
    const EventId call = tree().launch_of(event);
    const std::int64_t ts = trace.ts_ns()[call.valid() ? call.row : event.row];
    if (ts != kAbsent && ts >= when.start && ts < when.end && dur_ns(event) != kAbsent)
      events.push_back(event);
  }
  if (!events.empty()) return events;
  // Nothing is linked, or too little to speak for the rest: a trace of the GPU alone.
  for (const EventId event : facts.gpu_events(true).events)
    if (in_window(trace.ts_ns()[event.row])) events.push_back(event);
  return events;
}

std::span<const EventId> DiagnosisContext::gpu_events() const {
  return gpu_events_.get([this] { return launched_in_window(); });
}

std::size_t DiagnosisContext::launches_between(std::int64_t from_ns, std::int64_t to_ns) const {
  const std::vector<std::int64_t>& times = launch_times_.get([this] {
    std::vector<std::int64_t> starts;
    for (const EventId event : gpu_events())
      if (const EventId call = tree().launch_of(event); call.valid())
        starts.push_back(trace.ts_ns()[call.row]);
    std::ranges::sort(starts);
    return starts;
  });
  const auto first = std::ranges::lower_bound(times, from_ns);
  return static_cast<std::size_t>(std::ranges::lower_bound(first, times.end(), to_ns) - first);
}

DeviceTimes DiagnosisContext::make_gpu_times() const {
  std::map<std::int64_t, std::vector<Interval>> by_device;
  const bool simulated = path().usable();
  for (const EventId event : gpu_events()) {
    Interval when{trace.ts_ns()[event.row], trace.end_ns(event)};
    if (simulated) {
      const auto moved = path().simulated(event);
      if (!moved) continue;
      when = *moved;
    }
    by_device[device_of(facts, event)].push_back(when);
  }
  DeviceTimes worst;
  std::int64_t all_span = 0, all_busy = 0;
  for (auto& [device, times] : by_device) {
    const std::vector<Interval> merged = merge(std::move(times));
    const DeviceTimes one{.span_ns = merged.back().end - merged.front().start,
                          .busy_ns = length(merged)};
    all_span += one.span_ns;
    all_busy += one.busy_ns;
    if (worst.span_ns == 0 || one.idle_ns() > worst.idle_ns()) worst = one;
  }
  worst.devices = std::max<std::int64_t>(1, std::ssize(by_device));
  worst.all_span_ns = all_span;
  worst.all_busy_ns = all_busy;
  return worst;
}

const DeviceTimes& DiagnosisContext::gpu_times() const {
  return gpu_times_.get([this] { return make_gpu_times(); });
}

const Communication& DiagnosisContext::communication() const {
  return communication_.get([this] { return communication_of(facts, gpu_events()); });
}

const ServingRun& DiagnosisContext::serving() const {
  return serving_.get([this] { return ServingRun{facts, false}; });
}

double DiagnosisContext::busy_share(std::int64_t ns) const {
  return percentage(ns, gpu_times().all_busy_ns);
}

std::int64_t DiagnosisContext::gpu_sum_ns(std::span<const EventId> events) const {
  std::int64_t sum = 0;
  for (const EventId event : events) sum += dur_ns(event);
  return sum;
}

// --- ops ---

OpInput& DiagnosisContext::ops() const {
  return ops_.get([this] {
    return OpInput{facts,
                   {.edition = Edition::kExtended, .own_models = &own_models_, .gpu = gpu()}};
  });
}

DiagnosisContext::Uses DiagnosisContext::make_uses() const {
  OpInput& input = ops();
  const std::vector<UnifiedOp> all = collect_unified_ops(input);
  const std::span<const GpuEvent> gpu_events = input.launches.gpu_events();
  std::vector<const UnifiedOp*> kept;
  std::size_t kernel_count = 0;
  for (const UnifiedOp& op : all) {
    const auto kernels = input.ops.kernels(op.row);
    if (kernels.empty()) continue;
    const EventId call = tree().launch_of(gpu_events[kernels.front()].event);
    if (!call.valid() || !in_window(trace.ts_ns()[call.row])) continue;
    kept.push_back(&op);
    kernel_count += kernels.size();
  }
  Uses made;
  made.kernels.reserve(kernel_count);  // spans point into it
  made.uses.reserve(kept.size());
  made.roofs.resize(input.models.size());
  if (gpu() != nullptr)
    for (std::uint32_t answer = 0; answer < input.models.size(); ++answer)
      if (const OrReason<Work>& work = input.models[answer]; work)
        made.roofs[answer] = roofline(*work, *gpu(), Edition::kExtended);
  using Key = std::tuple<StringId, StringId, SignatureId, std::uint32_t, std::uint32_t>;
  std::map<Key, std::uint32_t> groups;
  for (const UnifiedOp* const op : kept) {
    const std::size_t first = made.kernels.size();
    for (const GpuPosition at : input.ops.kernels(op->row))
      made.kernels.push_back(gpu_events[at].event);
    OpUse use{.name = unified_name(trace, *op),
              .category = input.categories.text(op->category),
              .event = op->row.event,
              .node = op->row.node,
              .kernels = std::span{made.kernels}.subspan(first),
              .busy_ns = op->row.busy_ns};
    const OpModels::Answer answer = op->answered ? op->row.answer : OpModels::kNotAsked;
    if (answer != OpModels::kNotAsked && input.models[answer]) {
      use.work = &*input.models[answer];
      if (made.roofs[answer]) use.roof = &*made.roofs[answer];
    }
    const SignatureId signature =
        use.event.valid() ? trace.signatures()[use.event.row] : SignatureId{};
    const auto [at, is_new] =
        groups.try_emplace({op->name, op->kernel, signature, answer, op->category},
                           static_cast<std::uint32_t>(made.groups.size()));
    if (is_new)
      made.groups.push_back({.name = use.name,
                             .category = use.category,
                             .signature = signature,
                             .uses = {},
                             .work = use.work,
                             .roof = use.roof});
    OpGroup& group = made.groups[at->second];
    group.uses.push_back(static_cast<std::uint32_t>(made.uses.size()));
    group.busy_ns += use.busy_ns;
    use.group = at->second;
    made.uses.push_back(std::move(use));
  }
  // The costliest group first; uses follow their groups.
  std::vector<std::uint32_t> order(made.groups.size()), place(made.groups.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t i) { return made.groups[i].busy_ns; });
  std::vector<OpGroup> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t from : order) {
    place[from] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(made.groups[from]));
  }
  made.groups = std::move(sorted);
  for (OpUse& use : made.uses) use.group = place[use.group];
  return made;
}

const DiagnosisContext::Uses& DiagnosisContext::uses() const {
  return uses_.get([this] { return make_uses(); });
}
std::span<const OpUse> DiagnosisContext::op_uses() const { return uses().uses; }
std::span<const OpGroup> DiagnosisContext::op_groups() const { return uses().groups; }

const OpPlaces& DiagnosisContext::places() const {
  return places_.get([this] { return OpPlaces{trace, tree(), ranges()}; });
}
const FusionInput& DiagnosisContext::fusion() const {
  return fusion_.get([this] { return FusionInput{facts, ops(), places()}; });
}
std::span<const DeviceMemory> DiagnosisContext::memory() const {
  return memory_.get([this] { return memory_devices(trace); });
}

void DiagnosisContext::forget_ops_and_host() {
  fusion_.drop();
  uses_.drop();
  ops_.drop();
  places_.drop();
  queues_.drop();
  syncs_.drop();
  gaps_.drop();
  host_.drop();
}

// --- the GPU's figures ---

std::optional<double> DiagnosisContext::peak_flops(std::string_view compute_spec) const {
  if (!gpu_) return std::nullopt;
  const auto found = gpu_->peak_tflops.find(std::string{compute_spec});
  return found == gpu_->peak_tflops.end() ? std::nullopt : std::optional{found->second * 1e12};
}

std::optional<double> DiagnosisContext::bandwidth() const {
  if (!gpu_ || !gpu_->memory_gbps) return std::nullopt;
  return *gpu_->memory_gbps * 1e9;
}

std::optional<double> DiagnosisContext::reached_bandwidth() const {
  const auto bytes_per_ns = fusion().reached_bandwidth();
  return bytes_per_ns ? std::optional{*bytes_per_ns * 1e9} : std::nullopt;
}

// --- the host ---

const CallKinds& DiagnosisContext::calls() const { return facts.calls(); }
const HostRanges& DiagnosisContext::ranges() const { return facts.host_ranges(); }

const HostWork& DiagnosisContext::host() const {
  return host_.get([this] { return HostWork{facts}; });
}
const GpuGaps& DiagnosisContext::gaps() const {
  return gaps_.get([this] { return gpu_gaps_of(host(), -1); });
}

const SyncCalls& DiagnosisContext::syncs() const {
  return syncs_.get([this] { return sync_calls_of(host(), gaps()); });
}

const QueueLengths& DiagnosisContext::queues() const {
  return queues_.get([this] { return queue_lengths(host()); });
}

void DiagnosisContext::remove_wait(const SyncCall& sync, std::int64_t left_ns,
                                   PathEdit& edit) const {
  edit.drop_sync(sync.call);
  const EventId range = sync.range.valid() ? sync.range : sync.call;
  edit.set_host(trace.tracks()[range.row], trace.ts_ns()[range.row], trace.end_ns(range), left_ns);
  if (sync.copy.valid()) edit.set_gpu(sync.copy, 0);
}

// --- places in the program ---

std::string DiagnosisContext::python_line(EventId event) const {
  for (NodeId node = tree().node(event); node.valid(); node = tree().parent(node)) {
    const EventId caller = tree().event(node);
    if (trace.category(caller) == Category::kPythonFunction && is_user_frame(trace.name(caller)))
      return std::string{trace.name(caller)};
  }
  return {};
}

std::string DiagnosisContext::module_of(EventId event) const {
  const NodeId node = tree().node(event);
  if (!node.valid()) return {};
  const NodeId module = tree().nearest_module(node);
  return module.valid() ? std::string{trace.name(tree().event(module))} : std::string{};
}

std::string DiagnosisContext::shape_of(EventId op) const {
  const SignatureId signature = op.valid() ? trace.signatures()[op.row] : SignatureId{};
  if (!signature.valid()) return {};
  const Value& dims = trace.signature(signature).dims;
  return dims.is_null() ? std::string{} : python_repr(dims);
}

}  // namespace tracelens
