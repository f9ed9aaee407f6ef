#include "readers/perfetto/row_memo.hpp"

#include <algorithm>
#include <cstring>

#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/words.hpp"
#include "readers/perfetto/args.hpp"
#include "trace/string_table.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kEntries = 4096;     // about a megabyte with their keys
constexpr std::size_t kLongestKey = 256;   // of an entry that is kept, in words
constexpr std::size_t kMostShapes = 1024;  // of some hundred bytes
constexpr std::size_t kMostArgs = 128;     // of a shape; more have no event but a made-up one
constexpr std::size_t kWord = sizeof(std::uint64_t);

bool is_known(const EventArg& arg, const Sequence& sequence) {
  return arg.kind != EventArg::Kind::kInternedText ||
         sequence.string_values.find(arg.number) != kNone;
}

// What the numbers of an event tell of its row, as the parser would have it.
void add_numbers(const kineto::NumberArgs& numbers, std::int64_t ts_ns, MarkRow& mark) {
  using kineto::NumberArg;
  kineto::RawRow& row = mark.row;
  row.ts_ns = ts_ns;
  row.correlation = numbers.correlation();
  if (numbers.has_times()) {
    row.ts_ns = numbers[NumberArg::kBeginNs];
    row.dur_ns = numbers[NumberArg::kDeltaNs];
    row.phase = Phase::kComplete;
  }
  if (row.category == Category::kPythonFunction) return;
  constexpr NumberArg kColumns[] = {NumberArg::kExternalId, NumberArg::kSequence,
                                    NumberArg::kForwardThread, NumberArg::kStream,
                                    NumberArg::kDevice};  // as MarkRow::kNumbers
  static_assert(std::size(kColumns) == std::size(MarkRow::kNumbers));
  for (std::size_t i = 0; i < std::size(kColumns); ++i)
    if (numbers[kColumns[i]] != kAbsent) mark.numbers[i] = numbers[kColumns[i]];
}

}  // namespace

bool ArgShape::make(std::span<const EventArg> args, const Sequence& sequence, Texts& texts,
                    ArgShape& shape) {
  shape = {};
  shape.sequence_ = &sequence;
  shape.version_ = sequence.annotation_names.version();
  std::vector<std::string_view> names;
  for (const EventArg& arg : args) {
    Part& part = shape.parts_.emplace_back(
        Part{.name_iid = arg.name_iid, .kind = arg.kind, .name = std::string{arg.name}});
    part.key = arg.name_iid != 0 ? sequence.annotation_names.find(arg.name_iid)
                                 : texts.intern_key(arg.name);
    if (part.key == kNone) return false;
    names.push_back(texts.text(part.key));
    shape.has_interned_texts_ |= arg.kind == EventArg::Kind::kInternedText;
  }
  const MemberOrder order = MemberOrder::of(names);
  for (std::size_t i = 0; i < order.sorted.size(); ++i) {
    Part& part = shape.parts_[order.sorted[i]];
    const std::string_view name = names[order.sorted[i]];
    if (order.numbers[i] != kineto::NumberArg::kNone && args[order.sorted[i]].is_integer()) {
      part.number = order.numbers[i];
      continue;
    }
    part.is_kept = kineto::is_slice_arg(name, part.kind == EventArg::Kind::kReal);
    shape.has_texts_of_columns_ |= kineto::to_number_arg(name) != kineto::NumberArg::kNone;
    shape.sorted_.push_back(order.sorted[i]);
  }
  return true;
}

bool ArgShape::fits(std::span<const EventArg> args, const Sequence& sequence) {
  if (&sequence != sequence_ || args.size() != parts_.size()) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (args[i].name_iid != part.name_iid || args[i].kind != part.kind) return false;
    if (part.name_iid == 0 && args[i].name != part.name) return false;
  }
  if (version_ != sequence.annotation_names.version()) {  // some names are new, rarely these
    for (const Part& part : parts_)
      if (part.name_iid != 0 && sequence.annotation_names.find(part.name_iid) != part.key)
        return false;
    version_ = sequence.annotation_names.version();
  }
  return !has_interned_texts_ ||
         std::ranges::all_of(args, [&](const EventArg& arg) { return is_known(arg, sequence); });
}

RowMemo::RowMemo(Texts& texts, kineto::EventParser& parser)
    : texts_{texts}, parser_{parser}, entries_(kEntries) {}

const ArgShape* RowMemo::shape(std::uint64_t hash, std::span<const EventArg> args,
                               const Sequence& sequence) {
  if (last_ != nullptr && last_hash_ == hash && last_->fits(args, sequence)) return last_;
  last_ = nullptr;
  if (args.size() > kMostArgs) return nullptr;
  if (!std::ranges::all_of(args, [&](const EventArg& arg) { return is_known(arg, sequence); }))
    return nullptr;
  if (shapes_.size() >= kMostShapes) shapes_.clear();
  // Sequences count their names each from 1.
  ArgShape& shape = shapes_[mix_hash(hash, reinterpret_cast<std::uintptr_t>(&sequence))];
  if (!shape.fits(args, sequence)) {
    if (!ArgShape::make(args, sequence, texts_, shape)) {
      shape = {};
      return nullptr;
    }
    shape.id_ = shape_count_++;
  }
  last_ = &shape;
  last_hash_ = hash;
  return last_;
}

void RowMemo::clear() {
  last_ = nullptr;
  shapes_ = {};
  entries_ = {};
}

void RowMemo::collect(const ArgShape& shape, const Begin& begin, kineto::NumberArgs& numbers) {
  constexpr std::size_t kHead = 2;
  const auto pair = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; };
  if (key_.size() < kHead + begin.args.size()) key_.resize(kHead + begin.args.size());
  key_[0] = pair(shape.id_, begin.name);
  key_[1] = pair(begin.category, begin.track_name);
  std::size_t at = kHead;
  for (std::size_t i = 0; i < begin.args.size(); ++i) {
    const EventArg& arg = begin.args[i];
    const ArgShape::Part& part = shape.parts_[i];
    if (part.number != kineto::NumberArg::kNone) {
      numbers[part.number] = arg.as_signed();
    } else if (!part.is_kept) {
      continue;
    } else if (arg.kind == EventArg::Kind::kText) {
      const std::size_t words = (arg.text.size() + kWord - 1) / kWord;
      key_[at++] = arg.text.size();
      const std::size_t rest = begin.args.size() - i;
      if (key_.size() < at + words + rest) key_.resize(at + words + rest);
      if (words > 0) {
        key_[at + words - 1] = 0;
        std::memcpy(&key_[at], arg.text.data(), arg.text.size());
      }
      at += words;
    } else if (arg.kind == EventArg::Kind::kInternedText) {
      key_[at++] = begin.sequence.string_values.find(arg.number);
    } else {
      key_[at++] = arg.number;
    }
  }
  key_size_ = at;
}

MarkRow RowMemo::row(const ArgShape& shape, const Begin& begin) {
  kineto::NumberArgs numbers;
  collect(shape, begin, numbers);
  if (shape.has_texts_of_columns_) {
    std::vector<kineto::GivenNumber> given;
    for (const ArgShape::Part& part : shape.parts_)
      if (part.number != kineto::NumberArg::kNone)
        given.push_back({part.number, numbers[part.number]});
    return parse(shape, begin, given);
  }
  const std::string_view key{reinterpret_cast<const char*>(key_.data()), key_size_ * kWord};
  const std::uint64_t hash = hash_text(key);
  Entry& entry = entries_[hash % kEntries];
  MarkRow row;
  if (entry.hash == hash && entry.key.size() == key_size_ &&
      std::memcmp(entry.key.data(), key.data(), key.size()) == 0) {
    row = entry.row;
  } else {
    row = parse(shape, begin, {});
    const bool is_of_profiler =
        begin.category != kNone && texts_.text(begin.category) == kineto::kProfilerRange;
    if (key_size_ <= kLongestKey && !is_of_profiler) {
      entry.hash = hash;
      entry.key.assign(key_.begin(), key_.begin() + static_cast<std::ptrdiff_t>(key_size_));
      entry.row = row;
    }
  }
  add_numbers(numbers, begin.ts_ns, row);
  return row;
}

MarkRow RowMemo::parse(const ArgShape& shape, const Begin& begin,
                       std::span<const kineto::GivenNumber> numbers) {
  const std::string_view category =
      begin.category != kNone ? texts_.text(begin.category) : std::string_view{};
  const bool keeps_all = category == kineto::kProfilerRange;
  json_.clear();
  const auto name = [this](std::string_view text) {
    json_ += json_.empty() ? '{' : ',';
    json_ += '"';
    json_ += text;
    json_ += "\":";
  };
  for (const std::size_t position : shape.sorted_) {
    const ArgShape::Part& part = shape.parts_[position];
    if (!part.is_kept && !keeps_all) continue;
    name(texts_.text(part.key));
    append_value(json_, begin.args[position], begin.sequence, texts_);
  }
  if (begin.track_name != kNone) {
    name("perfetto_track");
    json_ += '"';
    json_ += texts_.text(begin.track_name);
    json_ += '"';
  }
  if (!json_.empty()) json_ += '}';
  const std::size_t size = json_.size();
  json_.append(json::kPadding, '\0');
  block_.clear();
  parser_.append({.phase = 'b',
                  .name = begin.name,
                  .category = category,
                  .track = {},
                  .ts_ns = begin.ts_ns,
                  .flow_id = kAbsent,
                  .args = std::string_view{json_}.substr(0, size),
                  .numbers = numbers},
                 0, block_);
  return MarkRow::first_of(block_);
}

}  // namespace tracelens::perfetto
