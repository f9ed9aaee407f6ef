#include "serving/alignment.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tracelens {
namespace {

constexpr std::uint32_t kNo = kUnpaired;

CapturedCall kernel(std::string_view name) { return {.call = "hipLaunchKernel", .kernel = name}; }
CapturedCall copy() { return {.call = "hipMemcpyAsync", .kernel = {}}; }
CapturedCall fill() { return {.call = "hipMemsetAsync", .kernel = {}}; }
CapturedCall nameless(std::string_view op = {}, std::uint32_t op_id = 0) {
  return {.call = "cudaLaunchKernel", .kernel = {}, .op = op, .op_id = op_id};
}
ReplayedWork ran(std::string_view name, std::int64_t stream = 7, std::int64_t node = kAbsent) {
  return {.name = name, .stream = stream, .node = node};
}
using Calls = std::vector<CapturedCall>;
using Work = std::vector<ReplayedWork>;

TEST(NamesMatch, CopiesAndFillsByKindKernelsByName) {
  EXPECT_TRUE(names_match(copy(), "Memcpy DtoD (Device -> Device)"));
  EXPECT_TRUE(names_match(fill(), "Memset (Device)"));
  EXPECT_TRUE(names_match(fill(), "__amd_rocclr_fillBufferAligned"));
  EXPECT_TRUE(names_match(kernel("a"), "a"));
  EXPECT_FALSE(names_match(kernel("a"), "ab"));
  EXPECT_FALSE(names_match(copy(), "Memset (Device)"));
}

TEST(ReferenceAlignment, GoesOneByOneWhenNamesAreTheSame) {
  const Pairing found = align_as_reference(Calls{kernel("a"), copy(), kernel("b")},
                                           Work{ran("a"), ran("Memcpy DtoD"), ran("b")});
  EXPECT_EQ(found.how, Alignment::kByPosition);
  EXPECT_EQ(found.calls, (Pairs{0, 1, 2}));
}

TEST(ReferenceAlignment, DropsCallsThatRanNothing) {
  const Pairing found =
      align_as_reference(Calls{kernel("a"), kernel("x"), kernel("b")}, Work{ran("a"), ran("b")});
  EXPECT_EQ(found.how, Alignment::kInOrder);
  EXPECT_EQ(found.calls, (Pairs{0, 2}));
  EXPECT_EQ(align_as_reference(Calls{kernel("a")}, Work{ran("a"), ran("b")}).how, Alignment::kNone);
}

TEST(ReferenceAlignment, ReordersByNameButNeverWithACopy) {
  const Pairing found = align_as_reference(Calls{kernel("a"), kernel("b"), kernel("a")},
                                           Work{ran("b"), ran("a"), ran("a")});
  EXPECT_EQ(found.how, Alignment::kByName);
  EXPECT_EQ(found.calls, (Pairs{1, 0, 2}));
  // Its groups are of plain names (I-08); ours know a copy.
  const Calls calls{kernel("a"), copy(), kernel("b")};
  const Work work{ran("Memcpy DtoD"), ran("b"), ran("a")};
  EXPECT_EQ(align_as_reference(calls, work).how, Alignment::kNone);
  EXPECT_EQ(align(calls, work).how, Alignment::kByName);
  EXPECT_EQ(align(calls, work).calls, (Pairs{1, 2, 0}));
}

TEST(ReferenceAlignment, SeveralStreamsWithoutNamesSpoilAll) {
  const Calls calls{nameless(), nameless()};
  const Work work{ran("a", 1), ran("b", 2)};
  EXPECT_TRUE(align_as_reference(calls, work).spoils_all);
  EXPECT_FALSE(align(calls, work).spoils_all);
  EXPECT_EQ(align(calls, work).how, Alignment::kNone);
}

TEST(StreamAlignment, TakesTheQueueThatGoesOnToMatch) {
  // Stream 1 runs a b, stream 2 runs a c; the capture did a c (2) first.
  const Calls calls{kernel("a"), kernel("c"), kernel("a"), kernel("b")};
  const Work work{ran("a", 1), ran("a", 2), ran("b", 1), ran("c", 2)};
  const Pairing found = align(calls, work);
  EXPECT_EQ(found.how, Alignment::kByStream);
  EXPECT_EQ(found.calls, (Pairs{2, 0, 3, 1}));
  EXPECT_EQ(align_as_reference(calls, work).calls, found.calls);
}

TEST(StreamAlignment, LooksAheadOnlyWhereSeveralStreamsMatch) {
  // 20'000 kernels on each of two streams that never run the same: one comparison per stream.
  Calls calls;
  Work work;
  for (int i = 0; i < 20'000; ++i) {
    calls.insert(calls.end(), {kernel("a"), kernel("b")});
    work.insert(work.end(), {ran("a", 1), ran("b", 2)});
  }
  StreamSearch search;
  EXPECT_TRUE(align_by_stream(calls, work, search));
  EXPECT_LE(search.comparisons, 2 * calls.size());
}

TEST(StreamAlignment, GivesUpWhereStreamsCannotBeToldApart) {
  Calls calls;
  Work work;
  for (int i = 0; i < 2'000; ++i) {
    calls.insert(calls.end(), {kernel("a"), kernel("a")});
    work.insert(work.end(), {ran("a", 1), ran("a", 2)});
  }
  StreamSearch search;
  EXPECT_FALSE(align_by_stream(calls, work, search));
  EXPECT_TRUE(search.gave_up);
  EXPECT_LE(search.comparisons, (kStreamComparisons + 1) * (calls.size() + work.size()));
  EXPECT_EQ(align_as_reference(calls, work).reason,
            "its streams run the same kernels for too long to be told apart");
  // As many of each name: the order within a name is all that is left open.
  work.back().name = "b";
  calls.front().kernel = "b";
  EXPECT_EQ(align(calls, work).how, Alignment::kByName);
}

TEST(StreamAlignment, ManyStreamsAreBoundedToo) {
  Calls calls(2'000, kernel("a"));
  Work work;
  for (int i = 0; i < 2'000; ++i) work.push_back(ran("b", i));
  StreamSearch search;
  EXPECT_FALSE(align_by_stream(calls, work, search));
  EXPECT_LE(search.comparisons, (kStreamComparisons + 1) * (calls.size() + work.size()));
}

TEST(StreamAlignment, TheIdsOfGraphNodesTellTheOrderOfTheCapture) {
  const Calls calls{nameless(), copy(), nameless()};
  const Work work{ran("Memcpy DtoD", 2, 12), ran("a", 1, 11), ran("b", 1, 13)};
  const Pairing found = align(calls, work);
  EXPECT_EQ(found.how, Alignment::kByOrder);
  EXPECT_EQ(found.calls, (Pairs{1, 0, 2}));
}

TEST(Alignment, MatchesAPartAndLeavesTheRest) {
  const Calls calls{kernel("a"), kernel("b"), kernel("c"), kernel("d")};
  const Work work{ran("a"), ran("new"), ran("c"), ran("d")};
  const Pairing found = align(calls, work);
  EXPECT_EQ(found.how, Alignment::kPartly);
  EXPECT_EQ(found.calls, (Pairs{0, kNo, 2, 3}));
  EXPECT_EQ(found.reason, "1 GPU events are not in the capture; 1 captured call ran nothing here");
  EXPECT_EQ(found.matched(), 3u);
  // Less than half is another model.
  EXPECT_EQ(align(calls, Work{ran("a"), ran("x"), ran("y"), ran("z")}).how, Alignment::kNone);
}

TEST(Alignment, WithoutNamesGoesByOrderWhenKindsAndCountsAgree) {
  const Calls calls{nameless(), copy(), nameless()};
  const Pairing found = align(calls, Work{ran("a"), ran("Memcpy DtoD"), ran("b")});
  EXPECT_EQ(found.how, Alignment::kByOrder);
  EXPECT_FALSE(found.reason.empty());
  EXPECT_EQ(align(calls, Work{ran("a"), ran("b"), ran("Memcpy DtoD")}).how, Alignment::kNone);
  EXPECT_EQ(align(calls, Work{ran("a"), ran("Memcpy DtoD")}).how, Alignment::kNone);
}

TEST(Alignment, WithoutNamesTheOpsMustNotContradictTheKernels) {
  const Calls calls{nameless("aten::mm", 1), nameless("aten::add", 2)};
  const std::string_view gemm = "nvjet_tst_64x32_64x16_4x1_v_bz_TNT",
                         other = "vectorized_elementwise";
  EXPECT_EQ(align(calls, Work{ran(gemm), ran(other)}).how, Alignment::kByOrder);
  EXPECT_EQ(align(calls, Work{ran(other), ran(gemm)}).how, Alignment::kNone);
  // A multiplication may need a second kernel, but not without the first.
  const Calls split{nameless("aten::mm", 1), nameless("aten::mm", 1)};
  EXPECT_EQ(align(split, Work{ran(gemm), ran("splitKreduce")}).how, Alignment::kByOrder);
}

TEST(Alignment, WithoutNamesWhatTheSameOpsLaunchedElsewhereIsEvidence) {
  Calls calls{nameless("aten::sin", 1), nameless("aten::cos", 2), nameless()};
  calls[0].likely_kernel = "sin_kernel";
  calls[1].likely_kernel = "cos_kernel";
  const Pairing found = align(calls, Work{ran("sin_kernel"), ran("cos_kernel"), ran("x")});
  EXPECT_EQ(found.how, Alignment::kByOrder);
  EXPECT_EQ(found.reason,
            "by order: the capture does not name its kernels; 2 of 2 kernels are what the same ops "
            "launched outside it");
  EXPECT_EQ(align(calls, Work{ran("cos_kernel"), ran("sin_kernel"), ran("x")}).how,
            Alignment::kNone);
}

TEST(Alignment, NothingFitsAnEmptyCapture) {
  EXPECT_EQ(align(Calls{}, Work{ran("a")}).how, Alignment::kNone);
}

// The longest common subsequence in its plainest form.
std::size_t longest(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      table[i + 1][j + 1] =
          a[i] == b[j] ? table[i][j] + 1 : std::max(table[i][j + 1], table[i + 1][j]);
  return table[a.size()][b.size()];
}

TEST(PartAlignment, FindsALongestCommonSubsequence) {
  std::mt19937 random{4};
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> a(random() % 12), b(random() % 12);
    for (auto* names : {&a, &b})
      for (std::uint32_t& name : *names) name = static_cast<std::uint32_t>(random() % 4);
    const auto pairs = align_partly(a, b);
    ASSERT_TRUE(pairs);
    std::size_t matched = 0;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < b.size(); ++i) {
      if ((*pairs)[i] == kUnpaired) continue;
      ASSERT_EQ(a[(*pairs)[i]], b[i]);
      ASSERT_GT(static_cast<std::int64_t>((*pairs)[i]), last);
      last = (*pairs)[i];
      ++matched;
    }
    ASSERT_EQ(matched, longest(a, b)) << "round " << round;
  }
}

TEST(PartAlignment, GivesUpOnListsThatHaveLittleInCommon) {
  const std::vector<std::uint32_t> a(100'000, 1), b(100'000, 2);
  EXPECT_FALSE(align_partly(a, b));
}

}  // namespace
}  // namespace tracelens
