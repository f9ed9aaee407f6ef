#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>

#include "analysis/ranks/test_peers.hpp"

namespace tracelens {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

const std::vector<RankFile> kFiles{{"nowhere/rank0.json", 0}, {"nowhere/rank1.json", 1}};

// What ends the report on each of two processes, of which some fail in the middle of reading.
template <class Failure>
std::vector<std::string> errors_when(const std::vector<int>& failing, const Failure& failure) {
  std::vector<std::string> errors(2, "no error");
  as_processes(2, [&](Peers& peers) {
    CollectiveReportOptions options;
    options.threads = 1;
    if (std::ranges::find(failing, peers.index()) != failing.end())
      options.on_progress = [&](std::size_t, std::size_t) { throw Failure{failure}; };
    try {
      static_cast<void>(make_collective_report(kFiles, options, &peers));
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(peers.index())] = error.what();
    }
  });
  return errors;
}

TEST(CollectiveReportOfProcesses, AllMeetWhatWentWrongInOne) {
  const std::runtime_error no_more{"no more"};
  EXPECT_THAT(errors_when({1}, no_more), Each("process 1: no more"));
  EXPECT_THAT(errors_when({0}, no_more), Each("process 0: no more"));
  EXPECT_THAT(errors_when({0, 1}, no_more), Each("process 0: no more"));
  EXPECT_THAT(errors_when({1}, std::bad_alloc{}), Each("process 1: not enough memory"));
}

TEST(CollectiveReportOfProcesses, AllMeetThatNoTraceCouldBeRead) {
  EXPECT_THAT(errors_when({}, std::bad_alloc{}),
              AllOf(SizeIs(2), Each(AllOf(StartsWith("collectives: no trace could be read"),
                                          HasSubstr("nowhere/rank0.json")))));
}

}  // namespace
}  // namespace tracelens
