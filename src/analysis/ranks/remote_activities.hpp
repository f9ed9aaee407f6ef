// remote_activities.hpp: what ranks were doing, asked from the processes that read their traces. It is
// the largest part of a rank's summary, and only some moments of some ranks are ever asked for:
// so it stays where it is.
//   on the first process:  RemoteActivities remote{share, process_of, peers};
//                          CollectiveRun run{..., {.ask_activity = remote.asking()}};
//   on all others:         serve_activities(share, peers);    // until `remote` goes away
#pragma once

#include <cstdint>
#include <tracelens/collectives.hpp>
#include <vector>

#include "analysis/ranks/match_together.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

class RemoteActivities {
 public:
  // `process_of` by rank index. Share and peers must outlive this.
  RemoteActivities(const RankShare& share, std::vector<int> process_of, Peers& peers);
  // Lets the others go, also when an error ends the report; not when it came between a question and its
  // answers: then they wait for something else.
  ~RemoteActivities();
  RemoteActivities(const RemoteActivities&) = delete;
  RemoteActivities& operator=(const RemoteActivities&) = delete;

  [[nodiscard]] AskActivity asking();

 private:
  ActivityAnswers ask(std::span<const ActivityQuestion> questions);

  const RankShare& share_;
  std::vector<int> process_of_;
  Peers& peers_;
  bool is_asking_ = false;
};

void serve_activities(const RankShare& share, Peers& peers);

}  // namespace tracelens
