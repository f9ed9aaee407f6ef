// genesis.hpp: the report of a captured Genesis run: its kernels by what they simulate, the
// timeline of the simulation itself, and the tables of its ROCm timeline.
//   const GenesisReport report = genesis_report({.kernels = &kernels, .timeline = &pftrace}, {});
#pragma once

#include <optional>
#include <string>
#include <tracelens/rocm.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <vector>

#include "analysis/rocm/genesis.hpp"

namespace tracelens {

// What a capture folder holds.
struct GenesisCapture {
  const Trace* kernels = nullptr;   // never null: the kernel CSV, or rocprofv3's results
  const Trace* timeline = nullptr;  // .pftrace; null when there is none
  // Only a kernel CSV is cut to the simulation; results have the times of the whole process.
  bool has_kernel_csv = false;
  Value manifest = {};    // how the run was made; null when there is none
  std::string name = {};  // of the folder, in place of the manifest's time
  SteadyStateOptions steady = {};
};

// `options` without its times, which are those of the capture.
[[nodiscard]] GenesisReport genesis_report(const GenesisCapture& capture,
                                           const GenesisOptions& options);

}  // namespace tracelens
