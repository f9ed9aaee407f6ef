#include "analysis/diff/children.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tree/links.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNowhere = EditStep::kNowhere;

std::vector<NodeId> on_gpu_path(const DiffSide& side, std::span<const NodeId> nodes) {
  std::vector<NodeId> kept;
  for (const NodeId node : nodes)
    if (side.is_gpu_path(node)) kept.push_back(node);
  return kept;
}

std::vector<std::uint32_t> names_of(const DiffSide& side, std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> names;
  for (const NodeId node : nodes) names.push_back(side.name(node));
  return names;
}

void sort_by_time(const DiffSide& side, std::vector<NodeId>& nodes) {
  std::ranges::stable_sort(nodes, {}, [&side](NodeId node) { return side.ts_ns(node); });
}

// For each name that only the other side has on its GPU path: this side's last child of that name,
// which launches nothing here.
void add_idle_counterparts(const DiffSide& side, std::span<const NodeId> all,
                           const std::vector<std::uint32_t>& own,
                           const std::vector<std::uint32_t>& others, std::vector<NodeId>& list) {
  const std::unordered_set<std::uint32_t> have(own.begin(), own.end());
  std::unordered_map<std::uint32_t, NodeId> last;
  for (const NodeId node : all) last[side.name(node)] = node;
  std::unordered_set<std::uint32_t> asked;
  for (const std::uint32_t name : others) {
    if (name == DiffNames::kNone || have.contains(name) || !asked.insert(name).second) continue;
    if (const auto found = last.find(name); found != last.end()) list.push_back(found->second);
  }
}

// Kernels and launches wrap nothing.
bool may_be_wrapper(const DiffSide& side, NodeId node) {
  const Category category = side.category(node);
  if (category != Category::kKernel && !is_runtime(category)) return true;
  return is_graph_launch(side.trace().name(side.tree().event(node)));
}

std::vector<EditStep> one_sided(const std::vector<EditStep>& steps, bool removals) {
  std::vector<EditStep> kept;
  for (const EditStep& step : steps)
    if (!step.is_match() && step.is_removal() == removals) kept.push_back(step);
  return kept;
}

}  // namespace

ChildPairing::Lists ChildPairing::children_of(NodeId first, NodeId second) const {
  const auto all1 = first.valid() ? first_.children(first) : std::vector<NodeId>{};
  const auto all2 = second.valid() ? second_.children(second) : std::vector<NodeId>{};
  Lists lists{on_gpu_path(first_, all1), on_gpu_path(second_, all2)};
  if (first.valid() && second.valid()) {
    const auto names1 = names_of(first_, lists.first), names2 = names_of(second_, lists.second);
    add_idle_counterparts(second_, all2, names2, names1, lists.second);
    add_idle_counterparts(first_, all1, names1, names2, lists.first);
  }
  sort_by_time(first_, lists.first);
  sort_by_time(second_, lists.second);
  return lists;
}

std::vector<EditStep> ChildPairing::aligned(std::span<const NodeId> first,
                                            std::span<const NodeId> second) {
  const auto dispatches1 = [&](NodeId node) { return first_.is_dispatch(node); };
  const auto dispatches2 = [&](NodeId node) { return second_.is_dispatch(node); };
  const bool by_position = edition_ == Edition::kReference && first.size() == second.size() &&
                           std::ranges::none_of(first, dispatches1) &&
                           std::ranges::none_of(second, dispatches2);
  if (!by_position) return matcher_.by_name(first, second, Strip::kNo);
  std::vector<EditStep> steps;
  for (std::uint32_t i = 0; i < first.size(); ++i) steps.push_back({i, i});
  return steps;
}

// A node that is left on one side is a wrapper when it calls what is left on the other side, or
// when both call the same. The sets make this linear: no pair of nodes is looked at.
void ChildPairing::replace_wrappers(Lists& lists, std::vector<EditStep>& steps) {
  struct Candidate {
    std::uint32_t place;
    NodeId node;
    std::vector<NodeId> children;
    std::vector<std::uint32_t> names;
  };
  const auto candidates = [&](DiffSide& side, const std::vector<NodeId>& list, bool removals) {
    std::vector<Candidate> found;
    for (const EditStep& step : one_sided(steps, removals)) {
      const std::uint32_t place = removals ? step.first : step.second;
      if (!may_be_wrapper(side, list[place])) continue;
      std::vector<NodeId> children = side.gpu_children(list[place]);
      // Two ops that launch by themselves are not the same for that: they took each other's place.
      if (edition_ == Edition::kExtended &&
          std::ranges::any_of(children, [&](NodeId child) { return side.is_work(child); }))
        continue;
      std::vector<std::uint32_t> names = names_of(side, children);
      found.push_back({place, list[place], std::move(children), std::move(names)});
    }
    return found;
  };
  const std::vector<Candidate> removed = candidates(first_, lists.first, true);
  const std::vector<Candidate> added = candidates(second_, lists.second, false);
  if (removed.empty() || added.empty()) return;

  const auto wrappers = [](const DiffSide& other_side, const std::vector<Candidate>& own,
                           const std::vector<Candidate>& others) {
    std::unordered_set<std::uint32_t> names;
    std::set<std::vector<std::uint32_t>> child_names;
    for (const Candidate& other : others) {
      names.insert(other_side.name(other.node));
      if (!other.names.empty()) child_names.insert(other.names);
    }
    names.erase(DiffNames::kNone);
    std::map<std::uint32_t, const Candidate*> found;  // by place
    for (const Candidate& candidate : own)
      if (child_names.contains(candidate.names) ||
          std::ranges::any_of(candidate.names, [&](std::uint32_t n) { return names.contains(n); }))
        found[candidate.place] = &candidate;
    return found;
  };
  const auto wrappers1 = wrappers(second_, removed, added),
             wrappers2 = wrappers(first_, added, removed);
  if (wrappers1.empty() && wrappers2.empty()) return;

  const auto opened = [](const DiffSide& side, const std::vector<NodeId>& list, const auto& which) {
    std::vector<NodeId> result;
    for (std::uint32_t place = 0; place < list.size(); ++place) {
      const auto wrapper = which.find(place);
      if (wrapper == which.end())
        result.push_back(list[place]);
      else
        result.insert(result.end(), wrapper->second->children.begin(),
                      wrapper->second->children.end());
    }
    sort_by_time(side, result);
    return result;
  };
  Lists now{opened(first_, lists.first, wrappers1), opened(second_, lists.second, wrappers2)};
  const auto places_in = [](const std::vector<NodeId>& list) {
    std::unordered_map<std::uint32_t, std::uint32_t> places;
    for (std::uint32_t place = 0; place < list.size(); ++place) places[list[place].row] = place;
    return places;
  };
  const auto places1 = places_in(now.first), places2 = places_in(now.second);
  std::vector<EditStep> result;
  std::vector<bool> pinned1(now.first.size()), pinned2(now.second.size());
  for (const EditStep& step : steps) {
    if (!step.is_match()) continue;
    const EditStep pin{places1.at(lists.first[step.first].row),
                       places2.at(lists.second[step.second].row)};
    pinned1[pin.first] = pinned2[pin.second] = true;
    result.push_back(pin);
  }
  std::vector<std::uint32_t> free1, free2;
  std::vector<NodeId> nodes1, nodes2;
  for (std::uint32_t place = 0; place < now.first.size(); ++place)
    if (!pinned1[place]) free1.push_back(place), nodes1.push_back(now.first[place]);
  for (std::uint32_t place = 0; place < now.second.size(); ++place)
    if (!pinned2[place]) free2.push_back(place), nodes2.push_back(now.second[place]);
  for (const EditStep& step : aligned(nodes1, nodes2))
    result.push_back({step.first == kNowhere ? kNowhere : free1[step.first],
                      step.second == kNowhere ? kNowhere : free2[step.second]});
  lists = std::move(now);
  steps = std::move(result);
}

// Once by the names of the first branching nodes, once more without functions and folders.
void ChildPairing::compare_below(Lists& lists, std::vector<EditStep>& steps) {
  std::vector<EditStep> removed = one_sided(steps, true), added = one_sided(steps, false);
  if (removed.empty() || added.empty()) return;
  for (const EditStep& step : removed)
    lists.first[step.first] = first_.collapse(lists.first[step.first]).node;
  for (const EditStep& step : added)
    lists.second[step.second] = second_.collapse(lists.second[step.second]).node;
  std::erase_if(steps, [](const EditStep& step) { return !step.is_match(); });

  const auto match = [&](Strip strip) {
    std::vector<NodeId> nodes1, nodes2;
    for (const EditStep& step : removed) nodes1.push_back(lists.first[step.first]);
    for (const EditStep& step : added) nodes2.push_back(lists.second[step.second]);
    std::vector<EditStep> found = matcher_.by_name(nodes1, nodes2, strip);
    for (EditStep& step : found) {
      if (step.first != kNowhere) step.first = removed[step.first].first;
      if (step.second != kNowhere) step.second = added[step.second].second;
    }
    return found;
  };
  std::vector<EditStep> by_name = match(Strip::kNo);
  removed = one_sided(by_name, true);
  added = one_sided(by_name, false);
  if (removed.empty() || added.empty()) {
    steps.insert(steps.end(), by_name.begin(), by_name.end());
    return;
  }
  for (const EditStep& step : by_name)
    if (step.is_match()) steps.push_back(step);
  const std::vector<EditStep> by_file = match(Strip::kFunction);
  steps.insert(steps.end(), by_file.begin(), by_file.end());
}

// What is left between the same neighbours on both sides, as many here as there, took each other's
// place: miopen_convolution for cudnn_convolution. Where the numbers differ it stays one-sided, and
// the gap says what belongs together. Launches stay apart: their op is where they are compared.
void ChildPairing::pair_substitutes(const Lists& lists, std::vector<EditStep>& steps,
                                    std::vector<std::uint32_t>& gaps) const {
  std::vector<std::uint32_t> partner(lists.first.size(), kNowhere);
  std::vector<bool> matched2(lists.second.size());
  for (const EditStep& step : steps)
    if (step.is_match()) partner[step.first] = step.second, matched2[step.second] = true;
  struct Gap {
    std::vector<std::uint32_t> removed, added;
  };
  std::map<std::uint32_t, Gap> by_left;  // 1 + place of the left neighbour on side 2
  std::uint32_t left = 0;
  for (std::uint32_t place = 0; place < lists.first.size(); ++place)
    if (partner[place] != kNowhere)
      left = partner[place] + 1;
    else
      by_left[left].removed.push_back(place);
  left = 0;
  for (std::uint32_t place = 0; place < lists.second.size(); ++place)
    if (matched2[place])
      left = place + 1;
    else
      by_left[left].added.push_back(place);

  std::unordered_map<std::uint32_t, std::uint32_t> gap1, gap2;
  for (const auto& [key, gap] : by_left) {
    const bool launches =
        std::ranges::any_of(
            gap.removed, [&](std::uint32_t at) { return first_.is_dispatch(lists.first[at]); }) ||
        std::ranges::any_of(
            gap.added, [&](std::uint32_t at) { return second_.is_dispatch(lists.second[at]); });
    const bool pairs = gap.removed.size() == gap.added.size() && !launches;
    for (std::size_t i = 0; i < gap.removed.size(); ++i) {
      gap1[gap.removed[i]] = key;
      if (pairs) partner[gap.removed[i]] = gap.added[i];
    }
    for (const std::uint32_t place : gap.added) gap2[place] = key;
  }
  std::vector<EditStep> result;
  std::vector<bool> taken(lists.second.size());
  for (const EditStep& step : steps)
    if (step.first != kNowhere) {
      result.push_back({step.first, partner[step.first]});
      if (partner[step.first] != kNowhere) taken[partner[step.first]] = true;
    }
  for (const EditStep& step : steps)
    if (step.is_insertion() && !taken[step.second]) result.push_back(step);
  steps = std::move(result);
  for (const EditStep& step : steps)
    gaps.push_back(step.is_match() ? 0 : step.is_removal() ? gap1[step.first] : gap2[step.second]);
}

std::vector<NodePair> ChildPairing::pairs_below(NodeId& first, NodeId& second) {
  Lists lists = children_of(first, second);
  if (lists.first.size() != lists.second.size()) {
    const auto look_through = [](DiffSide& side, NodeId& node, std::vector<NodeId>& list) {
      const DiffSide::Collapsed inner = side.collapse(list.front());
      if (!inner.branches) return;
      node = inner.node;
      list = side.gpu_children(node);
    };
    if (lists.first.size() == 1)
      look_through(first_, first, lists.first);
    else if (lists.second.size() == 1)
      look_through(second_, second, lists.second);
  }
  return pairs_of(std::move(lists.first), std::move(lists.second));
}

std::vector<NodePair> ChildPairing::pairs_of(std::vector<NodeId> first,
                                             std::vector<NodeId> second) {
  Lists lists{std::move(first), std::move(second)};
  std::vector<EditStep> steps = aligned(lists.first, lists.second);
  replace_wrappers(lists, steps);
  compare_below(lists, steps);
  std::vector<std::uint32_t> gaps;
  if (edition_ == Edition::kExtended) pair_substitutes(lists, steps, gaps);

  std::vector<NodePair> pairs;
  for (std::size_t i = 0; i < steps.size(); ++i)
    pairs.push_back({steps[i].first == kNowhere ? NodeId{} : lists.first[steps[i].first],
                     steps[i].second == kNowhere ? NodeId{} : lists.second[steps[i].second],
                     gaps.empty() ? 0 : gaps[i]});
  return pairs;
}

}  // namespace tracelens
