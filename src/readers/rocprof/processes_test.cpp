// Several processes in one file of rocprofv3: what is one thing stays one, what is two stays two.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <vector>

#include "readers/kit/dump.hpp"

namespace tracelens {
namespace {

// A process with one GPU, one kernel (id 1, stream 3, launched by call 8), told by what differs.
struct Process {
  std::int64_t pid = 70;
  std::string_view host = "n1";
  std::int64_t handle = 500;        // of its GPU
  std::string_view node = "4";      // as written: of its GPU
  std::int64_t number = 0;          // of its GPU, in the process
  std::string_view kernel = "add";  // whose id is 1
};

std::string text_of(const Process& process, bool records_first = false) {
  const std::string tables = fmt::format(
      R"("metadata": {{"pid": {}, "init_time": 100, "fini_time": 900,
            "node": {{"hostname": "{}"}}, "command": ["python3", "train.py"]}},
         "agents": [{{"id": {{"handle": {}}}, "type": 2, "node_id": {}, "name": "gfx950",
            "logical_node_type_id": {}}}],
         "strings": {{}}, "kernel_symbols": [{{"kernel_id": 1, "kernel_name": "{}"}}])",
      process.pid, process.host, process.handle, process.node, process.number, process.kernel);
  const std::string records = fmt::format(
      R"("buffer_records": {{
         "hip_api": [{{"thread_id": 9, "start_timestamp": 200, "end_timestamp": 210,
            "correlation_id": {{"internal": 8}}}}],
         "kernel_dispatch": [{{"thread_id": 9, "start_timestamp": 300, "end_timestamp": 400,
            "correlation_id": {{"internal": 8}}, "stream_id": {{"handle": 3}},
            "dispatch_info": {{"kernel_id": 1, "agent_id": {{"handle": {}}}}}}}]}})",
      process.handle);
  return records_first ? fmt::format("{{{}, {}}}", records, tables)
                       : fmt::format("{{{}, {}}}", tables, records);
}
std::string file_of(std::initializer_list<std::string> processes) {
  return fmt::format(R"({{"rocprofiler-sdk-tool": [{}]}})", fmt::join(processes, ", "));
}
Trace read(const std::string& text) { return read_trace_bytes("run_results.json", text); }

constexpr EventId kFirstCall{0}, kFirstKernel{1}, kSecondCall{2}, kSecondKernel{3};

TEST(RocprofProcesses, AllAreReadOneAfterTheOther) {
  const Trace trace = read(file_of({text_of({}), text_of({.pid = 71}), text_of({.pid = 72})}));
  EXPECT_EQ(trace.size(), 6u);
  EXPECT_TRUE(trace.warnings().entries().empty());
  const auto& processes = trace.metadata("processes")->items();
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[1].find("pid")->as_int(), 71);
  EXPECT_EQ(processes[1].find("first_event")->as_int(), 2);
  EXPECT_EQ(processes[1].find("events")->as_int(), 2);
  EXPECT_EQ(trace.metadata("pid")->as_int(), 70);  // the members of the first, as ever
}

TEST(RocprofProcesses, EachHasItsOwnTables) {
  const Trace trace = read(file_of({text_of({}), text_of({.pid = 71, .kernel = "mul"})}));
  EXPECT_EQ(trace.name(kFirstKernel), "add");
  EXPECT_EQ(trace.name(kSecondKernel), "mul");
}

TEST(RocprofProcesses, AGpuIsOneWhenMachineAndNodeAgreeWhateverItsHandleAndNumber) {
  const Trace trace =
      read(file_of({text_of({.number = 2}), text_of({.pid = 71, .handle = 900, .number = 0})}));
  EXPECT_EQ(trace.devices().at(kFirstKernel), 2);
  EXPECT_EQ(trace.devices().at(kSecondKernel), 2);
  EXPECT_EQ(trace.details(kSecondKernel).find("agent")->as_text(), "GPU-2");
  EXPECT_EQ(trace.metadata("deviceProperties")->items().size(), 1u);
}

TEST(RocprofProcesses, GpusThatAreNotTheSameGetTheNextFreeNumber) {
  for (const Process& other : {Process{.pid = 71, .host = "n2"}, Process{.pid = 71, .node = "5"},
                               Process{.pid = 71, .node = "null"}}) {
    const Trace trace = read(file_of({text_of({}), text_of(other)}));
    EXPECT_EQ(trace.devices().at(kFirstKernel), 0);
    EXPECT_EQ(trace.devices().at(kSecondKernel), 1) << other.host << ' ' << other.node;
    EXPECT_EQ(trace.metadata("deviceProperties")->items().size(), 2u);
  }
}

TEST(RocprofProcesses, ClocksOfSeveralMachinesAreNotComparedAndThatIsSaid) {
  constexpr auto kWarning = "processes of several machines, whose clocks are not compared";
  EXPECT_EQ(
      read(file_of({text_of({}), text_of({.pid = 71, .host = "n2"})})).warnings().count(kWarning),
      2u);
  EXPECT_EQ(read(file_of({text_of({}), text_of({.pid = 71})})).warnings().count(kWarning), 0u);
}

TEST(RocprofProcesses, StreamsAreToldApartWhereTheyShareAGpu) {
  const Trace shared = read(file_of({text_of({}), text_of({.pid = 71})}));
  EXPECT_EQ(shared.streams().at(kFirstKernel), 3);
  EXPECT_EQ(shared.streams().at(kSecondKernel), 1);  // the next that is free
  EXPECT_EQ(shared.track(kSecondKernel), (Track{0, 1}));
  const Trace apart = read(file_of({text_of({}), text_of({.pid = 71, .node = "5"})}));
  EXPECT_EQ(apart.streams().at(kSecondKernel), 3);
}

TEST(RocprofProcesses, AKernelBelongsToTheCallOfItsOwnProcess) {
  const Trace trace = read(file_of({text_of({}), text_of({.pid = 71})}));
  const auto ids = trace.correlations();
  EXPECT_EQ(ids[kFirstCall.row], 8);
  EXPECT_EQ(ids[kFirstKernel.row], 8);
  EXPECT_EQ(ids[kSecondCall.row], ids[kSecondKernel.row]);
  EXPECT_NE(ids[kSecondCall.row], 8);
  EXPECT_EQ(trace.track(kSecondCall), (Track{71, 9}));
}

TEST(RocprofProcesses, APidThatIsTakenGetsANumberOfItsOwn) {
  const Trace trace = read(file_of({text_of({}), text_of({.host = "n2"})}));
  EXPECT_EQ(trace.track(kFirstCall), (Track{70, 9}));
  EXPECT_EQ(trace.track(kSecondCall), (Track{71, 9}));
  EXPECT_EQ(
      trace.warnings().count("process with the pid of another, which gets a number of its own"),
      1u);
}

TEST(RocprofProcesses, TheOrderOfTheirMembersDoesNotMatter) {
  const Process second{.pid = 71, .handle = 900, .number = 5, .kernel = "mul"};
  const Trace usual = read(file_of({text_of({}), text_of(second)}));
  const Trace reversed = read(file_of({text_of({}, true), text_of(second, true)}));
  for (const EventId event : usual.all_events()) {
    EXPECT_EQ(usual.name(event), reversed.name(event));
    EXPECT_EQ(usual.devices().at(event), reversed.devices().at(event));
    EXPECT_EQ(usual.streams().at(event), reversed.streams().at(event));
    EXPECT_EQ(usual.track(event), reversed.track(event));
  }
}

TEST(RocprofProcesses, BlocksOfAnySizeGiveTheSameTrace) {
  const std::string text = file_of({text_of({}), text_of({.host = "n2"})});
  const std::string whole = dump_read(text, {});
  for (const std::size_t block : {16u, 17u, 64u, 301u})
    EXPECT_EQ(dump_read(text, {.block_bytes = block}), whole) << block;
}

TEST(RocprofProcesses, WhatIsNoProcessIsPassedOverAndCounted) {
  const Trace trace = read(file_of({"7", "{}", text_of({}), "null", text_of({.pid = 71})}));
  EXPECT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace.warnings().count("element that is no process"), 2u);
  EXPECT_EQ(trace.warnings().count("process without records"), 1u);
}

TEST(RocprofProcesses, ACutInTheSecondKeepsTheFirst) {
  const std::string text = file_of({text_of({}), text_of({.pid = 71})});
  const Trace trace = read(text.substr(0, text.rfind("\"kernel_dispatch\"")));
  EXPECT_EQ(trace.size(), 3u);
  EXPECT_TRUE(trace.source().cut_short);
  EXPECT_EQ(trace.metadata("processes")->items().size(), 2u);
}

TEST(RocprofProcesses, IdsThatLeaveNoRoomForOthersAreDropped) {
  const auto huge = [](int pid) {
    return fmt::format(
        R"({{"metadata": {{"pid": {}}}, "agents": [], "strings": {{}}, "kernel_symbols": [],
             "buffer_records": {{"hip_api": [{{"start_timestamp": 1, "end_timestamp": 2,
             "correlation_id": {{"internal": 9223372036854775807}}}}]}}}})",
        pid);
  };
  const Trace trace = read(file_of({huge(1), huge(2)}));
  EXPECT_EQ(trace.correlations()[1], kAbsent);
  EXPECT_EQ(
      trace.warnings().count("correlation id too large to be told from those of other processes"),
      1u);
}

}  // namespace
}  // namespace tracelens
