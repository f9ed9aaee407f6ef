#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/redact.hpp>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <vector>

#include "facts/step_annotation.hpp"
#include "io/ascii.hpp"
#include "io/text_hash.hpp"

namespace tracelens {
namespace {

bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// AddmmBackward0: the framework's own. A function of one's own has no number: MyFunctionBackward.
bool is_framework_backward(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() &&
         name.substr(0, digits + 1).ends_with("Backward");
}

// Optimizer.step#AdamW.step: what stands behind the sign is a class, which may be one's own.
bool is_framework_optimizer(std::string_view name) {
  constexpr std::string_view kOurs[] = {
      "ASGD.", "Adadelta.", "Adafactor.", "Adagrad.", "Adam.",  "AdamW.", "Adamax.",    "LBFGS.",
      "Muon.", "NAdam.",    "RAdam.",     "RMSprop.", "Rprop.", "SGD.",   "SparseAdam."};
  const std::size_t sign = name.find('#');
  return name.starts_with("Optimizer.") &&
         (sign == std::string_view::npos || starts_with_any(name.substr(sign + 1), kOurs));
}

bool is_framework_op(std::string_view name) {
  constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kEngine)) return is_framework_op(name.substr(kEngine.size()));
  constexpr std::string_view kOurs[] = {"aten::",
                                        "prims::",
                                        "c10d::",
                                        "c10d_functional::",
                                        "_c10d_functional::",
                                        "torch::autograd::",
                                        "nccl:",
                                        "record_param_comms",
                                        "triton_",
                                        "inductor::",
                                        "ProfilerStep",
                                        "enumerate(DataLoader)",
                                        "TorchDynamo ",
                                        "AOTDispatcher ",
                                        "[memory]",
                                        "quantized::"};
  return starts_with_any(name, kOurs) || is_framework_backward(name) ||
         is_framework_optimizer(name);
}

bool is_framework_range(std::string_view name) {
  constexpr std::string_view kOurs[] = {"DistributedDataParallel.",
                                        "FullyShardedDataParallel",
                                        "FSDP::",
                                        "## Call CompiledFxGraph",
                                        "CUDAGraph",
                                        "PyTorch Profiler"};
  return starts_with_any(name, kOurs) || is_framework_op(name) || annotation_tier(name) > 0 ||
         parse_step_annotation(name).has_value() || parse_capture_annotation(name).has_value();
}

// What tells nothing about who recorded it.
bool is_plain_metadata(std::string_view key) {
  constexpr std::string_view kPlain[] = {"schemaVersion",
                                         "deviceProperties",
                                         "distributedInfo",
                                         "baseTimeNanoseconds",
                                         "displayTimeUnit",
                                         "record_shapes",
                                         "with_stack",
                                         "profile_memory",
                                         "with_flops",
                                         "with_modules",
                                         "cuda_runtime_version",
                                         "cuda_driver_version",
                                         "hip_runtime_version",
                                         "hip_driver_version",
                                         "init_time",
                                         "fini_time",
                                         "counters"};
  return std::ranges::find(kPlain, key) != std::end(kPlain);
}

class Redactor {
 public:
  explicit Redactor(const Trace& trace) : trace_{trace} {}

  Trace run() {
    builder_.reserve(trace_.size());
    for (const EventId event : trace_.all_events()) copy(event);
    copy_arguments();
    copy_labels();
    for (const MetadataEntry& entry : trace_.metadata())
      if (is_plain_metadata(entry.key)) builder_.add_metadata(entry.key, entry.value);
    for (const Warnings::Entry& entry : trace_.warnings().entries())
      builder_.warnings().add(entry.what, entry.first_byte, entry.count);
    builder_.source() = trace_.source();
    builder_.source().name = "trace";
    return std::move(builder_).finish();
  }

 private:
  // "Module 17": the same for the same text, numbered as they come.
  std::string other_name(std::string_view kind, std::string_view text) {
    auto& known = numbers_[std::string{kind}];
    const auto [found, is_new] = known.try_emplace(std::string{text}, known.size() + 1);
    return fmt::format("{} {}", kind, found->second);
  }

  // "nn.Module: Block_3" keeps its instance: "nn.Module: Module 2_3".
  std::string module_name(std::string_view name) {
    constexpr std::string_view kPrefix = "nn.Module: ";
    std::string_view type = name.substr(std::min(name.size(), kPrefix.size()));
    std::string_view instance;
    if (const std::size_t digits = type.find_last_not_of("0123456789");
        digits != std::string_view::npos && digits + 1 < type.size() && type[digits] == '_') {
      instance = type.substr(digits);
      type = type.substr(0, digits);
    }
    return fmt::format("{}{}{}", kPrefix, other_name("Module", type), instance);
  }

  // "train.py(12): step" keeps its line: "file 3.py(12): function 9". Frames of the framework stay,
  // without the folder it is installed in.
  std::string frame_name(std::string_view name) {
    if (name.starts_with("nn.Module:")) return module_name(name);
    if (name.starts_with("<built-in")) return std::string{name};
    if (const std::size_t at = name.rfind("torch/");
        at != std::string_view::npos && (at == 0 || name[at - 1] == '/'))
      return std::string{name.substr(at)};
    const std::size_t line = name.find(".py("), function = name.rfind("): ");
    if (line == std::string_view::npos || function == std::string_view::npos || function < line)
      return other_name("function", name);
    return fmt::format("{}{}{}", other_name("file", name.substr(0, line)),
                       name.substr(line, function + 3 - line),
                       other_name("function", name.substr(function + 3)));
  }

  std::string op_name(std::string_view name) {
    if (is_framework_op(name)) return std::string{name};
    return fmt::format("op {:08x}", io::text_hash(name));  // the same in every trace
  }

  // "Optimizer.step#Mine.step" and "FSDP::all_gather (layers.0)" keep what the framework says.
  std::string range_name(std::string_view name) {
    for (const auto& [prefix, sign] : {std::pair{"Optimizer.", '#'}, std::pair{"FSDP::", '('}})
      if (const std::size_t at = name.find(sign);
          name.starts_with(prefix) && at != std::string_view::npos && !is_framework_optimizer(name))
        return fmt::format("{}{}{}", name.substr(0, at + 1),
                           other_name("part", name.substr(at + 1)), sign == '(' ? ")" : "");
    return is_framework_range(name) ? std::string{name} : other_name("range", name);
  }

  std::string name_of(EventId event) {
    const std::string_view name = trace_.name(event);
    switch (trace_.category(event)) {
      case Category::kPythonFunction:
        return frame_name(name);
      case Category::kCpuOp:
        return op_name(name);
      case Category::kUserAnnotation:
      case Category::kGpuUserAnnotation:
      case Category::kTraceSpan:
      case Category::kCpuInstant:
        return range_name(name);
      case Category::kOtherCategory:
        return is_framework_range(name) ? std::string{name} : other_name("event", name);
      default:
        return std::string{name};
    }
  }

  // Most names occur thousands of times.
  StringId renamed(EventId event) {
    const std::uint64_t key = static_cast<std::uint64_t>(trace_.names()[event.row].row) << 8 |
                              static_cast<std::uint64_t>(trace_.category(event));
    const auto [found, is_new] = renamed_.try_emplace(key);
    if (is_new) found->second = builder_.intern(name_of(event));
    return found->second;
  }

  SignatureId signature_of(EventId event, StringId name) {
    const SignatureId id = trace_.signatures()[event.row];
    if (!id.valid()) return id;
    Signature signature = trace_.signature(id);
    signature.name = name;
    return builder_.intern(std::move(signature));
  }

  void copy(EventId event) {
    const StringId name =
        trace_.names()[event.row].valid() ? renamed(event) : trace_.names()[event.row];
    builder_.append({.phase = trace_.phase(event),
                     .category = trace_.category(event),
                     .name = name,
                     .track = trace_.tracks()[event.row].valid()
                                  ? builder_.intern(trace_.track(event))
                                  : TrackId{},
                     .signature = signature_of(event, name),
                     .ts_ns = trace_.ts_ns()[event.row],
                     .dur_ns = trace_.dur_ns()[event.row],
                     .correlation = trace_.correlations()[event.row]});
  }

  template <class T, class Set>
  void copy_column(const SparseColumn<T>& column, const Set& set) {
    for (std::size_t i = 0; i < column.rows().size(); ++i)
      set(EventId{column.rows()[i]}, column.values()[i]);
  }

  void copy_arguments() {
    copy_column(trace_.external_ids(),
                [&](EventId e, auto id) { builder_.set_external_id(e, id); });
    copy_column(trace_.sequence_numbers(),
                [&](EventId e, auto id) { builder_.set_sequence(e, id); });
    copy_column(trace_.forward_threads(),
                [&](EventId e, auto id) { builder_.set_forward_thread(e, id); });
    copy_column(trace_.streams(), [&](EventId e, auto id) { builder_.set_stream(e, id); });
    copy_column(trace_.devices(), [&](EventId e, auto id) { builder_.set_device(e, id); });
    copy_column(trace_.memory_changes(), [&](EventId e, const MemoryChange& change) {
      builder_.set_memory_change(e, change);
    });
    copy_column(trace_.detail_texts(), [&](EventId e, StringId text) {
      builder_.set_details(e, details_without_places(text));
    });
    for (const EventId event : trace_.all_events())
      if (trace_.category(event) == Category::kOtherCategory)
        builder_.set_category_text(event, builder_.intern(trace_.category_text(event)));
    copy_column(trace_.given_parents(),
                [&](EventId e, EventId parent) { builder_.set_parent(e, parent); });
    for (const EventId event : trace_.passed_over()) builder_.pass_over(event);
  }

  // Arguments whose text names a place in somebody's files or program go.
  StringId details_without_places(StringId text) {
    const auto [found, is_new] = details_.try_emplace(text.row);
    if (!is_new) return found->second;
    const std::optional<Value> value = parse_json_value(trace_.text(text));
    std::vector<std::string> keys;
    std::vector<Value> items;
    if (value)
      for (std::size_t i = 0; i < value->keys().size(); ++i) {
        if (names_a_place(value->keys()[i], value->items()[i])) continue;
        keys.push_back(value->keys()[i]);
        items.push_back(value->items()[i]);
      }
    found->second = builder_.intern(json_text(Value::dict(std::move(keys), std::move(items))));
    return found->second;
  }

  static bool names_a_place(const std::string& key, const Value& value) {
    const std::string lower = io::lower_case(key);
    for (const std::string_view word :
         {"file", "source", "path", "host", "module", "scope", "tf_op", "stack"})
      if (lower.find(word) != std::string::npos) return true;
    return value.is_text() && (value.as_text().find('/') != std::string::npos ||
                               value.as_text().find(".py") != std::string::npos);
  }

  void copy_labels() {
    for (const Track& track : trace_.track_table()) {
      copy_label({track.pid, Value{0}}, "process_name", "process");
      copy_label({track.pid, Value{0}}, "process_labels", "label");
      copy_label(track, "thread_name", "thread");
    }
  }

  void copy_label(const Track& track, std::string_view what, std::string_view kind) {
    const std::optional<Value> label = trace_.label(track, what);
    if (!label) return;
    // "GPU 0", "CPU", "stream 7", "/device:GPU:0": of the machine, and read by the analyses.
    constexpr std::string_view kOfTheMachine[] = {"GPU",      "CPU",    "stream ", "Stream ",
                                                  "/device:", "/host:", "python"};
    const bool stays = label->is_text() && starts_with_any(label->as_text(), kOfTheMachine);
    builder_.add_label(track, what, stays ? *label : Value{other_name(kind, json_text(*label))});
  }

  const Trace& trace_;
  TraceBuilder builder_;
  std::map<std::string, std::unordered_map<std::string, std::size_t>> numbers_;  // by kind
  std::unordered_map<std::uint64_t, StringId> renamed_;
  std::unordered_map<std::uint32_t, StringId> details_;
};

}  // namespace

Trace redacted(const Trace& trace) { return Redactor{trace}.run(); }

}  // namespace tracelens
