#include "readers/formats/host_threads.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>
#include <vector>

#include "trace/told_thread.hpp"

namespace tracelens {
namespace {

std::string event(std::string_view category, int told_tid, std::string_view args) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"e","pid":7,"tid":{},"ts":1,"dur":2,"args":{{{}}}}})",
      category, told_tid, args);
}

Trace read(const std::vector<std::string>& events) {
  const std::string text = fmt::format(R"({{"traceEvents":[{}]}})", fmt::join(events, ","));
  return read_trace_bytes("memory", text);
}

std::vector<std::int64_t> tids(const Trace& trace) {
  std::vector<std::int64_t> found;
  for (const EventId event : trace.all_events()) found.push_back(trace.track(event).tid.as_int());
  return found;
}

TEST(HostThreads, CallsThatAreAllToldToBeOfTheWriterAreOfTheThreadsTheyName) {
  const Trace trace =
      read({event("hip_api", 77, R"("tid":77)"), event("hip_api", 77, R"("tid":88)"),
            event("marker_api", 77, R"("tid":99)"), event("hsa_api", 77, ""),
            event("kernel_dispatch", 77, R"("agent":"Agent-2","tid":88)")});
  EXPECT_EQ(tids(trace), (std::vector<std::int64_t>{77, 88, 99, 77, 77}));
  EXPECT_EQ(trace.label(trace.track(EventId{1}), kToldTid)->as_int(), 77);
  EXPECT_FALSE(trace.label(trace.track(EventId{0}), kToldTid));
}

// As profilers do whose threads each write their own.
TEST(HostThreads, WhereCallsAreToldToBeOfSeveralThreadsTheyAre) {
  EXPECT_EQ(tids(read({event("hip_api", 77, R"("tid":1)"), event("hip_api", 78, R"("tid":2)")})),
            (std::vector<std::int64_t>{77, 78}));
}

TEST(HostThreads, OtherTracesStayAsTheyAre) {
  EXPECT_EQ(tids(read({event("cuda_runtime", 77, R"("tid":88)"),
                       event("hip_api", 77, R"("tid":"x")"), event("cpu_op", 77, R"("tid":88)")})),
            (std::vector<std::int64_t>{77, 77, 77}));
}

}  // namespace
}  // namespace tracelens
