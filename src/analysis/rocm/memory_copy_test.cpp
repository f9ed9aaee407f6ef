#include "analysis/rocm/memory_copy.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tracelens/read_trace.hpp>
#include <vector>

namespace tracelens {
namespace {

std::string copy(std::string_view way, int dur, std::string_view args) {
  return R"({"ph":"X","cat":"memory_copy","pid":1,"tid":1,"ts":1,"name":"MEMORY_COPY_)" +
         std::string{way} + "\",\"dur\":" + std::to_string(dur) + ",\"args\":{" +
         std::string{args} + "}}";
}

const std::string kTrace =
    "{\"traceEvents\":[" + copy("HOST_TO_DEVICE", 2, R"("copy_bytes":4000,"dst_agent":"Agent-2")") +
    "," + copy("HOST_TO_DEVICE", 4, R"("copy_bytes":"8000","dst_agent":"Agent-2")") + "," +
    copy("DEVICE_TO_DEVICE", 1, R"("copy_bytes":500,"src_agent":2,"dst_agent":3)") + "," +
    copy("HOST_TO_HOST", 1, R"("copy_bytes":64)") + "," + copy("DEVICE_TO_HOST", 1, "") + "]}";

TEST(MemoryCopies, NamedAgentsAreResolvedOrNot) {
  const Trace trace = read_trace_bytes("inline.json", kTrace);
  const PftraceEvents events{trace};
  const auto copies = find_memory_copies(events);
  ASSERT_EQ(copies.size(), 4u);  // without a size it is no copy
  EXPECT_EQ(copies[0].direction, "h2d (GPU 2)");
  EXPECT_EQ(copies[2].direction, "d2d (GPU 2 -> GPU 3)");
  EXPECT_EQ(copies[3].direction, "other");
  EXPECT_EQ(find_memory_copies(events, Edition::kReference)[0].direction, "h2d (GPU ?)");
}

TEST(MemoryCopies, BandwidthIsAllBytesOverAllTime) {
  const Trace trace = read_trace_bytes("inline.json", kTrace);
  const PftraceEvents events{trace};
  const auto table = memory_copy_bandwidth(find_memory_copies(events));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->column("direction").texts()[0], "h2d (GPU 2)");
  EXPECT_DOUBLE_EQ(table->column("bandwidth").reals()[0], 12'000.0 / 6'000);  // GB/s
  EXPECT_DOUBLE_EQ(table->column("best").reals()[0], 2.0);
}

TEST(MemoryCopies, AreCountedBySizeAndDirection) {
  const Trace trace = read_trace_bytes("inline.json", kTrace);
  const PftraceEvents events{trace};
  const Table table = memory_copy_by_copy_bytes(find_memory_copies(events));
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(table.column("copy_bytes").integers()[0], 64);
  EXPECT_EQ(table.column("copy_bytes").integers()[3], 8000);
}

TEST(MemoryCopies, OfLikeSizesHaveOneRate) {
  const std::vector<MemoryCopy> copies = {{{}, 1024, 10, "h2d"},
                                          {{}, 4095, 20, "h2d"},
                                          {{}, 4096, 8, "h2d"},
                                          {{}, 0, 5, "h2d"},
                                          {{}, std::numeric_limits<std::int64_t>::max(), 1, "d2h"},
                                          {{}, 2000, 0, "h2d"}};
  const auto table = memory_copy_sizes(copies);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 4u);  // d2h, then h2d by size
  const auto begins = table->column("at least").integers();
  EXPECT_EQ((std::vector<std::int64_t>{begins.begin(), begins.end()}),
            (std::vector<std::int64_t>{std::int64_t{1} << 62, 0, 1024, 4096}));
  EXPECT_EQ(table->column("below").integers()[2], 4096);
  EXPECT_EQ(table->column("count").integers()[2], 2);  // one without a time tells no rate
  EXPECT_DOUBLE_EQ(table->column("bandwidth").reals()[2], (1024 + 4095) / 30.0);
  EXPECT_FALSE(memory_copy_sizes({}));
}

}  // namespace
}  // namespace tracelens
