// alignment.hpp: which call of a capture recorded which GPU event of a replay.
//   const Pairing pairing = align(calls, work);
//   if (pairing.how != Alignment::kNone) use(pairing.calls);      // by GPU event
// Both lists stand in order of time. Pure functions of names, streams and the ids of graph nodes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// A call of the capture that puts work on the GPU.
struct CapturedCall {
  std::string_view call;         // "hipLaunchKernel", "cudaMemcpyAsync"
  std::string_view kernel = {};  // what it launches; empty: the capture does not tell
  std::string_view op = {};      // the op that made the call; empty: none
  std::uint32_t op_id = 0;       // equal for calls of one op
  // Of a capture that does not tell: what the same op, with the same arguments, launched when it
  // ran outside the capture, such as to warm up. Empty: it did not.
  std::string_view likely_kernel = {};
};

// A GPU event of the replay.
struct ReplayedWork {
  std::string_view name;
  std::int64_t stream = kAbsent;
  std::int64_t node = kAbsent;  // "graph node id", which rises in the order of the capture
};

inline constexpr std::uint32_t kUnpaired = std::numeric_limits<std::uint32_t>::max();
using Pairs = std::vector<std::uint32_t>;  // by GPU event: its call, or kUnpaired

struct Pairing {
  Alignment how = Alignment::kNone;
  Pairs calls = {};
  std::string reason = {};  // why not, or what is not sure
  bool spoils_all = false;  // the reference gives up on the whole trace

  [[nodiscard]] std::uint32_t matched() const;
};

// Appends to what is said already.
void add_remark(std::string& reason, std::string_view remark);

// The rules of the reference, all or nothing.
[[nodiscard]] Pairing align_as_reference(std::span<const CapturedCall> calls,
                                         std::span<const ReplayedWork> work);
// Ours: copies and fills count as such in every mode, a part may match, and names that contradict
// each other are never paired.
[[nodiscard]] Pairing align(std::span<const CapturedCall> calls,
                            std::span<const ReplayedWork> work);

// --- the modes; none when a GPU event finds no call ---
// A copy goes with a copy, a fill with a fill, a kernel with its name.
[[nodiscard]] bool names_match(const CapturedCall& call, std::string_view gpu_name);
// Each event takes the next call that matches; calls in between ran nothing.
[[nodiscard]] std::optional<Pairs> align_in_order(std::span<const CapturedCall> calls,
                                                  std::span<const ReplayedWork> work);
// A queue per stream; each call takes the head of one. Of several heads that match the one whose
// queue goes on to match the following calls for longest.
// Streams that run the same for long are many to compare: more than kStreamComparisons per call and
// event, and it gives up.
inline constexpr std::size_t kStreamComparisons = 512;
struct StreamSearch {
  std::size_t comparisons = 0;  // of two names
  bool gave_up = false;
};
[[nodiscard]] std::optional<Pairs> align_by_stream(std::span<const CapturedCall> calls,
                                                   std::span<const ReplayedWork> work,
                                                   StreamSearch& search);
// The k-th call of a name with the k-th event of that name; there must be as many of each. Ids
// stand for names.
[[nodiscard]] std::optional<Pairs> align_by_name(std::span<const std::uint32_t> calls,
                                                 std::span<const std::uint32_t> work);
// As many as possible in order, the rest unpaired; none where the two differ in more than a few
// hundred places.
[[nodiscard]] std::optional<Pairs> align_partly(std::span<const std::uint32_t> calls,
                                                std::span<const std::uint32_t> work);

}  // namespace tracelens
