#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/trace_builder.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/ascii.hpp"

namespace tracelens {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// What is written into a pseudo-op besides its arguments, for its model.
struct Extra {
  std::string key;
  Value value;
};

// An event to be added.
struct PseudoOp {
  std::string name;
  EventRow row;  // all but what depends on the name
  Signature arguments;
  EventId parent;
  std::vector<EventId> adopted;  // what becomes its children
  std::vector<Extra> extra;
  bool is_passed_over = false;
};

// What the rules work with: the trace and its tree, and three ways to put an op around something.
class Workshop {
 public:
  Workshop(const Trace& trace, const PseudoOpOptions& options)
      : trace_{trace},
        options_{options},
        tree_{build_tree(trace, {.python_frames = options.python_frames})} {}

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] const PseudoOpOptions& options() const { return options_; }
  [[nodiscard]] std::vector<PseudoOp> take() && { return std::move(made_); }

  // The nodes of events whose name passes, those with GPU work: recorded ones by time, then those
  // added, in their order.
  template <class Passes>
  [[nodiscard]] std::vector<NodeId> find(Category category, const Passes& passes) const {
    enum class Known : std::uint8_t { kNotYet, kNo, kYes };
    std::vector<Known> known(trace_.string_count());
    std::vector<NodeId> found;
    for (const EventId event : trace_.all_events()) {
      if (trace_.category(event) != category) continue;
      Known& name = known[trace_.names()[event.row].row];
      if (name == Known::kNotYet) name = passes(trace_.name(event)) ? Known::kYes : Known::kNo;
      const NodeId node = tree_.node(event);
      if (name == Known::kYes && node.valid() && tree_.gpu_count(node) > 0) found.push_back(node);
    }
    const auto added = std::ranges::find_if(
        found, [&](NodeId node) { return tree_.event(node).row >= trace_.recorded(); });
    std::ranges::stable_sort(found.begin(), added, {},
                             [&](NodeId node) { return trace_.ts_ns()[tree_.event(node).row]; });
    return found;
  }
  [[nodiscard]] std::vector<NodeId> ops_named(std::string_view name) const {
    return find(Category::kCpuOp, [&](std::string_view other) { return other == name; });
  }

  // The GPU events below a node whose name passes, by start; kernels only, or any.
  template <class Passes>
  [[nodiscard]] std::vector<EventId> gpu_events(NodeId node, bool kernels_only,
                                                const Passes& passes) const {
    std::vector<EventId> found;
    for (const EventId event : tree_.gpu_events(node))
      if ((!kernels_only || trace_.category(event) == Category::kKernel) &&
          passes(trace_.name(event)))
        found.push_back(event);
    std::ranges::stable_sort(found, {}, [&](EventId event) { return trace_.ts_ns()[event.row]; });
    return found;
  }

  [[nodiscard]] NodeId nearest_op_named(NodeId node, std::string_view name) const {
    for (node = tree_.parent(node); node.valid(); node = tree_.parent(node))
      if (trace_.name(tree_.event(node)) == name) return node;
    return {};
  }
  [[nodiscard]] const Signature& arguments(EventId event) const {
    static const Signature kNone;
    const SignatureId id = trace_.signatures()[event.row];
    return id.valid() ? trace_.signature(id) : kNone;
  }

  // Around the call that launched one kernel, below what made the call.
  void isolate(EventId kernel, std::string name, NodeId arguments, std::vector<Extra> extra = {}) {
    const NodeId call = tree_.parent(tree_.node(kernel));
    const NodeId above = call.valid() ? tree_.parent(call) : NodeId{};
    if (!above.valid()) return;
    PseudoOp op = make(std::move(name), arguments, above, call, std::move(extra));
    if (options_.edition == Edition::kReference) {
      op.row.ts_ns = op.row.dur_ns = kAbsent;
      op.is_passed_over = true;
    }
    adopt(op, call);
    add(std::move(op), above);
  }
  // Around all that a call made.
  void wrap_children(NodeId node, std::string name, NodeId arguments,
                     std::vector<Extra> extra = {}) {
    PseudoOp op = make(std::move(name), arguments, node, node, std::move(extra));
    for (NodeId child{node.row + 1}; child.row < tree_.end(node).row; child = tree_.end(child))
      adopt(op, child);
    add(std::move(op), node);
  }
  // Around a call, below what made it.
  void insert_above(NodeId node, std::string name, NodeId arguments,
                    std::vector<Extra> extra = {}) {
    const NodeId above = tree_.parent(node);
    if (!above.valid()) return;
    PseudoOp op = make(std::move(name), arguments, node, node, std::move(extra));
    adopt(op, node);
    add(std::move(op), above);
  }

 private:
  // On the thread and with the times of other events.
  PseudoOp make(std::string name, NodeId arguments, NodeId thread, NodeId times,
                std::vector<Extra> extra) const {
    const std::uint32_t at = tree_.event(times).row;
    return {.name = std::move(name),
            .row = {.phase = Phase::kComplete,
                    .category = Category::kCpuOp,
                    .track = trace_.tracks()[tree_.event(thread).row],
                    .ts_ns = trace_.ts_ns()[at],
                    .dur_ns = trace_.dur_ns()[at]},
            .arguments = this->arguments(tree_.event(arguments)),
            .parent = {},
            .adopted = {},
            .extra = std::move(extra)};
  }
  void adopt(PseudoOp& op, NodeId child) {
    if (adopted_.insert(child.row).second) op.adopted.push_back(tree_.event(child));
  }
  void add(PseudoOp op, NodeId parent) {
    if (op.adopted.empty()) return;  // another one has taken all of it
    op.parent = tree_.event(parent);
    made_.push_back(std::move(op));
  }

  const Trace& trace_;
  const PseudoOpOptions& options_;
  Tree tree_;
  std::vector<PseudoOp> made_;
  std::unordered_set<std::uint32_t> adopted_;  // nodes; none has two parents
};

// --- mixture of experts ---

constexpr std::string_view kVllmMoe = "vllm::moe_forward", kAiterMoe = "vllm::rocm_aiter_fused_moe",
                           kGptqMoe = "vllm::outplace_fused_experts",
                           kFlydslMoe = "aiter::fused_moe_", kMatmulOgs = "matmul_ogs",
                           kGptqKernel = "fused_moe_kernel_gptq_awq";

std::vector<Extra> gemm_extra(const char* type, std::int64_t topk, bool is_gated) {
  return {{"MoE GEMM type", type}, {"MoE GEMM gated", is_gated}, {"MoE topk", topk}};
}

// The one fused kernel of the op, among those that sort and quantize.
void fused_by_aiter(Workshop& shop) {
  const Tree& tree = shop.tree();
  for (const NodeId op : shop.ops_named(kAiterMoe)) {
    bool has_ops = false;
    for (NodeId node{op.row + 1}; node.row < tree.end(op).row && !has_ops; ++node.row)
      has_ops = tree.is_op(node) && tree.gpu_count(node) > 0;
    if (has_ops) continue;
    const std::vector<EventId> kernels = shop.gpu_events(op, true, [](std::string_view name) {
      return contains(name, "aiter::") && contains(name, "fmoe") && !contains(name, "MoeSorting") &&
             !io::contains_ignoring_case(name, "quant");
    });
    if (kernels.size() == 1) shop.isolate(kernels[0], "pseudo_op::moe_aiter_fused_1stage", op);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

// Experts per token: the second argument of the op that chooses them.
std::int64_t topk_below(const Workshop& shop, NodeId op) {
  constexpr std::int64_t kUsual = 4;
  constexpr int kLevels = 11;
  const Tree& tree = shop.tree();
  for (NodeId node{op.row + 1}; node.row < tree.end(op).row; ++node.row) {
    if (!contains(shop.trace().name(tree.event(node)), "TopK")) continue;
    int level = 0;
    for (NodeId above = node; above != op && level <= kLevels; above = tree.parent(above)) ++level;
    const std::vector<Value>& values = shop.arguments(tree.event(node)).concrete.items();
    if (level > kLevels || values.size() < 2) continue;
    if (const auto topk = whole_number(values[1].as_text())) return *topk;
  }
  return kUsual;
}

// Two multiplications, the first of which may apply the activation, and the sum over the experts.
void unfused_by_triton(Workshop& shop) {
  const auto has = [](std::string_view part) {
    return [part](std::string_view name) { return io::contains_ignoring_case(name, part); };
  };
  for (const NodeId op : shop.ops_named(kVllmMoe)) {
    const std::vector<EventId> kernels = shop.gpu_events(op, true, has(kMatmulOgs));
    if (kernels.empty()) continue;
    const std::int64_t topk = topk_below(shop, op);
    for (const EventId kernel : kernels) {
      const bool is_up = kernel == kernels.front();
      const std::string_view name = shop.trace().name(kernel);
      const bool is_gated = has("_swiglu")(name) || has("_glu")(name);
      shop.isolate(
          kernel, is_up ? "pseudo_op::moe_triton_unfused_up" : "pseudo_op::moe_triton_unfused_down",
          op, gemm_extra(is_up ? "up" : "down", topk, is_gated));
    }
    const std::vector<EventId> sums = shop.gpu_events(op, false, has("matmul_scatter"));
    if (sums.size() == 1)
      shop.isolate(sums[0], "pseudo_op::moe_triton_unfused_finalize_matmul_scatter", op,
                   gemm_extra("finalize_matmul_scatter", topk, false));
  }
}

void quantized_by_gptq_or_awq(Workshop& shop) {
  constexpr std::int64_t kUsual = 8;
  for (const NodeId op : shop.ops_named(kGptqMoe)) {
    const std::vector<Value>& dims = shop.arguments(shop.tree().event(op)).dims.items();
    const bool knows_topk =
        dims.size() > 4 && dims[4].items().size() > 1 && dims[4].items()[1].is_int();
    const std::int64_t topk = knows_topk ? dims[4].items()[1].as_int() : kUsual;
    const std::vector<EventId> kernels = shop.gpu_events(
        op, true, [](std::string_view name) { return contains(name, kGptqKernel); });
    for (const EventId kernel : kernels) {
      const bool is_up = kernel == kernels.front();
      shop.isolate(kernel, is_up ? "pseudo_op::moe_gptq_awq_up" : "pseudo_op::moe_gptq_awq_down",
                   op, gemm_extra(is_up ? "up" : "down", topk, is_up));
    }
  }
}

void staged_by_flydsl(Workshop& shop) {
  for (const char* const stage : {"1", "2"}) {
    const std::string end = std::string{": flydsl_moe_stage"} + stage;
    for (const NodeId frame : shop.find(Category::kPythonFunction,
                                        [&](std::string_view name) { return name.ends_with(end); }))
      if (const NodeId op = shop.nearest_op_named(frame, kFlydslMoe); op.valid())
        shop.insert_above(frame, std::string{"pseudo_op::moe_flydsl_stage"} + stage, op);
  }
}

// --- attention ---

constexpr std::string_view kMlaDecode = "aiter::mla_decode_stage1_asm_fwd",
                           kMlaPrefill = "aiter::mla_prefill_ps_asm_fwd",
                           kV4 = "aiter::v4_attention_with_output";

// All that a Python function does is one op, with the arguments of the op that does the main part.
void wrap_frames(Workshop& shop, const char* frames, std::string_view main_op, const char* name) {
  const RE2 pattern{frames};
  const Tree& tree = shop.tree();
  for (const NodeId frame : shop.find(Category::kPythonFunction, [&](std::string_view text) {
         return RE2::PartialMatch({text.data(), text.size()}, pattern);
       }))
    for (NodeId node{frame.row + 1}; node.row < tree.end(frame).row; ++node.row)
      if (shop.trace().name(tree.event(node)) == main_op) {
        shop.wrap_children(frame, name, node);
        break;
      }
}
void mla_decode(Workshop& shop) {
  wrap_frames(shop, R"(aiter/mla.py\(\d+\): mla_decode_fwd)", kMlaDecode, "pseudo_mla_decode_fwd");
}
void mla_prefill(Workshop& shop) {
  wrap_frames(shop, R"(:\s*mla_fp8_prefill_attn(\b|$))", kMlaPrefill, "pseudo_mla_prefill_fwd");
}

// Which keys a call attends to shows in the kernels beside it: summaries of blocks, a selection of
// them, or those of the window alone.
struct V4Call {
  std::string mode = "swa";
  std::int64_t heads = 0, head_size = 0;  // 0: the kernels do not tell
};
V4Call v4_call(const Workshop& shop, NodeId op) {
  static const RE2 kSizes{R"(qk_norm_rope_H(\d+)_D(\d+)_RD\d+)"};
  V4Call call;
  for (const EventId event : shop.tree().gpu_events(op)) {
    const std::string_view name = shop.trace().name(event);
    if (name.starts_with("hca_")) call.mode = "hca";
    if (call.mode == "swa" && (name.starts_with("fused_compress_attn") ||
                               name.starts_with("_update_compressor_states_kernel")))
      call.mode = "csa";
    if (call.heads == 0)
      RE2::PartialMatch({name.data(), name.size()}, kSizes, &call.heads, &call.head_size);
  }
  return call;
}

void sparse_decode_of_v4(Workshop& shop) {
  static const RE2 kFrame{R"(paged_decode\.py\(\d+\):\s*sparse_attn_v4_paged_decode\b)"};
  for (const NodeId frame : shop.find(Category::kPythonFunction, [](std::string_view name) {
         return RE2::PartialMatch({name.data(), name.size()}, kFrame);
       })) {
    const NodeId op = shop.nearest_op_named(frame, kV4);
    if (!op.valid()) continue;
    const V4Call call = v4_call(shop, op);
    std::vector<Extra> extra{{"v4_mode", call.mode}, {"v4_tp", shop.options().tensor_parallel}};
    if (!shop.options().model_name.empty())
      extra.push_back({"v4_model_name", shop.options().model_name});
    if (call.heads > 0) {
      extra.push_back({"v4_H_Q", call.heads});
      extra.push_back({"v4_d_h", call.head_size});
    }
    shop.wrap_children(frame, "pseudo_v4_paged_decode_" + call.mode, op, std::move(extra));
  }
}

// --- the rules, in the order in which they are applied ---

struct Rule {
  std::string_view op;            // must be there
  std::string_view with = {};     // and so must this one
  std::string_view without = {};  // but not this
  std::string_view kernel = {};   // and a GPU event with this in its name, whatever the case
  void (*make)(Workshop& shop) = nullptr;
};
constexpr Rule kRules[] = {
    {.op = kAiterMoe, .with = kVllmMoe, .make = fused_by_aiter},
    {.op = kVllmMoe, .without = kAiterMoe, .kernel = kMatmulOgs, .make = unfused_by_triton},
    {.op = kGptqMoe, .kernel = kGptqKernel, .make = quantized_by_gptq_or_awq},
    {.op = kFlydslMoe, .make = staged_by_flydsl},
    {.op = kMlaDecode, .make = mla_decode},
    {.op = kMlaPrefill, .make = mla_prefill},
    {.op = kV4, .make = sparse_decode_of_v4},
};

constexpr std::string_view kSglang = "sglang_profiler::";

// "sglang_profiler::gemm_12" -> "sglang_profiler::gemm"; other names as they are
std::string_view without_running_number(std::string_view name) {
  if (!name.starts_with(kSglang)) return name;
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool has_number = end != name.npos && end + 1 < name.size() && name[end] == '_';
  return has_number && end > kSglang.size() ? name.substr(0, end) : name;
}

// The texts of a trace that any of this is about; most traces have none.
struct Found {
  explicit Found(const Trace& trace) {
    for (std::uint32_t id = 0; id < trace.string_count(); ++id) {
      const std::string_view text = trace.text({id});
      if (without_running_number(text) != text) numbered.push_back({id});
      if (text.empty()) continue;
      for (const Rule& rule : kRules)
        for (const std::string_view op : {rule.op, rule.with, rule.without})
          if (text == op) ops.push_back(op);
    }
  }
  [[nodiscard]] bool has(std::string_view op) const {
    return op.empty() || std::ranges::find(ops, op) != ops.end();
  }

  std::vector<StringId> numbered;
  std::vector<std::string_view> ops;
};

bool applies(const Rule& rule, const Found& found, const Trace& trace) {
  if (!found.has(rule.op) || !found.has(rule.with) ||
      (!rule.without.empty() && found.has(rule.without)))
    return false;
  return rule.kernel.empty() ||
         std::any_of(trace.all_events().begin(), trace.all_events().end(), [&](EventId event) {
           return is_gpu(trace.category(event)) &&
                  io::contains_ignoring_case(trace.name(event), rule.kernel);
         });
}

// --- writing it down ---

// Ops whose name ends in a number. The first event of a name tells whether it is one of an op.
struct Renamed {
  EventId event;
  StringId name;
  SignatureId arguments;
};
std::vector<Renamed> numbered_ops(const Trace& trace, std::span<const StringId> numbered) {
  std::vector<Renamed> found;
  if (numbered.empty()) return found;
  enum class Is : std::uint8_t { kOther, kNumbered, kOp };
  std::vector<Is> names(trace.string_count());
  for (const StringId id : numbered) names[id.row] = Is::kNumbered;
  for (const EventId event : trace.all_events()) {
    const StringId id = trace.names()[event.row];
    if (!id.valid() || trace.phase(event) != Phase::kComplete) continue;
    Is& name = names[id.row];
    if (name == Is::kNumbered)
      name = trace.category(event) == Category::kCpuOp ? Is::kOp : Is::kOther;
    if (name == Is::kOp) found.push_back({event, id, trace.signatures()[event.row]});
  }
  return found;
}

void rename(TraceBuilder& builder, std::span<const Renamed> events) {
  std::unordered_map<std::uint32_t, SignatureId> renamed;  // by SignatureId
  for (const auto& [event, old_name, old_arguments] : events) {
    const StringId name =
        builder.intern(std::string{without_running_number(builder.text(old_name))});
    builder.set_name(event, name);
    if (!old_arguments.valid()) continue;
    const auto [known, is_new] = renamed.try_emplace(old_arguments.row);
    if (is_new) {
      Signature arguments = builder.signature(old_arguments);
      arguments.name = name;
      known->second = builder.intern(std::move(arguments));
    }
    builder.set_signature(event, known->second);
  }
}

void append(TraceBuilder& builder, PseudoOp op) {
  op.row.name = op.arguments.name = builder.intern(op.name);
  op.row.signature = builder.intern(std::move(op.arguments));
  const EventId event = builder.append(op.row);
  builder.set_parent(event, op.parent);
  for (const EventId child : op.adopted) builder.set_parent(child, event);
  if (op.is_passed_over) builder.pass_over(event);
  std::vector<std::string> keys{"Pseudo op"};
  std::vector<Value> values{true};
  for (Extra& extra : op.extra) {
    keys.push_back(std::move(extra.key));
    values.push_back(std::move(extra.value));
  }
  builder.set_details(event,
                      builder.intern(json_text(Value::dict(std::move(keys), std::move(values)))));
}

}  // namespace

Trace add_pseudo_ops(Trace trace, const PseudoOpOptions& options) {
  const Found found{trace};
  const std::vector<Renamed> renamed = numbered_ops(trace, found.numbered);
  std::vector<PseudoOp> ops;
  if (!found.ops.empty()) {
    Workshop shop{trace, options};
    for (const Rule& rule : kRules)
      if (applies(rule, found, trace)) rule.make(shop);
    ops = std::move(shop).take();
  }
  if (ops.empty() && renamed.empty()) return trace;
  TraceBuilder builder{std::move(trace)};
  rename(builder, renamed);
  for (PseudoOp& op : ops) append(builder, std::move(op));
  return std::move(builder).finish();
}

}  // namespace tracelens
