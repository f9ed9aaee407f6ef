#include "analysis/ranks/run.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/ranks/rank_lists.hpp"
#include "trace/json_value.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

Kind kind_of_value(const Value& value) {
  if (value.is_int()) return Kind::kInteger;
  if (value.is_number()) return Kind::kReal;
  return value.is_text() ? Kind::kText : Kind::kNested;
}

// The narrowest kind that holds all values `of` gives for the messages.
template <class Of>
Kind narrowest(const std::vector<RankTrace>& ranks, Of&& of) {
  std::optional<Kind> kind;
  for (const RankTrace& rank : ranks)
    for (const CollectiveMessage& message : rank.messages) {
      const Value& value = of(message);
      if (value.is_null()) continue;
      const Kind next = kind_of_value(value);
      const auto is_number = [](Kind k) { return k == Kind::kInteger || k == Kind::kReal; };
      if (!kind || kind == next)
        kind = next;
      else
        kind = is_number(*kind) && is_number(next) ? Kind::kReal : Kind::kNested;
    }
  return kind.value_or(Kind::kText);
}

// A group that has no name in the trace is shown with the one it was given.
void name_groups(std::vector<RankTrace>& ranks, const Matching& matching) {
  for (RankTrace& rank : ranks)
    for (CollectiveMessage& message : rank.messages) {
      Value& name = message[CollectiveField::kGroupName];
      if (matching.is_simplified)
        name = kOnlyGroup;
      else if (name.is_null())
        name = kUnknownGroup;
    }
}

}  // namespace

std::optional<ActivityAnswer> answer(const RankActivity& activity, const Interval& window) {
  const auto share = activity.busiest_in(window);
  if (!share) return std::nullopt;
  return ActivityAnswer{*share->what, share->ns};
}

CollectiveRun::CollectiveRun(std::vector<RankTrace> ranks, const CollectiveRunOptions& options)
    : CollectiveRun{match_collectives(ranks), std::move(ranks), options} {}

CollectiveRun::CollectiveRun(Matching matching, std::vector<RankTrace> ranks,
                             const CollectiveRunOptions& options)
    : edition_{options.edition},
      ranks_{std::move(ranks)},
      matching_{std::move(matching)},
      gpus_per_node_{options.gpus_per_node},
      ask_activity_{options.ask_activity},
      ahead_ns_(ranks_.size()) {
  if (!gpus_per_node_ && !ranks_.empty()) gpus_per_node_ = ranks_.front().device_count;
  name_groups(ranks_, matching_);
  if (gpus_per_node_) find_node_spans();
  for (const RankTrace& rank : ranks_)
    for (const CollectiveKernel& kernel : rank.kernels)
      has_whole_us_ &= kernel.ts_ns % 1000 == 0 && kernel.dur_ns % 1000 == 0;
  for (std::size_t i = 0; i < kCollectiveFieldCount; ++i)
    kinds_.push_back(
        narrowest(ranks_, [i](const CollectiveMessage& m) -> const Value& { return m.fields[i]; }));
  kinds_.push_back(
      narrowest(ranks_, [](const CollectiveMessage& m) -> const Value& { return m.stream; }));
}

void CollectiveRun::shift_clocks(std::span<const std::int64_t> ahead_ns) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    shift_kernels(ranks_[i], minus_ns(0, ahead_ns[i]));
    ahead_ns_[i] = plus_ns(ahead_ns_[i], ahead_ns[i]);
    has_whole_us_ &= ahead_ns[i] % 1000 == 0;
  }
}

ActivityAnswers CollectiveRun::activities(std::vector<ActivityQuestion> questions) const {
  for (ActivityQuestion& question : questions) {
    const std::int64_t ahead = ahead_ns_[question.rank];
    question.window = {plus_ns(question.window.start, ahead), plus_ns(question.window.end, ahead)};
  }
  if (ask_activity_) return ask_activity_(questions);
  ActivityAnswers answers;
  for (const ActivityQuestion& question : questions)
    answers.push_back(answer(ranks_[question.rank].activity, question.window));
  return answers;
}

std::int64_t CollectiveRun::longest_trace_ns() const {
  std::int64_t longest = 0;
  for (const RankTrace& rank : ranks_) {
    if (!rank.steps.empty()) longest = std::max(longest, rank.steps[0].total_ns);
    if (rank.kernels.empty()) continue;
    std::int64_t start = rank.kernels[0].ts_ns, end = start;
    for (const CollectiveKernel& kernel : rank.kernels) {
      start = std::min(start, kernel.ts_ns);
      end = std::max(end, end_of(kernel.ts_ns, kernel.dur_ns));
    }
    longest = std::max(longest, minus_ns(end, start));
  }
  return longest;
}

ColumnSpec CollectiveRun::column(CollectiveField field) const {
  const CollectiveFieldText& text = text_of(field);
  return {text.name, kinds_[static_cast<std::size_t>(field)], "", text.description};
}

ColumnSpec CollectiveRun::stream_column() const {
  return {"stream", kinds_.back(), "id", "stream the kernel ran on"};
}

Cell CollectiveRun::time_cell(std::int64_t ns) const {
  if (has_whole_us_) return ns / 1000;
  return us(ns);
}

Cell CollectiveRun::cell(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return Missing{};
    case Value::Kind::kInt:
      return value.as_int();
    case Value::Kind::kReal:
      return value.as_real();
    case Value::Kind::kText:
      return value.as_text();
    default:
      return value;
  }
}

std::int64_t CollectiveRun::node_of(std::int64_t rank) const {
  return rank / gpus_per_node_.value_or(std::max<std::int64_t>(rank, 0) + 1);
}

// Equal lists of ranks are looked at once: there are few, and they may be long.
void CollectiveRun::find_node_spans() {
  std::unordered_map<std::string, std::string_view> known;
  std::unordered_map<std::string_view, const ProcessGroup*> named;
  for (const ProcessGroup& group : matching_.groups) named.try_emplace(group.name, &group);
  for (const RankTrace& rank : ranks_) {
    auto& spans = node_spans_.emplace_back();
    for (const CollectiveMessage& message : rank.messages) {
      const Value &ranks = message[CollectiveField::kGroupRanks],
                  &size = message[CollectiveField::kGroupSize],
                  &name = message[CollectiveField::kGroupName];
      const auto [entry, is_new] = known.try_emplace(
          canonical_text(ranks) + '\0' + canonical_text(size) + '\0' + canonical_text(name));
      if (is_new) {
        std::vector<std::int64_t> members = rank_list(ranks, size);
        // A list that was cut short: the group of this name may be known in full.
        if (members.empty() && ranks.is_text())
          if (const auto group = named.find(name.as_text()); group != named.end())
            members = group->second->members;
        entry->second = span_of(members);
      }
      spans.push_back(entry->second);
    }
  }
}

std::string_view CollectiveRun::span_of(const std::vector<std::int64_t>& members) const {
  if (members.empty()) return "unknown";
  const bool on_one_node = std::ranges::all_of(
      members, [&](std::int64_t rank) { return node_of(rank) == node_of(members.front()); });
  return on_one_node ? "intra_node" : "inter_node";
}

}  // namespace tracelens
