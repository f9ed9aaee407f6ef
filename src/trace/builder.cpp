#include <tracelens/trace_builder.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "trace/equal_keys.hpp"
#include "trace/json_value.hpp"
#include "trace/string_table.hpp"
#include "trace/track_key.hpp"

namespace tracelens {
namespace {

// The same for arguments that are the same.
std::string key_of_arguments(const Signature& signature) {
  constexpr std::size_t kUsualSize = 500;
  std::string key;
  key.reserve(kUsualSize);
  for (const Value* part :
       {&signature.dims, &signature.types, &signature.strides, &signature.concrete}) {
    append_canonical_text(key, *part);
    key += '|';
  }
  return key;
}

}  // namespace

TraceBuilder::TraceBuilder()
    : strings_{std::make_unique<StringTable>()}, signature_index_{std::make_unique<IdIndex>()} {}
TraceBuilder::TraceBuilder(Trace&& finished)
    : trace_{std::move(finished)},
      strings_{std::make_unique<StringTable>(StringTable::Texts{
          std::exchange(trace_.strings_, {}), std::exchange(trace_.text_blocks_, {})})},
      signature_index_{std::make_unique<IdIndex>()} {
  trace_.recorded_ = trace_.recorded();
  for (std::uint32_t id = 0; id < trace_.track_table_.size(); ++id)
    track_ids_.try_emplace(track_key(trace_.track_table_[id]), id);
  for (std::uint32_t id = 0; id < trace_.signature_table_.size(); ++id) {
    const Signature& signature = trace_.signature_table_[id];
    (void)find_or_add(signature, hash_of_arguments(signature), [id] { return id; });
  }
  for (const std::int64_t id : trace_.correlations_) last_launch_ = std::max(last_launch_, id);
}
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;
TraceBuilder::~TraceBuilder() = default;

StringId TraceBuilder::intern(std::string_view text) { return strings_->intern(text); }

std::string_view TraceBuilder::text(StringId id) const { return strings_->text(id); }

TrackId TraceBuilder::intern(const Track& track) {
  const auto fresh = static_cast<std::uint32_t>(trace_.track_table_.size());
  const auto [entry, added] = track_ids_.try_emplace(track_key(track), fresh);
  if (added) trace_.track_table_.push_back(track);
  return {entry->second};
}

std::uint64_t TraceBuilder::hash_of_arguments(const Signature& signature) {
  return hash_text(key_of_arguments(signature));
}

template <class Add>
std::uint32_t TraceBuilder::find_or_add(const Signature& signature, std::uint64_t hash_of_arguments,
                                        Add&& add) {
  const auto is_same = [&](std::uint32_t id) {
    const Signature& other = trace_.signature_table_[id];
    return other.name == signature.name && key_of_arguments(other) == key_of_arguments(signature);
  };
  return signature_index_->find_or_add(mix_hash(hash_of_arguments, signature.name.row), is_same,
                                       add);
}

SignatureId TraceBuilder::intern(Signature signature) {
  const std::uint64_t hash = hash_of_arguments(signature);
  return intern(std::move(signature), hash);
}

SignatureId TraceBuilder::intern(Signature signature, std::uint64_t hash_of_arguments) {
  return {find_or_add(signature, hash_of_arguments, [&] {
    trace_.signature_table_.push_back(std::move(signature));
    return static_cast<std::uint32_t>(trace_.signature_table_.size() - 1);
  })};
}

// Calls `use` with each column that all events have and its place in EventRow and EventSlots.
template <class Use>
void TraceBuilder::for_each_dense(Use&& use) {
  using Row = EventRow;
  using Slots = EventSlots;
  use(trace_.ts_ns_, &Row::ts_ns, &Slots::ts_ns);
  use(trace_.dur_ns_, &Row::dur_ns, &Slots::dur_ns);
  use(trace_.correlations_, &Row::correlation, &Slots::correlations);
  use(trace_.names_, &Row::name, &Slots::names);
  use(trace_.tracks_, &Row::track, &Slots::tracks);
  use(trace_.signatures_, &Row::signature, &Slots::signatures);
  use(trace_.categories_, &Row::category, &Slots::categories);
  use(trace_.phases_, &Row::phase, &Slots::phases);
}

void TraceBuilder::reserve(std::size_t events) {
  const std::unique_lock lock{*growing_};
  for_each_dense([&](auto& column, auto, auto) { column.reserve(events); });
}

// Calls `use` with each column of arguments and its place in ArgumentCounts and EventSlots.
template <class Use>
void TraceBuilder::for_each_argument(Use&& use) {
  using Counts = ArgumentCounts;
  using Slots = EventSlots;
  use(trace_.external_ids_, &Counts::external_ids, &Slots::external_ids);
  use(trace_.sequences_, &Counts::sequences, &Slots::sequences);
  use(trace_.fwd_threads_, &Counts::forward_threads, &Slots::forward_threads);
  use(trace_.streams_, &Counts::streams, &Slots::streams);
  use(trace_.devices_, &Counts::devices, &Slots::devices);
  use(trace_.call_stacks_, &Counts::call_stacks, &Slots::call_stacks);
  use(trace_.details_, &Counts::details, &Slots::details);
  use(trace_.other_categories_, &Counts::category_texts, &Slots::category_texts);
  use(trace_.memory_, &Counts::memory_changes, &Slots::memory_changes);
}

void TraceBuilder::reserve(const ArgumentCounts& counts) {
  const std::unique_lock lock{*growing_};
  for_each_argument([&](auto& column, auto count, auto) { column.reserve(counts.*count); });
}

void TraceBuilder::reserve_scaled(double factor) {
  const auto whole = [factor](std::size_t count) {
    constexpr double kMost = 1e15;  // more than any machine gives
    return static_cast<std::size_t>(std::clamp(static_cast<double>(count) * factor, 0., kMost));
  };
  ArgumentCounts counts;
  for_each_argument([&](auto& column, auto count, auto) { counts.*count = whole(column.size()); });
  try {
    reserve(whole(size()));
    reserve(counts);
  } catch (const std::bad_alloc&) {
    // Where memory is limited, room counts like memory: what was to be had of it is missed elsewhere.
    give_back_room();
    throw;
  }
}

void TraceBuilder::give_back_room() {
  const std::unique_lock lock{*growing_};
  for_each_dense([](auto& column, auto, auto) { column.shrink_to_fit(); });
  for_each_argument([](auto& column, auto, auto) { column.shrink(); });
}

EventId TraceBuilder::append(const EventRow& row) {
  for_each_dense([&](auto& column, auto value, auto) { column.push_back(row.*value); });
  return {static_cast<std::uint32_t>(trace_.size() - 1)};
}

EventPlace TraceBuilder::set_aside(std::size_t events, const ArgumentCounts& arguments) {
  EventPlace place{.first = {static_cast<std::uint32_t>(size())},
                   .events = events,
                   .arguments = arguments,
                   .before = {}};
  // Columns that move wait for those who write into them; they double, so that is seldom.
  bool has_room = true;
  for_each_dense([&](auto& column, auto, auto) {
    has_room = has_room && column.capacity() - column.size() >= events;
  });
  for_each_argument([&](auto& column, auto count, auto) {
    place.before.*count = column.size();
    has_room = has_room && column.has_room(arguments.*count);
  });
  std::unique_lock lock{*growing_, std::defer_lock};
  if (!has_room) lock.lock();
  for_each_dense([&](auto& column, auto, auto) { column.add_unwritten(events); });
  for_each_argument(
      [&](auto& column, auto count, auto) { column.add_unwritten(arguments.*count); });
  return place;
}

EventSlots TraceBuilder::slots(const EventPlace& place) {
  EventSlots slots;
  slots.stay = std::shared_lock{*growing_};
  for_each_dense([&](auto& column, auto, auto part) {
    slots.*part = {column.data() + place.first.row, place.events};
  });
  for_each_argument([&](auto& column, auto count, auto argument) {
    slots.*argument = column.slots(place.before.*count, place.arguments.*count);
  });
  return slots;
}

void TraceBuilder::add_launch(EventId call, EventId gpu_event) {
  if (trace_.correlations_[call.row] == kAbsent) trace_.correlations_[call.row] = ++last_launch_;
  const std::int64_t id = trace_.correlations_[gpu_event.row] = trace_.correlations_[call.row];
  for (const auto& [phase, event] :
       {std::pair{Phase::kFlowStart, call}, std::pair{Phase::kFlowEnd, gpu_event}})
    append({.phase = phase,
            .category = Category::kAsyncCpuToGpu,
            .name = intern("ac2g"),
            .track = trace_.tracks_[event.row],
            .ts_ns = trace_.ts_ns_[event.row],
            .correlation = id});
}

void TraceBuilder::replace_details(std::span<const std::pair<EventId, StringId>> changes) {
  const SparseColumn<StringId>& old = trace_.details_;
  SparseColumn<StringId> changed;
  std::size_t next = 0;
  for (const auto& [event, details] : changes) {
    for (; next < old.rows().size() && old.rows()[next] <= event.row; ++next)
      if (old.rows()[next] < event.row) changed.append({old.rows()[next]}, old.values()[next]);
    changed.append(event, details);
  }
  for (; next < old.rows().size(); ++next) changed.append({old.rows()[next]}, old.values()[next]);
  trace_.details_ = std::move(changed);
}

void TraceBuilder::add_label(const Track& track, std::string_view what, Value value) {
  trace_.labels_.insert_or_assign(label_key(track, what), std::move(value));
}

void TraceBuilder::add_metadata(std::string key, Value value) {
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

void TraceBuilder::write_given_parents() {
  if (given_parents_.empty()) return;
  SparseColumn<EventId>& column = trace_.given_parents_;
  std::vector<std::pair<EventId, EventId>> all;
  all.reserve(column.rows().size() + given_parents_.size());
  for (std::size_t i = 0; i < column.rows().size(); ++i)
    all.push_back({{column.rows()[i]}, column.values()[i]});
  all.insert(all.end(), given_parents_.begin(), given_parents_.end());
  // Mostly appended events, in order; the recorded ones among them are few.
  const auto event_of = &std::pair<EventId, EventId>::first;
  const auto appended = std::stable_partition(all.begin(), all.end(), [this](const auto& given) {
    return given.first.row < trace_.recorded();
  });
  std::ranges::stable_sort(all.begin(), appended, {}, event_of);
  if (!std::ranges::is_sorted(appended, all.end(), {}, event_of))
    std::ranges::stable_sort(appended, all.end(), {}, event_of);
  column = {};
  column.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || all[i].first != all[i + 1].first)
      column.append(all[i].first, all[i].second);
}

Trace TraceBuilder::finish() && {
  join_begin_end();
  std::vector<MetadataEntry>& metadata = trace_.metadata_;
  metadata.resize(keep_last_of_equals(
      metadata.size(), [&](std::size_t at) -> const std::string& { return metadata[at].key; },
      [&](std::size_t to, std::size_t from) { metadata[to] = std::move(metadata[from]); }));
  write_given_parents();
  std::ranges::sort(trace_.passed_over_);
  // Columns grow by doubling, and what a reader set aside is a guess: the room they did not use serves others.
  for_each_dense([](auto& column, auto, auto) { column.trim(); });
  for_each_argument([](auto& column, auto, auto) { column.trim(); });
  trace_.other_categories_.trim();
  auto texts = std::move(*strings_).take();
  trace_.strings_ = std::move(texts.views);
  trace_.text_blocks_ = std::move(texts.blocks);
  return std::move(trace_);
}

}  // namespace tracelens
