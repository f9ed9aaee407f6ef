#include <gtest/gtest.h>

#include <tracelens/trace_builder.hpp>

namespace tracelens {
namespace {

TEST(Excerpt, HasTheseEventsAloneAndWhatIsKnownOfThem) {
  TraceBuilder builder;
  const TrackId host = builder.intern(Track{1, 1}), gpu = builder.intern(Track{0, 7});
  const auto append = [&](const char* name, Category category, TrackId track, std::int64_t ts) {
    return builder.append({.phase = Phase::kComplete,
                           .category = category,
                           .name = builder.intern(name),
                           .track = track,
                           .ts_ns = ts,
                           .dur_ns = 5});
  };
  const EventId first = append("warm-up", Category::kCpuOp, host, 0);
  const EventId op = append("aten::mm", Category::kCpuOp, host, 10);
  const EventId kernel = append("gemm", Category::kKernel, gpu, 20);
  builder.set_external_id(first, 1);
  builder.set_external_id(op, 2);
  builder.set_device(kernel, 3);
  builder.add_label(Track{0, 0}, "process_name", Value{"python"});
  TraceBuilder more{std::move(builder).finish()};
  const EventId pseudo = more.append({.phase = Phase::kComplete,
                                      .category = Category::kCpuOp,
                                      .name = more.intern("pseudo"),
                                      .track = host,
                                      .ts_ns = 11,
                                      .dur_ns = 1});
  more.set_parent(pseudo, op);
  more.set_parent(kernel, first);
  more.set_parent(op, {});
  const Trace trace = std::move(more).finish();

  const EventId kept[] = {op, kernel, pseudo};
  const Trace part = TraceBuilder::excerpt(trace, kept);
  ASSERT_EQ(part.size(), 3u);
  EXPECT_EQ(part.name({0}), "aten::mm");
  EXPECT_EQ(part.ts_ns()[1], 20);
  EXPECT_EQ(part.track(EventId{1}), trace.track(kernel));
  EXPECT_EQ(part.external_ids().at({0}), 2);
  EXPECT_EQ(part.external_ids().rows().size(), 1u);
  EXPECT_EQ(part.devices().at({1}), 3);
  EXPECT_EQ(part.recorded(), 2u);
  EXPECT_EQ(part.given_parents().at({2}), EventId{0});
  EXPECT_EQ(part.given_parents().at({0}), EventId{});  // a root
  EXPECT_FALSE(part.given_parents().at({1}));          // its parent is not there
  EXPECT_TRUE(part.label(Track{0, 0}, "process_name"));
}

}  // namespace
}  // namespace tracelens
