// replay.hpp: ops of a trace as a script that runs them again. Implemented in src/report/replay.
//   const Replay replay = choose_replay(trace, {.top = 20});
//   write_text_file("replay.py", replay_script(replay));
// The script needs PyTorch, or for a JAX profile JAX, and nothing else. What leaves the trace is
// what ReplayRecord holds: no stacks, no module names, no paths, no hosts. Classes of autograd
// functions are custom_1, custom_2, ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct ReplayChoice {
  std::optional<std::size_t> top = {};        // the calls that take the most GPU time
  std::vector<std::string> names = {};        // every call of these ops; JAX: instruction or opcode
  std::vector<std::uint64_t> uids = {};       // these calls, by their number in the file
  bool all_unique = false;                    // every op, also those without GPU work
  std::optional<std::uint64_t> subtree = {};  // all that runs below this call, in order
  std::string module = {};  // all that runs below the first nn.Module of this name
};

// The arguments of a call, as the profiler wrote them.
struct ReplayArguments {
  std::string op;
  Value types, dims, strides, concrete;
};

// One op with one set of arguments that ran the same kernels, however often it was called: equal
// arguments may still be a copy to the GPU or from it, or another back-end of attention.
struct ReplayRecord {
  ReplayArguments call;
  std::uint64_t uid = 0;  // the first of the calls
  std::uint64_t count = 0;
  std::int64_t kernel_ns = 0;                  // of all calls, with what they called
  std::optional<std::uint64_t> launches = {};  // GPU events of one call; a table does not say
  std::vector<std::string> kernels = {};       // by their time, longest first
  // What a replay needs and the arguments do not say; empty: nothing.
  std::string list_type = {};                   // of the tensors in lists: "float"
  std::string copy = {};                        // "HtoD pinned", "DtoH fresh": where tensors were
  std::string autocast = {};                    // the type that autocast worked in: "c10::BFloat16"
  std::string attention = {};                   // what attention was left to: "flash", "math"
  std::string source = {};                      // file name of a kernel that torch.compile made
  std::optional<ReplayArguments> forward = {};  // the op this is the backward of
  std::map<std::string, std::uint64_t> below = {};  // PyTorch's ops a node of autograd called
  // Of a JAX profile: the HLO instruction with all it calls, as JSON without names or sources.
  std::string hlo = {};
};

// Calls in the order in which they ran.
struct ReplaySequence {
  std::string name;
  std::vector<std::size_t> records = {};  // indices
  std::int64_t kernel_ns = 0;
};

struct Replay {
  std::string gpu;
  bool is_jax = false;  // records are HLO instructions, the script needs JAX
  // Of the GPU time: inside graph launches, which no op can be made of without their captures.
  double graph_share = 0;
  std::vector<ReplayRecord> records;
  std::vector<ReplaySequence> sequences;
  std::vector<std::string> warnings = {};  // names that were asked for and that no call has
};

// Throws Error when a number, all names or a module are not in the trace, or nothing is left.
[[nodiscard]] Replay choose_replay(const Trace& trace, const ReplayChoice& choice);

// The same from a table of a report: a CSV file or workbook with the columns name, Input Dims,
// Input type, Input Strides and Concrete Inputs, such as ops_unique_args. Times are those of the
// column total_subtree_kernel_time_sum where there is one, calls those of operation_count.
[[nodiscard]] bool is_replay_sheet(const std::string& path);
[[nodiscard]] Replay choose_replay_from_sheet(const std::string& path, const ReplayChoice& choice);

struct ReplayScriptOptions {
  bool kernel_names = true;
  std::string date = {};       // for the script's first lines; empty: none
  std::string data_file = {};  // beside the script, with replay_data(); empty: inside it
};
// The records as the script reads them.
[[nodiscard]] std::string replay_data(const Replay& replay, bool kernel_names = true);
inline constexpr std::size_t kMaxDataInScript = 1 << 20;  // more makes a file of its own
[[nodiscard]] std::string replay_script(const Replay& replay,
                                        const ReplayScriptOptions& options = {});

// The records as the batched runner of the Python TraceLens reads them. Names and types of arguments
// are not in a trace: `schemas` has one operator of PyTorch per line, "aten::mm(Tensor self, Tensor
// mat2) -> Tensor". What fits none is named in `left_out`. Throws Error when no line is one.
[[nodiscard]] std::string replay_ir(const Replay& replay, std::string_view schemas,
                                    std::vector<std::string>& left_out);

// Command lines of vendors' benchmarks, one per GEMM among the records. cuBLASLt comes without a
// program of this kind: its lines are the arguments of cublasLtMatmul as "name=value".
enum class GemmBench : std::uint8_t { kHipblaslt, kRocblas, kCutlass, kCublaslt };
[[nodiscard]] std::vector<std::string> gemm_bench_commands(const Replay& replay, GemmBench bench);

// What a script's --json results say about the trace: recorded against replayed time, op by op.
// Throws Error naming `where` when the text is not such a file, or of another trace.
[[nodiscard]] Table verify_replay(const Trace& trace, std::string_view results,
                                  std::string_view where);
// One sentence about that table: how many ran, how many of the long ones were reproduced, and how
// many with a cold cache alone.
[[nodiscard]] std::string verify_summary(const Table& verified);

}  // namespace tracelens
