#include "facts/calls.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(Calls, EveryClassIsKnownByItsName) {
  const auto class_of = [](std::string_view name) { return call_kind(name).call_class; };
  for (const char* name : {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx",
                           "hipExtModuleLaunchKernel", "hipGraphLaunch_spt", "hipMemcpyAsync"})
    EXPECT_EQ(class_of(name), CallClass::kLaunch) << name;
  for (const char* name : {"cudaDeviceSynchronize", "hipStreamSynchronize", "cuEventSynchronize",
                           "cudaMemcpy", "hipMemcpyWithStream", "hipMemcpyDtoH"})
    EXPECT_EQ(class_of(name), CallClass::kSync) << name;
  for (const char* name : {"cudaMalloc", "cudaMallocAsync", "cudaFreeAsync", "hipHostMalloc",
                           "cuMemCreate", "cuMemSetAccess", "cudaHostUnregister"})
    EXPECT_EQ(class_of(name), CallClass::kAlloc) << name;
  for (const char* name : {"cudaFree", "hipHostFree", "cudaFreeHost", "cuMemUnmap", "cuMemFree_v2"})
    EXPECT_EQ(class_of(name), CallClass::kFree) << name;
  for (const char* name : {"cudaEventQuery", "hipStreamQuery", "cudaStreamIsCapturing"})
    EXPECT_EQ(class_of(name), CallClass::kQuery) << name;
  for (const char* name : {"cudaEventRecord", "cudaMemcpyToSymbol", "", "cu", "hip", "aten::mm",
                           "cudaDeviceSynchronizeAll", "my_cudaFree"})
    EXPECT_EQ(class_of(name), CallClass::kOther) << name;
}

TEST(Calls, WhatIsWaitedFor) {
  EXPECT_EQ(call_kind("cuCtxSynchronize").waits_for, WaitsFor::kDevice);
  EXPECT_EQ(call_kind("cudaFree").waits_for, WaitsFor::kDevice);
  EXPECT_EQ(call_kind("cudaStreamSynchronize").waits_for, WaitsFor::kStream);
  EXPECT_EQ(call_kind("hipEventSynchronize").waits_for, WaitsFor::kEvent);
  EXPECT_EQ(call_kind("hipMemcpyWithStream").waits_for, WaitsFor::kOwnCopy);
  EXPECT_EQ(call_kind("cudaMemcpyAsync").waits_for, WaitsFor::kNothing);
}

TEST(Calls, CopiesSayWhatTheyMoveAndFromWhere) {
  EXPECT_EQ(copy_kind("Memcpy HtoD (Pageable -> Device)"), CopyKind::kHostToDevice);
  EXPECT_EQ(memory_kind("Memcpy HtoD (Pageable -> Device)"), MemoryKind::kPageable);
  EXPECT_TRUE(is_pageable_copy("Memcpy DtoH (Device -> Pageable)"));
  EXPECT_EQ(memory_kind("Memcpy DtoH (Device -> Pinned)"), MemoryKind::kPinned);
  EXPECT_EQ(memory_kind("Memcpy DtoH (Device -> Host)"), MemoryKind::kHost);
  EXPECT_EQ(memory_kind("Memcpy DtoD (Device -> Device)"), MemoryKind::kDevice);
  EXPECT_EQ(copy_kind("Memset (Device)"), CopyKind::kFill);
  EXPECT_EQ(copy_kind("__amd_rocclr_copyBuffer"), CopyKind::kUnknown);
  EXPECT_EQ(memory_kind("__amd_rocclr_copyBuffer"), MemoryKind::kUnknown);
  EXPECT_EQ(copy_kind("gemm"), CopyKind::kNone);
}

TEST(Calls, OnlyRuntimeCallsHaveAClass) {
  TestTrace t;
  const EventId call = t.runtime("cudaStreamSynchronize", 0, 5);
  const EventId op = t.op("cudaFree", 6, 2);
  const Trace trace = t.finish();
  const CallKinds kinds{trace};
  EXPECT_EQ(kinds.of(call), CallClass::kSync);
  EXPECT_EQ(kinds.waits_for(call), WaitsFor::kStream);
  EXPECT_EQ(kinds.of(op), CallClass::kOther);
}

}  // namespace
}  // namespace tracelens
