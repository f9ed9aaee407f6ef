// Facts about a job beside its events: ranks, commands, series, captured graphs, packed texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "readers/database/database.hpp"
#include "readers/database/environment.hpp"
#include "readers/database/lz4_text.hpp"
#include "trace/value_member.hpp"

namespace tracelens {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string make_file(const io::TemporaryFolder& folder, const char* name,
                      const std::string& script) {
  const std::string path = folder.path(name);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, script.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return path;
}

Trace read_file(const std::string& path, const ReadOptions& options = {}) {
  io::Stream in = io::Stream::open(path);
  return read_database(in, options);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::size_t count_of(const Trace& trace, Category category) {
  return static_cast<std::size_t>(std::ranges::count(trace.categories(), category));
}

TEST(Environment, TheFirstKeyOfALauncherThatIsANumberCounts) {
  EXPECT_EQ(place_in_job(R"({"SECRET":"1","SLURM_PROCID":"3","RANK":"x","WORLD_SIZE":"8"})").rank,
            3);
  EXPECT_EQ(place_in_job(R"({"WORLD_SIZE":8})").world_size, 8);
  EXPECT_EQ(
      place_in_job(R"(["PATH=/bin","OMPI_COMM_WORLD_RANK=5","OMPI_COMM_WORLD_SIZE=16"])").rank, 5);
  EXPECT_EQ(place_in_job("A=1\nPMI_RANK=2\n").rank, 2);
  EXPECT_EQ(place_in_job("").rank, kAbsent);
}

TEST(PackedText, BlocksReferBackToWhatIsUnpacked) {
  // "abc", then nine letters from three back, then "!": one packed block, and one as it is.
  const std::string frame = std::string{"\x04\x22\x4d\x18", 4} + '\x60' + '\x40' + '\0' +
                            std::string{"\x08\0\0\0", 4} + '\x35' + "abc" +
                            std::string{"\x03\0", 2} + '\x10' + '!' +
                            std::string{"\x01\0\0\x80", 4} + '?' + std::string(4, '\0');
  const std::string stored = "LZ4F" + std::string{"\x0e\0\0\0", 4} + frame;
  EXPECT_EQ(unpacked_text(stored), "abcabcabcabc!?");
  EXPECT_EQ(unpacked_text("{}"), "{}");
  for (std::size_t size = 4; size < stored.size(); ++size)
    EXPECT_EQ(unpacked_text(stored.substr(0, size)), std::nullopt) << size;
}

constexpr const char* kJob = R"(
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_info_node_a (id INTEGER PRIMARY KEY, machine_id TEXT, hostname TEXT);
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER, command TEXT, environment JSONB);
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER);
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, region_name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_info_pmc_a (id INTEGER PRIMARY KEY, name TEXT, agent_id INTEGER);
CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL, sample_id INTEGER);
CREATE TABLE rocpd_sample_a (id INTEGER PRIMARY KEY, track_id INTEGER, timestamp BIGINT, event_id INTEGER);
INSERT INTO rocpd_metadata_a VALUES (1,'schema_version','9.1');
INSERT INTO rocpd_string_a VALUES (1,'forward'),(2,'');
INSERT INTO rocpd_info_node_a VALUES (1,'m','host');
INSERT INTO rocpd_info_process_a VALUES (1,77,'./train --token=abc','{"PMIX_RANK":"2","WORLD_SIZE":"4","TOKEN":"secret"}');
INSERT INTO rocpd_info_agent_a VALUES (8,'GPU',1);
INSERT INTO rocpd_kernel_dispatch_a VALUES (1,8,5,0,10,20,1,NULL),(2,1,5,0,30,40,2,NULL);
INSERT INTO rocpd_info_pmc_a VALUES (1,'power',8);
INSERT INTO rocpd_pmc_event_a VALUES (1,NULL,1,100.0,1),(2,NULL,1,300.0,2);
INSERT INTO rocpd_sample_a VALUES (1,1,12,NULL),(2,1,14,NULL);
)";

const Value& process_of(const Trace& trace) { return trace.metadata("processes")->items()[0]; }

TEST(Rocpd, TheRankIsInTheEnvironmentAndNothingElseIsTakenFromIt) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.db", kJob));
  EXPECT_EQ(member(process_of(trace), "rank").as_int(), 2);
  EXPECT_EQ(member(process_of(trace), "world_size").as_int(), 4);
  EXPECT_EQ(process_of(trace).find("command"), nullptr);
  ReadOptions options;
  options.command_lines = true;
  EXPECT_EQ(member(process_of(read_file(folder.path("x.db"), options)), "command").as_text(),
            "./train --token=abc");
}

TEST(Rocpd, KernelsAreCalledByTheirMarkerWhenThatIsWanted) {
  const io::TemporaryFolder folder;
  const std::string path = make_file(folder, "x.db", kJob);
  EXPECT_EQ(read_file(path).name({0}), "unknown_kernel_5");
  ReadOptions options;
  options.rename_kernels = true;
  const Trace trace = read_file(path, options);
  EXPECT_EQ(trace.name({0}), "forward");
  EXPECT_EQ(trace.name({1}), "unknown_kernel_5");  // its marker is empty
}

TEST(Rocpd, AnAgentIsFoundByItsIndexWhereNoRowHasTheId) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.db", kJob));
  EXPECT_EQ(trace.devices().at({0}), 1);
  EXPECT_EQ(trace.devices().at({1}), 1);
}

TEST(Rocpd, ValuesOfSamplesAreASeries) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.db", kJob));
  const Value* const series = trace.metadata("counter_series");
  ASSERT_NE(series, nullptr);
  EXPECT_EQ(member(series->items()[0], "counter").as_text(), "power");
  EXPECT_EQ(member(series->items()[0], "mean").as_real(), 200.0);
  EXPECT_EQ(member(series->items()[0], "last_ns").as_int(), 14);
  EXPECT_EQ(trace.metadata("streaming_counter_samples")->as_int(), 2);
}

TEST(Rocpd, AVersionThatNobodyKnowsIsReadWithAWord) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.db", kJob));
  EXPECT_THAT(trace.warnings().entries()[0].what, HasSubstr("a version that is not known"));
}

constexpr const char* kSession = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, graphNodeId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, domainId INTEGER, globalTid INTEGER, binaryData TEXT);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId INTEGER, idx INTEGER, type INTEGER, name TEXT, offset INTEGER);
CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER);
INSERT INTO StringIds VALUES (2,'gemm');
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,50,0,1,7,5,117440512,2,50),(60,70,0,2,7,6,117440512,2,NULL);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (4,0,18,'NCCL communicator ID',NULL),(4,1,5,'No. of ranks',8),(4,2,5,'Rank',12);
INSERT INTO NVTX_EVENTS VALUES
  (3,4,59,'ncclCommInitRank',NULL,1,117440513,x'0100000000000000040000000000000010000000000000002000000000000000dd000000000000000800000003000000'),
  (1,2,75,'NCCL',NULL,1,117440513,NULL),(5,9,59,'capture',NULL,0,117440513,NULL);
INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (6,117440513,40,NULL),(20,117440513,50,40);
)";

TEST(Nsight, TheCommunicatorTellsTheRank) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.sqlite", kSession));
  EXPECT_EQ(member(process_of(trace), "rank").as_int(), 3);
  EXPECT_EQ(member(process_of(trace), "world_size").as_int(), 8);
  EXPECT_EQ(trace.metadata("baseTimeNanoseconds")->as_int(), 1'700'000'000'000'000'000);
}

TEST(Nsight, StreamsOfTwoContextsAreTwo) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.sqlite", kSession));
  EXPECT_NE(trace.streams().values()[0], trace.streams().values()[1]);
}

TEST(Nsight, ARangeBeforeTheNameOfItsDomainGetsIt) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.sqlite", kSession));
  bool is_found = false;
  for (const EventId event : trace.all_events())
    is_found = is_found || trace.name(event) == "NCCL:ncclCommInitRank";
  EXPECT_TRUE(is_found);
}

TEST(Nsight, ARangeThatWaitsForItsDomainKeepsItsPlaceInTheFile) {
  const io::TemporaryFolder folder;
  const std::string script = replaced(kSession, "(5,9,59,'capture'", "(3,4,59,'twin'");
  const Trace trace = read_file(make_file(folder, "x.sqlite", script));
  std::vector<std::string> ranges;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kUserAnnotation) ranges.emplace_back(trace.name(event));
  EXPECT_EQ(ranges, (std::vector<std::string>{"NCCL:ncclCommInitRank", "twin"}));
}

TEST(Nsight, AnOpIsCalledByItsOwnNameWhateverItsDomain) {
  const io::TemporaryFolder folder;
  const std::string script = replaced(kSession, "'capture',NULL,0", "'aten::mm, seq = 4',NULL,1");
  const Trace trace = read_file(make_file(folder, "x.sqlite", script));
  std::vector<std::string> domains;
  for (const EventId event : trace.all_events())
    if (trace.name(event) == "aten::mm")
      domains.push_back(member(trace.details(event), "domain").as_text());
  EXPECT_EQ(domains, std::vector<std::string>{"NCCL"});
}

TEST(Nsight, ASessionThatIsInTwoFilesIsReadOnce) {
  const io::TemporaryFolder folder;
  const std::string paths[] = {make_file(folder, "x.sqlite", kSession),
                               make_file(folder, "y.sqlite", kSession)};
  const Trace trace = read_databases("job", paths, {});
  EXPECT_EQ(count_of(trace, Category::kKernel), 2U);
  ASSERT_FALSE(trace.warnings().entries().empty());
  EXPECT_THAT(trace.warnings().entries()[0].what, HasSubstr("was read once"));
}

// A report of one machine of a job: a process 7 with a kernel on its GPU 0.
std::string machine_report(const char* host, const char* session, const char* uuid) {
  return fmt::format(R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
INSERT INTO StringIds VALUES (2,'gemm');
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment','TOKEN=secret'),('Hostname','{}');
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({});
INSERT INTO TARGET_INFO_GPU VALUES (0,'H200','{}','0000:01:00.0');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,50,0,7,5,117440512,2);
)",
                     host, session, uuid);
}

// How many processes and GPUs a job of two reports has.
std::pair<std::size_t, std::size_t> counted_in(const std::string& a, const std::string& b) {
  const io::TemporaryFolder folder;
  const std::string paths[] = {make_file(folder, "a.sqlite", a), make_file(folder, "b.sqlite", b)};
  const Trace trace = read_databases("job", paths, {});
  EXPECT_EQ(count_of(trace, Category::kKernel), 2U);
  return {trace.metadata("processes")->items().size(), trace.metadata("gpus")->items().size()};
}

TEST(Nsight, ReportsOfTwoMachinesShareNoGpusAndNoProcesses) {
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(counted_in(machine_report("node-a", "1700000000000000001", "GPU-a"),
                       machine_report("node-b", "1700000000000000002", "GPU-b")),
            Counts(2, 2));
  EXPECT_EQ(counted_in(machine_report("node-a", "1700000000000000001", ""),
                       machine_report("node-b", "1700000000000000002", "")),
            Counts(2, 2));
  // Two sessions on one machine; then two of which nobody says where they ran.
  EXPECT_EQ(counted_in(machine_report("node-a", "1700000000000000001", "GPU-a"),
                       machine_report("node-a", "1700000000000000002", "GPU-a")),
            Counts(1, 1));
  EXPECT_EQ(counted_in(machine_report("", "1700000000000000001", ""),
                       machine_report("", "1700000000000000002", "")),
            Counts(2, 2));
}

std::string warnings_of(const Trace& trace) {
  std::string all;
  for (const Warnings::Entry& entry : trace.warnings().entries())
    all += fmt::format("{}: {}\n", entry.what, entry.count);
  return all;
}

TEST(Rocpd, ClocksOfTwoMachinesAreNotCompared) {
  const io::TemporaryFolder folder;
  const std::string other = replaced(replaced(kJob, "_a", "_b"), "'m','host'", "'n','other'");
  const std::string paths[] = {make_file(folder, "a.db", kJob), make_file(folder, "b.db", other)};
  EXPECT_THAT(warnings_of(read_databases("job", paths, {})),
              HasSubstr("the clocks of the 2 machines"));
  EXPECT_THAT(warnings_of(read_file(paths[0])), Not(HasSubstr("clocks")));
}

TEST(Rocpd, TheProcessIsTheOneThatEventsName) {
  const io::TemporaryFolder folder;
  const std::string script = std::string{kJob} +
                             "ALTER TABLE rocpd_kernel_dispatch_a ADD COLUMN nid INTEGER;"
                             "ALTER TABLE rocpd_kernel_dispatch_a ADD COLUMN pid INTEGER;"
                             "UPDATE rocpd_kernel_dispatch_a SET nid = 9, pid = 78;"
                             "INSERT INTO rocpd_info_node_a VALUES (9,'n','other');"
                             "INSERT INTO rocpd_info_process_a VALUES (78,4101,'','{}');";
  const Trace trace = read_file(make_file(folder, "x.db", script));
  EXPECT_EQ(member(process_of(trace), "own_pid").as_int(), 4101);
  EXPECT_EQ(member(process_of(trace), "hostname").as_text(), "other");
  EXPECT_EQ(member(process_of(trace), "rows_not_events").as_int(), 0);
}

// Containers have a pid, and a machine, in common.
TEST(Rocpd, ProcessesOfOnePidAreTwoAndSoAreGpusOfTwoHosts) {
  const io::TemporaryFolder folder;
  const std::string twin = replaced(kJob, "_a ", "_b ");
  const std::string paths[] = {make_file(folder, "a.db", kJob), make_file(folder, "b.db", twin)};
  const Trace trace = read_databases("job", paths, {});
  EXPECT_EQ(trace.metadata("processes")->items().size(), 2U);
  EXPECT_EQ(trace.metadata("gpus")->items().size(), 1U);
  EXPECT_THAT(warnings_of(trace), Not(HasSubstr("clocks")));
  const std::string pod = replaced(twin, "'m','host'", "'m','pod'");
  const std::string pods[] = {paths[0], make_file(folder, "c.db", pod)};
  EXPECT_EQ(read_databases("job", pods, {}).metadata("gpus")->items().size(), 2U);
}

TEST(Rocpd, AProcessWithoutSuffixIsKnownAgain) {
  const io::TemporaryFolder folder;
  const std::string plain = replaced(kJob, "_a ", " ");
  const std::string paths[] = {make_file(folder, "a.db", plain), make_file(folder, "b.db", plain)};
  const Trace trace = read_databases("job", paths, {});
  EXPECT_EQ(count_of(trace, Category::kKernel), 2U);
  EXPECT_THAT(warnings_of(trace), HasSubstr("was read once"));
  const std::string later[] = {paths[0],
                               make_file(folder, "c.db", replaced(plain, "0,10,20", "0,11,20"))};
  EXPECT_EQ(count_of(read_databases("job", later, {}), Category::kKernel), 4U);
}

TEST(Database, AFolderHasPackedDatabasesAsWell) {
  const io::TemporaryFolder folder;
  for (const char* const name : {"a.db", "b.db.zst", "c.db.gz", "d.db.zip", "E.DB", "f.txt"})
    static_cast<void>(make_file(folder, name, kJob));  // what is in a file decides, not its name
  EXPECT_EQ(databases_in(folder.path("")).size(), 5U);
}

TEST(Database, OthersDatabasesGetASentenceOfTheirOwn) {
  const io::TemporaryFolder folder;
  const auto error_of = [&](const char* name, const char* script) {
    try {
      static_cast<void>(read_file(make_file(folder, name, script)));
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(
      error_of("a.db", "CREATE TABLE compute_workload (a); CREATE TABLE compute_kernel (a)"),
      HasSubstr("ROCm Compute Profiler"));
  EXPECT_THAT(error_of("b.db", "CREATE TABLE STRING_IDS (a); CREATE TABLE TASK (a)"),
              HasSubstr("msprof"));
}

TEST(Database, WhatIsNoUtf8IsReplaced) {
  const io::TemporaryFolder folder;
  const Trace trace = read_file(make_file(folder, "x.db", std::string{kJob} + R"(
    CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, display_name TEXT);
    INSERT INTO rocpd_info_kernel_symbol_a VALUES (5, CAST(x'6aff6b' AS TEXT));)"));
  EXPECT_EQ(trace.name({0}), "j\xEF\xBF\xBDk");
}

}  // namespace
}  // namespace tracelens
