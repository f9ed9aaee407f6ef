#include "analysis/rows/op_cells.hpp"

#include <algorithm>
#include <memory>

namespace tracelens {
namespace {

Value::Keys keys_of(std::vector<std::string> keys) {
  return std::make_shared<const std::vector<std::string>>(std::move(keys));
}

Value stream_value(std::int64_t stream) { return stream == kAbsent ? Value{} : Value{stream}; }

}  // namespace

OpTableOptions op_table_options(const RowOptions& options) {
  return {.edition = options.edition,
          .own_models = options.models == nullptr ? nullptr : &options.models->all(),
          .split_recompute = options.recompute,
          .overlap = true,
          .include_unlinked = options.include_unlinked,
          .communication = options.communication,
          .gpu = options.gpu};
}

std::optional<double> exact_us(std::int64_t ns) {
  if (ns == kAbsent) return std::nullopt;
  return static_cast<double>(static_cast<long double>(ns) / 1000);
}

const Value& OpCells::name(StringId id) {
  const auto [entry, added] = names_.try_emplace(id.row);
  if (added) entry->second = std::string{input_.trace.text(id)};
  return entry->second;
}

bool OpCells::has_room(std::size_t kernels) {
  if (listed_ + kernels > input_.kernels_per_table()) {
    ++input_.rows_without_kernels;
    return false;
  }
  listed_ += kernels;
  return true;
}

Value OpCells::kernels(std::span<const GpuPosition> positions, bool with_uid,
                       std::vector<Value> call_stacks) {
  static const Value::Keys kKeys = keys_of({"name", "dur", "stream"}),
                           kKeysWithUid = keys_of({"name", "dur", "stream", "gpu_op_uid"}),
                           kKeysWithStack =
                               keys_of({"name", "dur", "stream", "gpu_op_uid", "call_stack"});
  if (!has_room(positions.size())) return {};
  std::vector<Value> kernels;
  kernels.reserve(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const GpuEvent& gpu = input_.launches.gpu_events()[positions[i]];
    std::vector<Value> items;
    items.reserve(kKeysWithStack->size());
    items.push_back(name(gpu.name));
    items.emplace_back(us(gpu.end_ns - gpu.start_ns));
    items.push_back(stream_value(gpu.stream));
    if (with_uid) items.emplace_back(std::int64_t{gpu.event.row});
    const bool has_stack = with_uid && i < call_stacks.size();
    if (has_stack) items.push_back(std::move(call_stacks[i]));
    kernels.push_back(Value::dict_of(has_stack  ? kKeysWithStack
                                     : with_uid ? kKeysWithUid
                                                : kKeys,
                                     std::move(items)));
  }
  return Value::list(std::move(kernels));
}

Value OpCells::partners(const OverlapFields& overlap) {
  static const Value::Keys kKeys = keys_of({"name", "dur", "stream", "overlap_pct"});
  if (overlap.partners.empty()) return {};
  std::vector<Value> partners;
  for (const KernelUse& partner : overlap.partners)
    partners.push_back(Value::dict_of(kKeys, {name(partner.name), us(partner.dur_ns),
                                              stream_value(partner.stream), partner.overlap_pct}));
  return Value::list(std::move(partners));
}

Value OpCells::partner_names(std::uint32_t names) {
  if (names == 0) return {};
  const auto [entry, added] = partner_names_.try_emplace(names);
  if (added) entry->second = input_.overlaps->names(names);
  return entry->second;
}

Value OpCells::detail(EventId event, std::string_view key) {
  if (!event.valid()) return {};
  const std::optional<StringId> text = input_.trace.detail_texts().at(event);
  if (!text) return {};
  const auto [entry, added] = details_.try_emplace(text->row);
  if (added) entry->second = input_.trace.details(event);
  const Value* const member = entry->second.find(key);
  return member == nullptr ? Value{} : *member;
}

Kind kind_of_ids(const Trace& trace, std::span<const EventId> events) {
  const auto is_word = [](const Value& id) { return id.kind() != Value::Kind::kInt; };
  const bool any_word = std::ranges::any_of(events, [&](EventId event) {
    const TrackId track = trace.tracks()[event.row];
    return track.valid() && (is_word(trace.track(track).pid) || is_word(trace.track(track).tid));
  });
  return any_word ? Kind::kNested : Kind::kInteger;
}

const Signature& SingleOp::arguments() const {
  static const Signature kNoArguments;
  const SignatureId id = input.trace.signatures()[event.row];
  return id.valid() ? input.trace.signature(id) : kNoArguments;
}

Cell SingleOp::id_cell(Value Track::*id) const {
  const TrackId track = input.trace.tracks()[event.row];
  if (!track.valid()) return Missing{};
  const Value& value = input.trace.track(track).*id;
  if (value.kind() == Value::Kind::kInt) return value.as_int();
  return value;
}

}  // namespace tracelens
