#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/split.hpp>

#include "io/temporary_folder.hpp"
#include "report/split/part_names.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A run of `steps` steps: an annotation, an op that launches a kernel, and after it, before the next
// step, an op of another thread that launches one too. Kernels come last, as profilers have it.
std::string serving_run(int steps, bool with_annotations = true) {
  std::string host, gpu;
  for (int i = 0; i < steps; ++i) {
    const int at = 1000 * i;
    if (with_annotations)
      host += fmt::format(
          R"j({{"ph":"X","cat":"user_annotation","name":"execute_context_{}({})_generation_2(2)","pid":1,"tid":1,"ts":{},"dur":600,"args":{{"External id":{}}}}},)j",
          i % 4 == 0 ? 1 : 0, i % 4 == 0 ? 64 : 0, at, i);
    for (int k = 0; k < 2; ++k) {
      const int id = 2 * i + k + 1, ts = at + 100 + 600 * k;
      host += fmt::format(
          R"j({{"ph":"X","cat":"cpu_op","name":"op{0}","pid":1,"tid":{1},"ts":{2},"dur":50,"args":{{"Input Dims":[[{3}]]}}}}, )j"
          R"j({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{1},"ts":{4},"dur":9,"args":{{"correlation":{3}}}}},)j",
          k, k + 1, ts, id, ts + 5);
      gpu += fmt::format(
          ",\n"
          R"j({{"ph":"X","cat":"kernel","name":"kernel{0}","pid":0,"tid":7,"ts":{1},"dur":{2},"args":{{"correlation":{3},"stream":7}}}},)j"
          R"j({{"ph":"s","id":{3},"pid":1,"tid":{4},"ts":{5},"cat":"ac2g","name":"ac2g"}},)j"
          R"j({{"ph":"f","id":{3},"pid":0,"tid":7,"ts":{1},"cat":"ac2g","name":"ac2g"}})j",
          k, ts + 2000, 10 + i, id, k + 1, ts + 5);
    }
    if (with_annotations)
      gpu += fmt::format(
          R"j(,{{"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":{},"dur":600,"args":{{"External id":{}}}}})j",
          at + 2000, i);
  }
  host.pop_back();
  return "{\"schemaVersion\": 1, \"traceEvents\": [\n" + host + gpu +
         R"j(,
{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":5,"args":{"name":"server"}}
], "traceName": "a µ"}
)j";
}

std::vector<std::string> names_in(const SplitResult& result) {
  std::vector<std::string> names;
  for (const std::string& file : result.files)
    names.push_back(file.substr(file.find_last_of('/') + 1));
  return names;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.push_back(entry.path().filename().string());
  return names;
}

// GPU time by the name of the kernel.
std::map<std::string, std::int64_t> kernel_times(const Trace& trace) {
  std::map<std::string, std::int64_t> times;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kKernel)
      times[std::string{trace.name(event)}] += trace.dur_ns()[event.row];
  return times;
}

std::size_t count(const Trace& trace, Category category) {
  return static_cast<std::size_t>(std::ranges::count(trace.categories(), category));
}

TEST(SplitTrace, WindowsTogetherAreTheWhole) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(10));
  const SplitResult result = split_trace(file, folder.path("parts"), {.steps = 4});
  EXPECT_EQ(result.steps, 10u);
  EXPECT_THAT(names_in(result), ElementsAre("steps_0000-0003.json.gz", "steps_0004-0007.json.gz",
                                            "steps_0008-0009.json.gz"));
  std::map<std::string, std::int64_t> sum;
  std::size_t events = 0;
  for (const std::string& part : result.files) {
    const Trace trace = read_trace(part);
    EXPECT_TRUE(trace.warnings().entries().empty());
    EXPECT_EQ(trace.metadata("traceName")->as_text(), "a µ");
    EXPECT_EQ(trace.label(Track{1, 0}, "process_name")->as_text(), "server");
    EXPECT_EQ(count(trace, Category::kAsyncCpuToGpu), 2 * count(trace, Category::kKernel));
    EXPECT_EQ(count(trace, Category::kGpuUserAnnotation), count(trace, Category::kUserAnnotation));
    EXPECT_TRUE(parse_json_value(read_text_file(part)));
    for (const auto& [name, ns] : kernel_times(trace)) sum[name] += ns;
    events += trace.size();
  }
  const Trace whole = read_trace(file);
  EXPECT_EQ(sum, kernel_times(whole));
  EXPECT_EQ(events, whole.size() + 2);  // the name of the process is in each
  EXPECT_THAT(names_in(folder.path("parts")),
              UnorderedElementsAre("steps_0000-0003.json.gz", "steps_0004-0007.json.gz",
                                   "steps_0008-0009.json.gz", "parts.csv", ".tracelens-files"));
}

TEST(SplitTrace, EventsAreCopiedByteByByte) {
  const TemporaryFolder folder;
  const std::string text = serving_run(3);
  const std::string file = folder.write("run.json", text);
  const SplitResult result =
      split_trace(file, folder.path("parts"), {.range = SplitOptions::Range{0, 3}});
  ASSERT_THAT(names_in(result), ElementsAre("steps_0000-0002.json.gz"));
  EXPECT_EQ(read_text_file(result.files[0]), text);
}

TEST(SplitTrace, PartsAreTheSameForAnyNumberOfThreadsAndAnyPacking) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(2000));
  std::vector<std::string> texts[2];
  for (const int threads : {1, 3}) {
    const std::string out = folder.path("parts" + std::to_string(threads));
    for (const std::string& part : split_trace(file, out, {.threads = threads}).files)
      texts[threads == 1 ? 0 : 1].push_back(read_text_file(part));
  }
  EXPECT_EQ(texts[0].size(), 63u);
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(SplitTrace, MoreFilesThanMayBeOpenTakeAnotherPass) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(600));
  const SplitResult result = split_trace(file, folder.path("parts"), {.each = true});
  ASSERT_EQ(result.files.size(), 600u);
  for (const std::size_t i : {0u, 299u, 599u}) {
    const Trace trace = read_trace(result.files[i]);
    EXPECT_EQ(kernel_times(trace).at("kernel0"), 10'000 + 1000 * static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(names_in(result)[4], "step_0004_mixed.json.gz");
}

TEST(SplitTrace, NamesMayStandAnywhere) {
  const TemporaryFolder folder;
  std::string text = serving_run(4);
  const std::string name =
      R"({"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"x"}},)";
  for (std::size_t at = text.find("{\"ph\":\"X\""); at != std::string::npos;
       at = text.find("{\"ph\":\"X\"", at + name.size() + 1))
    text.insert(at, name);
  const std::string file = folder.write("run.json", text);
  const SplitResult result = split_trace(file, folder.path("parts"), {.each = true});
  ASSERT_EQ(result.files.size(), 4u);
  for (const std::string& part : result.files) {
    const Trace trace = read_trace(part);
    EXPECT_TRUE(trace.warnings().entries().empty());
    EXPECT_EQ(count(trace, Category::kKernel), 2u);
    EXPECT_TRUE(parse_json_value(read_text_file(part)));
  }
}

TEST(SplitTrace, FilesOfTheRunBeforeGoWhenNobodyChangedThem) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(8)), out = folder.path("parts");
  (void)split_trace(file, out, {.each = true});
  (void)folder.write("parts/step_0003_decode.json.gz", "mine");
  const SplitResult result = split_trace(file, out, {.steps = 8});
  EXPECT_THAT(names_in(folder.path("parts")),
              UnorderedElementsAre("steps_0000-0007.json.gz", "step_0003_decode.json.gz",
                                   "parts.csv", ".tracelens-files"));
  EXPECT_THROW((void)split_trace(result.files[0], out, {}), Error);
  EXPECT_THAT(names_in(folder.path("parts")), ::testing::Contains("steps_0000-0007.json.gz"));
}

TEST(SplitTrace, AFileThatIsCutGivesWholeTraces) {
  const TemporaryFolder folder;
  const std::string text = serving_run(6);
  for (const std::size_t length : {text.size() - 30, text.size() / 2, text.size() / 3}) {
    const std::string file = folder.write("run.json", text.substr(0, length));
    const SplitResult result = split_trace(file, folder.path("parts"), {.steps = 2});
    EXPECT_FALSE(result.warnings.empty());
    for (const std::string& part : result.files)
      EXPECT_TRUE(parse_json_value(read_text_file(part))) << length;
  }
}

TEST(SplitTrace, ABareListStaysOne) {
  const TemporaryFolder folder;
  std::string text = serving_run(4);
  text = text.substr(text.find('['), text.rfind(']') - text.find('[') + 1);
  const std::string whole = folder.write("list.json", text);
  const std::string cut = folder.write("cut.json", text.substr(0, text.size() - 1));
  for (const std::string& file : {whole, cut})
    for (const std::string& part : split_trace(file, folder.path("parts"), {.steps = 2}).files)
      EXPECT_TRUE(parse_json_value(read_text_file(part))->is_sequence());
}

TEST(SplitTrace, WhatCannotBeReadBecomesPartOfNothing) {
  const TemporaryFolder folder;
  std::string text = serving_run(4);
  const std::size_t at = text.find("{\"ph\":\"X\",\"cat\":\"cpu_op\"");
  text.insert(at, R"(17, {"broken" 3}, {"ph":"X","name":"timeless","pid":1,"tid":1},, )");
  const std::string file = folder.write("run.json", text);
  for (const std::string& part : split_trace(file, folder.path("parts"), {.steps = 2}).files) {
    const std::string part_text = read_text_file(part);
    EXPECT_THAT(part_text, ::testing::Not(HasSubstr("timeless")));
    EXPECT_TRUE(parse_json_value(part_text));
  }
}

TEST(SplitTrace, WithoutAnnotationsTheProfilersStepsServe) {
  const TemporaryFolder folder;
  std::string text = serving_run(4);
  for (std::size_t at = 0; (at = text.find("execute_context_", at)) != std::string::npos; ++at)
    text.replace(at, text.find('"', at) - at, "ProfilerStep#" + std::to_string(at));
  const std::string file = folder.write("run.json", text);
  EXPECT_EQ(split_trace(file, folder.path("parts"), {.each = true}).files.size(), 4u);
  const std::string without = folder.write("none.json", serving_run(4, false));
  EXPECT_THROW((void)split_trace(without, folder.path("parts"), {}), Error);
}

TEST(SplitTrace, StepsThatAreNotThereAreAnError) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(4));
  try {
    (void)split_trace(file, folder.path("parts"), {.range = SplitOptions::Range{4, 9}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there are 4 steps"));
  }
}

// --- as the Python TraceLens does it ---

TEST(SplitTrace, TheReferenceTakesTheAnnotationsThreadWithinEachStep) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.pt.trace.json", serving_run(8));
  const SplitResult result = split_trace(
      file, folder.path("out"),
      {.edition = Edition::kReference, .range = SplitOptions::Range{2, 5}, .each = true});
  EXPECT_THAT(
      names_in(result),
      ElementsAre("run_annotation_iteration_2_execute_context_0_0_generation_2_2.json.gz",
                  "run_annotation_iteration_3_execute_context_0_0_generation_2_2.json.gz",
                  "run_annotation_iteration_4_execute_context_1_64_generation_2_2.json.gz"));
  const Trace trace = read_trace(result.files[0]);
  EXPECT_EQ(count(trace, Category::kCpuOp), 1u);
  EXPECT_EQ(count(trace, Category::kKernel), 1u);
  EXPECT_EQ(count(trace, Category::kAsyncCpuToGpu), 2u);
  EXPECT_TRUE(trace.label(Track{1, 0}, "process_name"));  // which the reference loses
  const auto list = parse_json_value(read_text_file(folder.path("out/execution_details.json")));
  ASSERT_TRUE(list);
  ASSERT_EQ(list->items().size(), 3u);
  const Value& first = list->items()[0];
  EXPECT_EQ(first.find("idx")->as_int(), 2);
  EXPECT_EQ(first.find("event_count")->as_int(), 6);  // annotation, op, call, kernel, two flows
  EXPECT_EQ(first.find("num_gpu_events")->as_int(), 1);
  EXPECT_EQ(first.find("gpu_busy_duration")->as_real(), 12);
  EXPECT_EQ(first.find("steps")->items()[0].find("generation_sum")->as_int(), 2);
  EXPECT_EQ(first.find("phase")->find("num_decode")->as_int(), 1);
  EXPECT_THAT(read_text_file(folder.path("out/execution_details.csv")),
              HasSubstr(",6,1,12.00,12.00,0,0,1,2,2,1\n"));
}

TEST(SplitTrace, TheReferenceNamesWindowsByWhatTheyHold) {
  const TemporaryFolder folder;
  const std::string file = folder.write("run.json", serving_run(20));
  SplitOptions options{.edition = Edition::kReference, .steady_state = true, .steps = 8};
  const SplitResult steady = split_trace(file, folder.path("steady"), options);
  EXPECT_THAT(
      names_in(steady),
      ElementsAre("mixed_steady_state_prefill_0_prefilldecode_2_decode_6_bs18_conc2_run"
                  ".json.gz",
                  "decode_only_steady_state_prefill_0_prefilldecode_0_decode_3_bs2_conc2_run"
                  ".json.gz",
                  "prefilldecode_steady_state_prefill_0_prefilldecode_1_decode_0_bs66_conc3"
                  "_run.json.gz"));
  options = {.edition = Edition::kReference, .range = SplitOptions::Range{0, 5}, .phases = true};
  const SplitResult phases = split_trace(file, folder.path("phases"), options);
  ASSERT_EQ(phases.files.size(), 3u);
  EXPECT_THAT(phases.files[1],
              HasSubstr("/decode_only/decode_only_chunk0_steps3_bs2_conc2_prefill_0_"));
  options = {.edition = Edition::kReference, .range = SplitOptions::Range{0, 5}};
  EXPECT_THAT(names_in(split_trace(file, folder.path("range"), options)),
              ElementsAre("run_annotation_iteration_0_5_prefill_0_prefilldecode_2_decode_3_bs27"
                          "_conc2.json.gz"));
  options = {.edition = Edition::kReference};
  EXPECT_TRUE(split_trace(file, folder.path("nothing"), options).files.empty());
}

TEST(ReferenceSplit, StepsOfTwoThreadsKeepTheirOwnEvents) {
  // Both steps are open when each of the two kernels is launched.
  std::string text = "{\"traceEvents\":[";
  for (const int thread : {1, 2}) {
    text += fmt::format(
        R"j({{"ph":"X","cat":"user_annotation","name":"decode[bs=1 tok=1]","pid":1,"tid":{0},"ts":{1},"dur":500}},)j"
        R"j({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{0},"ts":{2},"dur":9,"args":{{"correlation":{0}}}}},)j"
        R"j({{"ph":"X","cat":"kernel","name":"kernel","pid":0,"tid":7,"ts":600,"dur":5,"args":{{"correlation":{0},"stream":7}}}},)j",
        thread, 10 * thread, 100 + thread);
  }
  text.back() = ']';
  const TemporaryFolder folder;
  const std::string file = folder.write("two.json", text + "}");
  const SplitResult result =
      split_trace(file, folder.path("out"), {.edition = Edition::kReference, .each = true});
  EXPECT_THAT(result.parts.column("GPU events").integers(), ElementsAre(1, 1));
}

TEST(StepRange, IsANumberOrABeginAndAnEnd) {
  EXPECT_FALSE(parse_step_range("all"));
  EXPECT_EQ(parse_step_range("7")->first, 7u);
  EXPECT_EQ(parse_step_range("7")->end, 8u);
  EXPECT_EQ(parse_step_range("2:9")->end, 9u);
  EXPECT_EQ(parse_step_range(":9")->first, 0u);
  EXPECT_GT(parse_step_range("2:")->end, 1u << 30);
  for (const char* text : {"", "x", "-1", "3:3", "5:2", "1:2:3", "1.5"})
    EXPECT_THROW((void)parse_step_range(text), Error) << text;
}

TEST(PartNames, NeverLeaveTheFolder) {
  const Window window{.kind = WindowKind::kStep, .steps = {0}};
  const StepDetails step;
  const std::string name = reference_part_name(window, {&step, 1}, 0,
                                               "decode[bs=1] ../../etc/x (y): z", "/a/b/t.json.gz");
  EXPECT_EQ(name, "t_annotation_iteration_0_decode[bs=1]_.._.._etc_x__y_z.json.gz");
  EXPECT_EQ(trace_stem("x/run.pt.trace.json.gz"), "run");
}

}  // namespace
}  // namespace tracelens
