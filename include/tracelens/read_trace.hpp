// read_trace.hpp: one trace file in, one Trace out. Nothing is computed here. In src/readers.
//   const Trace trace = read_trace("rank0.json.gz", {.threads = 8});
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

// How far a read has come; called now and then, by one thread at a time.
struct ReadProgress {
  double fraction = 0;  // of the stored bytes; 0 when the size is unknown (a pipe)
  std::uint64_t text_bytes = 0;
  std::uint64_t events = 0;
};

struct ReadOptions {
  int threads = 0;  // 0: one per core. The result never depends on it.
  std::function<void(const ReadProgress&)> on_progress = nullptr;
  // --- of databases (rocpd, rpd, Nsight Systems) ---
  bool salvage = false;  // read on behind damaged pages, and what is left of a file that was cut
  int time_limit_s = 0;  // Error when reading takes longer; 0: no limit
  bool rename_kernels = false;  // rocpd: a kernel is called as the marker around its launch
  bool command_lines = false;   // rocpd: keep how the processes were started
  // Ranges of emit_nvtx tell the shapes of an op's tensors, but not their type: "bf16" or what they are
  // to be taken for. Empty: bytes and rooflines of such ops stay unknown.
  std::string assume_dtype = {};

  // Text is read in blocks of about this size. The result does not depend on it either; tests use
  // small blocks to put a cut into every place.
  std::size_t block_bytes = std::size_t{512} << 10;
};

// Detects packing and format from the first bytes, never from the file name. "-": standard input.
// Throws Error when the file cannot be opened or is of no known format. A damaged event is dropped
// and a file cut short gives every event before the cut; both are counted in Trace::warnings(),
// with the byte (of the unpacked text) where the first one was found.
[[nodiscard]] Trace read_trace(const std::string& path, const ReadOptions& options = {});

// The files of one job as one trace: databases of one profiler (rocpd, rpd, Nsight Systems), each of
// other processes. Throws Error when there are several and one is of another format.
[[nodiscard]] Trace read_job(std::span<const std::string> paths, const ReadOptions& options = {});

// The same for bytes in memory; `name` stands in for the path in messages.
[[nodiscard]] Trace read_trace_bytes(std::string name, std::span<const char> bytes,
                                     const ReadOptions& options = {});

}  // namespace tracelens
