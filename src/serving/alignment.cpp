#include "serving/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "facts/kernel_names.hpp"
#include "facts/kernel_rules.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kOtherKernels = "its kernels are not those of the capture";
constexpr std::string_view kTooAlike =
    "its streams run the same kernels for too long to be told apart";

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}
constexpr std::string_view kCopyWord = "Memcpy";
bool is_copy(const CapturedCall& call) { return has(call.call, kCopyWord); }
bool is_fill_name(std::string_view name) { return has(name, "Memset") || has(name, "fillBuffer"); }
bool is_fill(const CapturedCall& call) { return has(call.call, "Memset"); }
bool is_nameless(const CapturedCall& call) {
  return call.kernel.empty() && !is_copy(call) && !is_fill(call);
}
std::string_view kernel_or_call(const CapturedCall& call) {
  return call.kernel.empty() ? call.call : call.kernel;
}

bool uses_several_streams(std::span<const ReplayedWork> work) {
  return std::ranges::any_of(
      work, [&](const ReplayedWork& one) { return one.stream != work.front().stream; });
}

Pairs one_by_one(std::size_t count) {
  Pairs pairs(count);
  std::iota(pairs.begin(), pairs.end(), 0U);
  return pairs;
}

// Numbers for names, so that modes compare integers. A copy or a fill is a kind of its own, however
// it is called.
class Names {
 public:
  std::uint32_t of(const CapturedCall& call) {
    if (is_copy(call)) return kCopy;
    if (is_fill(call)) return kFill;
    return id(kernel_or_call(call));
  }
  std::uint32_t of(const ReplayedWork& work) {
    const NameKind kind = name_kind(work.name);
    if (has(work.name, "Memcpy") || kind == NameKind::kCopy) return kCopy;
    if (has(work.name, "Memset") || kind == NameKind::kFill) return kFill;
    return id(work.name);
  }
  [[nodiscard]] static bool is_kernel(std::uint32_t name) { return name >= kFirst; }

 private:
  static constexpr std::uint32_t kCopy = 0, kFill = 1, kFirst = 2;
  std::uint32_t id(std::string_view name) {
    return ids_.try_emplace(name, static_cast<std::uint32_t>(ids_.size()) + kFirst).first->second;
  }
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

constexpr std::array<std::string_view, 8> kMatrixOps = {
    "aten::mm",     "aten::addmm",  "aten::bmm",        "aten::baddbmm",
    "aten::linear", "aten::matmul", "aten::_scaled_mm", "aten::addmv"};
constexpr std::array<std::string_view, 14> kSimpleOps = {
    "aten::add",  "aten::add_",  "aten::mul",   "aten::mul_",        "aten::sub",
    "aten::div",  "aten::copy_", "aten::fill_", "aten::silu",        "aten::pow",
    "aten::mean", "aten::cat",   "aten::rsqrt", "aten::index_select"};

// Where a capture names no kernels: what its ops say of them. A matrix multiplication launches at
// least one kernel that looks like one, and an addition none. Empty: nothing is wrong.
std::string contradiction(std::span<const CapturedCall> calls, std::span<const ReplayedWork> work,
                          const Pairs& pairs) {
  const KernelRules& rules = KernelRules::built_in();
  std::unordered_map<std::string_view, bool> known;
  const auto is_gemm = [&](std::string_view kernel) {
    const auto [entry, added] = known.try_emplace(kernel, false);
    if (added) entry->second = rules.category(kernel) == "gemm";
    return entry->second;
  };
  struct OpKernels {
    std::string_view op, kernel;
    bool has_gemm = false;
  };
  std::unordered_map<std::uint32_t, OpKernels> ops;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (pairs[i] == kUnpaired) continue;
    const CapturedCall& call = calls[pairs[i]];
    if (call.op.empty() || is_copy(call) || is_fill(call)) continue;
    OpKernels& op = ops.try_emplace(call.op_id, OpKernels{call.op, work[i].name}).first->second;
    if (is_gemm(work[i].name)) {
      op.kernel = work[i].name;
      op.has_gemm = true;
    }
  }
  for (const auto& [id, op] : ops) {
    const bool is_matrix = std::ranges::find(kMatrixOps, op.op) != kMatrixOps.end();
    const bool is_simple = std::ranges::find(kSimpleOps, op.op) != kSimpleOps.end();
    if ((is_matrix && !op.has_gemm) || (is_simple && op.has_gemm))
      return fmt::format("by order {} would have launched {}", op.op, op.kernel.substr(0, 60));
  }
  return {};
}

// Positions of `work` in the order of the capture: by the ids of graph nodes where all have one, by
// time otherwise.
std::vector<std::uint32_t> capture_order(std::span<const ReplayedWork> work, bool& by_node) {
  std::vector<std::uint32_t> order(work.size());
  std::iota(order.begin(), order.end(), 0U);
  by_node = std::ranges::none_of(work, [](const auto& one) { return one.node == kAbsent; });
  const auto node = [&](std::uint32_t i) { return work[i].node; };
  if (!by_node) return order;
  std::vector<std::uint32_t> sorted = order;
  std::ranges::sort(sorted, {}, node);
  by_node = std::ranges::adjacent_find(sorted, {}, node) == sorted.end();
  return by_node ? sorted : order;
}

Pairing by_order(std::span<const CapturedCall> calls, std::span<const ReplayedWork> work,
                 std::span<const std::uint32_t> call_names, std::span<const std::uint32_t> names,
                 bool by_node) {
  constexpr std::string_view kNameless = "the capture does not name its kernels";
  if (!by_node && uses_several_streams(work))
    return {.reason = fmt::format("the graph uses several streams, and {}", kNameless)};
  if (calls.size() != work.size())
    return {.reason = fmt::format("the capture has {} calls, the launch ran {} GPU events, and {}",
                                  calls.size(), work.size(), kNameless)};
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool fits =
        is_nameless(calls[i]) ? Names::is_kernel(names[i]) : call_names[i] == names[i];
    if (!fits)
      return {.reason =
                  fmt::format("GPU event {} ({}) is not what call {} of the capture ({}) does",
                              i + 1, work[i].name.substr(0, 60), i + 1, calls[i].call)};
  }
  Pairs pairs = one_by_one(work.size());
  if (std::string reason = contradiction(calls, work, pairs); !reason.empty())
    return {.reason = std::move(reason)};
  std::size_t likely = 0, same = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (calls[i].likely_kernel.empty()) continue;
    ++likely;
    if (calls[i].likely_kernel == work[i].name) ++same;
  }
  // A library may choose another kernel now and then.
  if (same * 2 < likely)
    return {.reason = fmt::format(
                "of {} kernels that the same ops launched outside the capture only {} are here",
                likely, same)};
  std::string reason =
      fmt::format("by {}: {}", by_node ? "the order of graph nodes" : "order", kNameless);
  if (likely > 0)
    reason +=
        fmt::format("; {} of {} kernels are what the same ops launched outside it", same, likely);
  return {.how = Alignment::kByOrder, .calls = std::move(pairs), .reason = std::move(reason)};
}

Pairing by_names(std::span<const CapturedCall> calls, std::span<const ReplayedWork> work,
                 std::span<const std::uint32_t> call_names, std::span<const std::uint32_t> names,
                 bool in_capture_order) {
  StreamSearch search;
  if (std::ranges::equal(call_names, names))
    return {.how = Alignment::kByPosition, .calls = one_by_one(work.size())};
  if (in_capture_order) {
    if (auto pairs = align_in_order(calls, work))
      return {.how = Alignment::kInOrder, .calls = std::move(*pairs)};
  } else if (auto pairs = align_by_stream(calls, work, search)) {
    return {.how = Alignment::kByStream, .calls = std::move(*pairs)};
  }
  if (auto pairs = align_by_name(call_names, names))
    return {.how = Alignment::kByName, .calls = std::move(*pairs)};
  if (auto pairs = align_partly(call_names, names)) {
    Pairing part{.how = Alignment::kPartly, .calls = std::move(*pairs)};
    const std::uint32_t matched = part.matched();
    if (std::size_t{matched} * 2 >= work.size()) {
      part.reason = fmt::format("{} GPU events are not in the capture", work.size() - matched);
      return part;
    }
  }
  return {.reason = std::string{search.gave_up ? kTooAlike : kOtherKernels}};
}

}  // namespace

std::string_view alignment_text(Alignment alignment) {
  constexpr std::array<std::string_view, 7> kTexts = {
      "not matched", "one by one", "in order", "by name", "by stream", "in part", "by order only"};
  return kTexts[static_cast<std::size_t>(alignment)];
}

void add_remark(std::string& reason, std::string_view remark) {
  if (!reason.empty()) reason += "; ";
  reason += remark;
}

std::uint32_t Pairing::matched() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(calls, [](std::uint32_t call) { return call != kUnpaired; }));
}

bool names_match(const CapturedCall& call, std::string_view gpu_name) {
  return (is_copy(call) && has(gpu_name, kCopyWord)) || (is_fill(call) && is_fill_name(gpu_name)) ||
         kernel_or_call(call) == gpu_name;
}

std::optional<Pairs> align_in_order(std::span<const CapturedCall> calls,
                                    std::span<const ReplayedWork> work) {
  Pairs pairs;
  pairs.reserve(work.size());
  std::uint32_t next = 0;
  for (const ReplayedWork& one : work) {
    while (next < calls.size() && !names_match(calls[next], one.name)) ++next;
    if (next == calls.size()) return std::nullopt;
    pairs.push_back(next++);
  }
  return pairs;
}

std::optional<Pairs> align_by_stream(std::span<const CapturedCall> calls,
                                     std::span<const ReplayedWork> work, StreamSearch& search) {
  struct Queue {
    std::vector<std::uint32_t> events = {};
    std::size_t head = 0;
  };
  std::vector<Queue> queues;  // by first appearance
  std::unordered_map<std::int64_t, std::size_t> queue_of;
  for (std::uint32_t i = 0; i < work.size(); ++i) {
    const auto [entry, added] = queue_of.try_emplace(work[i].stream, queues.size());
    if (added) queues.emplace_back();
    queues[entry->second].events.push_back(i);
  }
  // What names_match() asks, answered once per name.
  struct Name {
    std::uint32_t id;
    bool is_copy, is_fill;
  };
  std::unordered_map<std::string_view, std::uint32_t> ids;
  const auto id = [&](std::string_view name) {
    return ids.try_emplace(name, static_cast<std::uint32_t>(ids.size())).first->second;
  };
  std::vector<Name> call_names, names;
  for (const CapturedCall& call : calls)
    call_names.push_back({id(kernel_or_call(call)), is_copy(call), is_fill(call)});
  for (const ReplayedWork& one : work)
    names.push_back({id(one.name), has(one.name, kCopyWord), is_fill_name(one.name)});
  const std::size_t most = kStreamComparisons * (calls.size() + work.size());
  const auto matches = [&](const Queue& queue, std::size_t ahead, std::size_t call) {
    if (call + ahead >= calls.size() || queue.head + ahead >= queue.events.size()) return false;
    ++search.comparisons;
    const Name &wanted = call_names[call + ahead], &ran = names[queue.events[queue.head + ahead]];
    return wanted.id == ran.id || (wanted.is_copy && ran.is_copy) ||
           (wanted.is_fill && ran.is_fill);
  };
  Pairs pairs(work.size(), kUnpaired);
  std::vector<Queue*> candidates;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    candidates.clear();
    for (Queue& queue : queues)
      if (matches(queue, 0, call)) candidates.push_back(&queue);
    // The runs are followed side by side; of those that end last the first wins.
    for (std::size_t ahead = 1; candidates.size() > 1 && search.comparisons <= most; ++ahead) {
      Queue* const first = candidates.front();
      std::erase_if(candidates, [&](const Queue* queue) { return !matches(*queue, ahead, call); });
      if (candidates.empty()) candidates.push_back(first);
    }
    if (search.comparisons > most) {
      search.gave_up = true;
      return std::nullopt;
    }
    if (candidates.empty()) continue;
    Queue& chosen = *candidates.front();
    pairs[chosen.events[chosen.head++]] = call;
  }
  if (std::ranges::find(pairs, kUnpaired) != pairs.end()) return std::nullopt;
  return pairs;
}

std::optional<Pairs> align_by_name(std::span<const std::uint32_t> calls,
                                   std::span<const std::uint32_t> work) {
  if (calls.size() != work.size()) return std::nullopt;
  const auto by_name = [](std::span<const std::uint32_t> names) {
    Pairs order = one_by_one(names.size());
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return names[i]; });
    return order;
  };
  const Pairs call_order = by_name(calls), work_order = by_name(work);
  Pairs pairs(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (calls[call_order[i]] != work[work_order[i]]) return std::nullopt;
    pairs[work_order[i]] = call_order[i];
  }
  return pairs;
}

// The longest common subsequence after E. Myers, An O(ND) Difference Algorithm: how far each diagonal
// is reached with d differences; what was reached before each d is kept for the way back.
std::optional<Pairs> align_partly(std::span<const std::uint32_t> calls,
                                  std::span<const std::uint32_t> work) {
  constexpr std::int64_t kMostDifferences = 600;
  const std::int64_t n = std::ssize(calls), m = std::ssize(work);
  const std::int64_t most = std::min(kMostDifferences, n + m);
  using Reached = std::vector<std::int64_t>;  // by diagonal: calls taken
  const auto at = [most](std::int64_t k) { return static_cast<std::size_t>(k + most + 1); };
  struct Start {
    std::int64_t x, diagonal;  // calls taken before the common run, and where it came from
  };
  const auto start_of = [&](const Reached& reached, std::int64_t d, std::int64_t k) -> Start {
    if (k == -d || (k != d && reached[at(k - 1)] < reached[at(k + 1)]))
      return {reached[at(k + 1)], k + 1};
    return {reached[at(k - 1)] + 1, k - 1};
  };
  const auto same = [&](std::int64_t x, std::int64_t y) {
    return x < n && y < m &&
           calls[static_cast<std::size_t>(x)] == work[static_cast<std::size_t>(y)];
  };
  Reached reached(static_cast<std::size_t>(2 * most + 3), 0);
  std::vector<Reached> before;
  for (std::int64_t d = 0; d <= most; ++d) {
    before.push_back(reached);
    for (std::int64_t k = -d; k <= d; k += 2) {
      std::int64_t x = start_of(reached, d, k).x;
      while (same(x, x - k)) ++x;
      reached[at(k)] = x;
      if (k != n - m || x < n) continue;
      Pairs pairs(work.size(), kUnpaired);
      for (std::int64_t diagonal = k;; --d) {
        const Start start = start_of(before[static_cast<std::size_t>(d)], d, diagonal);
        for (; x > start.x; --x)
          pairs[static_cast<std::size_t>(x - 1 - diagonal)] = static_cast<std::uint32_t>(x - 1);
        if (d == 0) return pairs;
        x = before[static_cast<std::size_t>(d)][at(start.diagonal)];
        diagonal = start.diagonal;
      }
    }
  }
  return std::nullopt;
}

Pairing align_as_reference(std::span<const CapturedCall> calls,
                           std::span<const ReplayedWork> work) {
  if (uses_several_streams(work)) {
    if (std::ranges::any_of(calls, is_nameless))
      return {.reason = "several streams, and the capture does not name its kernels",
              .spoils_all = true};
    StreamSearch search;
    if (auto pairs = align_by_stream(calls, work, search))
      return {.how = Alignment::kByStream, .calls = std::move(*pairs)};
    return {.reason = std::string{search.gave_up ? kTooAlike : kOtherKernels}};
  }
  if (calls.size() != work.size()) {
    if (auto pairs = align_in_order(calls, work))
      return {.how = Alignment::kInOrder, .calls = std::move(*pairs)};
    return {.reason = std::string{kOtherKernels}};
  }
  const auto mismatch =
      std::ranges::mismatch(calls, work, [](const CapturedCall& call, const ReplayedWork& one) {
        return call.kernel.empty() || call.kernel == one.name;
      });
  if (mismatch.in1 == calls.end())
    return {.how = Alignment::kByPosition, .calls = one_by_one(work.size())};
  std::unordered_map<std::string_view, std::uint32_t> ids;
  const auto id = [&](std::string_view name) {
    return ids.try_emplace(name, static_cast<std::uint32_t>(ids.size())).first->second;
  };
  std::vector<std::uint32_t> call_names, names;
  for (const CapturedCall& call : calls) call_names.push_back(id(kernel_or_call(call)));
  for (const ReplayedWork& one : work) names.push_back(id(one.name));
  if (auto pairs = align_by_name(call_names, names))
    return {.how = Alignment::kByName, .calls = std::move(*pairs)};
  return {.reason = std::string{kOtherKernels}};
}

Pairing align(std::span<const CapturedCall> calls, std::span<const ReplayedWork> all) {
  if (calls.empty()) return {.reason = "the capture launches nothing"};
  bool by_node = false;
  const std::vector<std::uint32_t> order = capture_order(all, by_node);
  std::vector<ReplayedWork> work;
  for (const std::uint32_t i : order) work.push_back(all[i]);
  Names ids;
  std::vector<std::uint32_t> call_names, names;
  for (const CapturedCall& call : calls) call_names.push_back(ids.of(call));
  for (const ReplayedWork& one : work) names.push_back(ids.of(one));
  Pairing found =
      std::ranges::any_of(calls, is_nameless)
          ? by_order(calls, work, call_names, names, by_node)
          : by_names(calls, work, call_names, names, by_node || !uses_several_streams(work));
  if (found.how == Alignment::kNone) return found;
  Pairs pairs(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) pairs[order[i]] = found.calls[i];
  found.calls = std::move(pairs);
  if (const std::size_t dropped = calls.size() - found.matched(); dropped > 0)
    add_remark(found.reason, fmt::format("{} captured call{} ran nothing here", dropped,
                                         dropped == 1 ? "" : "s"));
  return found;
}

}  // namespace tracelens
