// What a page holds is true to the trace, on every recording of tests/data and those beside the checkout.
#include "analysis/page/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/page/histograms.hpp"
#include "analysis/page/lanes.hpp"
#include "analysis/page/rank_lanes.hpp"
#include "analysis/page/strips.hpp"
#include "analysis/page/tree.hpp"
#include "analysis/ranks/rank_bytes.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

struct MadePage {
  explicit MadePage(const std::string& file, const PageOptions& page_options = {})
      : MadePage{read_trace("tests/data/" + file), page_options} {}
  explicit MadePage(Trace a_trace, const PageOptions& page_options = {})
      : trace{std::move(a_trace)},
        selection{trace_kind(trace), options},
        context{trace, options, selection},
        page{make_page(context, page_options)} {}
  [[nodiscard]] const HostWork& host() const { return context.host_work(); }
  [[nodiscard]] GpuCategories categories() const { return gpu_categories(context); }
  Trace trace;
  ReportOptions options;
  Selection selection;
  mutable TableContext context;
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

void expect_pages_are_true(const std::string& folder) {
  int pages = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    const std::string path = entry.path().string();
    const bool is_trace = entry.is_regular_file() && has_trace_name(path) &&
                          path.find("truth.json") == std::string::npos &&
                          !path.starts_with("tests/data/replay/");
    if (!is_trace) continue;
    SCOPED_TRACE(path);
    try {
      MadePage made{read_trace(path)};
      expect_page_is_true(made);
      made.page = make_page(made.context, {.gpu_slices = 50, .host_slices = 50});
      expect_page_is_true(made);
      ++pages;
    } catch (const Error&) {
      continue;  // other JSON stands among the traces
    }
  }
  EXPECT_GT(pages, 10);
}

TEST(Page, IsTrueToEveryRecording) { expect_pages_are_true("tests/data"); }

TEST(Page, IsTrueToMoreRecordings) {
  const std::string folder = "../shared/traces";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no folder with them beside the checkout";
  expect_pages_are_true(folder);
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

TEST(Page, OfTwoRunsHasBothOnOneScale) {
  const Trace base = read_trace("tests/data/h200_pair_base.json.gz"),
              changed = read_trace("tests/data/h200_pair_math.json.gz");
  const Page page = make_page(std::vector<NamedTrace>{{base, "before"}, {changed, "after"}}, {});
  EXPECT_EQ(page.groups, (std::vector<std::string>{"before", "after"}));
  std::map<std::int64_t, std::int64_t> gpu_lanes, first;
  for (const PageLane& lane : page.lanes) {
    expect_lane_is_true(page, lane);
    if (lane.kind == PageLaneKind::kGpu) ++gpu_lanes[lane.group];
    for (const PageSlice& slice : lane.slices)
      first[lane.group] =
          first.contains(lane.group) ? std::min(first[lane.group], slice.start_ns) : slice.start_ns;
  }
  EXPECT_EQ(gpu_lanes.size(), 2u);
  EXPECT_LT(std::abs(first[0] - first[1]), page.span_ns / 10);
  ASSERT_GE(page.strips.size(), 2u);
  EXPECT_EQ(page.strips[0].label, "before");
  std::vector<std::string> roots;
  for (const PageNode& node : page.nodes)
    if (node.parent == 0) roots.push_back(page.names[node.name]);
  EXPECT_EQ(roots, (std::vector<std::string>{"before", "after"}));
}

TEST(Page, FoldsSmallNodesWithoutLosingTime) {
  const MadePage made{"h200_gpt_train_amp.json.gz"};
  const PageSource run{made.context.facts, made.host(), made.categories()};
  const WorkClasses classes{{&run, 1}};
  PageNames texts;
  PageOps ops;
  TraceNames names{made.trace, texts};
  TraceOps trace_ops{made.trace, names, ops};
  PageTree tree{texts, classes};
  const HostSpans modules = module_spans(made.trace);
  tree.add(0, run, modules, annotation_spans(made.trace), names, trace_ops);
  const std::vector<PageNode> few = tree.finish(60);
  EXPECT_LE(few.size(), 60u);
  const auto sums = [](const std::vector<PageNode>& nodes) {
    std::array<std::int64_t, 4> all{};
    for (const PageNode& node : nodes)
      if (node.parent == 0) {
        all[0] += node.gpu_ns;
        all[1] += node.backward_ns;
        all[2] += node.gpu_events;
      }
    return all;
  };
  EXPECT_EQ(sums(few), sums(made.page.nodes));
  const std::vector<std::string> found = std::move(texts).take();
  EXPECT_TRUE(std::ranges::any_of(
      few, [&](const PageNode& node) { return found[node.name].starts_with("rest of "); }));
  for (std::size_t job = 0; job < run.host.jobs().size(); ++job)
    EXPECT_LE(tree.place(0, job).module, few.size());
}

TEST(PageLanes, FoldManyStreamsAndPutOverlapsBelowEachOther) {
  TestTrace t;
  for (int stream = 0; stream < 18; ++stream)
    t.launch("cudaLaunchKernel", stream * 10, 1,
             {.ts = 1'000, .dur = 100.0 - stream, .stream = stream});
  t.runtime("cudaDeviceSynchronize", 200, 900);
  const MadePage made{t.finish()};
  std::vector<std::string> ids;
  for (const PageLane& lane : made.page.lanes)
    if (lane.kind == PageLaneKind::kGpu) ids.push_back(lane.id);
  ASSERT_EQ(ids.size(), 13u);
  EXPECT_EQ(ids.front(), "gpu:0:0");
  EXPECT_EQ(ids.back(), "gpu:0:other");
  const PageLane& others = *lane_of(made.page, "gpu:0:other");
  EXPECT_EQ(others.title, "GPU 0 6 other streams");
  EXPECT_EQ(others.events, 6);
  EXPECT_EQ(others.rows, 4);
  EXPECT_EQ(others.busy_ns, 88'000);
  ASSERT_EQ(others.runs.size(), 1u);  // what finds no row of its own
  EXPECT_EQ(others.runs[0].count, 3);
  expect_page_is_true(made);
  const PageLane& calls = *lane_of(made.page, "calls:100:1");
  EXPECT_EQ(made.page.classes[calls.slices.front().kind].name, "launch");
  EXPECT_EQ(made.page.classes[calls.slices.back().kind].name, "sync");
}

TEST(PageTree, PutsBackwardWorkIntoTheModuleOfItsForwardOp) {
  TestTrace t;
  t.python("nn.Module: Net_0", 0, 100);
  t.python("nn.Module: Linear_0", 10, 50);
  const EventId forward = t.op("aten::mm", 20, 20);
  t.launch("cudaLaunchKernel", 22, 2, {.name = "gemm", .ts = 30, .dur = 10});
  const EventId backward = t.op("autograd::engine::evaluate_function: MmBackward0", 200, 50, 2);
  t.op("aten::mm", 210, 30, 2);
  t.launch("cudaLaunchKernel", 212, 2, {.name = "gemm_bwd", .ts = 230, .dur = 20}, 2);
  t.event(Category::kUserAnnotation, "Optimizer.step#SGD", 300, 100);
  t.op("aten::add_", 310, 10);
  t.launch("cudaLaunchKernel", 312, 2, {.name = "add", .ts = 330, .dur = 5});
  t.builder().set_sequence(forward, 7);
  t.builder().set_sequence(backward, 7);
  const MadePage made{t.finish()};
  std::vector<std::string> nodes;
  for (const PageNode& node : made.page.nodes)
    nodes.push_back(made.page.names[node.name] + " " + std::to_string(node.gpu_ns / 1000) + " " +
                    std::to_string(node.backward_ns / 1000));
  EXPECT_EQ(nodes, (std::vector<std::string>{
                       "Net_0 30 20", "Linear_0 30 20", "aten::mm 30 20", "gemm 10 0",
                       "gemm_bwd 20 20", "Optimizer.step#SGD 5 0", "aten::add_ 5 0", "add 5 0"}));
}

TEST(HostSpans, FindTheInnermostThatIsOpen) {
  TestTrace t;
  const EventId outer = t.python("nn.Module: A_0", 0, 100);
  const EventId inner = t.python("nn.Module: B_0", 10, 20);
  t.python("nn.Module: C_0", 40, 50, 2);  // on another thread
  const Trace trace = t.finish();
  const HostSpans spans = module_spans(trace);
  const TrackId track = trace.tracks()[outer.row];
  const auto at = [&](double us) {
    const std::uint32_t span = spans.at(track, static_cast<std::int64_t>(us * 1000));
    return span == HostSpans::kNone ? EventId{} : spans[span].event;
  };
  EXPECT_EQ(at(5), outer);
  EXPECT_EQ(at(10), inner);
  EXPECT_EQ(at(30), outer);
  EXPECT_EQ(at(60), outer);
  EXPECT_FALSE(at(100).valid());
  EXPECT_FALSE(at(-1).valid());
}

TEST(LaneShares, AreByEventsWithALeastNumber) {
  const std::size_t events[] = {10, 100'000, 300'000};
  EXPECT_EQ(lane_shares(events, 150'000), (std::vector<std::size_t>{2'000, 37'497, 112'493}));
  const std::size_t many[] = {5'000, 5'000, 5'000, 5'000};
  EXPECT_EQ(lane_shares(many, 4'000), (std::vector<std::size_t>{1'000, 1'000, 1'000, 1'000}));
  EXPECT_TRUE(lane_shares({}, 10).empty());
}

TEST(LogarithmicBins, HoldEveryTimeOnce) {
  const std::int64_t times[] = {0, 1, 999, 1'000, 1'121, 1'122, 1'000'000'000'000};
  const std::vector<PageBin> bins = logarithmic_bins(times);
  std::int64_t count = 0, total = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_LT(bins[i].from_ns, bins[i].to_ns);
    if (i > 0) {
      EXPECT_EQ(bins[i - 1].to_ns, bins[i].from_ns);
    }
    count += bins[i].count;
    total += bins[i].total_ns;
    if (bins[i].from_ns == 1'000) {
      EXPECT_EQ(bins[i].to_ns, 1'123);  // 1000 * 10^(1/20) is 1122.02
      EXPECT_EQ(bins[i].count, 3);
    }
  }
  EXPECT_EQ(count, 7);
  EXPECT_EQ(total, 1'000'000'004'243);
  EXPECT_TRUE(logarithmic_bins({}).empty());
}

TEST(BusyStrip, CountsWhatIsExposed) {
  const PageStrip strip = busy_strip(
      "GPU 0",
      {.computing = {{0, 500}}, .communicating = {{250, 1'500}}, .copying = {{400, 2'000}}}, 3'000);
  ASSERT_EQ(strip.computing.size(), kStripBuckets);  // 10 ns each
  EXPECT_EQ(strip.computing[49], 100);
  EXPECT_EQ(strip.communicating[49], 0);
  EXPECT_EQ(strip.communicating[50], 100);
  EXPECT_EQ(strip.copying[149], 0);
  EXPECT_EQ(strip.copying[150], 100);
  EXPECT_EQ(strip.copying[200], 0);
}

RankTrace rank_with(std::int64_t number, std::int64_t origin_ns) {
  RankTrace rank;
  rank.rank = number;
  rank.lane.origin_ns = origin_ns;
  rank.lane.names = {"", "ncclDevKernel", "gemm"};
  for (int i = 0; i < 100; ++i) {
    PageSlice slice;
    slice.start_ns = 1'000 * i;
    slice.duration_ns = 500;
    slice.name = static_cast<PageName>(1 + i % 2);
    slice.kind = i % 2 == 0 ? RankLane::kCommunicating : RankLane::kComputing;
    rank.lane.lane.slices.push_back(slice);
  }
  return rank;
}

TEST(RanksPage, HasALanePerRankAndAFewStrips) {
  std::vector<RankTrace> ranks;
  for (int i = 0; i < 40; ++i) ranks.push_back(rank_with(i, 1'000'000 + 100 * i));
  for (RankTrace& rank : ranks) finish_lane(rank.lane, 10);
  shift_times(ranks[3], -300);
  const Page page = ranks_page(ranks);
  ASSERT_EQ(page.lanes.size(), 40u);
  EXPECT_EQ(page.groups[39], "rank 39");
  EXPECT_LE(page.strips.size(), 16u);
  EXPECT_GE(page.strips.size(), 14u);
  for (const PageLane& lane : page.lanes) {
    expect_lane_is_true(page, lane);
    EXPECT_LE(lane.slices.size() + lane.runs.size(), 10u);
    EXPECT_EQ(lane.events, 100);
    EXPECT_EQ(lane.busy_ns, 50'000);
  }
  EXPECT_EQ(page.origin_ns, 1'000'000);
  const auto start_of = [](const PageLane& lane) {
    return lane.runs.empty() ? lane.slices.front().start_ns : lane.runs.front().start_ns;
  };
  EXPECT_EQ(start_of(page.lanes[3]), 0);
  EXPECT_EQ(start_of(page.lanes[5]), 500);
  const std::vector<RankTrace> sent = ranks_from_bytes(to_bytes(ranks));
  EXPECT_EQ(ranks_page(sent).span_ns, page.span_ns);
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
