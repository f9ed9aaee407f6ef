#include "readers/kineto/known_signatures.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "io/stream.hpp"
#include "readers/kineto/kineto.hpp"

namespace tracelens::kineto {
namespace {

TEST(RawSignatures, SetsShareTheTextsTheyHaveInCommon) {
  RawSignatures signatures;
  const std::uint32_t small = signatures.intern({.dims = "[[2]]", .types = R"(["float"])"});
  const std::uint32_t large = signatures.intern({.dims = "[[4]]", .types = R"(["float"])"});
  EXPECT_NE(small, large);
  EXPECT_EQ(signatures[small].types.data(), signatures[large].types.data());
  EXPECT_EQ(signatures.parts(small)[1], signatures.parts(large)[1]);
  EXPECT_EQ(signatures.text(signatures.parts(large)[0]), "[[4]]");
  EXPECT_EQ(signatures.intern({.dims = "[[4]]", .types = R"(["float"])"}), large);
  EXPECT_NE(signatures.intern({.name = 1, .dims = "[[4]]", .types = R"(["float"])"}), large);
  EXPECT_NE(signatures.intern({.dims = R"(["float"])", .types = "[[4]]"}), large);
}

TEST(KnownSignatures, EachIsAddedByOneOfTheThreadsThatMeetIt) {
  constexpr std::size_t kThreads = 4, kSets = 3000;
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < kSets; ++i) dims.push_back(fmt::format("[[{}, 8]]", i));
  KnownSignatures known;
  std::vector<std::vector<KnownSignature*>> met(kThreads);
  std::atomic<std::size_t> added = 0;
  const auto meet_all = [&](std::size_t thread) {
    for (const std::string& text : dims) {
      const RawSignature raw{.name = static_cast<std::uint32_t>(thread), .dims = text};
      const auto [signature, is_new] = known.find_or_add("aten::mm", raw);
      if (is_new) {
        ++added;
        signature.put({{}, text, {}, {}, {}});
      }
      met[thread].push_back(&signature);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(meet_all, thread);
  std::ranges::for_each(threads, &std::thread::join);

  EXPECT_EQ(added, kSets);
  for (const auto& others : met) EXPECT_EQ(others, met[0]);
  std::ranges::sort(met[0]);
  EXPECT_EQ(std::ranges::adjacent_find(met[0]), met[0].end());
  EXPECT_TRUE(known.find_or_add("aten::bmm", {.dims = dims[0]}).second);
}

TEST(KnownSignatures, WhoeverNeedsAnIdDoesNotWaitForTheOneWhoParses) {
  KnownSignatures known;
  TraceBuilder builder;
  const StringId mm = builder.intern("aten::mm");
  const auto parsed = [](int rows) { return Signature{{}, Value::tuple({rows}), {}, {}, {}}; };
  KnownSignature& late = known.find_or_add("aten::mm", {.dims = "[2]"}).first;
  const SignatureId two = late.id(builder, mm, [&] { return parsed(2); });
  late.put(parsed(2));
  EXPECT_EQ(late.id(builder, mm, [&] { return parsed(9); }), two);  // nobody parses it again

  KnownSignature& early = known.find_or_add("aten::mm", {.dims = "[3]"}).first;
  early.put(parsed(3));
  const SignatureId three = early.id(builder, mm, [&] { return parsed(9); });
  KnownSignature& spelt = known.find_or_add("aten::mm", {.dims = "[ 3 ]"}).first;
  EXPECT_EQ(spelt.id(builder, mm, [&] { return parsed(3); }), three);  // once in the trace
  EXPECT_NE(two, three);
  EXPECT_EQ(std::move(builder).finish().signature(three).dims, Value::tuple({3}));
}

// Threads meet the same sets at the same time, in an order of their own; some are written in two ways.
TEST(KnownSignatures, ManySetsGetTheSameIdsFromAnyNumberOfThreads) {
  constexpr int kOps = 4000, kSets = 1000;
  std::string text = "[";
  for (int i = 0; i < kOps; ++i)
    text +=
        fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":{},"dur":1,)"
                    R"("args":{{"Input Dims":[[{},{}4],[]],"Input type":["float",""]}}}})",
                    i == 0 ? "" : ",\n", i, i % kSets, i % 3 == 0 ? " " : "");
  text += "]";
  const auto read = [&](int threads) {
    io::Stream in = io::Stream::over("trace.json", text);
    return read_kineto(in, {.threads = threads, .block_bytes = 4096});
  };
  const Trace expected = read(1);
  EXPECT_EQ(expected.signature_table().size(), std::size_t{kSets});
  for (const int threads : {2, 4, 16}) {
    const Trace trace = read(threads);
    EXPECT_TRUE(std::ranges::equal(trace.signatures(), expected.signatures())) << threads;
    EXPECT_EQ(trace.signature({kSets - 1}).dims, expected.signature({kSets - 1}).dims) << threads;
  }
}

}  // namespace
}  // namespace tracelens::kineto
