#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/fuse.hpp>
#include <tracelens/read_trace.hpp>

#include "io/temporary_folder.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRank = R"({"traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 41, "tid": 0, "args": {"name": "python"}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 41, "tid": 41, "ts": 1,
   "dur": 2, "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "ncclX", "pid": 0, "tid": 7, "ts": 1000.5, "dur": 20,
   "args": {"correlation": 7}},
  {"ph": "s", "id": 7, "pid": 41, "tid": 41, "ts": 1, "name": "ac2g"},
  {"ph": "X", "cat": "python_function", "name": "f", "pid": 41, "tid": 41, "ts": 1, "dur": 9},
  {"ph": "i", "name": "Iteration", "pid": "Traces", "tid": "x", "ts": 5}],
  "distributedInfo": {"rank": RANK}})";

class Fuse : public testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 2; ++rank) {
      std::string text = kRank;
      text.replace(text.find("RANK"), 4, std::to_string(rank));
      files_.push_back({folder_.write("rank" + std::to_string(rank) + ".json", text), rank});
    }
  }
  // The fused events; `key` of an event: fused.items()[i].find(key).
  Value fuse(const FuseOptions& options, const std::string& name = "fused.json") {
    result_ = fuse_traces(files_, folder_.path(name), options);
    const auto document = parse_json_value(read_text_file(folder_.path(name)));
    return *document.value().find("traceEvents");
  }
  static const Value& arg(const Value& event, const char* key) {
    static const Value kNone;
    const Value* const value = event.find("args")->find(key);
    return value == nullptr ? kNone : *value;
  }

  io::TemporaryFolder folder_;
  std::vector<RankFile> files_;
  FuseResult result_;
};

TEST_F(Fuse, IdsGetTheRankInFrontAndKeepTheOldOnesAsArguments) {
  const Value events = fuse({});
  const Value& kernel =
      events.items()[5];  // the second of rank 1: names of processes are made anew
  EXPECT_EQ(kernel.find("name")->as_text(), "ncclX");
  EXPECT_EQ(kernel.find("pid")->as_int(), 1000);  // two digits and one more
  EXPECT_EQ(arg(kernel, "pid_raw"), Value{0});
  EXPECT_EQ(arg(kernel, "correlation"), Value{107});
  EXPECT_EQ(arg(kernel, "correlation_raw"), Value{7});
  EXPECT_EQ(arg(kernel, "rank"), Value{1});
  const Value& flow = events.items()[6];
  EXPECT_EQ(flow.find("id")->as_int(), 107);
  EXPECT_EQ(arg(flow, "id_raw"), Value{7});
  EXPECT_EQ(events.items()[7].find("pid")->as_text(), "Traces");
}

TEST_F(Fuse, ProcessesAreNamedByRank) {
  const Value events = fuse({});
  std::vector<std::string> names;
  for (const Value& event : events.items())
    if (event.find("name")->as_text() == "process_name")
      names.push_back(arg(event, "name").as_text());
  EXPECT_THAT(names, ElementsAre("RANK 0 - GPU", "RANK 0 - CPU", "RANK 1 - GPU", "RANK 1 - CPU"));
}

TEST_F(Fuse, PythonFramesStayOnRequest) {
  EXPECT_EQ(fuse({}).items().size() + 2, fuse({.python = true}).items().size());
}

TEST_F(Fuse, OnlyAWordKeepsTheGpuEventsThatHoldIt) {
  const Value events = fuse({.only = "NCCL"});
  EXPECT_THAT(events.items(), SizeIs(2 + 4));  // a kernel per rank, and the names of two processes
}

TEST_F(Fuse, NamesOfThreadsAndStreamsPassEveryFilter) {
  const std::string text = R"({"traceEvents": [
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
    {"ph": "X", "cat": "kernel", "name": "ncclX", "pid": 0, "tid": 7, "ts": 1, "dur": 2}]})";
  files_ = {{folder_.write("named.json", text), 0}};
  for (const FuseOptions& options : {FuseOptions{.only = "nccl"}, {.categories = {"kernel"}}})
    EXPECT_EQ(fuse(options).items()[0].find("name")->as_text(), "thread_name");
}

TEST_F(Fuse, TheGpusAndLaunchesOfRocmProfilersAreKnown) {
  const std::string text = R"({"traceEvents": [
    {"ph": "X", "cat": "kernel_dispatch", "name": "ncclX", "pid": 3, "tid": 7, "ts": 1, "dur": 2,
     "args": {"correlation": 5}},
    {"ph": "X", "cat": "hip_api", "name": "hipLaunchKernel", "pid": 9, "tid": 7, "ts": 1,
     "dur": 1, "args": {"correlation": 5}}]})";
  files_ = {{folder_.write("rocm.json", text), 1}};
  const Value events = fuse({});
  EXPECT_EQ(arg(events.items()[0], "correlation"), Value{105});
  EXPECT_EQ(arg(events.items()[2], "name"), Value{"RANK 1 - GPU"});
  EXPECT_EQ(arg(events.items()[4], "name"), Value{"RANK 1 - CPU"});
  EXPECT_THAT(fuse({.only = "nccl"}).items(), SizeIs(1 + 2));
}

TEST_F(Fuse, TimesAtTheEndOfTheRangeDoNotOverflow) {
  const std::string text = R"({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9000000000000000,
     "dur": 9000000000000000}]})";
  files_ = {{folder_.write("late.json", text), 0}};
  EXPECT_THAT(fuse({.window = FuseOptions::Window{0, 1000}}).items(), SizeIs(1 + 2));
}

TEST_F(Fuse, AWindowCountsFromTheFirstEvent) {
  const Value events = fuse({.window = FuseOptions::Window{0, 500'000}});
  for (const Value& event : events.items()) EXPECT_NE(event.find("name")->as_text(), "ncclX");
}

TEST_F(Fuse, RanksAndCategoriesCanBeChosen) {
  const Value events = fuse({.categories = {"cuda_runtime"}, .only_ranks = {1}});
  EXPECT_THAT(events.items(), SizeIs(1 + 2));
  EXPECT_EQ(result_.ranks, 1u);
  EXPECT_THAT(result_.warnings, IsEmpty());
}

TEST_F(Fuse, TheRankInTheTraceIsChosenWhateverItsNameTells) {
  files_[1].rank = 0;  // its number on its machine
  static_cast<void>(fuse({.only_ranks = {1}}));
  EXPECT_EQ(result_.ranks, 1u);
  EXPECT_THAT(result_.warnings, IsEmpty());
  files_[0].rank = 1;
  static_cast<void>(fuse({.only_ranks = {1}}));
  EXPECT_EQ(result_.ranks, 1u);
  EXPECT_THAT(result_.warnings, IsEmpty());
}

TEST_F(Fuse, AFileThatIsNoRankBesideOthersIsLeftOut) {
  std::string text = kRank;
  text.replace(text.find("\"rank\": RANK"), 12, "");
  files_.push_back({folder_.write("other.json", text), std::nullopt});
  static_cast<void>(fuse({}));
  EXPECT_EQ(result_.ranks, 2u);
  EXPECT_THAT(result_.warnings,
              ElementsAre(HasSubstr("other.json: neither the trace nor its name tells the rank")));
  files_.erase(files_.begin(), files_.begin() + 2);
  static_cast<void>(fuse({}));  // alone it is rank 0
  EXPECT_EQ(result_.ranks, 1u);
}

TEST_F(Fuse, RanksThatAreNotThereAreTold) {
  static_cast<void>(fuse({.only_ranks = {0, 8, 9}}));
  EXPECT_EQ(result_.ranks, 1u);
  EXPECT_THAT(result_.warnings, ElementsAre("--ranks: there is no trace of rank 8, 9"));
}

TEST_F(Fuse, TheResultIsATraceAgainPackedOrNot) {
  static_cast<void>(fuse({}));
  static_cast<void>(fuse({}, "fused.json.gz"));
  const Trace plain = read_trace(folder_.path("fused.json"));
  EXPECT_EQ(plain.size(), read_trace(folder_.path("fused.json.gz")).size());
  EXPECT_EQ(read_trace(folder_.path("fused.json.gz")).source().packing, "gzip");
  EXPECT_NE(plain.metadata("distributedInfoByRank"), nullptr);
}

TEST_F(Fuse, AFileThatCannotBeReadIsNamedAndTheRestIsFused) {
  files_.push_back({folder_.write("rank2.json", "no trace"), 2});
  files_.push_back({folder_.write("rank3.json", ""), 3});
  static_cast<void>(fuse({}));
  EXPECT_EQ(result_.ranks, 2u);
  ASSERT_THAT(result_.warnings, SizeIs(2));
  EXPECT_THAT(result_.warnings[0], HasSubstr("rank2.json"));
  EXPECT_THROW(fuse_traces({files_[2]}, folder_.path("none.json")), Error);
}

}  // namespace
}  // namespace tracelens
