#include "facts/calls.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "facts/kernel_names.hpp"
#include "tree/category_rows.hpp"

namespace tracelens {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}

bool starts_with_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view start) { return text.starts_with(start); });
}

// The runtimes name variants of one call by suffixes.
std::string_view without_variant(std::string_view call) {
  for (const std::string_view suffix : {"_ptsz", "_ptds", "_spt", "_v2", "_v3"})
    if (call.ends_with(suffix)) return call.substr(0, call.size() - suffix.size());
  return call;
}

WaitsFor sync_target(std::string_view verb) {
  if (verb == "DeviceSynchronize" || verb == "CtxSynchronize") return WaitsFor::kDevice;
  if (verb == "StreamSynchronize") return WaitsFor::kStream;
  if (verb == "EventSynchronize") return WaitsFor::kEvent;
  return WaitsFor::kNothing;
}

CallKind runtime_call(std::string_view verb) {  // without "cuda" or "hip"
  if (const WaitsFor target = sync_target(verb); target != WaitsFor::kNothing)
    return {CallClass::kSync, target};
  if (is_one_of(verb, {"Memcpy", "MemcpyDtoH", "MemcpyHtoD", "MemcpyWithStream"}))
    return {CallClass::kSync, WaitsFor::kOwnCopy};
  if (is_one_of(verb, {"Free", "FreeHost", "HostFree"}))
    return {CallClass::kFree, WaitsFor::kDevice};
  if (starts_with_one_of(verb,
                         {"Malloc", "Free", "HostAlloc", "HostMalloc", "HostFree", "HostRegister",
                          "HostUnregister", "MemCreate", "MemMap", "MemUnmap"}))
    return {CallClass::kAlloc};
  if (is_one_of(verb, {"LaunchKernel", "LaunchKernelExC", "ModuleLaunchKernel",
                       "ExtModuleLaunchKernel", "ExtLaunchKernel", "LaunchCooperativeKernel",
                       "GraphLaunch", "MemcpyAsync", "Memset", "MemsetAsync"}))
    return {CallClass::kLaunch};
  return {};
}

CallKind driver_call(std::string_view verb) {  // without "cu"
  if (const WaitsFor target = sync_target(verb); target != WaitsFor::kNothing)
    return {CallClass::kSync, target};
  if (starts_with_one_of(verb, {"MemFree", "MemUnmap", "MemRelease"}))
    return {CallClass::kFree, WaitsFor::kDevice};
  if (starts_with_one_of(verb, {"MemAlloc", "MemCreate", "MemMap", "MemSetAccess"}))
    return {CallClass::kAlloc};
  if (is_one_of(verb, {"LaunchKernel", "LaunchKernelEx", "LaunchCooperativeKernel", "GraphLaunch"}))
    return {CallClass::kLaunch};
  return {};
}

}  // namespace

CallKind call_kind(std::string_view call) {
  const std::string_view name = without_variant(call);
  if (name.ends_with("EventQuery") || name.ends_with("StreamQuery") ||
      name.ends_with("StreamIsCapturing"))
    return {CallClass::kQuery};
  if (name.starts_with("cuda")) return runtime_call(name.substr(4));
  if (name.starts_with("hip")) return runtime_call(name.substr(3));
  if (name.starts_with("cu")) return driver_call(name.substr(2));
  return {};
}

bool is_pageable_copy(std::string_view copy) {
  return copy.find("Pageable") != std::string_view::npos;
}

CopyKind copy_kind(std::string_view gpu_event) {
  struct Row {
    std::string_view start;
    CopyKind kind;
  };
  constexpr std::array<Row, 7> kRows = {{{"Memcpy HtoD", CopyKind::kHostToDevice},
                                         {"Memcpy DtoH", CopyKind::kDeviceToHost},
                                         {"Memcpy DtoD", CopyKind::kDeviceToDevice},
                                         {"Memcpy PtoP", CopyKind::kPeerToPeer},
                                         {"Memcpy HtoH", CopyKind::kHostToHost},
                                         {"Memcpy", CopyKind::kUnknown},
                                         {"Memset", CopyKind::kFill}}};
  for (const Row& row : kRows)
    if (gpu_event.starts_with(row.start)) return row.kind;
  switch (name_kind(gpu_event)) {
    case NameKind::kCopy:
      return CopyKind::kUnknown;
    case NameKind::kFill:
      return CopyKind::kFill;
    default:
      return CopyKind::kNone;
  }
}

MemoryKind memory_kind(std::string_view gpu_event) {
  const std::size_t open = gpu_event.find('(');
  if (open == std::string_view::npos) return MemoryKind::kUnknown;
  const std::string_view inside = gpu_event.substr(open);
  const auto says = [&](std::string_view word) {
    return inside.find(word) != std::string_view::npos;
  };
  if (says("Pageable")) return MemoryKind::kPageable;
  if (says("Pinned")) return MemoryKind::kPinned;
  if (says("Host")) return MemoryKind::kHost;
  return says("Device") ? MemoryKind::kDevice : MemoryKind::kUnknown;
}

CallKinds::CallKinds(const Trace& trace) : CallKinds{trace, CategoryRows{trace}.calls()} {}

CallKinds::CallKinds(const Trace& trace, std::span<const std::uint32_t> calls)
    : trace_{trace}, kinds_(trace.string_count()) {
  std::vector<bool> seen(trace.string_count());
  for (const std::uint32_t row : calls) {
    const std::uint32_t name = trace.names()[row].row;
    if (seen[name]) continue;
    seen[name] = true;
    kinds_[name] = call_kind(trace.name({row}));
  }
}

}  // namespace tracelens
