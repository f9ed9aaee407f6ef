#include "analysis/gpu/idle_state.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace tracelens {
namespace {

bool contains_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return name.find(word) != name.npos; });
}

// Calls that return only when the GPU has finished something.
bool is_sync_call(std::string_view name) {
  constexpr std::string_view kWords[] = {"Synchronize", "hsa_signal_wait"};
  constexpr std::string_view kCalls[] = {"cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream",
                                         "hipMemcpyDtoH"};
  return contains_any(name, kWords) || std::ranges::find(kCalls, name) != std::end(kCalls);
}

// Ops and frames that fetch a value from the GPU, or wait for it otherwise.
bool is_waiting(std::string_view name) {
  constexpr std::string_view kOps[] = {"aten::item", "aten::_local_scalar_dense",
                                       "aten::is_nonzero", "aten::equal"};
  constexpr std::string_view kWords[] = {"block_until_ready", "BlockHostUntilDone",
                                         "BlockUntilReady",   "device_get",
                                         "ToLiteral",         "TransferFromDevice"};
  return std::ranges::find(kOps, name) != std::end(kOps) || contains_any(name, kWords);
}

// Copying from the host to the GPU, as XLA and JAX call it.
bool is_feeding(std::string_view name) {
  constexpr std::string_view kWords[] = {"device_put",       "DevicePut",    "BufferFromHost",
                                         "TransferToDevice", "HostToDevice", "TransferLiteral"};
  return contains_any(name, kWords);
}

// XLA compiling a module.
bool is_compiling(std::string_view name) {
  constexpr std::string_view kWords[] = {"backend_compile",     "Client::Compile",
                                         "Client_Compile",      "XlaCompile",
                                         "_cached_compilation", "compile_or_get_cached"};
  return contains_any(name, kWords);
}

HostState state_of(Category category, std::string_view name) {
  if (is_runtime(category))
    return is_sync_call(name) ? HostState{Host::kSync, IdleCause::kSync}
                              : HostState{Host::kRuntime, IdleCause::kLaunch};
  HostState state{Host::kAnnotation, IdleCause::kPython};
  if (category == Category::kCpuOp) state = {Host::kOp, IdleCause::kOpDispatch};
  if (category == Category::kPythonFunction) state.host = Host::kPython;
  if (is_waiting(name))
    state.cause = IdleCause::kSync;
  else if (is_data_loading(name) || is_feeding(name))
    state.cause = IdleCause::kData;
  else if (is_compiling(name))
    state = {Host::kCompile, IdleCause::kOpDispatch};
  // The engine that calls the ops of a backward pass, which have a thread of their own.
  else if (name.find("run_backward") != name.npos)
    state.cause = IdleCause::kOpDispatch;
  return state;
}

}  // namespace

std::string_view text_of(Host host) {
  constexpr std::array<std::string_view, 13> kTexts = {
      "no host activity", "unlinked",   "queued",    "launch latency", "launch call",
      "slow launch call", "late start", "sync",      "runtime call",   "op",
      "compile",          "python",     "annotation"};
  return kTexts[static_cast<std::size_t>(host)];
}

bool is_data_loading(std::string_view name) {
  constexpr std::string_view kWords[] = {"DataLoader", "torch/utils/data/", "<built-in method read",
                                         "<built-in function read", "<built-in function open"};
  return contains_any(name, kWords);
}

bool is_host_to_device(std::string_view copy) {
  constexpr std::string_view kWords[] = {"HtoD", "H2D", "HOST_TO_DEVICE"};
  return contains_any(copy, kWords);
}

HostState HostStates::in(HostState caller, EventId event) {
  Known& known = known_[trace_.names()[event.row].row];
  if (known.category != trace_.category(event))
    known = {trace_.category(event), state_of(trace_.category(event), trace_.name(event))};
  HostState state = known.state;
  if (caller.cause == IdleCause::kData || caller.cause == IdleCause::kSync ||
      (caller.cause == IdleCause::kOpDispatch && state.cause == IdleCause::kPython))
    state.cause = caller.cause;
  if (caller.host == Host::kCompile) state = caller;
  return state;
}

}  // namespace tracelens
