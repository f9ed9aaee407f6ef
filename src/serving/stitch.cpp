#include <fmt/format.h>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/trace_builder.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "facts/serving_steps.hpp"
#include "facts/step_annotation.hpp"
#include "io/ascii.hpp"
#include "serving/capture_folder.hpp"
#include "serving/graft.hpp"
#include "trace/string_table.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// More copies than this would be gigabytes: the launches after it stay as they are.
constexpr std::size_t kMostCopies = std::size_t{32} << 20;

struct Step {
  EventId annotation;
  std::int64_t start = 0, end = 0;
};

// The calls that replay a graph; most traces have none.
std::vector<EventId> graph_calls(const Trace& trace) {
  enum class Asked : std::uint8_t { kNo, kGraph, kOther };
  std::vector<Asked> names(trace.string_count(), Asked::kNo);  // each name is looked at once
  std::vector<EventId> calls;
  for (const EventId event : trace.recorded_events()) {
    if (!is_runtime(trace.category(event)) || trace.phase(event) != Phase::kComplete ||
        trace.ts_ns()[event.row] == kAbsent)
      continue;
    Asked& asked = names[trace.names()[event.row].row];
    if (asked == Asked::kNo)
      asked = io::contains_ignoring_case(trace.name(event), "graphlaunch") ? Asked::kGraph
                                                                           : Asked::kOther;
    if (asked == Asked::kGraph) calls.push_back(event);
  }
  return calls;
}

std::vector<GraphLaunch> find_graph_launches(const Trace& trace) {
  std::vector<GraphLaunch> found;
  const std::vector<EventId> calls = graph_calls(trace);
  if (calls.empty()) return found;
  const Launches launched = find_launches(trace, {});
  for (const EventId call : calls) {
    GraphLaunch launch{call, trace.ts_ns()[call.row], duration_of(trace, call), {}};
    for (EventId gpu = launched.first(call); gpu.valid(); gpu = launched.next(gpu))
      launch.work.push_back(gpu);
    const auto start = [&](EventId gpu) { return trace.ts_ns()[gpu.row]; };
    std::ranges::stable_sort(launch.work, {}, start);
    found.push_back(std::move(launch));
  }
  std::ranges::stable_sort(found, {}, &GraphLaunch::ts_ns);
  return found;
}

std::vector<Step> find_steps(const Trace& trace) {
  std::vector<Step> windows;
  for (const EventId root : find_step_roots(trace))
    windows.push_back({root, trace.ts_ns()[root.row], end_of(trace, root)});
  return windows;
}

StitchedLaunch entry_of(const Trace& trace, const GraphLaunch& launch) {
  StitchedLaunch entry;
  entry.launch = launch.call;
  entry.kernels = static_cast<std::uint32_t>(launch.work.size());
  for (const EventId gpu : launch.work) entry.gpu_ns += duration_of(trace, gpu);
  if (launch.work.empty()) entry.reason = "it ran nothing on the GPU in this trace";
  return entry;
}

// Tokens of the step, which a graph was captured for. Of a name of no known form the second word
// between underscores, as the reference does.
std::optional<std::int64_t> batch_size_of(std::string_view name, Edition edition) {
  if (const auto step = parse_step_annotation(name, edition)) return step->batch_size;
  const std::size_t start = name.find('_');
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view word = name.substr(start + 1, name.find('_', start + 1) - start - 1);
  std::int64_t size = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), size);
  if (word.empty() || read.ec != std::errc{} || read.ptr != word.data() + word.size())
    return std::nullopt;
  return size;
}

// The number behind "graph node id" in the details of a GPU event; a whole parse would take longer
// than all the rest.
std::int64_t graph_node_of(std::string_view details) {
  constexpr std::string_view kKey = "\"graph node id\":";
  const std::size_t at = details.find(kKey);
  if (at == std::string_view::npos) return kAbsent;
  details.remove_prefix(at + kKey.size());
  while (details.starts_with(' ')) details.remove_prefix(1);
  std::int64_t node = 0;
  const auto read = std::from_chars(details.data(), details.data() + details.size(), node);
  return read.ec == std::errc{} && node > 0 ? node : kAbsent;
}

// What a launch ran, as one number.
std::uint64_t digest_of(std::span<const ReplayedWork> work) {
  std::uint64_t digest = 0;
  for (const ReplayedWork& one : work) {
    digest = mix_hash(digest, hash_text(one.name));
    digest = mix_hash(digest, static_cast<std::uint64_t>(one.stream));
    digest = mix_hash(digest, static_cast<std::uint64_t>(one.node));
  }
  return digest;
}

class Stitcher {
 public:
  Stitcher(const Trace& trace, CaptureFolder& folder, Edition edition, GraphStitching& result)
      : trace_{trace},
        folder_{folder},
        edition_{edition},
        result_{result},
        launches_{find_graph_launches(trace)},
        steps_{find_steps(trace)} {}

  // What goes below each launch.
  struct Graft {
    std::shared_ptr<const Capture> capture;  // null: nothing
    std::uint32_t graph = 0;
    Pairs calls;
  };

  void plan() {
    grafts_.resize(launches_.size());
    describe_launches();
    result_.merged = true;
    for (const Step& step : steps_) {
      const std::vector<std::size_t> inside = take_launches_in(step);
      if (inside.empty()) continue;
      if (edition_ == Edition::kReference)
        plan_step_as_reference(step, inside);
      else
        plan_step(step, inside);
      if (!result_.merged) {
        for (std::size_t i = 0; i < launches_.size(); ++i)
          refuse(i,
                 "one launch of the trace cannot be matched, and the reference then merges none");
        return;
      }
    }
    for (const std::size_t launch : left_) {
      if (edition_ == Edition::kReference)
        refuse(launch, "it lies in no step");
      else
        stitch_to_best(launch, folder_.sets());
    }
  }

  [[nodiscard]] Trace apply(Trace trace) && {
    if (std::ranges::none_of(grafts_, [](const Graft& graft) { return graft.capture != nullptr; }))
      return trace;
    TraceBuilder builder{std::move(trace)};
    builder.reserve(builder.size() + copies_);
    std::map<const Capture*, Grafter> grafters;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const Graft& graft = grafts_[i];
      if (graft.capture == nullptr) continue;
      grafters.try_emplace(graft.capture.get(), builder, *graft.capture, edition_)
          .first->second.graft(launches_[i], graft.graph, graft.calls);
    }
    return std::move(builder).finish();
  }

 private:
  // A graph of the folder and how well it fits.
  struct Fit {
    std::shared_ptr<const Capture> capture;
    std::size_t file = 0;
    std::uint32_t graph = 0;
    Pairing pairing;
    std::string reason = {};  // why none

    [[nodiscard]] std::size_t dropped() const {
      return capture->graphs[graph].calls.size() - pairing.matched();
    }
    [[nodiscard]] auto score() const {  // more is better
      return std::tuple{pairing.matched(), -static_cast<std::int64_t>(dropped())};
    }
  };

  void describe_launches() {
    for (const GraphLaunch& launch : launches_) {
      left_.push_back(result_.launches.size());
      result_.launches.push_back(entry_of(trace_, launch));
    }
  }

  // Those that no earlier step had: where steps overlap, a launch is still stitched once.
  [[nodiscard]] std::vector<std::size_t> take_launches_in(const Step& step) {
    const auto start = [this](std::size_t launch) { return launches_[launch].ts_ns; };
    const auto first = std::ranges::lower_bound(left_, step.start, {}, start);
    const auto last = std::ranges::upper_bound(first, left_.end(), step.end, {}, start);
    const auto rest = std::stable_partition(first, last, [&](std::size_t launch) {
      return end_of(launches_[launch].ts_ns, launches_[launch].dur_ns) <= step.end;
    });
    std::vector<std::size_t> inside{first, rest};
    left_.erase(first, rest);
    return inside;
  }

  [[nodiscard]] bool is_settled(std::size_t launch) const {
    return grafts_[launch].capture != nullptr || launches_[launch].work.empty();
  }

  void refuse(std::size_t launch, std::string reason) {
    StitchedLaunch& entry = result_.launches[launch];
    grafts_[launch] = {};
    entry.alignment = Alignment::kNone;
    entry.matched = entry.dropped = 0;
    entry.matched_ns = 0;
    if (entry.kernels > 0) entry.reason = std::move(reason);
  }

  void accept(std::size_t launch, Fit fit) {
    const CapturedGraph& graph = fit.capture->graphs[fit.graph];
    if (copies_ + graph.events.size() > kMostCopies) {
      refuse(launch, "the trace would grow by more than 32 million events");
      return;
    }
    copies_ += graph.events.size() + 1;
    StitchedLaunch& entry = result_.launches[launch];
    entry.capture = folder_.name(fit.file);
    entry.capture_root = fit.graph;
    entry.alignment = fit.pairing.how;
    entry.matched = fit.pairing.matched();
    entry.dropped = static_cast<std::uint32_t>(fit.dropped());
    entry.reason = fit.pairing.reason;
    for (std::size_t i = 0; i < launches_[launch].work.size(); ++i)
      if (fit.pairing.calls[i] != kUnpaired)
        entry.matched_ns += duration_of(trace_, launches_[launch].work[i]);
    grafts_[launch] = {std::move(fit.capture), fit.graph, std::move(fit.pairing.calls)};
  }

  // The last set listed for a size and mode, as a later entry of the reference's list replaces an
  // earlier one.
  [[nodiscard]] const CaptureSet* find_set(std::int64_t size, bool piecewise) const {
    const CaptureSet* found = nullptr;
    for (const CaptureSet& set : folder_.sets())
      if (set.batch_size == size && set.piecewise == piecewise && folder_.is_there(set.file))
        found = &set;
    return found;
  }

  // The sets for the smallest captured size that has room for the step, the better mode first.
  // Empty: `reason` says why.
  [[nodiscard]] std::vector<const CaptureSet*> sets_for(const Step& step, std::size_t launches,
                                                        std::string& reason) const {
    const std::optional<std::int64_t> size = batch_size_of(trace_.name(step.annotation), edition_);
    if (!size) {
      reason = "the annotation of its step tells no batch size";
      return {};
    }
    std::optional<std::int64_t> chosen, largest;
    for (const CaptureSet& set : folder_.sets()) {
      if (!set.batch_size || (!set.is_told && largest)) continue;
      largest = std::max(largest, set.batch_size);
      if (*set.batch_size >= *size && (!chosen || *set.batch_size < *chosen))
        chosen = set.batch_size;
    }
    if (!chosen) {
      reason = largest
                   ? fmt::format("no capture is for a batch of {} or more; the largest is for {}",
                                 *size, *largest)
               : folder_.sets().empty() ? "there is no capture that could be read"
                                        : "no capture tells what batch size it is for";
      return {};
    }
    std::vector<const CaptureSet*> sets;
    for (const bool piecewise : {launches != 1, launches == 1})
      if (const CaptureSet* set = find_set(*chosen, piecewise)) sets.push_back(set);
    if (sets.empty())
      reason = fmt::format("the file of the capture for a batch of {} is not there", *chosen);
    return sets;
  }

  [[nodiscard]] std::vector<ReplayedWork> work_of(std::size_t launch) const {
    std::vector<ReplayedWork> work;
    for (const EventId gpu : launches_[launch].work) {
      ReplayedWork one{.name = trace_.name(gpu),
                       .stream = trace_.streams().at(gpu).value_or(kAbsent)};
      if (const auto details = trace_.detail_texts().at(gpu);
          details && edition_ != Edition::kReference)
        one.node = graph_node_of(trace_.text(*details));
      work.push_back(one);
    }
    return work;
  }

  void plan_step_as_reference(const Step& step, std::span<const std::size_t> inside) {
    std::string reason;
    const std::vector<const CaptureSet*> sets = sets_for(step, inside.size(), reason);
    const auto refuse_all = [&](const std::string& why) {
      for (const std::size_t launch : inside) refuse(launch, why);
    };
    if (sets.empty()) return refuse_all(reason);
    const CaptureSet& set = *sets.front();
    const std::shared_ptr<const Capture> capture = folder_.open(set.file);
    if (capture == nullptr) return refuse_all("its capture cannot be read");
    const std::size_t graphs = capture->graphs.size();
    if (graphs != 1 && graphs != inside.size())
      return refuse_all(fmt::format("the step has {} graph launches, {} has {} captures",
                                    inside.size(), folder_.name(set.file), graphs));
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (is_settled(inside[i])) continue;
      const auto graph = static_cast<std::uint32_t>(graphs == 1 ? 0 : i);
      Fit fit{capture, set.file, graph,
              align_as_reference(capture->graphs[graph].calls, work_of(inside[i]))};
      if (fit.pairing.spoils_all) {
        result_.merged = false;
        return refuse_all(fit.pairing.reason);
      }
      if (fit.pairing.how == Alignment::kNone)
        refuse(inside[i], fit.pairing.reason);
      else
        accept(inside[i], std::move(fit));
    }
  }

  // Of a graph of a file. Equal launches have equal answers.
  const Pairing& pairing_of(const Capture& capture, std::size_t file, std::uint32_t graph,
                            std::size_t launch) {
    const std::vector<ReplayedWork> work = work_of(launch);
    const auto [known, added] =
        pairings_.try_emplace(PairingKey{digest_of(work), work.size(), file, graph});
    if (added) known->second = align(capture.graphs[graph].calls, work);
    return known->second;
  }

  void plan_step(const Step& step, std::span<const std::size_t> inside) {
    std::string reason;
    for (const CaptureSet* set : sets_for(step, inside.size(), reason)) {
      const std::shared_ptr<const Capture> capture = folder_.open(set->file);
      if (capture == nullptr) {
        reason = fmt::format("{} cannot be read", folder_.name(set->file));
        continue;
      }
      const std::vector<std::uint32_t> graphs = graphs_of(*set, *capture);
      if (graphs.empty())
        reason = fmt::format("{} holds no whole capture", folder_.name(set->file));
      for (std::size_t i = 0; i < inside.size() && !graphs.empty(); ++i) {
        if (is_settled(inside[i])) continue;
        if (graphs.size() != 1 && graphs.size() != inside.size()) {
          stitch_to_best(inside[i], std::span{set, 1});
          continue;
        }
        const std::uint32_t graph = graphs[graphs.size() == 1 ? 0 : i];
        Fit fit{capture, set->file, graph, pairing_of(*capture, set->file, graph, inside[i])};
        if (const auto size = batch_size_of(trace_.name(step.annotation), edition_);
            size && set->batch_size && *set->batch_size != *size) {
          // Engines pad to the next size, which is hardly twice as large.
          if (fit.pairing.how != Alignment::kNone && *set->batch_size / 2 > *size &&
              told_.insert(set->file).second)
            folder_.note(
                fmt::format("{} was captured for a batch of {}, a step that replays it has {}: "
                            "shapes, FLOPs and bytes are those of the capture",
                            folder_.name(set->file), *set->batch_size, *size));
          add_remark(fit.pairing.reason,
                     fmt::format("captured for a batch of {}, its step has {}: shapes are those of "
                                 "the capture",
                                 *set->batch_size, *size));
        }
        if (fit.pairing.how != Alignment::kNone && is_most_of(fit))
          accept(inside[i], std::move(fit));
        else if (fit.pairing.how != Alignment::kNone)
          refuse(inside[i], fmt::format("most of {} is not in it", folder_.name(set->file)));
        else
          refuse(inside[i], fmt::format("{}: {}", folder_.name(set->file), fit.pairing.reason));
      }
    }
    for (const std::size_t launch : inside) {
      if (is_settled(launch)) continue;
      if (!reason.empty()) refuse(launch, reason);
      // Sizes that were only guessed decide nothing.
      const auto guessed = std::ranges::partition_point(folder_.sets(), &CaptureSet::is_told);
      if (guessed == folder_.sets().end()) continue;
      const std::string why = result_.launches[launch].reason;
      stitch_to_best(launch, {guessed, folder_.sets().end()});
      if (!is_settled(launch) && guessed != folder_.sets().begin()) refuse(launch, why);
    }
  }

  // A graph of a few kernels is a part of many others; the reference does not mind.
  [[nodiscard]] bool is_most_of(const Fit& fit) const {
    return edition_ == Edition::kReference || fit.dropped() <= fit.pairing.matched();
  }

  [[nodiscard]] static std::vector<std::uint32_t> graphs_of(const CaptureSet& set,
                                                            const Capture& capture) {
    if (set.graphs) return *set.graphs;
    std::vector<std::uint32_t> all(capture.graphs.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  // Where nothing says which of several captures a launch replays: the one whose kernels fit best.
  void stitch_to_best(std::size_t launch, std::span<const CaptureSet> sets) {
    if (is_settled(launch)) return;
    const std::vector<ReplayedWork> work = work_of(launch);
    const BestKey key{digest_of(work), work.size(), sets.data(), sets.size()};
    const auto [known, added] = best_fits_.try_emplace(key);
    if (added) known->second = best_fit(work, sets);
    if (known->second.reason.empty())
      accept(launch, known->second);
    else
      refuse(launch, known->second.reason);
  }

  Fit best_fit(std::span<const ReplayedWork> work, std::span<const CaptureSet> sets) {
    Fit best;
    std::string last_reason;
    bool is_ambiguous = false;
    std::size_t tried = 0;
    for (const CaptureSet& set : sets) {
      const std::shared_ptr<const Capture> capture = folder_.open(set.file);
      if (capture == nullptr) continue;
      for (const std::uint32_t graph : graphs_of(set, *capture)) {
        ++tried;
        Fit fit{capture, set.file, graph, align(capture->graphs[graph].calls, work)};
        if (fit.pairing.how == Alignment::kNone) {
          last_reason = fmt::format("{}: {}", folder_.name(set.file), fit.pairing.reason);
          continue;
        }
        if (best.capture != nullptr && fit.score() == best.score())
          is_ambiguous = is_ambiguous ||
                         capture->graphs[graph].digest != best.capture->graphs[best.graph].digest;
        if (best.capture != nullptr && fit.score() <= best.score()) continue;
        best = std::move(fit);
        is_ambiguous = false;
      }
    }
    if (best.capture == nullptr)
      best.reason = tried == 0   ? "there is no capture that could be read"
                    : tried == 1 ? last_reason
                                 : fmt::format("its kernels fit none of {} captures", tried);
    else if (is_ambiguous)
      best.reason = fmt::format("it fits several captures equally well, {} among them",
                                folder_.name(best.file));
    else if (!is_most_of(best))
      best.reason = fmt::format("most of {} is not in it", folder_.name(best.file));
    return best;
  }

  const Trace& trace_;
  CaptureFolder& folder_;
  Edition edition_;
  GraphStitching& result_;
  std::vector<GraphLaunch> launches_;
  std::vector<Step> steps_;
  std::vector<Graft> grafts_;      // by launch
  std::vector<std::size_t> left_;  // launches that were in no step yet
  using BestKey = std::tuple<std::uint64_t, std::size_t, const CaptureSet*, std::size_t>;
  std::map<BestKey, Fit> best_fits_;
  using PairingKey = std::tuple<std::uint64_t, std::size_t, std::size_t, std::uint32_t>;
  std::map<PairingKey, Pairing> pairings_;
  std::set<std::size_t> told_;  // files whose captures are for much larger batches
  std::size_t copies_ = 0;
};

// The innermost of some annotations, by time, around each launch that has none yet.
void name_steps(const Trace& trace, std::span<const EventId> annotations,
                GraphStitching& stitching) {
  constexpr std::size_t kMostNested = 64;  // deeper than any that people write
  const auto start = [&](EventId event) { return trace.ts_ns()[event.row]; };
  std::vector<EventId> open;
  auto next = annotations.begin();
  for (StitchedLaunch& entry : stitching.launches) {
    const auto has_ended = [&](EventId event) {
      return end_of(trace, event) < start(entry.launch);
    };
    for (; next != annotations.end() && start(*next) <= start(entry.launch); ++next) {
      if (open.size() == kMostNested && std::erase_if(open, has_ended) == 0)
        open.erase(open.begin());
      open.push_back(*next);
    }
    std::erase_if(open, has_ended);
    for (auto at = open.rbegin(); at != open.rend() && !entry.step.valid(); ++at)
      if (end_of(trace, *at) >= end_of(trace, entry.launch)) entry.step = *at;
  }
}

// The step of a serving engine around each launch, else whatever annotation there is.
void name_steps(const Trace& trace, GraphStitching& stitching) {
  name_steps(trace, find_step_roots(trace), stitching);
  std::vector<EventId> annotations;
  for (const EventId event : trace.recorded_events())
    if (trace.category(event) == Category::kUserAnnotation &&
        trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent)
      annotations.push_back(event);
  std::ranges::stable_sort(annotations, {},
                           [&](EventId event) { return trace.ts_ns()[event.row]; });
  name_steps(trace, annotations, stitching);
}

}  // namespace

StitchedTrace stitch_graphs(Trace replay, const std::string& captures,
                            const StitchOptions& options) {
  StitchedTrace out;
  out.stitching.folder = captures;
  CaptureFolder folder{captures, options};
  Stitcher stitcher{replay, folder, options.edition, out.stitching};
  stitcher.plan();
  name_steps(replay, out.stitching);
  out.stitching.notes = folder.notes();
  out.trace = std::move(stitcher).apply(std::move(replay));
  return out;
}

GraphStitching unstitched_graphs(const Trace& trace) {
  GraphStitching stitching;
  for (const GraphLaunch& launch : find_graph_launches(trace)) {
    stitching.launches.push_back(entry_of(trace, launch));
    if (!launch.work.empty()) stitching.launches.back().reason = "no captures were given";
  }
  if (!stitching.launches.empty()) name_steps(trace, stitching);
  return stitching;
}

}  // namespace tracelens
