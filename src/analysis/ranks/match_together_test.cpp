#include "analysis/ranks/match_together.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/remote_activities.hpp"
#include "analysis/ranks/test_peers.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// All of it, readable.
std::vector<std::string> described(const Matching& matching) {
  const auto text = [](const std::optional<CollectiveMember>& member) {
    return member ? std::to_string(member->rank) + "." + std::to_string(member->kernel) : "none";
  };
  std::vector<std::string> lines{matching.is_simplified ? "simplified" : "by groups"};
  for (const ProcessGroup& group : matching.groups) {
    lines.push_back("group " + group.id + " of " + group.name + ", by " +
                    std::to_string(static_cast<int>(group.matched_by)) + ":");
    for (const std::int64_t member : group.members) lines.back() += " " + std::to_string(member);
  }
  for (const Collective& collective : matching.collectives) {
    lines.push_back(matching.id(collective) + ":");
    for (const CollectiveMember& member : matching.members(collective))
      lines.back() += " " + text(member);
  }
  for (const Transfer& transfer : matching.transfers)
    lines.push_back("transfer in " + std::to_string(transfer.group) + " " + text(transfer.send) +
                    " to " + text(transfer.receive) + ", " + std::to_string(transfer.from) +
                    " to " + std::to_string(transfer.to));
  for (const auto& of_rank : matching.collective_of) {
    lines.emplace_back("numbers:");
    for (const std::uint32_t number : of_rank) lines.back() += " " + std::to_string(number);
  }
  return lines;
}

struct OwnRanks {
  std::vector<RankTrace> ranks;
  std::vector<std::uint32_t> indices;
};
// Every n-th, as files are dealt out.
OwnRanks share_of(const std::vector<RankTrace>& all, const Peers& peers) {
  OwnRanks own;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) % peers.count() == peers.index()) {
      own.ranks.push_back(all[i]);
      own.indices.push_back(i);
    }
  return own;
}

void expect_same_for_any_number(const std::vector<RankTrace>& all) {
  const std::vector<std::string> alone = described(match_collectives(all));
  for (const int count : {1, 2, 3, 5, 8})
    as_processes(count, [&](Peers& peers) {
      const OwnRanks own = share_of(all, peers);
      const Matching matching = match_together({own.ranks, own.indices, all.size()}, peers);
      if (peers.index() == 0)
        EXPECT_EQ(described(matching), alone) << count << " processes";
      else
        EXPECT_THAT(matching.groups, testing::IsEmpty());
    });
}

TEST(MatchTogether, GroupsOfSeveralKinds) {
  std::vector<std::vector<TestKernel>> kernels(6);
  for (std::size_t rank = 0; rank < kernels.size(); ++rank) {
    const std::string half = rank < 3 ? "[0, 1, 2]" : "[3, 4, 5]";
    auto& own = kernels[rank];
    own.push_back({.ts = 10, .group = "tp", .members = half, .group_size = 3, .seq = 1});
    own.push_back({.ts = 20, .group = "0", .members = "[0, 1, ..., 5]", .group_size = 6, .seq = 1});
    if (rank != 4)  // one that was lost
      own.push_back({.ts = 30, .group = "tp", .members = half, .group_size = 3, .seq = 2});
    own.push_back({.ts = 40, .group = "tp", .members = half, .group_size = 3, .seq = 3});
    own.push_back({.name = rank % 2 == 0 ? "send" : "recv",
                   .ts = 50,
                   .group = "pp",
                   .members = "",
                   .peer = static_cast<std::int64_t>(rank % 2 == 0 ? rank + 1 : rank - 1)});
  }
  expect_same_for_any_number(test_ranks(kernels));
}

TEST(MatchTogether, WithoutSequenceNumbers) {
  std::vector<std::vector<TestKernel>> kernels(4);
  for (std::size_t rank = 0; rank < kernels.size(); ++rank)
    for (std::int64_t i = 0; i < 12; ++i)
      if (rank != 2 || i % 5 != 3)
        kernels[rank].push_back({.name = i % 3 == 0 ? "broadcast" : "allreduce",
                                 .ts = 10.0 * static_cast<double>(i + 1),
                                 .elements = 1 + i % 4,
                                 .members = "[0, 1, 2, 3]",
                                 .group_size = 4});
  kernels[3].push_back({.name = "gather", .ts = 11, .members = "[0, 1, 2, 3]", .group_size = 4});
  kernels[3].push_back({.name = "scatter", .ts = 12, .members = "[0, 1, 2, 3]", .group_size = 4});
  expect_same_for_any_number(test_ranks(kernels));
}

TEST(MatchTogether, KernelsThatNameNothing) {
  expect_same_for_any_number(
      test_ranks({{{.name = "", .ts = 1}, {.name = "", .ts = 2}}, {{.name = "", .ts = 1}}, {}}));
  expect_same_for_any_number(test_ranks({{}, {}}));
  // One rank of one process names its groups: then no process may take the run as simplified.
  expect_same_for_any_number(test_ranks({{{.name = "", .ts = 1}}, {}, {}, {{.ts = 1}}}));
}

TEST(MatchTogether, ListsThatOnlyTheHeadOfATraceKnows) {
  auto ranks = test_ranks({{{.ts = 1, .members = "[0, 2, ..., 9]", .group_size = 3}},
                           {{.ts = 1, .members = "[1, 3, ..., 9]", .group_size = 3}},
                           {{.ts = 1, .members = "[0, 2, ..., 9]", .group_size = 3}}});
  const std::vector<std::int64_t> even{0, 2, 9}, odd{1, 3, 9};
  ranks[0].groups = ranks[2].groups = {{"0", RankRuns{even}}};
  ranks[1].groups = {{"0", RankRuns{odd}}};
  expect_same_for_any_number(ranks);
}

TEST(RemoteActivities, AnswersAreThoseOfTheRankItself) {
  auto all = test_ranks({{}, {}, {}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].activity.texts = {"aten::mm of " + std::to_string(i)};
    all[i].activity.stretches = {{0, 100 * static_cast<std::int64_t>(i + 1), 0}};
  }
  for (const int count : {1, 2, 4})
    as_processes(count, [&](Peers& peers) {
      const OwnRanks own = share_of(all, peers);
      const RankShare share{own.ranks, own.indices, all.size()};
      if (peers.index() != 0) return serve_activities(share, peers);
      RemoteActivities remote{share, {0 % count, 1 % count, 2 % count}, peers};
      const AskActivity ask = remote.asking();
      for (int round = 0; round < 2; ++round) {
        const ActivityQuestion questions[] = {{2, {0, 500}}, {0, {900, 950}}, {1, {150, 300}}};
        const ActivityAnswers answers = ask(questions);
        ASSERT_EQ(answers.size(), 3);
        EXPECT_EQ(answers[0].value().what, "aten::mm of 2");
        EXPECT_EQ(answers[0].value().ns, 300);
        EXPECT_FALSE(answers[1]);
        EXPECT_EQ(answers[2].value().ns, 50);
      }
    });
}

class CountingPeers : public ThreadPeers {
 public:
  using ThreadPeers::ThreadPeers;
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> bytes) override {
    ++exchanges;
    return ThreadPeers::exchange(std::move(bytes));
  }
  int exchanges = 0;
};

TEST(RemoteActivities, NobodyIsLetGoWhoWaitsForAnswers) {
  ThreadPeers::Desk desk{1};
  CountingPeers peers{0, 1, desk};
  {
    const RankShare share{{}, {}, 1};
    RemoteActivities remote{share, {0}, peers};
    const ActivityQuestion questions[] = {{0, {0, 500}}};  // nobody has read that rank
    EXPECT_THROW(static_cast<void>(remote.asking()(questions)), PeerError);
  }
  EXPECT_EQ(peers.exchanges, 1);
}

TEST(RankRuns, EveryListComesBack) {
  for (const std::vector<std::int64_t>& ranks : std::vector<std::vector<std::int64_t>>{
           {}, {7}, {3, 1}, {0, 1, 2, 3}, {0, 8, 16, 3, 4, 5, 5, 5, -2}, {0, 1, 5, 6, 9}})
    EXPECT_EQ(RankRuns{ranks}.expand(), ranks);
  const std::vector<std::int64_t> by_eight{0, 8, 16, 24};
  EXPECT_THAT(RankRuns{by_eight}.runs, ElementsAre(RankRuns::Run{0, 8, 4}));
}

}  // namespace
}  // namespace tracelens
