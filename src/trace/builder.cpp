#include "trace/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tracelens {
namespace {

// An unambiguous text of a Value, to find equal ones by hash. Iterative: values may be deep.
std::string canonical(const Value& root) {
  std::string text;
  struct Step {
    const Value* value;
    std::size_t next;
  };
  std::vector<Step> steps{{&root, 0}};
  while (!steps.empty()) {
    Step& step = steps.back();
    const Value& value = *step.value;
    if (step.next == 0) {
      const auto kind = static_cast<int>(value.kind());
      switch (value.kind()) {
        case Value::Kind::kBool:
        case Value::Kind::kInt:
          fmt::format_to(std::back_inserter(text), "{}:{};", kind,
                         value.kind() == Value::Kind::kBool ? value.as_bool() : value.as_int());
          break;
        case Value::Kind::kReal:
          fmt::format_to(std::back_inserter(text), "{}:{:x};", kind,
                         std::bit_cast<std::uint64_t>(value.as_real()));
          break;
        case Value::Kind::kText:
          fmt::format_to(std::back_inserter(text), "{}:{}:{};", kind, value.as_text().size(),
                         value.as_text());
          break;
        default:
          fmt::format_to(std::back_inserter(text), "{}({};", kind, value.items().size());
      }
    }
    if (step.next == value.items().size()) {
      steps.pop_back();
      continue;
    }
    const std::size_t i = step.next++;
    if (!value.keys().empty())
      fmt::format_to(std::back_inserter(text), "{}:{}=", value.keys()[i].size(), value.keys()[i]);
    steps.push_back({&value.items()[i], 0});
  }
  return text;
}

std::string canonical(const Track& track) { return canonical(track.pid) + canonical(track.tid); }

}  // namespace

TrackId TraceBuilder::intern(const Track& track) {
  const auto fresh = static_cast<std::uint32_t>(trace_.track_table_.size());
  const auto [entry, added] = track_ids_.try_emplace(canonical(track), fresh);
  if (added) trace_.track_table_.push_back(track);
  return {entry->second};
}

SignatureId TraceBuilder::intern(Signature signature) {
  std::string key = fmt::format("{}|", signature.name.row);
  for (const Value* part :
       {&signature.dims, &signature.types, &signature.strides, &signature.concrete})
    key += canonical(*part) + '|';
  const auto fresh = static_cast<std::uint32_t>(trace_.signature_table_.size());
  const auto [entry, added] = signature_ids_.try_emplace(std::move(key), fresh);
  if (added) trace_.signature_table_.push_back(std::move(signature));
  return {entry->second};
}

void TraceBuilder::reserve(std::size_t events) {
  trace_.ts_ns_.reserve(events);
  trace_.dur_ns_.reserve(events);
  trace_.correlations_.reserve(events);
  trace_.names_.reserve(events);
  trace_.tracks_.reserve(events);
  trace_.signatures_.reserve(events);
  trace_.categories_.reserve(events);
  trace_.phases_.reserve(events);
}

EventId TraceBuilder::append(const EventRow& row) {
  trace_.ts_ns_.push_back(row.ts_ns);
  trace_.dur_ns_.push_back(row.dur_ns);
  trace_.correlations_.push_back(row.correlation);
  trace_.names_.push_back(row.name);
  trace_.tracks_.push_back(row.track);
  trace_.signatures_.push_back(row.signature);
  trace_.categories_.push_back(row.category);
  trace_.phases_.push_back(row.phase);
  return {static_cast<std::uint32_t>(trace_.size() - 1)};
}

void TraceBuilder::add_label(Track track, std::string what, Value value) {
  const std::string key = canonical(track) + what;
  const auto [entry, added] = label_index_.try_emplace(key, trace_.labels_.size());
  if (added)
    trace_.labels_.push_back({std::move(track), std::move(what), std::move(value)});
  else
    trace_.labels_[entry->second].value = std::move(value);
}

void TraceBuilder::add_metadata(std::string key, Value value) {
  for (MetadataEntry& entry : trace_.metadata_)
    if (entry.key == key) {  // the last of equal keys wins
      entry.value = std::move(value);
      return;
    }
  trace_.metadata_.push_back({std::move(key), std::move(value)});
}

void TraceBuilder::join_begin_end() {
  std::unordered_map<std::uint32_t, std::vector<EventId>> open;  // by track
  std::uint64_t unpaired = 0;
  for (const auto [event, is_begin] : begin_end_) {
    std::vector<EventId>& stack = open[trace_.tracks_[event.row].row];
    if (is_begin) {
      stack.push_back(event);
    } else if (stack.empty()) {
      ++unpaired;
    } else {
      const EventId begin = stack.back();
      stack.pop_back();
      trace_.phases_[begin.row] = Phase::kComplete;
      trace_.dur_ns_[begin.row] =
          std::max<std::int64_t>(0, trace_.ts_ns_[event.row] - trace_.ts_ns_[begin.row]);
    }
  }
  for (const auto& [track, stack] : open) unpaired += stack.size();
  if (unpaired > 0) trace_.warnings_.add("begin or end event without its partner", 0, unpaired);
}

Trace TraceBuilder::finish() && {
  join_begin_end();
  // Columns grow by doubling; the room they did not use would be a tenth of a report's memory.
  for (auto* column : {&trace_.external_ids_, &trace_.sequences_, &trace_.fwd_threads_,
                       &trace_.streams_, &trace_.devices_})
    column->shrink();
  for (auto* column : {&trace_.call_stacks_, &trace_.details_, &trace_.other_categories_})
    column->shrink();
  auto texts = std::move(strings_).take();
  trace_.strings_ = std::move(texts.views);
  trace_.text_blocks_ = std::move(texts.blocks);
  return std::move(trace_);
}

}  // namespace tracelens
