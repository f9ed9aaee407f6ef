#include "analysis/diff/match.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace tracelens {
namespace {

constexpr std::uint32_t kNowhere = EditStep::kNowhere;
// Comparing every shape of one side with every shape of the other may take so many comparisons; a
// node with thousands of children of one name that all look different keeps the pairs it has.
constexpr std::size_t kMaxShapePairs = std::size_t{1} << 20;

std::uint32_t shared_count(const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b) {
  std::uint32_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++count;
    const bool step_a = a[i] <= b[j], step_b = b[j] <= a[i];
    i += step_a ? 1 : 0;
    j += step_b ? 1 : 0;
  }
  return count;
}

}  // namespace

std::vector<EditStep> Matcher::by_name(std::span<const NodeId> first,
                                       std::span<const NodeId> second, Strip strip) {
  std::vector<std::uint32_t> names1, names2;
  for (const NodeId node : first) names1.push_back(sides_[0]->aligned_name(node, strip));
  for (const NodeId node : second) names2.push_back(sides_[1]->aligned_name(node, strip));
  return with_equal_names_resolved(edit_script(names1, names2), first, second);
}

// Names of the GPU-path children, grandchildren and so on; ends after the first empty level.
Matcher::Levels Matcher::levels_below(const DiffSide& side, NodeId node) const {
  Levels levels;
  std::vector<NodeId> nodes = {node};
  while (levels.size() < kLevels && !nodes.empty()) {
    std::vector<NodeId> below;
    for (const NodeId each : nodes)
      for (const NodeId child : side.gpu_children(each)) below.push_back(child);
    Level& names = levels.emplace_back();
    for (const NodeId each : below) names.push_back(side.name(each));
    std::ranges::sort(names);
    nodes = std::move(below);
  }
  return levels;
}

std::uint32_t Matcher::shape_of(std::size_t side, NodeId node) {
  const auto known = shapes_[side].find(node.row);
  if (known != shapes_[side].end()) return known->second;
  const auto [entry, is_new] = shape_ids_.try_emplace(
      levels_below(*sides_[side], node), static_cast<std::uint32_t>(shape_levels_.size()));
  if (is_new) shape_levels_.push_back(&entry->first);
  return shapes_[side][node.row] = entry->second;
}

Matcher::Similarity Matcher::similarity(std::uint32_t first, std::uint32_t second) {
  const Levels &a = *shape_levels_[first], &b = *shape_levels_[second];
  static const Level kEmpty;
  const std::size_t count = std::max(a.size(), b.size());
  for (std::size_t level = 0; level < count; ++level) {
    const Level& of_a = level < a.size() ? a[level] : kEmpty;
    const Level& of_b = level < b.size() ? b[level] : kEmpty;
    if (of_a != of_b) return {static_cast<std::uint32_t>(level), shared_count(of_a, of_b)};
  }
  return {static_cast<std::uint32_t>(count), 0};
}

// The most similar pairs first; of equally similar ones those that are pairs already, then by
// place. Nodes of one shape are interchangeable, so shapes are compared instead of nodes.
void Matcher::pair_alike(const Ambiguous& name, std::span<const NodeId> first,
                         std::span<const NodeId> second,
                         std::span<const std::uint32_t> partner_of_first,
                         std::vector<EditStep>& accepted) {
  std::map<std::uint32_t, std::set<std::uint32_t>> free1, free2;  // places left, by shape
  for (const std::uint32_t place : name.first) free1[shape_of(0, first[place])].insert(place);
  for (const std::uint32_t place : name.second) free2[shape_of(1, second[place])].insert(place);

  std::map<Similarity, std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::greater<>> ranks;
  if (free1.size() <= kMaxShapePairs / free2.size()) {
    for (const auto& [shape1, places1] : free1)
      for (const auto& [shape2, places2] : free2)
        ranks[similarity(shape1, shape2)].emplace_back(shape1, shape2);
  }
  const auto accept = [&](std::uint32_t place1, std::uint32_t place2) {
    accepted.push_back({place1, place2});
    free1[shape_of(0, first[place1])].erase(place1);
    free2[shape_of(1, second[place2])].erase(place2);
  };
  const auto accept_existing = [&](const auto& may_pair) {
    for (const std::uint32_t place : name.first) {
      const std::uint32_t partner = partner_of_first[place];
      if (partner == kNowhere || !std::ranges::binary_search(name.second, partner)) continue;
      const std::uint32_t shape1 = shape_of(0, first[place]), shape2 = shape_of(1, second[partner]);
      if (free1[shape1].contains(place) && free2[shape2].contains(partner) &&
          may_pair(shape1, shape2))
        accept(place, partner);
    }
  };
  for (const auto& [rank, pairs] : ranks) {
    const std::set<std::pair<std::uint32_t, std::uint32_t>> allowed(pairs.begin(), pairs.end());
    accept_existing([&](std::uint32_t a, std::uint32_t b) { return allowed.contains({a, b}); });
    std::map<std::uint32_t, std::vector<std::uint32_t>> partners;  // shapes
    for (const auto& [shape1, shape2] : pairs) partners[shape1].push_back(shape2);
    std::set<std::uint32_t> places;
    for (const auto& [shape1, shapes2] : partners)
      places.insert(free1[shape1].begin(), free1[shape1].end());
    for (const std::uint32_t place : places) {
      std::uint32_t best = kNowhere;
      for (const std::uint32_t shape2 : partners[shape_of(0, first[place])])
        if (!free2[shape2].empty()) best = std::min(best, *free2[shape2].begin());
      if (best != kNowhere) accept(place, best);
    }
  }
  if (ranks.empty()) accept_existing([](std::uint32_t, std::uint32_t) { return true; });
}

std::vector<EditStep> Matcher::with_equal_names_resolved(std::vector<EditStep> steps,
                                                         std::span<const NodeId> first,
                                                         std::span<const NodeId> second) {
  std::vector<std::uint32_t> order;  // names by first appearance
  std::unordered_map<std::uint32_t, Ambiguous> by_name;
  const auto entry = [&](std::uint32_t name) -> Ambiguous& {
    const auto [found, is_new] = by_name.try_emplace(name);
    if (is_new) order.push_back(name);
    return found->second;
  };
  std::vector<std::uint32_t> partner_of_first(first.size(), kNowhere);
  for (const EditStep& step : steps) {
    if (step.first != kNowhere) {
      Ambiguous& name = entry(sides_[0]->name(first[step.first]));
      name.first.push_back(step.first);
      name.is_matched |= step.is_match();
    }
    if (step.second != kNowhere) {
      Ambiguous& name = entry(sides_[1]->name(second[step.second]));
      name.second.push_back(step.second);
      name.is_matched |= step.is_match();
    }
    if (step.is_match()) partner_of_first[step.first] = step.second;
  }

  std::vector<EditStep> accepted;
  std::vector<bool> in_group1(first.size()), in_group2(second.size());
  for (const std::uint32_t id : order) {
    Ambiguous& name = by_name[id];
    if (id == DiffNames::kNone || !name.is_matched || name.first.empty() || name.second.empty() ||
        (name.first.size() == 1 && name.second.size() == 1))
      continue;
    std::ranges::sort(name.first);
    std::ranges::sort(name.second);
    for (const std::uint32_t place : name.first) in_group1[place] = true;
    for (const std::uint32_t place : name.second) in_group2[place] = true;
    pair_alike(name, first, second, partner_of_first, accepted);
  }
  const bool is_news = std::ranges::any_of(
      accepted, [&](const EditStep& step) { return partner_of_first[step.first] != step.second; });
  if (!is_news) return steps;

  // What no ambiguous name touches, the new pairs by place, then what is left over. A node whose
  // partner went to another pair is left over too.
  std::vector<EditStep> result;
  std::vector<bool> done1(first.size()), done2(second.size());
  const auto add = [&](const EditStep& step) {
    result.push_back(step);
    if (step.first != kNowhere) done1[step.first] = true;
    if (step.second != kNowhere) done2[step.second] = true;
  };
  for (const EditStep& step : steps) {
    const bool touched = (step.first != kNowhere && in_group1[step.first]) ||
                         (step.second != kNowhere && in_group2[step.second]);
    if (!touched) add(step);
  }
  std::ranges::sort(accepted, {}, &EditStep::first);
  for (const EditStep& step : accepted) add(step);
  for (std::uint32_t place = 0; place < first.size(); ++place)
    if (!done1[place]) add({place, kNowhere});
  for (std::uint32_t place = 0; place < second.size(); ++place)
    if (!done2[place]) add({kNowhere, place});
  return result;
}

}  // namespace tracelens
