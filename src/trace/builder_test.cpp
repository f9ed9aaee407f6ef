#include <tracelens/trace_builder.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace tracelens {
namespace {

TEST(TraceBuilder, GivesEqualSignaturesAndTracksOneId) {
  TraceBuilder builder;
  const StringId mm = builder.intern("aten::mm"), bmm = builder.intern("aten::bmm");
  const Value dims = Value::tuple({Value::tuple({8, 4})});
  const SignatureId first = builder.intern({mm, dims, {}, {}, {}});
  EXPECT_EQ(builder.intern({mm, dims, {}, {}, {}}), first);
  EXPECT_NE(builder.intern({bmm, dims, {}, {}, {}}), first);
  EXPECT_NE(builder.intern({mm, {}, dims, {}, {}}), first);  // the same value in another place
  EXPECT_NE(builder.intern({mm, Value::tuple({}), {}, {}, {}}),
            builder.intern({mm, {}, {}, {}, {}}));

  const TrackId seven = builder.intern(Track{7, 1});
  EXPECT_EQ(builder.intern(Track{7, 1}), seven);
  EXPECT_NE(builder.intern(Track{"7", 1}), seven);  // a word is not a number
}

TEST(TraceBuilder, SignaturesWithTheSameHashAreTwo) {
  TraceBuilder builder;
  const StringId mm = builder.intern("aten::mm");
  constexpr std::uint64_t kHash = 7;
  const SignatureId one = builder.intern({mm, Value::tuple({1}), {}, {}, {}}, kHash);
  const SignatureId two = builder.intern({mm, Value::tuple({2}), {}, {}, {}}, kHash);
  EXPECT_NE(one, two);
  EXPECT_EQ(builder.intern({mm, Value::tuple({1}), {}, {}, {}}, kHash), one);
  EXPECT_NE(builder.intern({mm, Value::list({1}), {}, {}, {}}, kHash), one);
}

TEST(TraceBuilder, AFinishedTraceGoesOnWithItsSignatures) {
  TraceBuilder first;
  const StringId mm = first.intern("aten::mm");
  const Signature signature{mm, Value::tuple({8}), {}, {}, {}};
  const SignatureId id = first.intern(signature);
  TraceBuilder second{std::move(first).finish()};
  EXPECT_EQ(second.intern(signature), id);
  EXPECT_NE(second.intern({mm, Value::tuple({9}), {}, {}, {}}), id);
}

TEST(TraceBuilder, ThreadsWriteEventsThatWereSetAside) {
  constexpr std::uint32_t kThreads = 4, kPieces = 200, kEvents = 50;
  TraceBuilder builder;
  builder.append({.ts_ns = -1});
  const StringId name = builder.intern("mark");
  const TrackId track = builder.intern(Track{1, 1});
  std::mutex order;
  const auto work = [&] {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
      std::unique_lock lock{order};
      const EventPlace place = builder.set_aside(kEvents, {.streams = 1});
      lock.unlock();
      const EventSlots slots = builder.slots(place);
      for (std::uint32_t i = 0; i < kEvents; ++i) {
        slots.ts_ns[i] = slots.dur_ns[i] = slots.correlations[i] = place.first.row + i;
        slots.names[i] = name;
        slots.tracks[i] = track;
        slots.signatures[i] = {};
        slots.categories[i] = Category::kKernel;
        slots.phases[i] = Phase::kComplete;
      }
      slots.streams.rows[0] = place.first.row + 1;
      slots.streams.values[0] = place.first.row;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  const Trace trace = std::move(builder).finish();
  ASSERT_EQ(trace.size(), 1 + kThreads * kPieces * kEvents);
  for (std::uint32_t row = 1; row < trace.size(); ++row) {
    ASSERT_EQ(trace.ts_ns()[row], row);
    ASSERT_EQ(trace.correlations()[row], row);
    ASSERT_EQ(trace.name({row}), "mark");
  }
  ASSERT_EQ(trace.streams().size(), kThreads * kPieces);
  for (std::uint32_t row = 2; row < trace.size(); row += kEvents)
    ASSERT_EQ(trace.streams().at({row}), row - 1);
}

TEST(TraceBuilder, ColumnsStayWhereTheyAreAsLongAsThereIsRoomForSoManyTimes) {
  constexpr std::uint32_t kFirst = 100, kTimes = 50;
  TraceBuilder builder;
  const auto append = [&builder] {
    builder.set_stream(builder.append({.phase = Phase::kComplete}), 7);
  };
  const auto places = [&builder] {
    const EventSlots slots = builder.slots({.first = {0}, .arguments = {}, .before = {}});
    return std::tuple{slots.ts_ns.data(), slots.phases.data(), slots.streams.rows.data(),
                      slots.streams.values.data()};
  };
  for (std::uint32_t i = 0; i < kFirst; ++i) append();
  builder.reserve_scaled(kTimes);
  const auto before = places();
  while (builder.size() < std::size_t{kFirst} * kTimes) append();
  EXPECT_EQ(places(), before);
  EXPECT_EQ(std::move(builder).finish().streams().size(), std::size_t{kFirst} * kTimes);
}

// The memory that this process may have in all, for the time being.
class DataLimit {
 public:
  explicit DataLimit(std::uint64_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_DATA, &before_), 0);
    const rlimit low{.rlim_cur = in_use() + more, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_DATA, &low), 0);
  }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;
  ~DataLimit() { ::setrlimit(RLIMIT_DATA, &before_); }

  static std::uint64_t in_use() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;)
      if (std::uint64_t kilobytes = 0; word == "VmData:" && status >> kilobytes)
        return kilobytes << 10;
    ADD_FAILURE() << "no VmData";
    return 0;
  }

 private:
  rlimit before_{};
};

TEST(TraceBuilder, RoomForAllColumnsOrForNone) {
  constexpr std::uint64_t kMebi = 1 << 20;
  constexpr std::uint32_t kEvents = 1000;
  TraceBuilder builder;
  while (builder.size() < kEvents) builder.append({.phase = Phase::kComplete});
  const std::uint64_t before = DataLimit::in_use();
  {
    const DataLimit limit{100 * kMebi};  // enough for the first column and not for the second
    EXPECT_THROW(builder.reserve_scaled(8. * kMebi / kEvents), std::bad_alloc);
  }
  EXPECT_LT(DataLimit::in_use(), before + 32 * kMebi);
  EXPECT_THROW(builder.reserve_scaled(1e300), std::bad_alloc);
  for (const double nonsense : {-1., 0., 0.5}) builder.reserve_scaled(nonsense);
  while (builder.size() < 2 * kEvents) builder.append({.phase = Phase::kFlowStart});
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.phase({0}), Phase::kComplete);
  EXPECT_EQ(trace.phase({2 * kEvents - 1}), Phase::kFlowStart);
}

TEST(TraceBuilder, KeepsSparseArgumentsByEvent) {
  TraceBuilder builder;
  builder.append({});
  const EventId kernel = builder.append({.phase = Phase::kComplete, .category = Category::kKernel});
  builder.set_stream(kernel, 7);
  builder.set_details(kernel, builder.intern(R"({"grid": [1, 2, 3]})"));
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.streams().at({0}), std::nullopt);
  EXPECT_EQ(trace.streams().at(kernel), 7);
  EXPECT_EQ(trace.details(kernel), Value::dict({"grid"}, {Value::tuple({1, 2, 3})}));
  EXPECT_TRUE(trace.details({0}).is_null());
}

TEST(TraceBuilder, LetsTheLastLabelAndTheLastMetadataWin) {
  TraceBuilder builder;
  builder.add_label({1, 2}, "thread_name", "python3");
  builder.add_label({1, 2}, "thread_name", "autograd");
  builder.add_metadata("rank", 0);
  builder.add_metadata("rank", 3);
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.label({1, 2}, "thread_name"), Value{"autograd"});
  EXPECT_EQ(trace.label({1, 2}, "process_name"), std::nullopt);
  EXPECT_EQ(*trace.metadata("rank"), Value{3});
  EXPECT_EQ(trace.metadata("world"), nullptr);
}

TEST(TraceBuilder, JoinsBeginAndEndPerTrack) {
  TraceBuilder builder;
  const TrackId one = builder.intern(Track{1, 1}), two = builder.intern(Track{1, 2});
  const auto begin = [&](TrackId track, std::int64_t ts) {
    const EventId event = builder.append({.track = track, .ts_ns = ts});
    builder.add_begin(event);
    return event;
  };
  const auto end = [&](TrackId track, std::int64_t ts) {
    builder.add_end(builder.append({.track = track, .ts_ns = ts}));
  };
  const EventId outer = begin(one, 10);
  const EventId other = begin(two, 11);
  const EventId inner = begin(one, 12);
  end(one, 15);
  end(one, 20);
  end(two, 30);
  end(two, 31);  // nothing is open any more
  const EventId open = begin(two, 40);
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.dur_ns()[outer.row], 10);
  EXPECT_EQ(trace.dur_ns()[inner.row], 3);
  EXPECT_EQ(trace.dur_ns()[other.row], 19);
  EXPECT_EQ(trace.phase(outer), Phase::kComplete);
  EXPECT_EQ(trace.phase(open), Phase::kOther);
  EXPECT_EQ(trace.warnings().count("begin or end event without its partner"), 2u);
}

TEST(Warnings, CountByKindAndKeepTheFirstPlace) {
  Warnings warnings;
  warnings.add("odd", 70);
  warnings.add("odd", 50, 2);
  warnings.add("even", 1);
  EXPECT_EQ(warnings.count("odd"), 3u);
  EXPECT_EQ(warnings.entries()[0].first_byte, 50u);
  EXPECT_EQ(warnings.count("neither"), 0u);
}

TEST(TraceBuilder, ReplacesDetailsOfEventsWithAndWithoutAny) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) builder.append({});
  const auto details = [&](int i) { return builder.intern("{\"i\":" + std::to_string(i) + "}"); };
  builder.set_details({0}, details(0));
  builder.set_details({1}, details(1));
  builder.set_details({3}, details(3));
  const std::pair<EventId, StringId> changes[] = {{{1}, details(11)}, {{2}, details(12)}};
  builder.replace_details(changes);
  const Trace trace = std::move(builder).finish();
  for (const auto& [row, i] : {std::pair{0U, 0}, {1U, 11}, {2U, 12}, {3U, 3}})
    EXPECT_EQ(trace.details({row}), Value::dict({"i"}, {i}));
}

TEST(TraceBuilder, GoesOnFromAFinishedTrace) {
  TraceBuilder builder;
  const StringId mm = builder.intern("aten::mm");
  const Value dims = Value::tuple({Value::tuple({8, 4})});
  const SignatureId signature = builder.intern({mm, dims, {}, {}, {}});
  const TrackId host = builder.intern(Track{1, 2});
  const EventId op = builder.append({.name = mm, .track = host, .correlation = 40});
  builder.set_external_id(op, 5);
  builder.add_label({1, 2}, "thread_name", "python3");
  Trace first = std::move(builder).finish();
  EXPECT_EQ(first.recorded(), 1u);

  TraceBuilder more{std::move(first)};
  EXPECT_EQ(more.intern("aten::mm"), mm);
  EXPECT_EQ(more.intern({mm, dims, {}, {}, {}}), signature);
  EXPECT_EQ(more.intern(Track{1, 2}), host);
  const EventId added = more.append({.name = more.intern("pseudo"), .track = host});
  const EventId kernel = more.append({.track = host});
  more.set_external_id(added, 6);
  more.set_parent(added, kernel);
  more.set_parent(added, op);  // the last word counts
  more.set_parent(op, {7});
  more.set_name(op, more.intern("renamed"));
  more.add_launch(added, kernel);
  more.add_label({1, 2}, "thread_name", "worker");
  const Trace trace = std::move(more).finish();
  EXPECT_EQ(trace.recorded(), 1u);
  EXPECT_EQ(trace.text(mm), "aten::mm");
  EXPECT_EQ(trace.name(op), "renamed");
  EXPECT_EQ(trace.name(added), "pseudo");
  EXPECT_EQ(trace.external_ids().at(op), 5);
  EXPECT_EQ(trace.external_ids().at(added), 6);
  EXPECT_EQ(trace.given_parents().at(added), op);
  EXPECT_EQ(trace.given_parents().rows().size(), 2u);
  EXPECT_EQ(trace.correlations()[added.row], 41);  // no id of the first part is given again
  EXPECT_EQ(trace.label({1, 2}, "thread_name"), Value{"worker"});
}

}  // namespace
}  // namespace tracelens
