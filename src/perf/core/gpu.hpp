// gpu.hpp: what a GPU can do at best: memory bandwidth and peak rates, from data/gpus/*.json.
//   const Gpu* gpu = find_gpu("AMD Instinct MI300X OAM");     // by --gpu or by the trace's device
//   const Gpu mine = read_gpu(text, "my_gpu.json");           // ours or the reference's arch JSON
// The files of data/gpus are embedded at build time; each gives the public source of every figure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::perf {

// What a GPU can send to the others of its machine, in 10^9 bytes per second in one direction.
struct Link {
  std::optional<double> gbps = {};           // to all of them together
  std::optional<double> gbps_per_peer = {};  // to each, where GPUs are wired in pairs
  std::vector<std::string> not_on = {};      // boards without it: parts of device names, lower case
};

struct Gpu {
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

// The GPU whose name, or longest device name, is part of `device`; null when none is.
// Case does not matter: "h200", "NVIDIA H200" and "NVIDIA H200 141GB" are one.
[[nodiscard]] const Gpu* find_gpu(std::string_view device);

// The peak of what one of `ranks` GPUs of one machine sends to the others; nothing when the device,
// or the link of this board, is not known.
[[nodiscard]] std::optional<double> link_gbps(std::string_view device, std::int64_t ranks);

// Reads a GPU file: our format, or the reference's (`mem_bw_gbps`, `max_achievable_tflops`), whose
// figures become the peaks. Absent keys leave their columns empty. Throws Error, naming `where`,
// when the text is not a JSON object or a figure is not a positive number.
[[nodiscard]] Gpu read_gpu(std::string_view text, std::string_view where);

}  // namespace tracelens::perf
