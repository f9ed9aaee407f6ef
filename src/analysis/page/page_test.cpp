// What a page holds is true to the trace, on every recording of tests/data.
#include "analysis/page/page.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/read_trace.hpp>
#include <tuple>
#include <vector>

namespace tracelens {
namespace {

struct MadePage {
  explicit MadePage(const std::string& file, const PageOptions& page_options = {})
      : trace{read_trace("tests/data/" + file)},
        selection{trace_kind(trace), options},
        context{trace, options, selection},
        page{make_page(context, page_options)} {}
  Trace trace;
  ReportOptions options;
  Selection selection;
  TableContext context;
  Page page;
};

const PageLane* lane_of(const Page& page, std::string_view id) {
  for (const PageLane& lane : page.lanes)
    if (lane.id == id) return &lane;
  return nullptr;
}

void expect_lane_is_true(const Page& page, const PageLane& lane) {
  SCOPED_TRACE(lane.id);
  std::int64_t busy = 0, events = 0;
  std::map<int, std::vector<Interval>> rows;
  for (const PageSlice& slice : lane.slices) {
    ++events;
    busy += slice.duration_ns;
    rows[slice.row].push_back({slice.start_ns, slice.start_ns + slice.duration_ns});
    EXPECT_GE(slice.start_ns, 0);
    EXPECT_LE(slice.start_ns + slice.duration_ns, page.span_ns);
    EXPECT_LT(slice.name, page.names.size());
    EXPECT_LT(slice.kind, page.classes.size());
    EXPECT_LT(slice.row, lane.rows);
    EXPECT_LE(slice.op, page.ops.size());
    EXPECT_LE(slice.module, page.nodes.size());
    if (slice.module != 0) {
      EXPECT_LE(page.nodes[slice.module - 1].level, PageLevel::kOp);
    }
  }
  for (const PageRun& run : lane.runs) {
    events += run.count;
    busy += run.busy_ns;
    rows[run.row].push_back({run.start_ns, run.end_ns});
    EXPECT_LT(run.row, lane.rows);
  }
  const bool by_depth = lane.kind == PageLaneKind::kModules || lane.kind == PageLaneKind::kSteps;
  if (by_depth)
    EXPECT_LE(events, lane.events);  // deep ones are not shown
  else
    EXPECT_EQ(events, lane.events);
  if (lane.rows == 1)
    EXPECT_EQ(busy, lane.busy_ns);
  else
    EXPECT_GE(busy, lane.busy_ns);
  for (auto& [row, intervals] : rows) {
    std::ranges::sort(intervals, {}, [](const Interval& i) { return std::pair{i.start, i.end}; });
    for (std::size_t i = 1; i < intervals.size(); ++i)
      EXPECT_LE(intervals[i - 1].end, intervals[i].start);
  }
}

void expect_page_is_true(const MadePage& made) {
  const Page& page = made.page;
  for (const PageLane& lane : page.lanes) expect_lane_is_true(page, lane);
  std::int64_t gpu_events = 0;
  std::set<std::string> ids;
  for (const PageLane& lane : page.lanes) {
    EXPECT_TRUE(ids.insert(lane.id).second) << lane.id;
    if (lane.kind == PageLaneKind::kGpu) gpu_events += lane.events;
  }
  std::int64_t timed = 0, linked_ns = 0, linked = 0;
  for (const EventId event : made.trace.all_events())
    if (is_gpu(made.trace.category(event)) && made.trace.ts_ns()[event.row] != kAbsent) {
      ++timed;
      if (!made.context.tree().is_linked(event)) continue;
      ++linked;
      linked_ns += std::max<std::int64_t>(0, made.trace.dur_ns()[event.row]);
    }
  EXPECT_EQ(gpu_events, timed);

  std::int64_t roots_ns = 0, roots_events = 0;
  std::vector<std::int64_t> below(page.nodes.size());
  for (std::size_t i = page.nodes.size(); i-- > 0;) {
    const PageNode& node = page.nodes[i];
    EXPECT_LE(node.parent, i);
    EXPECT_LE(node.backward_ns, node.gpu_ns);
    EXPECT_LT(node.kind, page.classes.size());
    if (below[i] > 0) {
      EXPECT_EQ(below[i], node.gpu_ns) << page.names[node.name];
    }
    if (node.parent == 0) {
      roots_ns += node.gpu_ns;
      roots_events += node.gpu_events;
    } else {
      below[node.parent - 1] += node.gpu_ns;
    }
  }
  EXPECT_EQ(roots_ns, linked_ns);
  EXPECT_EQ(roots_events, linked);
  for (const PageStrip& strip : page.strips)
    for (std::size_t i = 0; i < strip.computing.size(); ++i)
      EXPECT_LE(strip.computing[i] + strip.communicating[i] + strip.copying[i], 100);
}

TEST(Page, IsTrueToEveryRecording) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator{"tests/data"}) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || !has_trace_name(path) || path.ends_with("truth.json")) continue;
    SCOPED_TRACE(path);
    const std::string file = path.substr(std::string{"tests/data/"}.size());
    expect_page_is_true(MadePage{file});
    expect_page_is_true(MadePage{file, {.gpu_slices = 50, .host_slices = 50}});
  }
}

TEST(Page, ShowsATrainingStep) {
  const MadePage made{"h200_gpt_train_amp.json.gz"};
  const Page& page = made.page;
  const PageLane* const stream = lane_of(page, "gpu:0:7");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->title, "GPU 0 stream 7");
  EXPECT_EQ(stream->merged_below_ns, 0);
  EXPECT_NEAR(static_cast<double>(page.span_ns) / 1e6, 109.3, 5);
  bool has_modules = false, has_steps = false, has_backward = false;
  for (const PageLane& lane : page.lanes) {
    has_modules = has_modules || lane.kind == PageLaneKind::kModules;
    has_steps = has_steps || lane.kind == PageLaneKind::kSteps;
  }
  for (const PageNode& node : page.nodes)
    has_backward = has_backward || (node.level == PageLevel::kModule && node.backward_ns > 0);
  EXPECT_TRUE(has_modules);
  EXPECT_TRUE(has_steps);
  EXPECT_TRUE(has_backward);
  for (const PageSlice& slice : stream->slices)
    if (slice.event == 14956) {
      EXPECT_EQ(slice.duration_ns, 221'727);
      EXPECT_EQ(page.names[page.ops[slice.op - 1].name], "aten::_log_softmax");
      ASSERT_NE(slice.module, 0u);
      EXPECT_EQ(page.names[page.nodes[slice.module - 1].name], "GPT_0");
      EXPECT_GT(slice.latency_ns, 0);
    }
}

TEST(Page, ShowsAPartOfTheTime) {
  const MadePage whole{"h200_gpt_train_amp.json.gz"};
  const Interval window{whole.page.span_ns / 2, whole.page.span_ns / 2 + 1'000'000};
  const MadePage part{"h200_gpt_train_amp.json.gz", {.window = window}};
  for (const PageLane& lane : part.page.lanes)
    for (const PageSlice& slice : lane.slices) {
      EXPECT_LT(slice.start_ns, window.end);
      EXPECT_GE(slice.start_ns + slice.duration_ns, window.start);
    }
  EXPECT_EQ(part.page.nodes.size(), whole.page.nodes.size());
}

}  // namespace
}  // namespace tracelens
