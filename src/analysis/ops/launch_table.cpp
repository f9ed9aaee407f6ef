#include "analysis/ops/launch_table.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tracelens/table_text.hpp>
#include <utility>

#include "facts/kernel_rules.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

// Busy time of intervals that come one by one. GPU events nearly always come by start, so that
// nothing is sorted; one that comes too early makes the caller fall back to a sort.
class BusyTime {
 public:
  [[nodiscard]] bool add(std::int64_t start, std::int64_t end) {
    if (!any_) {
      any_ = true;
      start_ = start;
      end_ = end;
      return true;
    }
    if (start < start_) return false;
    if (start > end_) {
      total_ = plus_ns(total_, minus_ns(end_, start_));
      start_ = start;
      end_ = end;
    } else {
      end_ = std::max(end_, end);
    }
    return true;
  }
  [[nodiscard]] std::int64_t total() const { return plus_ns(total_, minus_ns(end_, start_)); }

 private:
  bool any_ = false;
  std::int64_t start_ = 0, end_ = 0, total_ = 0;
};

template <class Items, class EventOf>
std::int64_t busy_of(const Items& items, EventOf event_of) {
  BusyTime busy;
  for (const auto& item : items) {
    const GpuEvent& event = event_of(item);
    if (busy.add(event.start_ns, event.end_ns)) continue;
    std::vector<Interval> intervals;
    intervals.reserve(items.size());
    for (const auto& each : items)
      intervals.push_back({event_of(each).start_ns, event_of(each).end_ns});
    return length(merge(std::move(intervals)));
  }
  return busy.total();
}

// Kinds of kernel that ops have a name for, so that both stand in one row.
constexpr std::pair<std::string_view, std::string_view> kOpWords[] = {
    {"gemm", "GEMM"},           {"softmax", "Softmax"}, {"random", "Random"},
    {"optimizer", "Optimizer"}, {"index", "Indexing"},  {"sort", "Sorting"}};

std::string_view op_word(std::string_view kernel_kind) {
  for (const auto& [kernel, op] : kOpWords)
    if (kernel == kernel_kind) return op;
  return kernel_kind;
}

std::string text_or_unknown(const std::optional<Value>& label) {
  if (!label || label->is_null()) return "Unknown";
  return label->is_text() ? label->as_text() : python_repr(*label);
}

}  // namespace

// --- categories ---

std::uint32_t OpCategories::id_of(std::string_view category) {
  const auto id = static_cast<std::uint32_t>(std::ranges::find(texts_, category) - texts_.begin());
  if (id == texts_.size()) texts_.emplace_back(category);
  return id;
}

std::uint32_t OpCategories::of_text(std::string_view name, StringId first_kernel) {
  const std::string_view kernel =
      first_kernel.valid() ? trace_.text(first_kernel) : std::string_view{};
  const std::string_view category = models_.category(name, kernel);
  // An op that is called like its Triton kernel: what the kernel is for says more.
  const bool is_kernel = category == "triton" && !name.starts_with("triton");
  if (kernel.empty() || !kernel_kind_ || (perf::says_what_is_done(category) && !is_kernel))
    return id_of(category);
  const std::string_view kind = kernel_kind_(kernel);
  return id_of(is_kernel && kind == kOtherKernel ? category : op_word(kind));
}

std::optional<std::uint32_t> OpCategories::of_user(std::string_view name, StringId first_kernel) {
  const std::string_view said = models_.own_category(
      name, first_kernel.valid() ? trace_.text(first_kernel) : std::string_view{});
  if (said.empty()) return std::nullopt;
  return id_of(said);
}

bool OpCategories::is_by_kernel(StringId name) {
  Known& known = by_kernel_[name.row];
  if (known == Known::kNotYet)
    known = kernel_kind_ && !perf::says_what_is_done(models_.category(trace_.text(name), {}))
                ? Known::kYes
                : Known::kNo;
  return known == Known::kYes;
}

std::uint32_t OpCategories::of(StringId name, StringId first_kernel) {
  Last& last = by_name_[name.row];
  if (last.known && last.first_kernel == first_kernel) return last.category;
  const std::uint64_t pair = std::uint64_t{name.row} << 32 | first_kernel.row;
  const auto [entry, added] = by_pair_.try_emplace(pair);
  if (added) entry->second = of_text(trace_.text(name), first_kernel);
  last = {true, first_kernel, entry->second};
  return last.category;
}

Value OpCategories::sorted_texts(std::span<const std::uint32_t> ids) const {
  std::vector<std::string> texts;
  for (const std::uint32_t id : ids) texts.push_back(text(id));
  std::ranges::sort(texts);
  return Value::list({texts.begin(), texts.end()});
}

// --- names of tracks ---

std::uint32_t TrackNames::id_of(TrackId track) {
  static const Track kNoTrack;
  std::atomic<std::uint32_t>& known = track.valid() ? ids_[track.row] : ids_.back();
  if (const std::uint32_t id = known; id != 0) return id - 1;
  const Track& own = track.valid() ? trace_.track(track) : kNoTrack;
  const Track process{own.pid, 0};
  Names names{text_or_unknown(trace_.label(process, "process_name")),
              text_or_unknown(trace_.label(process, "process_labels")),
              text_or_unknown(trace_.label(own, "thread_name"))};
  const std::lock_guard lock{naming_};
  const auto [found, is_new] =
      known_.try_emplace(std::move(names), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(&found->first);
  known = found->second + 1;
  return found->second;
}

const TrackNames::Names& TrackNames::names(std::uint32_t id) {
  const std::lock_guard lock{naming_};
  return *names_[id];
}

// --- the table ---

LaunchTable::LaunchTable(const TraceFacts& facts, const perf::RunModels& models,
                         KernelCategories::Classify kernel_kind, bool communication)
    : trace_{facts.trace()},
      tree_{facts.tree()},
      threads_{io::thread_count(facts.threads())},
      categories_{trace_, models, std::move(kernel_kind)} {
  collect_gpu_events(facts.rows().gpu_events(), facts.work());
  io::for_each_part(gpu_.size() < io::kManyItems ? 1 : io::spare_threads(threads_), 2,
                    [&](std::size_t part) {
                      if (part == 0)
                        collect_launchers(facts.launchers(), communication);
                      else
                        sum_up();
                    });
  measure_launchers();
  categorize();
  categorize_by_kernels();
}

void LaunchTable::collect_gpu_events(std::span<const std::uint32_t> gpu_events,
                                     const GpuWorkKinds& kinds) {
  const std::size_t linked = tree_.linked_gpu_events().size();
  io::fill(threads_, std::span{gpu_.add_unwritten(linked), linked}, GpuEvent{});
  communication_before_.resize(linked + 1);
  const io::Ranges ranges{threads_, gpu_events.size()};
  const auto rows_of = [&](std::size_t part) {
    return gpu_events.subspan(ranges.begin(part), ranges.end(part) - ranges.begin(part));
  };
  std::vector<std::size_t> before(ranges.parts() + 1);  // linked ones before each part
  io::for_each_part(threads_, ranges.parts(), [&](std::size_t part) {
    before[part + 1] = static_cast<std::size_t>(std::ranges::count_if(
        rows_of(part), [this](std::uint32_t row) { return tree_.is_linked({row}); }));
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  file_order_.resize(before.back());
  io::for_each_part(threads_, ranges.parts(), [&](std::size_t part) {
    fill_gpu_events(rows_of(part), kinds, file_order_.data() + before[part]);
  });
  std::partial_sum(communication_before_.begin(), communication_before_.end(),
                   communication_before_.begin());
}

void LaunchTable::fill_gpu_events(std::span<const std::uint32_t> rows, const GpuWorkKinds& kinds,
                                  GpuPosition* file_order) {
  if (rows.empty()) return;
  const SparseColumn<std::int64_t>& streams = trace_.streams();
  auto stream = static_cast<std::size_t>(std::ranges::lower_bound(streams.rows(), rows.front()) -
                                         streams.rows().begin());
  for (const std::uint32_t row : rows) {
    const NodeId node = tree_.node({row});
    if (!node.valid()) continue;
    const GpuPosition position = *file_order++ = first_position(node);
    while (stream < streams.rows().size() && streams.rows()[stream] < row) ++stream;
    const bool has_stream = stream < streams.rows().size() && streams.rows()[stream] == row;
    const std::int64_t start = trace_.ts_ns()[row] == kAbsent ? 0 : trace_.ts_ns()[row];
    gpu_[position] = {.event = {row},
                      .name = trace_.names()[row],
                      .start_ns = start,
                      .end_ns = end_of(start, trace_.dur_ns()[row]),
                      .stream = has_stream ? streams.values()[stream] : kAbsent};
    if (kinds.is_communication({row})) communication_before_[position + 1] = 1;  // summed up later
  }
}

void LaunchTable::sum_up() {
  run_start_.resize(gpu_.size());
  is_alone_.resize(gpu_.size());
  busy_before_.assign(gpu_.size() + 1, 0);
  std::int64_t ended = 0;  // when the earlier ones of the run have all ended
  for (GpuPosition i = 0; i < gpu_.size(); ++i) {
    const bool goes_on = i > 0 && gpu_[i - 1].start_ns <= gpu_[i].start_ns;
    run_start_[i] = goes_on ? run_start_[i - 1] : i;
    ended = goes_on ? std::max(ended, gpu_[i - 1].end_ns) : gpu_[i].start_ns;
    is_alone_[i] = ended <= gpu_[i].start_ns;
    const std::int64_t from = std::max(gpu_[i].start_ns, ended);
    busy_before_[i + 1] =
        plus_ns(busy_before_[i], gpu_[i].end_ns > from ? minus_ns(gpu_[i].end_ns, from) : 0);
  }
}

void LaunchTable::collect_launchers(std::span<const NodeId> launchers, bool communication) {
  const auto for_each_charged = [&](const auto& use) {
    for (const GpuPosition position : file_order_)
      if (communication || !is_communication(position)) use(position, launchers[position].row);
  };
  launching_ = NumberedSet{tree_.size()};
  for_each_charged([&](GpuPosition, std::uint32_t node) { launching_.add(node); });
  launching_.number();
  std::vector<std::uint32_t> counts(launching_.size());  // by number of the node
  std::vector<NodeId> nodes;                             // in the order of their first GPU events
  nodes.reserve(launching_.size());
  for_each_charged([&](GpuPosition, std::uint32_t node) {
    if (counts[launching_.number_of(node)]++ == 0) nodes.push_back({node});
  });
  sort_launchers(nodes);
  // The GPU events of each launcher are laid out one after the other.
  launcher_ids_.resize(launching_.size());
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < launchers_.size(); ++i) {
    const std::uint32_t number = launching_.number_of(launchers_[i].node.row);
    launcher_ids_[number] = i;
    launchers_[i].first = at;
    at += counts[number];
  }
  own_.resize(at);
  for_each_charged([&](GpuPosition position, std::uint32_t node) {
    Launcher& op = launchers_[launcher_ids_[launching_.number_of(node)]];
    own_[op.first + op.count++] = position;
  });
}

void LaunchTable::measure_launchers() {
  io::for_each_range(threads_, launchers_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) measure(launchers_[i]);
  });
}

void LaunchTable::categorize() {
  for (Launcher& op : launchers_) {
    const StringId name = trace_.names()[op.event.row], first_kernel = gpu_[own(op).front()].name;
    const auto of_user = categories_.of_user(trace_.text(name), first_kernel);
    op.by_user = of_user.has_value();
    op.category = of_user ? *of_user : categories_.of(name, first_kernel);
  }
}

// Its own GPU events by start, and their time.
void LaunchTable::measure(Launcher& op) {
  const auto start_of = [&](GpuPosition position) { return gpu_[position].start_ns; };
  const auto own_events = std::span{own_}.subspan(op.first, op.count);
  if (!std::ranges::is_sorted(own_events, {}, start_of))
    std::ranges::stable_sort(own_events, {}, start_of);
  op.direct_ns = busy_ns(own_events);
  op.subtree_ns = gpu(op.node).size() == op.count ? op.direct_ns : busy_ns(op.node);
}

// A launcher for each of the nodes, which come in the order that ties have.
void LaunchTable::sort_launchers(std::span<const NodeId> nodes) {
  std::vector<std::int64_t> starts(nodes.size());
  io::for_each_range(threads_, nodes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) starts[i] = trace_.ts_ns()[tree_.event(nodes[i]).row];
  });
  std::vector<std::uint32_t> order(nodes.size()), scratch;
  std::iota(order.begin(), order.end(), 0U);
  sort_by_time(order, starts, scratch, io::spare_threads(threads_));
  Launcher* const to = launchers_.add_unwritten(order.size());
  io::for_each_range(threads_, order.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const NodeId node = nodes[order[i]];
      to[i] = {.node = node, .event = tree_.event(node)};
    }
  });
}

bool LaunchTable::is_only_a_launch(const Launcher& op, OpCategories& categories) const {
  const StringId name = trace_.names()[op.event.row];
  if (op.by_user || !categories.is_by_kernel(name)) return false;
  return trace_.category(op.event) != Category::kCpuOp ||
         categories.text(categories.of(name, {})) == "compiled_region";
}

// An op that no table knows does what its kernels spend most of their time on, in all of its calls;
// a runtime call or a compiled region does all that its kernels do.
void LaunchTable::categorize_by_kernels() {
  struct Spent {
    std::uint32_t category = 0;
    std::int64_t ns = 0;
  };
  std::unordered_map<std::uint32_t, std::vector<Spent>> by_name;  // by StringId of the op
  bool any_divided = false;
  for (const Launcher& op : launchers_) {
    const StringId name = trace_.names()[op.event.row];
    if (is_only_a_launch(op, categories_))
      any_divided = true;
    else if (!op.by_user && categories_.is_by_kernel(name))
      for (const GpuPosition at : own(op)) {
        std::vector<Spent>& kinds = by_name[name.row];
        const std::uint32_t category = categories_.of(name, gpu_[at].name);
        auto kind = std::ranges::find(kinds, category, &Spent::category);
        if (kind == kinds.end()) kind = kinds.insert(kind, {category, 0});
        kind->ns = plus_ns(kind->ns, minus_ns(gpu_[at].end_ns, gpu_[at].start_ns));
      }
  }
  if (!by_name.empty())
    for (Launcher& op : launchers_)
      if (const auto kinds = by_name.find(trace_.names()[op.event.row].row);
          kinds != by_name.end() && !op.by_user && !is_only_a_launch(op, categories_))
        op.category = std::ranges::max(kinds->second, {}, &Spent::ns).category;
  if (!any_divided) return;
  for (Launcher& op : launchers_) {
    if (is_only_a_launch(op, categories_))
      divide(op);
    else
      parts_.push_back(op);
  }
}

// Adds the parts of a launcher, and gives it the category of the costliest.
void LaunchTable::divide(Launcher& op) {
  const auto first_part = parts_.size();
  const StringId name = trace_.names()[op.event.row];
  const auto part_of = [&](GpuPosition at) -> Launcher& {
    const std::uint32_t category = categories_.of(name, gpu_[at].name);
    const auto part =
        std::ranges::find(std::span{parts_}.subspan(first_part), category, &Launcher::category);
    if (part != std::span{parts_}.subspan(first_part).end()) return *part;
    parts_.push_back({.node = op.node, .event = op.event, .category = category});
    return parts_.back();
  };
  for (const GpuPosition at : own(op)) ++part_of(at).count;
  const auto parts = std::span{parts_}.subspan(first_part);
  if (parts.size() == 1) {
    op.category = parts.front().category;
    parts.front() = op;
    return;
  }
  auto end = static_cast<std::uint32_t>(own_.size());
  own_.resize(own_.size() + op.count);
  for (Launcher& part : parts) {
    part.first = end;
    end += part.count;
    part.count = 0;
  }
  for (const GpuPosition at : own(op)) {
    Launcher& part = part_of(at);
    own_[part.first + part.count++] = at;
  }
  for (Launcher& part : parts) part.direct_ns = part.subtree_ns = busy_ns(own(part));
  op.category = std::ranges::max(parts, {}, &Launcher::direct_ns).category;
}

std::span<const GpuEvent> LaunchTable::gpu(NodeId node) const {
  if (!node.valid()) return {};
  return std::span{gpu_}.subspan(first_position(node), tree_.gpu_count(node));
}

bool LaunchTable::any_communication(NodeId node) const {
  const GpuPosition first = first_position(node);
  return communication_before_[first + tree_.gpu_count(node)] != communication_before_[first];
}

std::vector<GpuPosition> LaunchTable::own_in_file_order(const Launcher& op) const {
  std::vector<GpuPosition> positions{own(op).begin(), own(op).end()};
  std::ranges::sort(positions, {}, [&](GpuPosition at) { return gpu_[at].event; });
  return positions;
}

const Launcher* LaunchTable::launcher(NodeId node) const {
  if (!node.valid() || !launching_.contains(node.row)) return nullptr;
  return &launchers_[launcher_ids_[launching_.number_of(node.row)]];
}

StringId LaunchTable::first_kernel(NodeId node) const {
  const Launcher* op = launcher(node);
  return op == nullptr ? StringId{} : gpu_[own_[op->first]].name;
}

std::uint32_t LaunchTable::category(NodeId node, OpCategories& categories) const {
  const Launcher* op = launcher(node);
  if (op != nullptr) return op->category;
  const StringId name = trace_.names()[tree_.event(node).row];
  const auto of_user = categories.of_user(trace_.text(name), {});
  return of_user ? *of_user : categories.of(name, {});
}

bool LaunchTable::is_by_start(NodeId node) const {
  const std::span<const GpuEvent> events = gpu(node);
  return events.empty() ||
         run_start_[first_position(node) + events.size() - 1] <= first_position(node);
}

std::int64_t LaunchTable::busy_ns(NodeId node) const {
  const std::span<const GpuEvent> events = gpu(node);
  if (events.empty()) return 0;
  const GpuPosition first = first_position(node);
  if (is_by_start(node) && is_alone_[first])
    return minus_ns(busy_before_[first + events.size()], busy_before_[first]);
  return busy_of(events, [](const GpuEvent& event) -> const GpuEvent& { return event; });
}

std::int64_t LaunchTable::busy_ns(std::span<const GpuPosition> positions) const {
  return busy_of(positions, [&](GpuPosition at) -> const GpuEvent& { return gpu_[at]; });
}

}  // namespace tracelens
