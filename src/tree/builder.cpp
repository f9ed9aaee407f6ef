#include "tree/builder.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/given_parents.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

namespace {

// Enough that a thread is worth its start.
constexpr std::size_t kSegmentRows = 16'384;
// And for what takes little time with each row.
constexpr std::size_t kManyRows = std::size_t{1} << 18;

}  // namespace

TreeBuilder::TreeBuilder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                         const FindHostRows& host)
    : trace_{trace},
      rows_{rows},
      find_host_{host},
      options_{options},
      threads_{trace.size() < kSegmentRows ? 1 : io::thread_count(options.threads)},
      wants_frames_{options.python_frames} {
  options_.python_frames = nests_frames(trace, options);
}

Tree TreeBuilder::build() && {
  find_parts();
  place_segments();
  if (!trace_.given_parents().empty())
    tree_ = GivenParents{trace_, std::move(tree_)}.apply({.python_frames = wants_frames_});
  io::for_each_part(tree_.size() < kManyRows ? 1 : threads_, 3, [this](std::size_t part) {
    if (part == 0) list_roots();
    if (part == 1) list_op_roots();
    if (part == 2) link_autograd();
  });

  Tree::Stats& stats = tree_.stats_;
  stats.unlinked_no_launch = launches_.without_launch();
  stats.unlinked_no_flow = launches_.without_flow();
  stats.links_by_external_id = launches_.by_external_id();
  stats.gpu_only = std::ranges::find(trace_.categories(), Category::kCpuOp) ==
                   std::ranges::end(trace_.categories());
  return std::move(tree_);
}

void TreeBuilder::find_parts() {
  io::for_each_part(threads_, 3, [this](std::size_t part) {
    if (part == 0) launches_ = find_launches(trace_, options_, rows_);
    if (part == 1) {
      host_ = &find_host_();
      cut_tracks();
    }
    if (part == 2) autograd_ = find_autograd_links(trace_);
  });
}

void TreeBuilder::cut_tracks() {
  std::vector<std::vector<Segment>> of_tracks(host_->tracks());
  const int threads = host_->rows.size() < kManyRows ? 1 : threads_;
  io::for_each_part(threads, of_tracks.size(),
                    [&](std::size_t track) { cut_track(host_->of(track), of_tracks[track]); });
  for (std::vector<Segment>& segments : of_tracks)
    std::ranges::move(segments, std::back_inserter(segments_));
}

void TreeBuilder::cut_track(std::span<const std::uint32_t> rows,
                            std::vector<Segment>& segments) const {
  std::size_t begin = 0;
  const auto cut = [&](std::size_t end) {
    if (begin < end) segments.push_back({rows.subspan(begin, end - begin)});
    begin = end;
  };
  if (threads_ > 1) {
    std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!options_.python_frames && trace_.categories()[rows[i]] == Category::kPythonFunction)
        continue;
      if (i - begin >= kSegmentRows && trace_.ts_ns()[rows[i]] >= last_end) cut(i);
      last_end = std::max(last_end, end_of(trace_, {rows[i]}));
    }
  }
  cut(rows.size());
}

// Counting first is the price of writing at the same time: not where one long segment decides.
bool TreeBuilder::is_worth_sharing() const {
  std::size_t longest = 0;
  for (const Segment& segment : segments_) longest = std::max(longest, segment.rows.size());
  return threads_ > 1 && 3 * longest < host_->rows.size();
}

// Columns with room for as many nodes as there can be: those that are not placed leave some of it.
NodeColumns TreeBuilder::make_room() {
  const std::size_t left_out = options_.python_frames ? 0 : host_->frames;
  const std::size_t nodes = host_->rows.size() - left_out + launches_.linked();
  tree_.events_.reserve(nodes);
  tree_.parents_.reserve(nodes);
  tree_.ends_.reserve(nodes);
  tree_.flags_.reserve(nodes);
  tree_.gpu_before_.reserve(nodes + 1);
  tree_.gpu_events_.reserve(launches_.linked());
  tree_.gpu_ns_before_.reserve(launches_.linked() + 1);
  tree_.gpu_ns_before_.push_back(0);
  NodeId* const by_row = tree_.nodes_.add_unwritten(trace_.size());
  io::fill(threads_, std::span{by_row, trace_.size()}, NodeId{});
  return {.events = tree_.events_.data(),
          .parents = tree_.parents_.data(),
          .ends = tree_.ends_.data(),
          .flags = tree_.flags_.data(),
          .gpu_before = tree_.gpu_before_.data(),
          .gpu_events = tree_.gpu_events_.data(),
          .gpu_ns_before = tree_.gpu_ns_before_.data(),
          .nodes = by_row};
}

NestingCounts TreeBuilder::write_segments(const Nesting& nesting, const NodeColumns& columns) {
  NestingCounts counts;
  if (!is_worth_sharing()) {
    for (Segment& segment : segments_)
      counts = nesting.write(segment.rows, counts, columns, segment.notes);
    return counts;
  }
  io::for_each_part(threads_, segments_.size(),
                    [&](std::size_t i) { segments_[i].before = nesting.count(segments_[i].rows); });
  for (Segment& segment : segments_) {
    const NestingCounts own = std::exchange(segment.before, counts);
    counts = {counts.nodes + own.nodes, counts.gpu_events + own.gpu_events,
              plus_ns(counts.gpu_ns, own.gpu_ns)};
  }
  io::for_each_part(threads_, segments_.size(), [&](std::size_t i) {
    Segment& segment = segments_[i];
    nesting.write(segment.rows, segment.before, columns, segment.notes);
  });
  return counts;
}

void TreeBuilder::place_segments() {
  std::optional<ModuleNames> modules;
  if (options_.python_frames) modules.emplace(trace_);
  const Nesting nesting{trace_,
                        launches_,
                        {.op = Tree::kOpFlag, .module = Tree::kModuleFlag},
                        modules ? &*modules : nullptr};
  const NodeColumns columns = make_room();
  NestingCounts counts = write_segments(nesting, columns);
  for (const Segment& segment : segments_) {
    std::ranges::copy(segment.notes.op_roots, std::back_inserter(tree_.op_roots_));
    tree_.stats_.discarded += segment.notes.discarded;
    tree_.stats_.discarded_ops += segment.notes.discarded_ops;
    tree_.stats_.bleed_pops += segment.notes.bleed_pops;
  }
  // A discarded call has no place among the host events, but what it launched did run.
  for (const Segment& segment : segments_)
    for (const EventId call : segment.notes.discarded_launches)
      counts = nesting.write_alone(call, counts, columns);
  tree_.events_.add_unwritten(counts.nodes);
  tree_.parents_.add_unwritten(counts.nodes);
  tree_.ends_.add_unwritten(counts.nodes);
  tree_.flags_.add_unwritten(counts.nodes);
  tree_.gpu_before_.add_unwritten(counts.nodes);
  tree_.gpu_before_.push_back(counts.gpu_events);
  tree_.gpu_events_.add_unwritten(counts.gpu_events);
  tree_.gpu_ns_before_.add_unwritten(counts.gpu_events);
  segments_.clear();
}

void TreeBuilder::list_roots() {
  std::vector<std::uint32_t> rows, scratch;
  for (std::uint32_t node = 0; node < tree_.size(); node = tree_.ends_[node])
    rows.push_back(tree_.events_[node].row);
  sort_by_time(rows, trace_.ts_ns(), scratch, io::spare_threads(threads_));
  for (const std::uint32_t row : rows) tree_.roots_.push_back(tree_.nodes_[row]);
}

void TreeBuilder::list_op_roots() {
  std::vector<std::uint32_t> rows, scratch;
  for (const EventId op : tree_.op_roots_) rows.push_back(op.row);
  sort_by_time(rows, trace_.ts_ns(), scratch, io::spare_threads(threads_));
  std::ranges::transform(rows, tree_.op_roots_.begin(),
                         [](std::uint32_t row) { return EventId{row}; });
}

void TreeBuilder::link_autograd() {
  std::vector<AutogradLink>& links = autograd_;
  std::ranges::stable_sort(links, {}, &AutogradLink::forward);
  for (const auto& [backward, forward] : links) {
    tree_.forward_events_.push_back(forward);
    tree_.backward_of_forward_.push_back(backward);
  }
  std::ranges::sort(links, {}, &AutogradLink::backward);
  for (const auto& [backward, forward] : links) {
    tree_.backward_events_.push_back(backward);
    tree_.forward_of_backward_.push_back(forward);
  }
}

Tree build_tree(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                const FindHostRows& host) {
  return TreeBuilder{trace, options, rows, host}.build();
}

Tree build_tree(const Trace& trace, const TreeOptions& options) {
  TreeOptions of_rows = options;
  of_rows.python_frames = nests_frames(trace, options);
  HostRows host;
  return build_tree(trace, options, CategoryRows{trace, options.threads},
                    [&]() -> const HostRows& { return host = host_rows_by_time(trace, of_rows); });
}

}  // namespace tracelens
