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

template <class IdType>
bool is_in(const std::vector<IdType>& known, std::uint32_t local) {
  return local < known.size() && known[local].valid();
}

// A JSON value as written; null when there is none, or when it is none.
Value parse_argument(std::string_view raw) {
  if (raw.empty()) return {};
  return parse_json_value(raw).value_or(Value{});
}

// One column of arguments. `value` gives what the trace keeps of it.
template <class Raw, class Slots, class ToValue>
void write_arguments(const std::vector<Raw>& block, std::uint32_t first, const Slots& slots,
                     ToValue&& value) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    slots.rows[i] = first + block[i].row;
    slots.values[i] = value(block[i]);
  }
}

}  // namespace

bool BlockMerger::is_known(const RawRow& row) const {
  return is_in(strings_, row.name) && is_in(tracks_, row.track) &&
         (!SignatureId{row.signature}.valid() || is_in(signatures_, row.signature));
}

bool BlockMerger::has_own_json_texts() const {
  return &parser_.json_texts() != &builder_.strings();
}

void BlockMerger::list_new_texts(const std::vector<RawText>& texts,
                                 const std::vector<StringId>& known,
                                 std::vector<std::uint32_t>& fresh) const {
  fresh.clear();
  for (const RawText& text : texts)
    if (!is_in(known, text.text)) fresh.push_back(text.text);
}

void BlockMerger::prepare(const ParsedBlock& block) {
  new_rows_.clear();
  begin_ends_.clear();
  for (std::uint32_t i = 0; i < block.rows.size(); ++i) {
    const RawRow& row = block.rows[i];
    if (row.begin_end != 0 && row.phase != Phase::kDamaged)  // one without a time joins nothing
      begin_ends_.push_back(i);
    if (is_known(row)) continue;
    new_rows_.push_back(i);
    if (SignatureId{row.signature}.valid() && !is_in(signatures_, row.signature))
      known_signature(row.signature);
  }
  list_new_texts(block.call_stacks, strings_, new_call_stacks_);
  if (has_own_json_texts()) list_new_texts(block.details, json_texts_, new_details_);
  list_new_texts(block.category_texts, strings_, new_category_texts_);
}

void BlockMerger::number(const ParsedBlock& block) {
  for (const std::uint32_t i : new_rows_) {
    const RawRow& row = block.rows[i];
    string(row.name);
    track(row.track);
    if (SignatureId{row.signature}.valid()) signature(row.signature);
  }
  place_ = builder_.set_aside(block.rows.size(), {.external_ids = block.external_ids.size(),
                                                  .sequences = block.sequences.size(),
                                                  .forward_threads = block.forward_threads.size(),
                                                  .streams = block.streams.size(),
                                                  .devices = block.devices.size(),
                                                  .call_stacks = block.call_stacks.size(),
                                                  .details = block.details.size(),
                                                  .category_texts = block.category_texts.size(),
                                                  .memory_changes = block.memory_changes.size()});
  for (const std::uint32_t row : begin_ends_) {
    const EventId event{place_.first.row + row};
    block.rows[row].begin_end == 'B' ? builder_.add_begin(event) : builder_.add_end(event);
  }
  for (const std::uint32_t local : new_call_stacks_) string(local);
  for (const std::uint32_t local : new_details_) json_text(local);
  for (const std::uint32_t local : new_category_texts_) string(local);
  for (const RawLabel& label : block.labels)
    builder_.add_label(builder_.track(track(label.track)), builder_.text(string(label.name)),
                       parse_argument(label.value));
  for (const auto& [problem, byte] : block.problems)
    builder_.warnings().add(kProblemTexts[static_cast<std::size_t>(problem)], byte);
}

void BlockMerger::write(const ParsedBlock& block) const {
  const EventSlots slots = builder_.slots(place_);
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    const RawRow& row = block.rows[i];
    slots.ts_ns[i] = row.ts_ns;
    slots.dur_ns[i] = row.dur_ns;
    slots.correlations[i] = row.correlation;
    slots.names[i] = strings_[row.name];
    slots.tracks[i] = tracks_[row.track];
    const SignatureId local{row.signature};
    slots.signatures[i] = local.valid() ? signatures_[local.row] : local;
    slots.categories[i] = row.category;
    slots.phases[i] = row.phase;
  }
  const std::uint32_t first = place_.first.row;
  const auto number = [](const RawInt& raw) { return raw.value; };
  const auto text = [this](const RawText& raw) { return strings_[raw.text]; };
  const bool translates = has_own_json_texts();
  const auto json = [this, translates](const RawText& raw) {
    return translates ? json_texts_[raw.text] : StringId{raw.text};
  };
  write_arguments(block.external_ids, first, slots.external_ids, number);
  write_arguments(block.sequences, first, slots.sequences, number);
  write_arguments(block.forward_threads, first, slots.forward_threads, number);
  write_arguments(block.streams, first, slots.streams, number);
  write_arguments(block.devices, first, slots.devices, number);
  write_arguments(block.call_stacks, first, slots.call_stacks, text);
  write_arguments(block.details, first, slots.details, json);
  write_arguments(block.category_texts, first, slots.category_texts, text);
  write_arguments(block.memory_changes, first, slots.memory_changes,
                  [](const RawMemory& raw) { return raw.change; });
}

StringId BlockMerger::string(std::uint32_t local) {
  return remember(strings_, local, [&] {
    const std::string_view raw = parser_.strings().text({local});
    return is_plain_json_text(raw) ? builder_.intern(raw) : builder_.intern(unescape_json(raw));
  });
}

StringId BlockMerger::json_text(std::uint32_t local) {
  if (!has_own_json_texts()) return {local};
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

KnownSignature& BlockMerger::known_signature(std::uint32_t local) {
  if (local >= known_signatures_.size()) known_signatures_.resize(std::size_t{local} + 1);
  KnownSignature*& known = known_signatures_[local];
  if (known == nullptr) {
    const RawSignature& raw = parser_.signatures()[local];
    const auto [signature, is_new] = known_.find_or_add(parser_.strings().text({raw.name}), raw);
    known = &signature;
    if (is_new) known->put(parsed_signature(local));
  }
  return *known;
}

Signature BlockMerger::parsed_signature(std::uint32_t local) {
  const RawSignatures& raw = parser_.signatures();
  const auto argument = [&](std::uint32_t part) -> const Value& {
    if (part >= arguments_.size()) arguments_.resize(std::size_t{part} + 1);
    if (!arguments_[part]) arguments_[part] = parse_argument(raw.text(part));
    return *arguments_[part];
  };
  const auto [dims, types, strides, concrete] = raw.parts(local);
  return {.name = {},
          .dims = argument(dims),
          .types = argument(types),
          .strides = argument(strides),
          .concrete = argument(concrete)};
}

SignatureId BlockMerger::signature(std::uint32_t local) {
  return remember(signatures_, local, [&] {
    return known_signature(local).id(builder_, string(parser_.signatures()[local].name),
                                     [&] { return parsed_signature(local); });
  });
}

}  // namespace tracelens::kineto
