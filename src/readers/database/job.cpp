#include "readers/database/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>

#include "io/code_points.hpp"
#include "io/numbers.hpp"
#include "readers/database/emit_text.hpp"
#include "readers/kit/time_limits.hpp"

namespace tracelens {
namespace {

// The wanted number where it is free, else the next one behind the largest.
std::int64_t free_number(std::set<std::int64_t>& taken, std::int64_t wanted) {
  if (taken.insert(wanted).second) return wanted;
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  std::int64_t next = *taken.rbegin() < kLargest ? *taken.rbegin() + 1 : 0;
  while (!taken.insert(next).second) ++next;
  return next;
}

bool is_time(std::int64_t ns) { return ns >= -kLatestNs && ns <= kLatestNs; }

struct NamedType {
  std::string_view name, in_traces;
};
constexpr NamedType kTypes[] = {
    {"bf16", "c10::BFloat16"}, {"fp16", "c10::Half"},         {"fp32", "float"},
    {"fp64", "double"},        {"fp8", "c10::Float8_e4m3fn"}, {"int8", "signed char"}};

std::string type_in_traces(const std::string& wanted) {
  if (wanted.empty()) return {};
  for (const NamedType& type : kTypes)
    if (type.name == wanted) return std::string{type.in_traces};
  std::string known;
  for (const NamedType& type : kTypes) known.append(known.empty() ? "" : ", ").append(type.name);
  throw Error{"--assume-dtype", fmt::format("'{}' is no type; known are: {}", wanted, known)};
}

}  // namespace

std::string number_member(std::string_view key, std::int64_t value) {
  return value == kAbsent ? std::string{} : fmt::format(",\"{}\":{}", key, value);
}

std::string text_member(std::string_view key, std::string_view value) {
  std::string text = fmt::format(",\"{}\":", key);
  append_json_text(text, value);
  return text;
}

std::string object_of(std::string_view members) {
  if (members.starts_with(',')) members.remove_prefix(1);
  return fmt::format("{{{}}}", members);
}

Job::Job(TraceBuilder& builder, const ReadOptions& options)
    : builder_{builder},
      options_{options},
      assumed_type_{type_in_traces(options.assume_dtype)},
      graph_{builder.intern("graph")},
      loose_{builder.intern("loose range")},
      mark_{builder.intern("mark")},
      allocation_{builder.intern("memory_allocation")},
      node_{builder.intern("graph node")},
      counter_{builder.intern("counter")} {}

StringId Job::intern(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; }))
    return builder_.intern(text);
  std::string sound;
  for (std::size_t at = 0; at < text.size();) {
    const io::CodePoint point = io::next_code_point(text, at);
    io::append_utf8(sound, point.valid ? point.value : 0xFFFD);
  }
  return builder_.intern(sound);
}

std::int64_t Job::process(std::string_view machine, std::int64_t pid, std::string_view host,
                          std::string_view recording) {
  const auto [entry, is_new] =
      processes_.try_emplace({std::string{machine}, pid, std::string{recording}});
  if (is_new)
    entry->second = {free_number(process_numbers_, pid == kAbsent ? 0 : pid), std::string{host}};
  return entry->second.number;
}

std::int64_t Job::gpu(std::string_view machine, std::int64_t index, std::string_view host) {
  if (index == kAbsent) return kAbsent;
  const auto [entry, is_new] = gpus_.try_emplace({std::string{machine}, index});
  if (is_new) entry->second = {free_number(gpu_numbers_, index), std::string{host}, index};
  return entry->second.number;
}

std::int64_t Job::named_gpu(std::string_view name, std::int64_t index, std::string_view host) {
  const auto [entry, is_new] = gpus_.try_emplace({std::string{name}, kAbsent});
  if (is_new) entry->second = {free_number(gpu_numbers_, index), std::string{host}, index};
  return entry->second.number;
}

std::size_t Job::machines() const {
  std::set<std::string_view> known;
  for (const auto& [own, process] : processes_) known.insert(std::get<0>(own));
  return known.size();
}

std::int64_t Job::correlation(std::int64_t space, std::int64_t own) {
  if (own == kAbsent) return kAbsent;
  constexpr std::int64_t kIdsOfASpace = std::int64_t{1} << 32;
  if (own >= 0 && own < kIdsOfASpace && space < (std::int64_t{1} << 29))
    return space * kIdsOfASpace + own;
  const auto next = (std::int64_t{1} << 62) + static_cast<std::int64_t>(odd_correlations_.size());
  return odd_correlations_.try_emplace({space, own}, next).first->second;
}

TrackId Job::thread(std::int64_t process, std::int64_t tid) {
  const auto [entry, is_new] = threads_.try_emplace({process, tid});
  if (is_new)
    entry->second = builder_.intern(tid == kAbsent ? Track{process, Value{}} : Track{process, tid});
  return entry->second;
}

void Job::describe_gpu(std::int64_t gpu, std::vector<std::pair<std::string, Value>> properties) {
  if (gpu != kAbsent) gpu_facts_.try_emplace(gpu, std::move(properties));
}

void Job::name_thread(std::int64_t process, std::int64_t tid, std::string_view name) {
  if (!name.empty() && tid != kAbsent)
    builder_.add_label(Track{process, tid}, "thread_name", std::string{name});
}

void Job::name_process(std::int64_t process, std::string_view name) {
  if (!name.empty()) builder_.add_label(Track{process, 0}, "process_name", std::string{name});
}

bool Job::is_event(std::int64_t start_ns, std::int64_t end_ns) {
  const bool holds =
      is_time(start_ns) && is_time(end_ns) && end_ns >= start_ns && end_ns - start_ns <= kLongestNs;
  if (!holds) count_without_times();
  return holds;
}

EventId Job::append(Category category, StringId name, TrackId track, std::int64_t start_ns,
                    std::int64_t end_ns, std::int64_t correlation) {
  return builder_.append({.phase = Phase::kComplete,
                          .category = category,
                          .name = name,
                          .track = track,
                          .ts_ns = start_ns,
                          .dur_ns = end_ns - start_ns,
                          .correlation = correlation});
}

bool Job::add_call(const Call& call) {
  if (!is_event(call.start_ns, call.end_ns)) return false;
  const EventId event =
      append(call.category, call.name, call.track, call.start_ns, call.end_ns, call.correlation);
  builder_.set_category_text(event, call.domain);
  return true;
}

void Job::add_range(const Range& range) {
  if (!is_event(range.start_ns, range.end_ns)) return;
  const EmittedOp op = range.op != nullptr ? *range.op : emitted_op(range.text);
  name_range(append_range(range, op), range, op);
}

EventId Job::begin_range(const Range& range) {
  if (!is_event(range.start_ns, range.end_ns == kAbsent ? range.start_ns : range.end_ns)) return {};
  return append_range(range, range.op != nullptr ? *range.op : emitted_op(range.text));
}

void Job::end_range(EventId event, const Range& range) {
  builder_.set_dur_ns(event,
                      std::clamp<std::int64_t>(range.end_ns - range.start_ns, 0, kLongestNs));
  name_range(event, range, range.op != nullptr ? *range.op : emitted_op(range.text));
}

EventId Job::append_range(const Range& range, const EmittedOp& op) {
  const std::int64_t end_ns = range.end_ns == kAbsent ? range.start_ns : range.end_ns;
  const EventId event = append(op.is_op ? Category::kCpuOp : Category::kUserAnnotation, loose_,
                               range.track, range.start_ns, end_ns);
  if (op.op_id != kAbsent) builder_.set_external_id(event, op.op_id);
  if (op.sequence != kAbsent) builder_.set_sequence(event, op.sequence);
  return event;
}

void Job::name_range(EventId event, const Range& range, const EmittedOp& op) {
  const Named& named = named_op(range.domain, op);
  builder_.set_name(event, named.name);
  if (named.signature.valid()) builder_.set_signature(event, named.signature);
  if (!range.details.empty())
    range_details_.emplace_back(
        event, builder_.intern(object_of(std::string{range.details} + named.domain_member)));
  else if (named.details.valid())
    range_details_.emplace_back(event, named.details);
}

void Job::end_ranges() {
  std::ranges::sort(range_details_, {}, [](const auto& entry) { return entry.first.row; });
  for (const auto& [event, details] : range_details_) builder_.set_details(event, details);
  range_details_ = {};
}

// Ops repeat, with the same shapes: what a text stands for is made once.
const Job::Named& Job::named_op(std::string_view domain, const EmittedOp& op) {
  std::uint64_t hash = mix_hash(hash_text(op.name), hash_text(op.sizes));
  if (!domain.empty()) hash = mix_hash(hash, hash_text(domain));
  const std::uint32_t id = named_index_.find_or_add(
      hash,
      [&](std::uint32_t known) {
        const Named& named = named_[known];
        return named.plain == op.name && named.sizes == op.sizes && named.domain == domain &&
               named.is_op == op.is_op;
      },
      [&] {
        Named named;
        named.domain = domain;
        named.plain = op.name;
        named.sizes = op.sizes;
        named.is_op = op.is_op;
        // Models know an op by its own name: its domain is a detail. That of other ranges is in front.
        const bool is_plain = op.is_op || domain.empty();
        named.name = intern(is_plain ? named.plain : named.domain + ":" + named.plain);
        if (op.is_op && !domain.empty()) {
          named.domain_member = text_member("domain", domain);
          named.details = intern(object_of(named.domain_member));
        }
        if (const Value dims = dims_of(op); !dims.is_null()) {
          named.signature =
              builder_.intern(Signature{named.name, dims, assumed_types(dims), {}, {}});
          has_untyped_ops_ = assumed_type_.empty();
        }
        named_.push_back(std::move(named));
        return static_cast<std::uint32_t>(named_.size() - 1);
      });
  return named_[id];
}

Value Job::assumed_types(const Value& dims) const {
  if (assumed_type_.empty()) return {};
  std::vector<Value> types;
  for (const Value& slot : dims.items()) {
    const bool is_list = !slot.items().empty() && slot.items().front().is_sequence();
    if (is_list)
      types.emplace_back("GenericList[TensorList]");
    else
      types.emplace_back(slot.items().empty() ? std::string{} : assumed_type_);
  }
  return Value::tuple(std::move(types));
}

void Job::add_loose_range(const Range& range) {
  if (!is_event(range.start_ns, range.end_ns)) return;
  const EventId event = append(Category::kOtherCategory, intern(range.text), range.track,
                               range.start_ns, range.end_ns);
  builder_.set_category_text(event, loose_);
}

void Job::add_mark(const Range& mark) {
  if (!is_event(mark.start_ns, mark.start_ns)) return;
  const EventId event = builder_.append({.phase = Phase::kInstant,
                                         .category = Category::kOtherCategory,
                                         .name = intern(mark.text),
                                         .track = mark.track,
                                         .ts_ns = mark.start_ns});
  builder_.set_category_text(event, mark_);
}

bool Job::add_gpu_event(const GpuEvent& gpu_event) {
  if (!is_event(gpu_event.start_ns, gpu_event.end_ns)) return false;
  const GpuTrack& track = gpu_track(gpu_event);
  const EventId event = append(gpu_event.category, gpu_event.name, track.id, gpu_event.start_ns,
                               gpu_event.end_ns, gpu_event.correlation);
  if (gpu_event.gpu != kAbsent) builder_.set_device(event, gpu_event.gpu);
  if (gpu_event.stream != kAbsent) builder_.set_stream(event, track.stream);
  if (gpu_event.is_graph) builder_.set_category_text(event, graph_);
  if (gpu_event.details.valid()) builder_.set_details(event, gpu_event.details);
  return true;
}

const Job::GpuTrack& Job::gpu_track(const GpuEvent& event) {
  const auto [entry, is_new] =
      gpu_tracks_.try_emplace({event.process, event.gpu, event.stream, event.context});
  if (!is_new) return entry->second;
  GpuTrack& track = entry->second;
  track.stream = free_number(streams_[event.gpu], event.stream == kAbsent ? 0 : event.stream);
  track.id = builder_.intern(event.gpu == kAbsent ? Track{"unknown GPU", track.stream}
                                                  : Track{event.gpu, track.stream});
  return track;
}

void Job::add_allocation(const Allocation& allocation) {
  if (!is_event(allocation.start_ns, allocation.end_ns)) return;
  const EventId event = append(Category::kOtherCategory, intern(allocation.what), allocation.track,
                               allocation.start_ns, allocation.end_ns);
  builder_.set_category_text(event, allocation_);
  builder_.set_details(
      event, builder_.intern(object_of(
                 text_member("level", allocation.level) + number_member("device", allocation.gpu) +
                 number_member("address", allocation.address) +
                 number_member("bytes", std::max<std::int64_t>(allocation.bytes, 0)))));
}

void Job::add_graph_node(TrackId track, std::int64_t at_ns, std::int64_t node,
                         std::int64_t original) {
  if (!is_event(at_ns, at_ns)) return;
  const EventId event = builder_.append({.phase = Phase::kInstant,
                                         .category = Category::kOtherCategory,
                                         .name = node_,
                                         .track = track,
                                         .ts_ns = at_ns});
  builder_.set_category_text(event, node_);
  builder_.set_details(event, builder_.intern(object_of(number_member("graph node", node) +
                                                        number_member("original", original))));
}

void Job::add_sample(std::string_view counter, std::int64_t gpu, std::int64_t at_ns, double value) {
  if (!std::isfinite(value)) return;
  if (!is_time(at_ns)) {  // worth a word, but an event it would not be either
    ++without_times_;
    return;
  }
  const auto [entry, is_new] = series_.try_emplace({std::string{counter}, gpu});
  Series& series = entry->second;
  if (is_new) series = {0, at_ns, at_ns, 0, value, value};
  ++series.samples;
  series.sum += value;
  series.first_ns = std::min(series.first_ns, at_ns);
  series.last_ns = std::max(series.last_ns, at_ns);
  series.least = std::min(series.least, value);
  series.most = std::max(series.most, value);
  // Sensors that are read every few microseconds would be most of a trace.
  constexpr std::uint64_t kMostSamples = 1'000'000;
  if (kept_samples_++ >= kMostSamples) return;
  const EventId event = builder_.append(
      {.phase = Phase::kOther,
       .category = Category::kOtherCategory,
       .name = intern(counter),
       .track = builder_.intern(gpu == kAbsent ? Track{"counters", 0} : Track{gpu, "counters"}),
       .ts_ns = at_ns});
  if (gpu != kAbsent) builder_.set_device(event, gpu);
  builder_.set_category_text(event, counter_);
  builder_.set_details(event,
                       builder_.intern(object_of(",\"value\":" + io::shortest_double(value))));
}

bool Job::add_overhead(StringId name, TrackId track, std::int64_t start_ns, std::int64_t end_ns) {
  if (!is_event(start_ns, end_ns)) return false;
  append(Category::kOverhead, name, track, start_ns, end_ns);
  return true;
}

void Job::warn(std::string_view what, std::uint64_t count) {
  builder_.warnings().add(what, 0, count);
}

void Job::tell_rows_without_times(std::string_view table) {
  if (const std::uint64_t count = std::exchange(without_times_, 0); count > 0)
    warn(fmt::format("rows of table {} without usable times are no events", table), count);
}

void Job::lost(std::string_view what) {
  builder_.source().cut_short = true;
  warn(what);
}

void Job::lost_rows(std::string_view table, std::uint64_t rows, std::int64_t last) {
  std::string where;
  if (last != kAbsent) where = fmt::format(" (number {})", last);
  lost(fmt::format("table {} is damaged behind its row {}{}", table, rows, where));
}

void Job::passed_over_rows(std::string_view table, std::uint64_t rows, std::uint64_t places) {
  lost(fmt::format("table {} is damaged in {} place{}: {} of its rows could be read", table, places,
                   places == 1 ? "" : "s", rows));
}

void Job::progress(double fraction) {
  if (options_.on_progress)
    options_.on_progress({fraction, builder_.source().text_bytes, builder_.size()});
}

}  // namespace tracelens
