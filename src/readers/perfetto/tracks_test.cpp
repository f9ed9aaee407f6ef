#include "readers/perfetto/tracks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

using Kind = TrackScope::Kind;

proto::TrackDescriptor child(std::uint64_t uuid, std::uint64_t parent) {
  proto::TrackDescriptor descriptor;
  descriptor.set_uuid(uuid);
  descriptor.set_parent_uuid(parent);
  return descriptor;
}

proto::TrackDescriptor thread(std::uint64_t uuid, int pid, int tid, const std::string& name = "") {
  proto::TrackDescriptor descriptor;
  descriptor.set_uuid(uuid);
  descriptor.mutable_thread()->set_pid(pid);
  descriptor.mutable_thread()->set_tid(tid);
  descriptor.mutable_thread()->set_thread_name(name);
  return descriptor;
}

proto::TrackDescriptor process(std::uint64_t uuid, int pid, const std::string& name) {
  proto::TrackDescriptor descriptor;
  descriptor.set_uuid(uuid);
  descriptor.mutable_process()->set_pid(pid);
  descriptor.mutable_process()->set_process_name(name);
  return descriptor;
}

TrackScope scope(TrackTable& tracks, std::uint64_t uuid) {
  const std::uint32_t track = tracks.index(uuid);
  return tracks.scopes()[track];
}

TEST(TrackTable, ATrackBelongsToTheThreadOrProcessAboveIt) {
  TrackTable tracks;
  tracks.describe(child(5, 4));  // parents may come later
  tracks.describe(child(4, 1));
  tracks.describe(process(1, 100, "app"));
  tracks.describe(thread(2, 100, 101));
  tracks.describe(child(3, 2));
  EXPECT_EQ(scope(tracks, 1).kind, Kind::kProcess);
  EXPECT_TRUE(scope(tracks, 1).is_root);
  EXPECT_EQ(scope(tracks, 5).kind, Kind::kProcess);
  EXPECT_EQ(scope(tracks, 5).thread.pid, 100);
  EXPECT_FALSE(scope(tracks, 5).is_root);
  EXPECT_EQ(scope(tracks, 3).kind, Kind::kThread);
  EXPECT_EQ(scope(tracks, 3).thread, (ThreadKey{100, 101}));
  EXPECT_FALSE(scope(tracks, 3).is_root);
}

TEST(TrackTable, ATrackThatNobodyDescribedBelongsToTheWholeTrace) {
  TrackTable tracks;
  tracks.describe(child(7, 8));  // 8 is never described
  for (const std::uint64_t uuid : {7U, 8U, 9U}) {
    EXPECT_EQ(scope(tracks, uuid).kind, Kind::kGlobal);
    EXPECT_FALSE(scope(tracks, uuid).is_root);
  }
  EXPECT_TRUE(scope(tracks, 0).is_root);
}

TEST(TrackTable, ParentsInACircleBelongToNobody) {
  TrackTable tracks;
  tracks.describe(child(1, 2));
  tracks.describe(child(2, 3));
  tracks.describe(child(3, 1));
  tracks.describe(child(4, 1));
  tracks.describe(child(5, 5));
  for (const std::uint64_t uuid : {1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(scope(tracks, uuid).kind, Kind::kGlobal) << uuid;
}

TEST(TrackTable, AChainOfAHundredThousandParentsIsWalkedOnce) {
  TrackTable tracks;
  tracks.describe(process(1, 100, "app"));
  for (std::uint64_t uuid = 100'000; uuid > 1; --uuid) tracks.describe(child(uuid, uuid - 1));
  EXPECT_EQ(scope(tracks, 100'000).thread.pid, 100);
}

TEST(TrackTable, TheFirstDescriptorSaysWhereATrackIsAndTheFirstNameHowItIsCalled) {
  TrackTable tracks;
  tracks.describe(thread(1, 100, 101));
  proto::TrackDescriptor again = thread(1, 200, 201);
  again.set_static_name("late name");
  tracks.describe(again);
  EXPECT_EQ(scope(tracks, 1).thread, (ThreadKey{100, 101}));
  EXPECT_EQ(tracks.name(tracks.index(1)), "late name");
}

TEST(TrackTable, TracksOfOneThreadAreStackedTogether) {
  TrackTable tracks;
  const std::uint32_t early = tracks.thread_track({100, 101});
  tracks.describe(thread(1, 100, 101));
  EXPECT_EQ(tracks.merged_threads()[tracks.index(1)], early);
  EXPECT_EQ(tracks.thread_track({100, 101}), early);
}

TEST(TrackTable, NamesComeInOrderOfAppearanceAndTheLastOneCounts) {
  TrackTable tracks;
  tracks.describe(thread(2, 100, 102, "b"));
  tracks.describe(thread(1, 100, 101, "a"));
  tracks.describe(thread(3, 100, 102, "c"));
  tracks.describe(process(9, 100, "app"));
  ASSERT_EQ(tracks.threads().size(), 2U);
  EXPECT_EQ(tracks.threads()[0].name, "c");
  EXPECT_EQ(tracks.threads()[1].name, "a");
  ASSERT_EQ(tracks.processes().size(), 1U);
  EXPECT_EQ(tracks.processes()[0].name, "app");
}

}  // namespace
}  // namespace tracelens::perfetto
