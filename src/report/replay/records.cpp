#include "report/replay/records.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "report/replay/hlo_program.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Enough to tell which kernels an op runs, and a bound where calls nest thousands deep.
constexpr std::uint64_t kCallsLookedAt = 16;
constexpr std::size_t kKernelsLookedAt = 4096;
constexpr std::size_t kKernelsCompared = 64;  // of every call
constexpr std::uint32_t kOpsLookedAt = 64;
// A bound where thousands of instructions call one that is large.
constexpr std::size_t kMaxHloBytes = std::size_t{512} << 20;
constexpr std::string_view kTooMuch =
    R"({"computations": [], "problem": "the modules of the profile are too large"})";

// What autocast turns into a low type: the ops by which its type is known.
constexpr std::array kLowered = {"aten::linear", "aten::matmul", "aten::mm",     "aten::addmm",
                                 "aten::bmm",    "aten::conv1d", "aten::conv2d", "aten::conv3d"};

// The type of the numbers a kernel works on, by the types in its name.
std::string_view element_type(std::string_view kernel) {
  for (const std::string_view type : {"c10::BFloat16", "c10::Half", "double", "float"})
    if (kernel.find(type) != kernel.npos) return type;
  return "";
}

// "Memcpy HtoD (Pinned -> Device)" -> "HtoD pinned"
std::string copy_direction(std::string_view gpu_event) {
  for (const std::string_view direction : {"HtoD", "DtoH"})
    if (gpu_event.find(direction) != gpu_event.npos)
      return std::string{direction} + (gpu_event.find("Pinned") != gpu_event.npos ? " pinned" : "");
  return "";
}

// "aten::_scaled_dot_product_flash_attention" -> "flash"; empty: no back-end of attention
std::string_view attention_backend(std::string_view op) {
  constexpr std::string_view kPrefix = "aten::_scaled_dot_product_";
  if (!op.starts_with(kPrefix)) return "";
  op.remove_prefix(kPrefix.size());
  for (const std::string_view backend : {"flash", "efficient", "cudnn", "attention_math"})
    if (op.starts_with(backend)) return backend.substr(backend.find('_') + 1);
  return "";
}

bool has_list(const Value& types) {
  return std::ranges::any_of(types.items(),
                             [](const Value& type) { return type.as_text() == "TensorList"; });
}

std::string file_name(std::string_view path) {
  return std::string{path.substr(path.find_last_of('/') + 1)};
}

}  // namespace

std::optional<ReplayArguments> arguments_of(const Trace& trace, EventId event) {
  const SignatureId id = trace.signatures()[event.row];
  if (!id.valid() || !trace.signature(id).types.is_sequence()) return std::nullopt;
  const Signature& signature = trace.signature(id);
  return ReplayArguments{.op = std::string{trace.text(signature.name)},
                         .types = signature.types,
                         .dims = signature.dims,
                         .strides = signature.strides,
                         .concrete = signature.concrete};
}

std::string_view text_at(const Value& list, std::size_t i) {
  return i < list.items().size() ? std::string_view{list.items()[i].as_text()} : "";
}

RecordBuilder::RecordBuilder(const Trace& trace, const Tree& tree)
    : trace_{trace}, tree_{tree}, modules_{hlo::modules_of(trace)} {
  find_autocast();
}

// Autocast shows as conversions right below an op: aten::linear -> aten::to -> aten::_to_copy.
void RecordBuilder::find_autocast() {
  casts_before_.assign(tree_.size() + 1, 0);
  for (std::uint32_t row = 0; row < tree_.size(); ++row) {
    casts_before_[row + 1] = casts_before_[row];
    const EventId event = tree_.event({row});
    const NodeId parent = tree_.nearest_op({row});
    if (!tree_.is_op({row}) || !parent.valid() || trace_.name(event) != "aten::to") continue;
    // Without a call below it nothing had to be converted.
    if (tree_.end({row}).row == row + 1 || !trace_.signatures()[event.row].valid()) continue;
    ++casts_before_[row + 1];
    const std::string_view type =
        text_at(trace_.signature(trace_.signatures()[event.row]).concrete, 1);
    if (type != "15" && type != "5") continue;
    if (std::ranges::find(kLowered, trace_.name(tree_.event(parent))) != kLowered.end())
      autocast_ = type == "15" ? "c10::BFloat16" : "c10::Half";
  }
}

bool RecordBuilder::is_replayable(NodeId node) const {
  const SignatureId id = trace_.signatures()[tree_.event(node).row];
  if (!modules_.empty()) return hlo_of(node).module != nullptr;
  return tree_.is_op(node) && id.valid() && trace_.signature(id).types.is_sequence();
}

RecordBuilder::HloPlace RecordBuilder::hlo_of(NodeId node) const {
  const EventId event = tree_.event(node);
  const SignatureId id = trace_.signatures()[event.row];
  if (modules_.empty() || !id.valid() || trace_.category(event) != Category::kCpuOp) return {};
  const auto module = modules_.find(hlo::program_of(trace_.signature(id)));
  if (module == modules_.end()) return {};
  const auto place = module->second.place_of(trace_.text(trace_.signature(id).name));
  return place ? HloPlace{&module->second, *place} : HloPlace{};
}

bool RecordBuilder::is_called(NodeId node, std::string_view name) const {
  const HloPlace hlo = hlo_of(node);
  if (hlo.module == nullptr) return trace_.name(tree_.event(node)) == name;
  const hlo::Instruction& instruction = hlo.module->at(hlo.place);
  return instruction.name == name || instruction.opcode == name ||
         hlo_label(*hlo.module, hlo.place) == name;
}

// The engine's call, of which an autograd node is the only one, has the link to the forward op.
EventId RecordBuilder::forward_of(NodeId node) const {
  if (trace_.name(tree_.event(node)).find("::") != std::string_view::npos) return {};
  const NodeId engine = tree_.nearest_op(node);
  return engine.valid() ? tree_.forward_of(tree_.event(engine)) : EventId{};
}

// The back-end that the trace shows below a call; empty: none, or it is one itself.
std::string RecordBuilder::attention_of(NodeId node) const {
  const std::uint32_t end = std::min(tree_.end(node).row, node.row + kOpsLookedAt);
  for (std::uint32_t row = node.row + 1; row < end; ++row)
    if (const std::string_view backend = attention_backend(trace_.name(tree_.event({row})));
        !backend.empty())
      return std::string{backend};
  return "";
}

// By name, how often this called PyTorch's ops itself: which gradients it made.
std::map<std::string, std::uint64_t> RecordBuilder::ops_below(NodeId node) const {
  std::map<std::string, std::uint64_t> found;
  for (std::uint32_t row = node.row + 1; row < tree_.end(node).row;) {
    const std::string_view name = trace_.name(tree_.event({row}));
    if (tree_.is_op({row}) && name.starts_with("aten::")) ++found[std::string{name}];
    row = tree_.is_op({row}) ? tree_.end({row}).row : row + 1;
  }
  return found;
}

// Which kernels ran, not which took longest: of two that take equally long it may be either.
RecordBuilder::Key RecordBuilder::key_of(NodeId node) const {
  Key key;
  if (modules_.empty()) {  // one HLO instruction is one program
    const std::span gpu_events = tree_.gpu_events(node);
    for (const EventId gpu : gpu_events.first(std::min(gpu_events.size(), kKernelsCompared)))
      key.push_back(trace_.names()[gpu.row].row);
    std::ranges::sort(key);
    key.erase(std::unique(key.begin(), key.end()), key.end());
    const EventId forward = forward_of(node);
    key.push_back(forward.valid() ? trace_.signatures()[forward.row].row : SignatureId{}.row);
  }
  key.push_back(trace_.signatures()[tree_.event(node).row].row);
  return key;
}

ReplayRecord RecordBuilder::first_seen(NodeId node) const {
  const EventId event = tree_.event(node);
  if (const HloPlace hlo = hlo_of(node); hlo.module != nullptr) {
    const Signature& signature = trace_.signature(trace_.signatures()[event.row]);
    return {.call = {.op = hlo_label(*hlo.module, hlo.place),
                     .types = signature.types,
                     .dims = signature.dims,
                     .strides = {},
                     .concrete = {}},
            .uid = event.row,
            .hlo = hlo_bytes_ > kMaxHloBytes ? std::string{kTooMuch}
                                             : hlo_program(*hlo.module, hlo.place)};
  }
  ReplayRecord record{.call = *arguments_of(trace_, event),
                      .uid = event.row,
                      .launches = tree_.gpu_count(node),
                      .attention = attention_of(node)};
  const std::span gpu_events = tree_.gpu_events(node);
  for (const EventId gpu : gpu_events.first(std::min(gpu_events.size(), kKernelsLookedAt))) {
    if (trace_.category(gpu) == Category::kGpuMemcpy && record.copy.empty())
      record.copy = copy_direction(trace_.name(gpu));
    if (record.list_type.empty() && has_list(record.call.types))
      record.list_type = element_type(trace_.name(gpu));
  }
  // Memory of its own that the host touches for the first time, which takes longer.
  const NodeId caller = tree_.nearest_op(node);
  if (record.copy == "DtoH" && record.call.op == "aten::copy_" && caller.valid() &&
      trace_.name(tree_.event(caller)) == "aten::_to_copy")
    record.copy += " fresh";
  const bool converts = record.call.op == "aten::to" || record.call.op == "aten::_to_copy";
  if (!converts && casts_before_[tree_.end(node).row] > casts_before_[node.row])
    record.autocast = autocast_;
  if (record.call.op.starts_with("triton_"))
    if (const Value details = trace_.details(event);
        const Value* file = details.find("kernel_file"))
      record.source = file_name(file->as_text());
  if (const EventId forward = forward_of(node); forward.valid())
    record.forward = arguments_of(trace_, forward);
  if (record.forward || record.call.op == "torch::autograd::AccumulateGrad")
    record.below = ops_below(node);
  return record;
}

// HLO instructions of one structure are one record, whatever their names and modules.
std::size_t RecordBuilder::find_or_add(NodeId node) {
  ReplayRecord record = first_seen(node);
  if (!record.hlo.empty()) {
    hlo_bytes_ += record.hlo.size();
    const auto [entry, is_new] =
        by_hlo_.try_emplace(std::hash<std::string>{}(record.hlo), records_.size());
    if (!is_new && records_[entry->second].hlo == record.hlo) return entry->second;
  }
  records_.push_back(std::move(record));
  kernel_ns_.emplace_back();
  return records_.size() - 1;
}

std::size_t RecordBuilder::count(NodeId node) {
  const auto [known, is_new] = by_key_.try_emplace(key_of(node));
  if (is_new) known->second = find_or_add(node);
  const std::size_t index = known->second;
  ReplayRecord& record = records_[index];
  ++record.count;
  record.kernel_ns = plus_ns(record.kernel_ns, tree_.gpu_sum_ns(node));
  if (record.count > kCallsLookedAt) return index;
  const std::span gpu_events = tree_.gpu_events(node);
  for (const EventId gpu : gpu_events.first(std::min(gpu_events.size(), kKernelsLookedAt))) {
    std::int64_t& sum = kernel_ns_[index][trace_.names()[gpu.row].row];
    sum = plus_ns(sum, duration_of(trace_, gpu));
  }
  return index;
}

std::vector<ReplayRecord> RecordBuilder::finish() && {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    std::vector<std::pair<std::int64_t, std::string_view>> kernels;
    for (const auto& [name, ns] : kernel_ns_[i]) kernels.emplace_back(-ns, trace_.text({name}));
    std::ranges::sort(kernels);
    for (const auto& [ns, name] : kernels) records_[i].kernels.emplace_back(name);
  }
  return std::move(records_);
}

}  // namespace tracelens
