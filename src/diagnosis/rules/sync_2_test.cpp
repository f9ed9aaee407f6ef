#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kSync2;

namespace {

// Three steps of 30 ops; after every tenth a value is read back.
Trace run_with_reads(bool reads) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double at = start;
    for (int part = 0; part < 3; ++part) {
      at = add_ops(t, at, 10, 4);
      if (!reads) continue;
      t.op("aten::item", at, 40);
      t.op("aten::_local_scalar_dense", at + 1, 38);
      t.launch("cudaMemcpyAsync", at + 2, 10,
               {.name = "Memcpy DtoH (Device -> Pageable)",
                .ts = at + 10,
                .dur = 2,
                .category = Category::kGpuMemcpy});
      t.runtime("cudaStreamSynchronize", at + 13, 24);
      at += 40;
    }
    add_step(t, step, start, at);
    start = at;
  }
  return t.finish();
}

TEST(Sync2, EveryItemIsARoundTrip) {
  TestRun run{run_with_reads(true)};
  const auto draft = run.find(kSync2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 3);  // copy and wait of one op count once
  EXPECT_EQ(draft->where.front().name, "aten::item");
  EXPECT_GT(run.saving_percent(*draft), 15);
}

TEST(Sync2, NothingWithoutReads) {
  TestRun run{run_with_reads(false)};
  EXPECT_FALSE(run.find(kSync2));
}

}  // namespace
}  // namespace tracelens
