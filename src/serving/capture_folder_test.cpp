#include "serving/capture_folder.hpp"

#include <gtest/gtest.h>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

#include "io/temporary_folder.hpp"
#include "serving/test_graphs.hpp"

namespace tracelens {
namespace {

const std::vector<TestOp> kOps = {{"aten::mm", "gemm"}, {"aten::add", "add"}};

Capture capture_of(const TestCapture& capture, Edition edition) {
  const std::string text = capture_text(capture);
  return find_captures(read_trace_bytes("capture.json", text), edition);
}

TEST(Captures, KeepWhatLaunchesSomethingAndItsCallers) {
  const Capture capture = capture_of({.ops = kOps}, Edition::kExtended);
  ASSERT_EQ(capture.graphs.size(), 1u);
  const CapturedGraph& graph = capture.graphs[0];
  std::vector<std::string_view> names;
  for (const EventId event : graph.events) names.push_back(capture.trace.name(event));
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"nn.Module: Model_0", "aten::mm", "hipLaunchKernel",
                                           "aten::add", "hipLaunchKernel"}));
  EXPECT_EQ(graph.callers, (std::vector<std::uint32_t>{CapturedGraph::kTop, 0, 1, 0, 3}));
  ASSERT_EQ(graph.calls.size(), 2u);
  EXPECT_EQ(graph.calls[1].kernel, "add");
  EXPECT_EQ(graph.calls[1].op, "aten::add");
  const std::string text = capture_text({.ops = kOps});
  const Capture bare =
      find_captures(read_trace_bytes("capture.json", text), Edition::kExtended, false);
  EXPECT_EQ(bare.graphs[0].events.size(), 4u);  // without the module
  EXPECT_EQ(bare.graphs[0].callers,
            (std::vector<std::uint32_t>{CapturedGraph::kTop, 0, CapturedGraph::kTop, 2}));
  // The reference keeps all, that its event ids are the same.
  EXPECT_EQ(capture_of({.ops = kOps}, Edition::kReference).graphs[0].events.size(), 7u);
}

TEST(Captures, OneGraphPerBeginAndEnd) {
  EXPECT_EQ(capture_of({.ops = kOps, .graphs = 3}, Edition::kExtended).graphs.size(), 3u);
  const Capture cut = capture_of({.ops = kOps, .has_end = false}, Edition::kExtended);
  EXPECT_TRUE(cut.graphs.empty());
  EXPECT_EQ(cut.unfinished, 1u);
}

TEST(CaptureClass, ByAnnotationElseByTheMostFrequentSize) {
  const auto classify = [](const TestCapture& capture, Edition edition) {
    const std::string text = capture_text(capture);
    return classify_capture(read_trace_bytes("capture.json", text), edition);
  };
  const CaptureClass guessed = classify({.ops = kOps}, Edition::kReference);
  EXPECT_EQ(guessed.batch_size, 32);
  EXPECT_EQ(guessed.mode, "FULL");
  EXPECT_FALSE(guessed.is_told);
  EXPECT_EQ(classify({.ops = kOps, .graphs = 2}, Edition::kReference).mode, "PIECEWISE");
  // The reference believes an annotation only beside a frame of vLLM's dummy run.
  const TestCapture annotated{.ops = kOps, .annotation = "capture_128_decode"};
  EXPECT_EQ(classify(annotated, Edition::kReference).batch_size, 32);
  const CaptureClass told = classify(annotated, Edition::kExtended);
  EXPECT_EQ(told.batch_size, 128);
  EXPECT_EQ(told.mode, "FULL");  // "decode" is neither: by the number of captures (I-05)
}

TEST(CaptureFolder, BelievesItsDetailsAndNotesWhatIsMissing) {
  const io::TemporaryFolder folder;
  (void)folder.write("a.json", capture_text({.ops = kOps}));
  (void)folder.write("execution_details.json", R"([{"file":"a.json","batch_size":8,"mode":"FULL"},
      {"file":"b.json","batch_size":16,"mode":"PIECEWISE"},
      {"file":"a.json","batch_size":64,"mode":"DECODE"}])");
  CaptureFolder captures{folder.path(""), {}};
  ASSERT_EQ(captures.sets().size(), 3u);
  EXPECT_EQ(captures.sets()[0].batch_size, 8);
  EXPECT_EQ(captures.files(), 2u);  // one of them is listed twice
  EXPECT_EQ(captures.sets()[2].file, 0u);
  EXPECT_TRUE(captures.is_there(0));
  EXPECT_FALSE(captures.is_there(1));
  EXPECT_FALSE(captures.sets()[2].piecewise);
  ASSERT_EQ(captures.notes().size(), 1u);
  EXPECT_NE(captures.notes()[0].find("b.json"), std::string::npos);
  // The reference skips what is neither FULL nor PIECEWISE.
  EXPECT_EQ((CaptureFolder{folder.path(""), {.edition = Edition::kReference}}.sets().size()), 2u);
}

TEST(CaptureFolder, DetailsThatListLessHideNoFile) {
  const io::TemporaryFolder folder;
  (void)folder.write("a.json", capture_text({.ops = kOps}));
  (void)folder.write("b.json", capture_text({.ops = kOps, .annotation = "capture_16_FULL"}));
  (void)folder.write("execution_details.json", "[]");
  CaptureFolder captures{folder.path(""), {}};
  ASSERT_EQ(captures.sets().size(), 2u);
  EXPECT_EQ(captures.sets()[0].batch_size, 16);  // what is told before what is guessed
  EXPECT_FALSE(captures.sets()[1].is_told);
  EXPECT_TRUE(captures.notes().empty());
  EXPECT_TRUE((CaptureFolder{folder.path(""), {.edition = Edition::kReference}}.sets().empty()));
  (void)folder.write(
      "execution_details.json",
      R"([{"batch_size":8,"mode":"FULL"},{"file":"b.json","batch_size":8,"mode":"FULL"}])");
  CaptureFolder partly{folder.path(""), {}};
  ASSERT_EQ(partly.sets().size(), 2u);
  EXPECT_EQ(partly.name(partly.sets()[1].file), "a.json");
  ASSERT_EQ(partly.notes().size(), 1u);
  EXPECT_NE(partly.notes()[0].find("has an entry that names no file"), std::string::npos);
}

TEST(CaptureFolder, LooksIntoTheTracesWithoutDetails) {
  const io::TemporaryFolder folder;
  (void)folder.write("cut.json", capture_text({.ops = kOps, .has_end = false}));
  (void)folder.write("good.json", capture_text({.ops = kOps}));
  (void)folder.write("no_trace.json", "hello");
  (void)folder.write("readme.txt", "hello");
  CaptureFolder captures{folder.path(""), {}};
  EXPECT_EQ(captures.files(), 3u);
  ASSERT_EQ(captures.sets().size(), 1u);
  EXPECT_EQ(captures.name(captures.sets()[0].file), "good.json");
  EXPECT_EQ(captures.notes().size(), 2u);
  EXPECT_EQ(captures.notes()[0], "cut.json ends inside a capture: the file is cut short");
}

TEST(CaptureFolder, AnEmptyFolderIsNotedAndAMissingOneIsAnError) {
  const io::TemporaryFolder folder;
  const CaptureFolder captures{folder.path(""), {}};
  EXPECT_EQ(captures.notes().size(), 1u);
  EXPECT_THROW((CaptureFolder{folder.path("nowhere"), {}}), Error);
}

}  // namespace
}  // namespace tracelens
