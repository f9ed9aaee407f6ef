#include "query/trace_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "facts/launchers.hpp"
#include "tree/time_math.hpp"

namespace tracelens::query {
namespace {

constexpr std::size_t kMostLeaves = 4096;  // of one event's arguments; more are left out

bool has_time(const Trace& trace, std::uint32_t event) {
  return trace.ts_ns()[event] != kAbsent && trace.dur_ns()[event] != kAbsent;
}

template <class Wanted>
std::vector<std::uint32_t> rows_where(const Trace& trace, const Wanted& wanted) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < trace.size(); ++row)
    if (wanted(row)) rows.push_back(row);
  return rows;
}

// The leaves of a value, in order; a list without items has none.
void append_leaves(const std::string& key, const std::string& flat_key, const Value& value,
                   std::uint32_t first_slot, std::vector<ArgLeaf>& out) {
  struct Part {
    std::string key, flat_key;
    const Value* value;
  };
  std::vector<Part> open{{key, flat_key, &value}};
  while (!open.empty() && out.size() < kMostLeaves) {
    const Part part = std::move(open.back());
    open.pop_back();
    const std::vector<Value>& items = part.value->items();
    const std::vector<std::string>& keys = part.value->keys();
    if (part.value->kind() == Value::Kind::kDict) {
      for (std::size_t i = items.size(); i-- > 0;)
        open.push_back({part.key + "." + keys[i], part.flat_key + "." + keys[i], &items[i]});
    } else if (part.value->is_sequence()) {
      for (std::size_t i = std::min(items.size(), kMostLeaves); i-- > 0;)
        open.push_back({fmt::format("{}[{}]", part.key, i), part.flat_key, &items[i]});
    } else {
      out.push_back({part.key, part.flat_key, *part.value,
                     first_slot + static_cast<std::uint32_t>(out.size())});
    }
  }
}

void append_args(std::string_view name, const Value& value, std::vector<ArgLeaf>& out) {
  const std::string key = fmt::format("args.{}", name);
  if (!value.is_null()) append_leaves(key, key, value, kSignatureSlots, out);
}

}  // namespace

TraceView::TraceView(std::shared_ptr<const Trace> trace, const ReportOptions& options)
    : trace_{std::move(trace)},
      options_{options},
      facts_{*trace_, {.python_frames = true, .link_by_correlation = options.link_by_correlation}} {
  category_codes_.assign(kCategoryCount, kNoText);
}

// --- texts ---

TextCode TraceView::find_text(std::string_view text) {
  if (codes_.empty())
    for (std::uint32_t i = 0; i < trace_->string_count(); ++i)
      codes_.try_emplace(trace_->text(StringId{i}), i);
  const auto found = codes_.find(text);
  return found == codes_.end() ? kNoText : found->second;
}

const Diagnosis& TraceView::diagnosis() {
  if (!diagnosis_)
    diagnosis_ = diagnose(*trace_, {.threads = options_.threads,
                                    .gpu = {.name = options_.gpu, .file = options_.gpu_file},
                                    .models = options_.models});
  return *diagnosis_;
}

TextCode TraceView::code_of(std::string_view text) {
  if (const TextCode known = find_text(text); known != kNoText) return known;
  const auto code = static_cast<TextCode>(text_count());
  codes_.emplace(more_.emplace_back(text), code);
  return code;
}

std::string_view TraceView::text_of(TextCode code) const {
  const std::size_t strings = trace_->string_count();
  return code < strings ? trace_->text(StringId{code}) : std::string_view{more_[code - strings]};
}

TextCode TraceView::category_code(std::uint32_t event) {
  const Category category = trace_->categories()[event];
  if (category == Category::kNone) return kNoText;
  if (category == Category::kOtherCategory) return code_of(trace_->category_text(EventId{event}));
  TextCode& code = category_codes_[static_cast<std::size_t>(category)];
  if (code == kNoText) code = code_of(category_name(category));
  return code;
}

// --- rows ---

const Slices& TraceView::slices() {
  if (!slices_) {
    slices_.emplace();
    slices_->rows = rows_where(*trace_, [&](std::uint32_t row) {
      return trace_->phases()[row] == Phase::kComplete && has_time(*trace_, row);
    });
  }
  return *slices_;
}

void TraceView::need_nesting() {
  (void)slices();
  if (!slices_->parent.empty() || slices_->rows.empty()) return;
  const auto ts = trace_->ts_ns(), dur = trace_->dur_ns();
  const auto tracks = trace_->tracks();
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    if (tracks[a] != tracks[b]) return tracks[a] < tracks[b];
    if (ts[a] != ts[b]) return ts[a] < ts[b];
    return dur[a] != dur[b] ? dur[a] > dur[b] : a < b;
  };
  std::vector<std::uint32_t> order = slices_->rows;
  std::ranges::sort(order, is_before);
  slices_->parent.assign(trace_->size(), kNoText);
  slices_->depth.assign(trace_->size(), 0);
  std::vector<std::uint32_t> open;
  for (const std::uint32_t row : order) {
    const std::int64_t end = plus_ns(ts[row], dur[row]);
    while (!open.empty()) {
      const std::uint32_t top = open.back();
      const std::int64_t top_end = plus_ns(ts[top], dur[top]);
      if (tracks[top] == tracks[row] && top_end > ts[row] && top_end >= end) break;
      open.pop_back();
    }
    if (!open.empty()) slices_->parent[row] = open.back();
    slices_->depth[row] = static_cast<std::uint32_t>(open.size());
    open.push_back(row);
  }
}

std::span<const std::uint32_t> TraceView::gpu_rows() {
  if (!gpu_rows_)
    gpu_rows_ = rows_where(*trace_, [&](std::uint32_t row) {
      return is_gpu(trace_->categories()[row]) && trace_->phases()[row] == Phase::kComplete &&
             has_time(*trace_, row);
    });
  return *gpu_rows_;
}

std::span<const std::uint32_t> TraceView::op_rows() {
  if (!op_rows_)
    op_rows_ = rows_where(*trace_, [&](std::uint32_t row) {
      const NodeId node = tree().node(EventId{row});
      return node.valid() && tree().is_op(node);
    });
  return *op_rows_;
}

std::span<const std::uint32_t> TraceView::instant_rows() {
  if (!instant_rows_)
    instant_rows_ = rows_where(*trace_, [&](std::uint32_t row) {
      return trace_->phases()[row] == Phase::kInstant && trace_->ts_ns()[row] != kAbsent;
    });
  return *instant_rows_;
}

std::span<const std::uint32_t> TraceView::launched() {
  if (!launched_) {
    launched_.emplace();
    for (const EventId event : tree().linked_gpu_events())
      if (has_time(*trace_, event.row) && launch_of(event.row).valid() &&
          has_time(*trace_, launch_of(event.row).row))
        launched_->push_back(event.row);
  }
  return *launched_;
}

// --- of a GPU event ---

EventId TraceView::launch_of(std::uint32_t gpu_event) {
  if (launches_of_.empty()) {
    launches_of_.resize(trace_->size());
    for (const EventId event : tree().linked_gpu_events())
      launches_of_[event.row] = recorded_launch_of(*trace_, tree(), event);
  }
  return launches_of_[gpu_event];
}

NodeId TraceView::launcher_of(std::uint32_t gpu_event) {
  const NodeId node = tree().node(EventId{gpu_event});
  if (!node.valid()) return {};
  const auto linked = tree().gpu_events(node);
  if (linked.empty()) return {};
  const auto position = static_cast<std::size_t>(linked.data() - tree().linked_gpu_events().data());
  const NodeId launcher = facts_.launchers()[position];
  return launcher.valid() && tree().is_op(launcher) ? launcher : NodeId{};
}

std::int64_t TraceView::device_of(std::uint32_t event) const {
  if (const auto device = trace_->devices().at(EventId{event})) return *device;
  const TrackId track = trace_->tracks()[event];
  if (!track.valid() || !is_gpu(trace_->categories()[event])) return kAbsent;
  const Value& pid = trace_->track(track).pid;
  return pid.is_int() ? pid.as_int() : kAbsent;
}

std::int64_t TraceView::stream_of(std::uint32_t event) const {
  if (const auto stream = trace_->streams().at(EventId{event})) return *stream;
  const TrackId track = trace_->tracks()[event];
  if (!track.valid() || !is_gpu(trace_->categories()[event])) return kAbsent;
  const Value& tid = trace_->track(track).tid;
  return tid.is_int() ? tid.as_int() : kAbsent;
}

TextCode TraceView::kernel_category(std::uint32_t gpu_event) {
  if (!kernel_categories_)
    kernel_categories_ = std::make_unique<KernelCategories>(
        *trace_, TorchKernelKinds{load_kernel_rules(options_.kernel_rules_file)});
  const StringId name = trace_->names()[gpu_event];
  return name.valid() ? code_of(kernel_categories_->of(name)) : kNoText;
}

std::int64_t TraceView::detail_integer(std::uint32_t event, std::string_view key) {
  const auto details = trace_->detail_texts().at(EventId{event});
  if (!details) return kAbsent;
  const std::string wanted = fmt::format("args.{}", key);
  for (const ArgLeaf& leaf : detail_args(*details))
    if (leaf.key == wanted && leaf.value.is_int()) return leaf.value.as_int();
  return kAbsent;
}

// --- of a node ---

const perf::UserModels& TraceView::own_models() {
  if (!own_models_)
    own_models_.emplace(perf::load_user_models(options_.models, options_.models_file));
  return *own_models_;
}

const LaunchTable& TraceView::launches() {
  if (!launches_) {
    KernelCategories::Classify kind;
    if (options_.edition == Edition::kExtended)
      kind = TorchKernelKinds{load_kernel_rules(options_.kernel_rules_file)};
    launches_ = std::make_unique<LaunchTable>(
        facts_, perf::RunModels{options_.edition, &own_models(), &own_categories_},
        std::move(kind));
  }
  return *launches_;
}

OpPlaces& TraceView::places() {
  if (!places_) {
    ranges_.emplace(*trace_);
    places_.emplace(*trace_, tree(), *ranges_);
  }
  return *places_;
}

TextCode TraceView::op_category(NodeId op) {
  if (!op.valid()) return kNoText;
  if (!categories_) categories_.emplace(launches().categories());
  return code_of(categories_->text(launches().category(op, *categories_)));
}

TextCode TraceView::module_name(NodeId node) {
  const NodeId module = node.valid() ? places().module(node) : NodeId{};
  return module.valid() ? trace_->names()[tree().event(module).row].row : kNoText;
}

std::uint32_t TraceView::depth(NodeId node) {
  if (!depths_) {
    depths_.emplace(tree().size());
    for (std::uint32_t i = 0; i < tree().size(); ++i)
      if (const NodeId parent = tree().parent({i}); parent.valid())
        (*depths_)[i] = (*depths_)[parent.row] + 1;
  }
  return (*depths_)[node.row];
}

TextCode TraceView::step_at(std::int64_t ts_ns) {
  const std::span<const Step> steps = facts_.steps();
  const auto after = std::ranges::upper_bound(steps, ts_ns, {}, &Step::ts_ns);
  if (after == steps.begin()) return kNoText;
  const Step& step = *(after - 1);
  return ts_ns < plus_ns(step.ts_ns, step.dur_ns) ? code_of(step.name) : kNoText;
}

void TraceView::find_processes() {
  if (upids_) return;
  upids_.emplace();
  std::map<std::string, std::uint32_t> known;
  for (const Track& track : trace_->track_table())
    upids_->push_back(
        known.try_emplace(python_repr(track.pid), static_cast<std::uint32_t>(known.size()))
            .first->second);
  process_count_ = static_cast<std::uint32_t>(known.size());
}

const std::vector<std::uint32_t>& TraceView::upids() {
  find_processes();
  return *upids_;
}

std::uint32_t TraceView::process_count() {
  find_processes();
  return process_count_;
}

// --- flows, memory ---

const std::vector<Flow>& TraceView::flows() {
  if (!flows_) {
    flows_.emplace();
    for (const std::uint32_t row : launched())
      flows_->push_back({.out = launch_of(row).row, .in = row, .is_launch = true});
    for (const std::uint32_t row : op_rows())
      if (const EventId forward = tree().forward_of(EventId{row}); forward.valid())
        flows_->push_back({.out = forward.row, .in = row, .is_launch = false});
  }
  return *flows_;
}

void TraceView::find_memory_devices() {
  if (memory_devices_) return;
  memory_devices_.emplace();
  std::map<std::pair<std::int16_t, std::int16_t>, std::uint32_t> known;
  for (const MemoryChange& change : trace_->memory_changes().values()) {
    const auto [entry, is_new] =
        known.try_emplace(std::pair{change.device_type, change.device},
                          static_cast<std::uint32_t>(memory_devices_->size()));
    if (is_new) memory_devices_->push_back({change.device_type, change.device});
    memory_device_of_.push_back(entry->second);
  }
}

const std::vector<MemoryDevice>& TraceView::memory_devices() {
  find_memory_devices();
  return *memory_devices_;
}

std::uint32_t TraceView::memory_device(std::uint32_t change) {
  find_memory_devices();
  return memory_device_of_[change];
}

// --- arguments ---

void TraceView::column_args(std::uint32_t event, std::vector<ArgLeaf>& out) const {
  const EventId id{event};
  std::uint32_t slot = 0;
  const auto add = [&](const char* key, std::optional<std::int64_t> value) {
    if (value && *value != kAbsent) out.push_back({key, key, Value{*value}, slot});
    ++slot;
  };
  const bool is_flow =
      trace_->phase(id) == Phase::kFlowStart || trace_->phase(id) == Phase::kFlowEnd;
  add("args.correlation", is_flow ? kAbsent : trace_->correlations()[event]);
  add("args.External id", trace_->external_ids().at(id));
  add("args.Sequence number", trace_->sequence_numbers().at(id));
  add("args.Fwd thread id", trace_->forward_threads().at(id));
  add("args.stream", trace_->streams().at(id));
  add("args.device", trace_->devices().at(id));
}

const std::vector<ArgLeaf>& TraceView::signature_args(SignatureId signature) {
  const auto [entry, is_new] = signature_args_.try_emplace(signature.row);
  if (is_new) {
    const Signature& args = trace_->signature(signature);
    append_args("Input Dims", args.dims, entry->second);
    append_args("Input type", args.types, entry->second);
    append_args("Input Strides", args.strides, entry->second);
    append_args("Concrete Inputs", args.concrete, entry->second);
  }
  return entry->second;
}

const std::vector<ArgLeaf>& TraceView::detail_args(StringId details) {
  if (detail_args_of_ == details) return detail_args_;
  detail_args_.clear();
  detail_args_of_ = details;
  if (const auto value = parse_json_value(trace_->text(details)))
    append_leaves("args", "args", *value, kDetailSlots, detail_args_);
  return detail_args_;
}

}  // namespace tracelens::query
