#include "readers/kineto/columns.hpp"

#include <string>
#include <utility>

#include "trace/json_value.hpp"

namespace tracelens::kineto {
namespace {

// The entry for `local`, made by `make` when it is first asked for.
template <class IdType, class Make>
IdType remember(std::vector<IdType>& known, std::uint32_t local, Make&& make) {
  if (local >= known.size()) known.resize(std::size_t{local} + 1);
  if (!known[local].valid()) known[local] = make();
  return known[local];
}

Value parse_argument(std::string_view raw) {
  if (raw.empty()) return {};
  return parse_json_value(raw).value_or(Value{});
}

}  // namespace

bool BlockMerger::is_known(const RawRow& row) const {
  const auto is_in = [](const auto& known, std::uint32_t local) {
    return local < known.size() && known[local].valid();
  };
  return is_in(strings_, row.name) && is_in(tracks_, row.track) &&
         (!SignatureId{row.signature}.valid() || is_in(signatures_, row.signature));
}

void BlockMerger::prepare(ParsedBlock& block) const {
  EventColumns& events = block.events;
  events.resize(block.rows.size());
  for (std::uint32_t i = 0; i < block.rows.size(); ++i) {
    const RawRow& raw = block.rows[i];
    events.ts_ns[i] = raw.ts_ns;
    events.dur_ns[i] = raw.dur_ns;
    events.correlations[i] = raw.correlation;
    events.categories[i] = raw.category;
    events.phases[i] = raw.phase;
    if (raw.begin_end != 0 && raw.phase != Phase::kDamaged)  // one without a time joins nothing
      block.begin_ends.push_back(i);
    if (!is_known(raw)) {
      block.unknown.push_back(i);
      continue;
    }
    events.names[i] = strings_[raw.name];
    events.tracks[i] = tracks_[raw.track];
    events.signatures[i] =
        SignatureId{raw.signature}.valid() ? signatures_[raw.signature] : SignatureId{};
  }
  block.is_prepared = true;
}

void BlockMerger::append(ParsedBlock& block) {
  if (!block.is_prepared) prepare(block);
  EventColumns& events = block.events;
  for (const std::uint32_t i : block.unknown) {
    const RawRow& raw = block.rows[i];
    events.names[i] = string(raw.name);
    events.tracks[i] = track(raw.track);
    events.signatures[i] =
        SignatureId{raw.signature}.valid() ? signature(raw.signature) : SignatureId{};
  }
  const auto first = static_cast<std::uint32_t>(builder_.size());
  builder_.append_columns(events);
  const auto event = [first](std::uint32_t row) { return EventId{first + row}; };
  for (const std::uint32_t row : block.begin_ends)
    block.rows[row].begin_end == 'B' ? builder_.add_begin(event(row))
                                     : builder_.add_end(event(row));
  for (const auto& [row, id] : block.external_ids) builder_.set_external_id(event(row), id);
  for (const auto& [row, id] : block.sequences) builder_.set_sequence(event(row), id);
  for (const auto& [row, id] : block.forward_threads) builder_.set_forward_thread(event(row), id);
  for (const auto& [row, id] : block.streams) builder_.set_stream(event(row), id);
  for (const auto& [row, id] : block.devices) builder_.set_device(event(row), id);
  for (const auto& [row, change] : block.memory_changes)
    builder_.set_memory_change(event(row), change);
  for (const auto& [row, id] : block.call_stacks) builder_.set_call_stack(event(row), string(id));
  for (const auto& [row, id] : block.details) builder_.set_details(event(row), json_text(id));
  for (const auto& [row, id] : block.category_texts)
    builder_.set_category_text(event(row), string(id));
  for (const RawLabel& label : block.labels)
    builder_.add_label(builder_.track(track(label.track)),
                       std::string{builder_.text(string(label.name))}, parse_argument(label.value));
  for (const auto& [problem, byte] : block.problems)
    builder_.warnings().add(kProblemTexts[static_cast<std::size_t>(problem)], byte);
}

StringId BlockMerger::string(std::uint32_t local) {
  return remember(strings_, local, [&] {
    const std::string_view raw = parser_.strings().text({local});
    return is_plain_json_text(raw) ? builder_.intern(raw) : builder_.intern(unescape_json(raw));
  });
}

StringId BlockMerger::json_text(std::uint32_t local) {
  if (&parser_.json_texts() == &builder_.strings()) return {local};
  return remember(json_texts_, local,
                  [&] { return builder_.intern(parser_.json_texts().text({local})); });
}

TrackId BlockMerger::track(std::uint32_t local) {
  return remember(tracks_, local, [&] {
    const auto part = [&](const RawTrackPart& raw) -> Value {
      using Kind = RawTrackPart::Kind;
      if (raw.kind == Kind::kNone) return {};
      if (raw.kind == Kind::kInt) return raw.value;
      const auto text = static_cast<std::uint32_t>(raw.value);
      if (raw.kind == Kind::kText) return std::string{builder_.text(string(text))};
      return parse_argument(parser_.strings().text({text}));  // 7.5, true: rare, but a value
    };
    const RawTrack& raw = parser_.tracks()[local];
    return builder_.intern(Track{part(raw.pid), part(raw.tid)});
  });
}

SignatureId BlockMerger::signature(std::uint32_t local) {
  return remember(signatures_, local, [&] {
    RawSignature raw = parser_.signatures()[local];
    raw.name = string(raw.name).row;
    const std::uint32_t known = known_.raw.intern(raw);
    if (known == known_.ids.size())
      known_.ids.push_back(builder_.intern(Signature{.name = {raw.name},
                                                     .dims = parse_argument(raw.dims),
                                                     .types = parse_argument(raw.types),
                                                     .strides = parse_argument(raw.strides),
                                                     .concrete = parse_argument(raw.concrete)}));
    return known_.ids[known];
  });
}

}  // namespace tracelens::kineto
