// gpu.hpp: what a GPU can do at best: memory bandwidth and peak rates, from data/gpus/*.json.
//   const Gpu* gpu = find_gpu("AMD Instinct MI300X OAM");     // null: not known
//   const Gpu mine = read_gpu(text, "my_gpu.json");           // ours or the reference's arch JSON
//   const std::optional<Gpu> its = chosen_gpu({}, &trace);    // the one the trace was recorded on
// The files of data/gpus are embedded at build time; each gives the public source of every figure.
// The time it takes for some work: roofline.hpp. Implemented in src/perf and src/analysis/gpu.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct Gpu {
  // What a GPU can send to the others of its machine, in 10^9 bytes per second in one direction.
  struct Link {
    std::optional<double> gbps = {};           // to all of them together
    std::optional<double> gbps_per_peer = {};  // to each, where GPUs are wired in pairs
    std::vector<std::string> not_on = {};  // boards without it: parts of device names, lower case
  };

  std::string name;                       // "MI300X"
  std::vector<std::string> device_names;  // parts of device names, in lower case
  std::optional<double> memory_gb;        // 10^9 bytes
  std::optional<double> memory_gbps;      // 10^9 bytes per second
  Link link = {};
  std::map<std::string, double> peak_tflops;  // dense, by compute spec: "matrix_bf16"
  // What the Python TraceLens holds reachable on this GPU, where it says so; else empty. Its
  // platforms are these numbers, so the drop-in command uses them.
  std::map<std::string, double> achievable_tflops;
};

// Every embedded GPU, by name.
[[nodiscard]] std::span<const Gpu> known_gpus();

// The GPU whose name, or longest device name, is part of `device`; null when none is. Parts are whole
// words: an "RTX A1000" is no A100. What a file lists under `other_devices` is another GPU.
// Case does not matter: "h200", "NVIDIA H200" and "NVIDIA H200 141GB" are one.
[[nodiscard]] const Gpu* find_gpu(std::string_view device);

// The peak of what one of `ranks` GPUs of one machine sends to the others; nothing when the device,
// or the link of this board, is not known.
[[nodiscard]] std::optional<double> link_gbps(std::string_view device, std::int64_t ranks);

// Reads a GPU file: our format, or the reference's (`mem_bw_gbps`, `max_achievable_tflops`), whose
// figures become the peaks. Absent keys leave their columns empty. Throws Error, naming `where`,
// when the text is not a JSON object or a figure is not a positive number.
[[nodiscard]] Gpu read_gpu(std::string_view text, std::string_view where);

// --- which GPU's figures to use: those asked for, else those of the trace's ---
struct GpuChoice {
  std::string name = {};  // "MI300X", or part of a device name
  std::string file = {};  // a JSON file with its figures; wins over the name
};

// Without a choice the first GPU the trace lists that is known; none when there is none. Throws
// Error when a file cannot be read or a name is not known.
[[nodiscard]] std::optional<Gpu> chosen_gpu(const GpuChoice& choice, const Trace* trace);

// The product name of the first GPU the trace lists; "" when it does not say.
[[nodiscard]] std::string device_name(const Trace& trace);

[[nodiscard]] std::string known_gpu_names();  // "A100_40, A100_80, ..."

}  // namespace tracelens
